"""The page of a room as text, without a browser."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from fogplay.rooms import Finished, Scores, Settings
from fogplay.web.markup import MOST_BUTTONS, cost_words, decision_panel, keys_for, room_page, short
from tests.rooms.helpers import play_hand, room_of


def test_every_move_has_a_button_with_a_key_of_its_own(tmp_path: Path) -> None:
    room = room_of(tmp_path, "leduc", seat=0)
    page = room_page(room.look(), room.settings, room.scores(), [])
    found = re.findall(r'data-action="(\d+)" data-key="([^"]+)"', page)
    assert [int(action) for action, _ in found] == list(room.look().sight.legal)
    keys = " ".join(key for _, key in found).split()
    assert len(keys) == len(set(keys))


def test_keys_are_letters_where_they_differ_and_numbers() -> None:
    assert keys_for(["fold", "call 2", "raise"]) == ["f 1", "c 2", "r 3"]
    assert keys_for(["bid 1", "bid 2"]) == ["1", "2"]
    assert keys_for(["north", "é"]) == ["1", "2"]  # n begins the next hand
    assert keys_for([f"x{place}" for place in range(12)])[8:] == ["9", "a", "s", "d"]
    assert keys_for(["bid 2", "bid 4"]) == ["2", "4"]  # the third card is not the third option
    assert keys_for(["3", "2", "T", "33", "TT", "22"]) == ["3", "2", "t", "a", "s", "d"]
    assert keys_for(["1-5", "1-6", "call"]) == ["a", "s", "c"]
    assert keys_for(["mark 1 1", "mark 3 2", "mark 3 3"]) == ["1", "2", "3"]
    assert all(keys_for([f"{place}-{place}" for place in range(MOST_BUTTONS)]))


def test_many_moves_are_typed(tmp_path: Path) -> None:
    room = room_of(tmp_path, "bluff(2,2,6)", "uniform", seat=0)
    look = room.look()
    assert len(look.sight.legal) <= MOST_BUTTONS or "type a move" in room_page(look, room.settings, room.scores(), [])
    room.act_by_text(0, 0, look.sight.options[1])
    assert room.look().decision == 1 or room.look().sight.over


def test_typed_moves_are_explained_if_they_are_not_possible(tmp_path: Path) -> None:
    room = room_of(tmp_path, "goofspiel", seat=0)
    with pytest.raises(Exception, match=r"'99' is not possible here: type one of your cards"):
        room.act_by_text(0, 0, "99")
    room.act_by_text(0, 0, "bid 3")
    assert room.look().decision == 1


def test_everything_foreign_is_escaped(tmp_path: Path) -> None:
    room = room_of(tmp_path, "kuhn", seat=0)
    evil = "<img src=x onerror=alert(1)>"
    made = {
        "situation": evil, "options": [evil, "bet"], "chosen": 0, "by": evil, "shares": [0.5, 0.5], "values": None,
        "cost": None, "error": 0.0,
    }  # fmt: skip
    hand = Finished(0, 0, (), 1.0, None, (made,))
    page = room_page(room.look(), Settings(evil, evil), Scores.of([(1.0, None)]), [hand], hand, evil)
    assert "<img" not in page


def test_a_page_before_the_showdown_says_nothing_of_others_and_afterwards_reviews(tmp_path: Path) -> None:
    room = room_of(tmp_path, "kuhn", seat=0, seed="hush hush")
    before = room_page(room.look(), room.settings, room.scores(), [])
    held = room._table.events[1].action
    assert f">{room.company.rules.card_to_string(held)}<" not in before
    assert "%" not in before.split("</style>")[1].replace('width="100%"', "")  # no probabilities
    assert "hush" not in before
    assert room.kept.secret not in before
    play_hand(room, random.Random(0))
    hand = room.settle(0)
    after = room_page(room.look(), room.settings, room.scores(), [hand], hand)
    assert "Review of hand 1" in after
    assert "Your choice cost" in after


def test_costs_in_words() -> None:
    made = {"cost": 0.25, "error": 0.0, "by": "x", "shares": [0.4], "chosen": 0}
    assert cost_words(made) == "Your choice cost 0.25."
    assert cost_words(made | {"error": 0.1}) == "Your choice cost 0.25 ± 0.1."
    assert cost_words(made | {"cost": 0.0}) == "Your choice cost nothing."
    assert cost_words(made | {"cost": None}) == "x would choose this with 40 %."
    assert cost_words(made | {"cost": None, "shares": [0.0]}) == "x would not choose this."
    assert cost_words(made | {"cost": 3e-5}) == "Your choice cost nothing."


def test_small_numbers_are_nothing() -> None:
    assert [short(value, "+") for value in (1.6e-6, -0.0004, 0.25, -1.23456)] == ["0", "0", "+0.25", "-1.23"]


def test_options_that_nobody_would_choose_are_left_out_of_reviews() -> None:
    made = {
        "situation": "x", "options": ["a", "b", "c"], "chosen": 2, "by": "x", "shares": [1.0, 0.0, 0.0], "values": None,
        "cost": None, "error": 0.0,
    }  # fmt: skip
    assert decision_panel(made).count('class="option') == 2
    assert decision_panel(made | {"values": [1.0, 0.0, 0.0], "cost": 1.0}).count('class="option') == 3


def test_the_chosen_settings_are_pressed(tmp_path: Path) -> None:
    room = room_of(tmp_path, "leduc", seat=1)
    page = room_page(room.look(), room.settings, room.scores(), [])
    assert re.findall(r'data-value="([^"]*)" aria-pressed="true"', page) == ["1", "at once", "0"]
    assert "four colours" in page
    assert "pictures" in page
    dice = room_page(room_of(tmp_path, "bluff").look(), room.settings, room.scores(), [])
    assert "four colours" not in dice
    assert "pictures" not in dice
