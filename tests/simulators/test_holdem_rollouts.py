"""Compiled rollouts of hold'em beside the slow, obvious ones."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fogplay.rooms import rollouts
from fogplay.rooms.replays import Decision, decisions_of
from fogplay.rooms.rollouts import DOUBT, Estimate, estimate
from fogplay.simulators.holdem_rollouts import deal_worlds
from fogplay.simulators.holdem_rollouts import option_results as compiled
from tests.rooms.helpers import play_hand, room_of


def decisions(tmp_path: Path, hands: int) -> tuple[Any, Any, list[Decision]]:
    room, rng = room_of(tmp_path, "holdem", "sparring", seed="9"), random.Random(5)
    agent = room.company.others[0]
    found = []
    for number in range(hands):
        look = play_hand(room, rng)
        hand = room.history(1)[0]
        found += decisions_of(room.company.rules, hand.events, hand.seat, look.sight.names)
        room.next_hand(number)
    return room.company.rules, agent, found


def test_compiled_rollouts_agree_with_slow_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules, agent, found = decisions(tmp_path, 4)
    chosen = [made for made in found if len(made.view.observation.board) in (0, 3, 5)][:3]
    assert len(chosen) == 3
    away = []
    for number, made in enumerate(chosen):
        quick = estimate(rules, agent, made, np.random.default_rng(number))
        assert len(quick.weights) > 10_000
        monkeypatch.setattr(rollouts, "part_of", lambda *_: None)
        monkeypatch.setattr(rollouts, "SECONDS", 1e9)
        monkeypatch.setattr(rollouts, "WORLDS", 250)
        slow = estimate(rules, agent, made, np.random.default_rng(number))
        monkeypatch.undo()
        shares = slow.weights / slow.weights.sum()
        errors = np.sqrt((shares**2) @ (slow.results - np.array(slow.values)) ** 2)
        away += ((np.array(quick.values) - np.array(slow.values))[errors > 1e-6] / errors[errors > 1e-6]).tolist()
    assert max(map(abs, away)) < 4.5
    assert abs(np.mean(away)) < 1.5


def test_folding_is_exact_and_errors_are_small(tmp_path: Path) -> None:
    rules, agent, found = decisions(tmp_path, 3)
    for number, made in enumerate(found[:6]):
        results = compiled(rules, agent, made.view, np.random.default_rng(number), DOUBT)
        assert results is not None
        made_of = Estimate(*results)
        if made.view.names[0] == "fold":
            paid = made.view.observation.paid[made.view.seat]
            assert made_of.values[0] == pytest.approx(-paid)
        assert all(made_of.cost(place)[1] < 2.0 for place in range(len(made.view.legal)))


def test_worlds_agree_with_what_is_seen_and_are_whole_decks() -> None:
    deck = np.array([51, 3, 20, 21, 22, *(card for card in range(52) if card not in (51, 3, 20, 21, 22))], np.uint8)
    cards, chance = np.zeros((500, 9), np.uint8), np.zeros((500, 20))
    deal_worlds(deck, 5, 1, np.array([1, 2], np.uint64), cards, chance)
    assert (cards[:, :3] == [20, 21, 22]).all()
    assert (cards[:, 7:] == [51, 3]).all()
    assert all(len(set(row)) == 9 for row in cards.tolist())
    assert len(np.unique(cards[:, 3:7])) == 47  # every other card comes up somewhere
    assert 0.4 < chance.mean() < 0.6
    assert not any(np.array_equal(cards[0], row) for row in cards[1:])
