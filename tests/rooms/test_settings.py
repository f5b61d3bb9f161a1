"""Seat and pace, and who is offered as an opponent."""

from __future__ import annotations

import dataclasses
import itertools
import random
import sqlite3
from pathlib import Path

import pytest

from fogplay.agents.resolve import bot_names, resolve
from fogplay.errors import FogplayError
from fogplay.games.offers import OFFERED
from fogplay.games.registry import load
from fogplay.rooms import Hall, Settings, Store, opponents_for
from fogplay.rooms.store import BRISK, PACES
from tests.rooms.helpers import hall_at, play_hand, room_of


def test_moves_of_others_are_shown_one_by_one(tmp_path: Path) -> None:
    room = hall_at(tmp_path).create(Settings("kuhn(players=3)", "uniform", 0, pace=BRISK), "7")
    for number in range(20):
        look = room.look()
        while not look.sight.over:
            decision = look.decision
            room.act(look.hand, decision, look.sight.legal[0])
            look = room.look()
            steps = room.steps(number, decision)
            told = [step.sight.lines for step in steps] + [look.sight.lines]
            assert all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(told))
            assert all(not step.sight.legal and step.sight.to_act and step.score is None for step in steps)
            others = sum(event.seat in (1, 2) for event in room._table.events)
            assert len(steps) <= others
        room.next_hand(number)
    assert room.steps(3, 0) == []  # that hand is over


def test_the_others_first_moves_are_steps_too(tmp_path: Path) -> None:
    room = hall_at(tmp_path).create(Settings("kuhn(players=3)", "uniform", 2, pace=BRISK), "7")
    steps = room.steps(0, -1)
    assert [step.sight.to_act for step in steps] == [(0,), (1,)]
    assert room_of(tmp_path, "kuhn(players=3)", seat=2).steps(0, -1) == []  # at once


def test_seat_and_pace_can_be_changed_and_are_kept(tmp_path: Path) -> None:
    room = room_of(tmp_path, "kuhn", seat=0)
    room.change(Settings("leduc", "uniform", 1, automatic=True, pace=BRISK))
    assert room.settings == Settings("kuhn", "best", 1, automatic=True, pace=BRISK)
    assert room.look().sight.seat == 0  # this hand goes on
    play_hand(room, random.Random(0))
    room.next_hand(0)
    assert room.look().sight.seat == 1
    again = Hall(Store(tmp_path / "rooms.sqlite"), ("kuhn",)).room(room.kept.secret)
    assert again.settings == room.settings
    for wrong in ({"seat": 2}, {"pace": "slower"}):
        with pytest.raises(FogplayError, match=r"seats 0 to 1|pace is one of"):
            room.change(dataclasses.replace(room.settings, **wrong))


def test_rooms_of_the_version_before_are_read(tmp_path: Path) -> None:
    base = sqlite3.connect(tmp_path / "rooms.sqlite")
    base.execute(
        "CREATE TABLE rooms (id INTEGER PRIMARY KEY, secret TEXT UNIQUE NOT NULL, game TEXT NOT NULL, opponent TEXT "
        "NOT NULL, seat INTEGER, automatic INTEGER NOT NULL, seed TEXT NOT NULL, created REAL NOT NULL)"
    )
    base.execute("INSERT INTO rooms VALUES (1, 'hush', 'kuhn', 'best', NULL, 1, '5', 0.0)")
    base.execute("PRAGMA user_version=1")
    base.commit()
    base.close()
    kept = Store(tmp_path / "rooms.sqlite").find("hush")
    assert kept is not None
    assert kept.settings == Settings("kuhn", "best", None, automatic=True)
    assert Store(tmp_path / "rooms.sqlite").find("hush") == kept


def test_every_pace_is_slower_than_the_one_before() -> None:
    assert list(PACES.values()) == sorted(PACES.values())


@pytest.mark.parametrize("spec", OFFERED)
def test_every_opponent_has_a_sentence_and_every_bot_is_offered(spec: str) -> None:
    rules = load(spec)
    offered = {each.text: each.sentence for each in opponents_for(spec)}
    assert all(len(sentence) > 20 and sentence.endswith(".") for sentence in offered.values())
    missing = set(bot_names(rules)) - set(offered)
    for name in missing:  # only those that cannot play these rules
        with pytest.raises(FogplayError):
            resolve([name], rules)


def test_agents_offered_on_the_command_line_are_opponents(tmp_path: Path) -> None:
    hall = Hall(Store(tmp_path / "rooms.sqlite"), ("kuhn", "holdem"), (), ("search:uct:50", "sparring"))
    assert "search:uct:50" in [each.text for each in hall.opponents("kuhn")]
    assert "sparring" not in [each.text for each in hall.opponents("kuhn")]
    assert "sparring" in [each.text for each in hall.opponents("holdem")]
    room = hall.create(Settings("kuhn", "search:uct:50"), "1")
    assert play_hand(room, random.Random(0)).sight.over
