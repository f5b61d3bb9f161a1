"""The tree as a simulator: chance by alias tables, random streams, the questions of kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fogplay.games.game import CHANCE
from fogplay.simulators.questions import advance, deal, is_terminal, num_actions, payoff, player_of, slot_of, start
from fogplay.simulators.streams import below, draw, streams, uniform
from fogplay.simulators.tree import alias, tree_game
from fogplay.trees import flatten
from tests.random_games import RandomGame, random_games

CHI_SQUARE_999 = {1: 10.8, 2: 13.8, 3: 16.3, 5: 20.5, 11: 31.3, 29: 58.3}  # exceeded once in a thousand


def test_uniform_numbers_are_uniform() -> None:
    rng = streams(1, 1)[0]
    numbers = np.array([uniform(rng) for _ in range(40_000)])
    assert numbers.min() >= 0
    assert numbers.max() < 1
    counts = np.histogram(numbers, 12, (0, 1))[0]
    assert ((counts - 40_000 / 12) ** 2 / (40_000 / 12)).sum() < CHI_SQUARE_999[11]
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.02


def test_streams_are_reproducible_and_differ() -> None:
    assert streams(7, 3).tolist() == streams(7, 3).tolist()
    assert (
        len({tuple(state) for state in streams(7, 100).tolist()} | {tuple(s) for s in streams(8, 100).tolist()}) == 200
    )


def test_below_and_draw() -> None:
    rng = streams(2, 1)[0]
    counts = np.bincount([below(rng, 6) for _ in range(60_000)], minlength=6)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < CHI_SQUARE_999[5]
    weights = np.array([9.0, 0.1, 0.0, 0.6, 0.3])
    counts = np.bincount([draw(weights, 1, 4, rng) for _ in range(50_000)], minlength=4)
    expected = np.array([5_000, 0, 30_000, 15_000])
    assert counts[1] == 0
    assert ((counts - expected)[expected > 0] ** 2 / expected[expected > 0]).sum() < CHI_SQUARE_999[2]


@given(st.lists(st.just(0.0) | st.floats(1e-6, 1), min_size=1, max_size=12).filter(any))
@settings(max_examples=60, deadline=None)
def test_alias_tables_hold_the_probabilities_exactly(weights: list[float]) -> None:
    first, count = 5, len(weights)
    shares = np.array([9.0] * first + weights + [9.0]) / sum(weights)
    keep, instead = np.ones(len(shares)), np.arange(len(shares), dtype=np.int32)
    alias(shares, first, count, keep, instead, np.zeros(count, np.int32), np.zeros(count))
    implied = np.zeros(len(shares))
    for child in range(first, first + count):
        implied[child] += keep[child] / count
        implied[instead[child]] += (1 - keep[child]) / count
    np.testing.assert_allclose(implied[first:-1], shares[first:-1], atol=1e-12)
    assert not implied[np.flatnonzero(shares == 0.0)].any()
    assert keep[:first].all()
    assert instead[:first].tolist() == [0, 1, 2, 3, 4]


@given(random_games(), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_episodes_walk_the_tree(game: RandomGame, seed: int) -> None:
    """What is played through the questions is a path of the tree, with the tree's own slots, players and payoffs."""
    flat = flatten(game)
    tree, simulator, rng = flat.tree, tree_game(flat), streams(seed, 1)[0]
    parent = {int(tree.first_child[n]) + k: n for n in range(flat.num_nodes) for k in range(tree.num_children[n])}
    for _ in range(20):
        signals = deal(simulator, rng)
        node = start(simulator, signals, rng)
        while not is_terminal(simulator, node):
            assert player_of(simulator, node) == tree.player[node] != CHANCE
            assert slot_of(simulator, node, signals) == tree.infoset_start[tree.row[node]]
            assert num_actions(simulator, node) == tree.num_children[node]
            action = below(rng, num_actions(simulator, node))
            after = advance(simulator, node, action, signals, rng)
            back = after
            while parent[back] != node:
                back = parent[back]
                assert tree.player[back] == CHANCE
            assert back == tree.first_child[node] + action
            node = after
        for player in range(flat.num_players):
            assert payoff(simulator, node, signals, player) == tree.payoffs[tree.row[node], player]


def test_uneven_chance_is_drawn_as_it_should() -> None:
    flat = flatten("bluff(2,1,3)")
    simulator, rng = tree_game(flat), streams(5, 1)[0]
    assert simulator.nodes["slot"][0] == 1  # sorted rolls of two dice are not equally likely
    first = int(flat.tree.first_child[0])
    counts = np.zeros(flat.tree.num_children[0])
    for _ in range(30_000):
        node = start(simulator, 0, rng)
        below_root = [
            k
            for k in range(len(counts))
            if flat.tree.first_child[first + k] <= node < flat.tree.first_child[first + k] + 3
        ]
        counts[below_root[0]] += 1
    expected = flat.tree.probability[first : first + len(counts)] * 30_000
    assert ((counts - expected) ** 2 / expected).sum() < CHI_SQUARE_999[5]
    assert pytest.approx(1) == flat.tree.probability[first : first + len(counts)].sum()
