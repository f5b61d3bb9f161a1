"""Compiled rollouts of hold'em beside the slow, obvious ones."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fogplay.cards.deck import HANDS, RANKS, cards_name
from fogplay.games.game import TERMINAL
from fogplay.rooms import rollouts
from fogplay.rooms.replays import Decision, decisions_of
from fogplay.rooms.rollouts import DOUBT, Estimate, estimate
from fogplay.simulators.holdem import draw_chart
from fogplay.simulators.holdem_rollouts import hand_values
from fogplay.simulators.holdem_rollouts import option_results as compiled
from fogplay.simulators.holdem_worlds import deal_worlds
from fogplay.strategies.charts import spot, squares
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
        assert quick.exact or len(quick.weights) > 10_000
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
        assert all(made_of.cost(place)[1] <= 0.5 for place in range(len(made.view.legal)))  # chips


def test_worlds_agree_with_what_is_seen_and_are_whole_decks() -> None:
    holes, board = np.array([[51, 3], [50, 4]], np.uint8), np.array([20, 21, 22], np.uint8)
    sums = np.cumsum(np.ones((2, len(HANDS))), axis=1)
    cards, chance = np.zeros((500, 9), np.uint8), np.zeros((500, 20))
    deal_worlds(holes, board, 1, HANDS, sums, np.array([1, 2], np.uint64), cards, chance)
    assert (cards[:, :3] == [20, 21, 22]).all()
    assert (cards[::2, 7:] == [51, 3]).all()
    assert (cards[1::2, 7:] == [50, 4]).all()
    assert all(len(set(row)) == 9 for row in cards.tolist())
    assert len(np.unique(cards[:, 3:7])) == 49  # every other card comes up somewhere
    assert 0.4 < chance.mean() < 0.6
    assert not any(np.array_equal(cards[0], row) for row in cards[1:])


def test_hands_are_dealt_by_their_weights() -> None:
    """Two others, of whom one has one of two hands, three to one; hands that share a card come never."""
    weights = np.zeros((3, len(HANDS)))
    one, two = (int(np.flatnonzero((hand == HANDS).all(axis=1))[0]) for hand in ([0, 1], [2, 3]))
    weights[1, [one, two]] = 3.0, 1.0
    weights[2, [one, two]] = 1.0, 1.0
    cards, chance = np.zeros((4000, 11), np.uint8), np.zeros((4000, 0))
    hole, sums = np.array([[51, 50]], np.uint8), np.cumsum(weights, axis=1)
    deal_worlds(hole, np.empty(0, np.uint8), 0, HANDS, sums, np.array([1, 2], np.uint64), cards, chance)
    assert set(map(tuple, cards[:, 7:].tolist())) == {(0, 1, 2, 3), (2, 3, 0, 1)}
    assert (cards[:, 7] == 0).mean() == pytest.approx(0.75, abs=0.03)


def test_the_river_is_exact(tmp_path: Path) -> None:
    """Beside a sum over all hands of the other in plain Python."""
    rules, agent, found = decisions(tmp_path, 4)
    made = next(each for each in found if len(each.view.observation.board) == 5)
    quick = estimate(rules, agent, made, np.random.default_rng(0))
    assert quick.exact
    assert quick.cost(0)[1] == 0.0
    assert len(quick.weights) == 990

    def worth(state: Any) -> float:
        if state.current_player() == TERMINAL:
            return float(state.returns()[made.view.seat])
        spot = rollouts._spot(state, state.current_player())
        shares = agent.distribution(spot)
        return sum(p * worth(state.child(a)) for p, a in zip(shares, spot.legal, strict=True) if p)

    known, seat = {*made.view.observation.hole, *made.view.observation.board}, made.view.seat
    rng = np.random.default_rng(1)
    total, earned = 0.0, np.zeros(len(made.view.legal))
    for hand in itertools.combinations([card for card in range(52) if card not in known], 2):
        real = made.view.world(rng)
        at = 2 * (1 - seat)
        world = real.with_cards((*real.cards[:at], *hand, *real.cards[at + 2 :]))
        weight = rollouts._weight(agent, made, world)
        total += weight
        earned += weight * np.array([worth(world.child(action)) for action in made.view.legal])
    assert quick.values == pytest.approx(tuple(earned / total), abs=1e-9)


def test_a_chart_tells_what_hands_earn(tmp_path: Path) -> None:
    """Folding is exact, and on the river a hand earns what the exact sum says, within its error."""
    rules, agent, found = decisions(tmp_path, 4)
    made = next(each for each in found if len(each.view.observation.board) == 5)
    seen = made.view.observation
    at = spot(agent, "/".join(seen.betting), cards_name(seen.board))
    worth = hand_values(rules, agent, at, np.random.default_rng(1))
    assert 150 <= len(worth) <= 169
    own = sorted(seen.hole)
    name = RANKS[own[1] // 4] + RANKS[own[0] // 4]
    name += "" if name[0] == name[1] else "s" if own[0] % 4 == own[1] % 4 else "o"
    exact = estimate(rules, agent, made, np.random.default_rng(0)).values
    combinations = dict(itertools.chain.from_iterable(squares(at.board)))[name]
    away = np.array(worth[name].values) - np.array(exact)
    spread = 40.0 if len(combinations) > 1 else 0.0  # other suits of the same hand may earn something else
    assert (np.abs(away) <= 4.5 * np.array(worth[name].errors) + spread).all()
    if at.actions[0] == "fold":
        assert {round(each.values[0], 6) for each in worth.values()} == {-float(seen.paid[made.view.seat])}
    drawn = draw_chart(rules, agent, at.betting, cards_name(at.board), np.random.default_rng(1))
    assert drawn is not None
    assert worth[name].words(at.actions) in drawn.svg
    assert draw_chart(rules, object(), None, "", np.random.default_rng(1)) is None
