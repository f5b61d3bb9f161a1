"""Not a byte of what is sent before the showdown depends on what is hidden."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest

from fogplay.games.game import CHANCE
from fogplay.pictures import sight_of
from fogplay.play import Table
from fogplay.play.luck import Seeded
from fogplay.web.markup import room_page
from tests.rooms.helpers import room_of


def with_other_cards(path: Path, game: str, hands: int) -> int:
    """Play, and at every decision exchange the others' cards: the page must stay the same. The number of pages."""
    room, rng, pages = room_of(path, game, "uniform", seat=0, seed="well kept"), random.Random(1), 0
    rules = room.company.rules
    for number in range(hands):
        look = room.look()
        while not look.sight.over:
            events = room._table.events
            page = room_page(look, room.settings, room.scores(), [])
            assert "well kept" not in page
            assert room.kept.secret not in page
            hidden = [place for place, event in enumerate(events) if event.seat == CHANCE and 0 not in event.seen_by]
            dealt = {event.action for event in events if event.seat == CHANCE}
            others = [card for card in range(rules.num_cards()) if card not in dealt]
            drawn = sorted(rng.sample(others, len(hidden)))
            changed = [[event.seat, event.action] for event in events]
            for place, card in zip(hidden, drawn, strict=True):
                changed[place][1] = card
            table = Table(rules, Seeded("another"), look.sight.names, events=changed)
            assert (
                room_page(dataclasses.replace(look, sight=sight_of(table, 0)), room.settings, room.scores(), []) == page
            )
            pages += 1
            room.act(look.hand, look.decision, rng.choice(look.sight.legal))
            look = room.look()
        room.next_hand(number)
    return pages


@pytest.mark.parametrize("game", ["kuhn", "leduc", "holdem"])
def test_hidden_cards_change_no_byte_of_a_page(tmp_path: Path, game: str) -> None:
    assert with_other_cards(tmp_path, game, 15) >= 15


@pytest.mark.slow
def test_hidden_cards_change_no_byte_in_ten_thousand_hands(tmp_path: Path) -> None:
    assert with_other_cards(tmp_path, "leduc", 10_000) > 10_000
