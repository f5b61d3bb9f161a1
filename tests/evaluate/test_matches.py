"""Matches: what is won agrees with exact values, and everything repeats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.evaluate import matches, measure, play_match
from fogplay.trees import FlatGame, flatten
from tests.helpers import random_probabilities


def exact(flat: FlatGame, strategies: list[NDArray[np.float64]]) -> list[float]:
    """What each player wins a hand, over all seatings."""
    players = flat.num_players
    seat = np.repeat(flat.tree.infoset_player, np.diff(flat.tree.infoset_start))
    won = np.zeros(players)
    for shift in range(players):
        who = (seat + shift) % players
        values = measure(flat, np.stack(strategies)[who, np.arange(flat.num_slots)]).values
        for at, value in enumerate(values):
            won[(at + shift) % players] += value / players
    return won.tolist()


@pytest.mark.parametrize("spec", ["kuhn", "kuhn(players=3)", "leduc", "bluff(2,1,2)", "goofspiel(3)", "pam", "matrix"])
def test_winnings_agree_with_exact_values(spec: str) -> None:
    flat = flatten(spec)
    strategies = [random_probabilities(flat, seed) for seed in range(flat.num_players)]
    match = play_match(flat, strategies, 200_001, seed=5)
    assert match.ends is None
    for player, value in enumerate(exact(flat, strategies)):
        assert 0 < match.standard_errors[player] < 0.05 * flat.payoff_range
        assert abs(match.means[player] - value) < 4 * match.standard_errors[player]
        low, high = match.interval(player)
        assert (low + high) / 2 == pytest.approx(match.means[player])
        assert high - low == pytest.approx(2 * 1.96 * match.standard_errors[player], rel=1e-3)


def test_standard_errors_are_honest() -> None:
    """Of 300 matches about 5 % lie outside their 95 % intervals; the seats' own difference is no uncertainty."""
    flat = flatten("kuhn(pot=20)")
    strategies = [random_probabilities(flat, seed) for seed in (1, 2)]
    value = exact(flat, strategies)[0]
    played = [play_match(flat, strategies, 400, seed=seed) for seed in range(300)]
    outside = sum(not low <= value <= high for low, high in (match.interval(0) for match in played))
    assert 5 <= outside <= 27
    means = [match.means[0] for match in played]
    assert np.std(means) == pytest.approx(np.mean([match.standard_errors[0] for match in played]), rel=0.12)


def test_the_seed_decides_and_the_stretches_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    flat = flatten("kuhn(players=3)")
    strategies = [random_probabilities(flat, seed) for seed in (1, 2, 3)]
    first = play_match(flat, strategies, 5000, seed=1, keep=True)
    monkeypatch.setattr(matches, "STRETCH", 7)
    again = play_match(flat, strategies, 5000, seed=1, keep=True)
    other = play_match(flat, strategies, 5000, seed=2, keep=True)
    assert first.ends is not None
    assert again.ends is not None
    assert other.ends is not None
    assert first.ends.tolist() == again.ends.tolist() != other.ends.tolist()
    assert first.means == pytest.approx(again.means, abs=1e-12)
    assert first.standard_errors == pytest.approx(again.standard_errors)
    won = [0.0, 0.0, 0.0]
    for hand, end in enumerate(first.ends.tolist()):
        for seat in range(3):
            won[(seat + hand) % 3] += flat.tree.payoffs[flat.tree.row[end], seat]
    assert [each / 5000 for each in won] == pytest.approx(first.means)


def test_an_action_of_probability_0_is_never_taken() -> None:
    flat = flatten("leduc")
    strategies = [random_probabilities(flat, seed) for seed in (1, 2)]
    ends = play_match(flat, strategies, 50_000, keep=True).ends
    assert ends is not None
    tree = flat.tree
    for shift in (0, 1):
        reach = np.zeros(flat.num_nodes)
        reach[0] = 1
        for node in range(flat.num_nodes):
            for action in range(tree.num_children[node]):
                child = tree.first_child[node] + action
                seat = int(tree.player[node])
                likely = tree.probability[child]
                if seat >= 0:
                    likely = strategies[(seat + shift) % 2][tree.infoset_start[tree.row[node]] + action]
                reach[child] = reach[node] * likely
        reached = np.unique(ends[shift::2])
        assert reach[reached].min() > 0
        assert len(reached) > 0.5 * (reach[tree.num_children == 0] > 0).sum()


def test_too_few_hands_to_tell() -> None:
    flat = flatten("kuhn")
    match = play_match(flat, [flat.uniform()] * 2, 3)
    assert all(math.isnan(each) for each in match.standard_errors)
    assert sum(match.means) == pytest.approx(0)


@pytest.mark.parametrize(
    ("strategies", "hands", "seed", "message"),
    [
        (1, 10, 0, "is for 2 players, not for 1"),
        (2, 0, 0, "hands must be a whole number from 1"),
        (2, 10**13, 0, "hands must be a whole number from 1 to 1,000,000,000,000"),
        (2, 10, -1, "seed must be a whole number from 0 to 9,223,372,036,854,775,807, not -1"),
    ],
)
def test_matches_that_make_no_sense(strategies: int, hands: int, seed: int, message: str) -> None:
    flat = flatten("kuhn")
    with pytest.raises(FogplayError, match=message):
        play_match(flat, [flat.uniform()] * strategies, hands, seed=seed)
