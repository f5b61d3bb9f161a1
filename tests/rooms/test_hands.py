"""Hands of a room afterwards: filters, files, drill."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest
from pokerkit import HandHistory

from fogplay.errors import FogplayError
from fogplay.games.registry import load
from fogplay.notation.acpc import parse_hand
from fogplay.notation.holdem_records import phh, write_acpc, write_phh
from fogplay.notation.records import Record, kinds_for
from fogplay.play import Table
from fogplay.play.luck import Seeded
from fogplay.rooms.hands import Filter, answer, chosen, exercise, exercise_of, exported
from tests.rooms.helpers import play_hand, room_of


def played(tmp_path: Path, hands: int, game: str = "kuhn") -> object:
    room, rng = room_of(tmp_path, game), random.Random(3)
    for number in range(hands):
        play_hand(room, rng)
        room.settle(number)
        room.next_hand(number)
    return room


def test_filters_choose_hands_by_what_was_decided(tmp_path: Path) -> None:
    room = played(tmp_path, 12)
    hands = room.history(None)
    assert [hand.number for hand in chosen(hands, Filter())] == list(range(11, -1, -1))
    costly = chosen(hands, Filter(cost=0.1))
    assert 0 < len(costly) < 12
    assert all(any(made["cost"] >= 0.1 for made in hand.review) for hand in costly)
    assert [hand.cost for hand in costly] == sorted((hand.cost for hand in costly), reverse=True)
    assert {hand.seat for hand in chosen(hands, Filter(seat=1))} == {1}
    words = hands[0].review[0]["situation"].split()[-1]
    assert hands[0] in chosen(hands, Filter(words=words.upper()))
    assert not chosen(hands, Filter(words="zebra"))


def test_hands_are_written_as_csv(tmp_path: Path) -> None:
    room = played(tmp_path, 3)
    name, text = exported(room, "csv")
    assert name == "fogplay-kuhn.csv"
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["hand"] for row in rows] == ["1", "2", "3"]
    assert [float(row["score"]) for row in rows] == [hand.score for hand in room.history(None)]
    assert all(row["cost"] and row["baseline"] for row in rows)
    with pytest.raises(FogplayError, match="can be written as csv, not 'phh'"):
        exported(room, "phh")


def hold_em(players: int, hands: int) -> tuple[object, list[Record]]:
    rules, rng, records = load(f"holdem({players})"), random.Random(5), []
    for number in range(hands):
        table = Table(rules, Seeded(f"test {number}"), tuple(f"p'{seat}" for seat in range(players)))
        while not table.is_over:
            (seat,) = table.to_act
            legal = table.view(seat).legal
            table.take(seat, rng.choice([action for action in legal if action or rng.random() < 0.2] or list(legal)))
        seat = number % players
        records.append(Record(number, seat, table.names, tuple(table.seen(seat)), tuple(table.scores), {}))
    return rules, records


@pytest.mark.parametrize("players", [2, 3])
def test_another_program_pays_the_same(players: int) -> None:
    rules, records = hold_em(players, 60)
    for record in records:
        *_, end = HandHistory.loads(phh(rules, record))
        assert [float(stack) for stack in end.stacks] == pytest.approx(
            [float(end.starting_stacks[0]) + won for won in record.scores]
        )
    assert write_phh(rules, records).count("variant = 'FT'") == 60
    assert set(kinds_for(rules)) == {"csv", "acpc", "phh"}


def test_lines_of_the_competition_hide_what_was_not_seen() -> None:
    rules, records = hold_em(2, 40)
    lines = write_acpc(rules, records).splitlines()[1:]
    folded = 0
    for record, line in zip(records, lines, strict=True):
        hand = parse_hand(line)
        assert hand.values == record.scores
        assert hand.holes[record.seat], "the own cards are there"
        if hand.betting.endswith("f"):
            folded += 1
            assert not hand.holes[1 - record.seat]
    assert folded > 3


def test_a_drill_asks_what_cost_most_and_learns(tmp_path: Path) -> None:
    room = played(tmp_path, 12)
    asked = exercise(room, random.Random(1))
    assert asked is not None
    assert asked.made["cost"] > 0.0
    assert list(asked.sight.options) == asked.made["options"], "the situation is the one that was reviewed"
    assert asked.sight.situation == asked.made["situation"]
    best = max(range(len(asked.made["options"])), key=lambda place: asked.made["values"][place])
    assert not asked.right(asked.made["chosen"])
    assert answer(room, asked, best)
    assert answer(room, asked, best)
    assert room.store.answers(room.kept.id) == {(asked.hand, asked.place): 2}
    assert not answer(room, asked, asked.made["chosen"])
    assert room.store.answers(room.kept.id) == {(asked.hand, asked.place): 0}
    with pytest.raises(FogplayError, match="not an option"):
        answer(room, asked, 9)


def test_every_reviewed_decision_can_be_asked(tmp_path: Path) -> None:
    room = played(tmp_path, 6, "leduc")
    for hand in room.history(None):
        for place, made in enumerate(hand.review):
            assert exercise_of(room, hand, place).sight.situation == made["situation"]


def test_a_new_room_has_nothing_to_drill(tmp_path: Path) -> None:
    assert exercise(room_of(tmp_path, "kuhn"), random.Random(1)) is None
