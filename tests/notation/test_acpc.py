"""The competition's notation: what is printed is read back as the same, and nothing that is read does harm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fogplay.errors import FogplayError
from fogplay.notation.acpc import (
    MOST_LINE,
    VERSION,
    LoggedHand,
    MatchState,
    Score,
    game_in,
    is_comment,
    log_head,
    parse_answer,
    parse_hand,
    parse_score,
    parse_state,
    parse_version,
    plain_name,
    print_answer,
    print_hand,
    print_score,
    print_state,
    print_value,
    read_hands,
    read_lines,
)
from tests.helpers import refusal

EXAMPLE = "STATE:0:rc/rrc/rc/cc:5d5c|9hQd/8dAs8s/4h/6d:60|-60:Alice|Bob"
PARSERS: list[Callable[[str], Any]] = [parse_state, parse_hand, parse_score, parse_version]

cards = st.lists(st.integers(0, 51), max_size=5).map(tuple)
holes = st.lists(cards, min_size=2, max_size=10).map(tuple)
boards = st.lists(cards, max_size=3).map(tuple)
betting = st.text("fcr/", max_size=40)
values = st.lists(st.integers(-(10**9), 10**9).map(lambda sixth: sixth / 2), min_size=2, max_size=10).map(tuple)
names = st.lists(st.text(min_size=1, max_size=20).map(plain_name), min_size=1, max_size=10).map(tuple)
whole = st.integers(0, 10**10 - 1)
states = st.builds(MatchState, st.integers(0, 999), whole, betting, holes, boards)
hands = st.builds(LoggedHand, whole, betting, holes, boards, values, names)


@given(states)
def test_match_states_come_back(state: MatchState) -> None:
    line = print_state(state)
    assert parse_state(line) == (state, "")
    assert parse_state(print_answer(line, "r")) == (state, ":r")


@given(hands)
def test_hands_come_back(hand: LoggedHand) -> None:
    line = print_hand(hand)
    assert parse_hand(line) == hand
    assert print_hand(parse_hand(line)) == line


@given(st.builds(Score, values, names))
def test_scores_come_back(score: Score) -> None:
    assert parse_score(print_score(score)) == score


def test_the_competitions_own_lines() -> None:
    hand = parse_hand(EXAMPLE)
    assert (hand.number, hand.betting, hand.values, hand.names) == (0, "rc/rrc/rc/cc", (60, -60), ("Alice", "Bob"))
    assert [len(each) for each in hand.holes] == [2, 2]
    assert len(hand.board) == 5
    assert print_hand(hand) == EXAMPLE
    line = "MATCHSTATE:1:30:cr/:|9hQd/8dAs8s"
    state, rest = parse_state(line)
    assert (state.seat, state.hand, state.betting, rest) == (1, 30, "cr/", "")
    assert state.holes == ((), (30, 41))
    assert print_state(state) == line
    assert parse_version(VERSION) == (2, 0, 0)


def test_lower_and_upper_case_cards_are_alike() -> None:
    assert parse_state("MATCHSTATE:0:0::aStD|")[0] == parse_state("MATCHSTATE:0:0::AsTd|")[0]


def test_what_follows_a_state() -> None:
    assert parse_state("MATCHSTATE:0:0::AsTd|:new:1")[1] == ":new:1"
    asked = {":f": "f", ":c": "c", ":r": "r", ":r20": "r", ":K": "c", ":b": "r", ":": None, "": None, ":x": None}
    assert {rest: parse_answer(rest) for rest in asked} == asked


def test_values_are_whole_where_they_can_be() -> None:
    assert [print_value(value) for value in (60.0, -5.0, -0.0, 7.5, 10 / 3)] == ["60", "-5", "0", "7.5", "3.333333"]


def test_comments() -> None:
    assert all(map(is_comment, ("# one", "; other", "", "  ")))
    assert not is_comment(EXAMPLE)


def test_a_log_names_its_game() -> None:
    assert game_in(log_head("a match", "holdem.limit.2p", 30, 1)) == "holdem.limit.2p"
    assert game_in("# name/game/hands/seed x") is None


# ---- What is not a line


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_a_line(text: str) -> None:
    for parse in PARSERS:
        refusal(parse, text)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused_in_a_line(data: bytes) -> None:
    for head in ("", "MATCHSTATE:", "STATE:", "SCORE:", "VERSION:"):
        for parse in PARSERS:
            refusal(parse, head + data.decode(errors="replace"))


@given(hands, st.data())
def test_damaged_lines_are_read_or_refused_in_a_line(hand: LoggedHand, data: st.DataObject) -> None:
    """Truncated, with parts in another order, and with letters changed."""
    line = print_hand(hand)
    cut = line[: data.draw(st.integers(0, len(line)))]
    turned = ":".join(data.draw(st.permutations(line.split(":"))))
    at = data.draw(st.integers(0, len(line) - 1))
    changed = line[:at] + data.draw(st.characters()) + line[at + 1 :]
    for text in (cut, turned, changed):
        for parse in PARSERS:
            refusal(parse, text)


@pytest.mark.parametrize(
    "text",
    [
        "MATCHSTATE:0:" + "9" * 1_000_000 + "::|",
        "MATCHSTATE:0:0:" + "c" * 1_000_000 + ":|",
        "MATCHSTATE:0:0::" + "|" * 1_000_000,
        "STATE:0:c:" + "As" * 500_000 + ":1|1:a|b",
        "STATE:0:c:|:" + "1|" * 500_000 + ":a|b",
        "SCORE:" + "9" * 1_000_000 + ":a",
        "VERSION:" + "2" * 1_000_000 + ".0.0",
        "MATCHSTATE:٣:0::|",  # digits, but not those of the protocol
        "STATE:0:c:|:1e9|nan:a|b",
    ],
)
def test_huge_and_odd_numbers_are_refused(text: str) -> None:
    assert all(refusal(parse, text) for parse in PARSERS)


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_text(f"# comment\r\n{EXAMPLE}\r\n\nSCORE:60|-60:Alice|Bob")
    assert list(read_hands(file)) == [(2, parse_hand(EXAMPLE))]
    assert [number for number, _ in read_lines(file)] == [1, 2, 3, 4]
    for content, says in (
        (b"x" * (MOST_LINE + 1), "line 1: longer than 65,536 characters"),
        (b"\xff\xfe\n", "not text in UTF-8"),
        (f"{EXAMPLE}\nSTATE:1:c\n".encode(), "line 2: expected a hand, STATE:number"),
    ):
        file.write_bytes(content)
        with pytest.raises(FogplayError, match=says):
            list(read_hands(file))
    with pytest.raises(FogplayError, match="cannot read"):
        list(read_hands(tmp_path / "nowhere"))
