"""The wrapper that binds players to a model plays the same game as the transform of the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fogplay import FogplayError
from fogplay.evaluate import measure
from fogplay.kernels import outcome_sampling, traversal_sampling, uct
from fogplay.simulators.policies import ByPlayer
from fogplay.simulators.questions import advance, deal, is_terminal, num_actions, payoff, slot_of, start
from fogplay.simulators.restricted import DataBiased, Explored, RestrictedNash
from fogplay.simulators.streams import below, streams
from fogplay.simulators.tree import tree_game
from fogplay.solvers import respond, solve
from fogplay.trees import FlatGame, flatten
from fogplay.trees.restrict import data_biased, restricted_nash
from tests.helpers import random_probabilities

RESPONDER, CONFIDENCE = 1, 0.4


def pair(flat: FlatGame, kind: str) -> tuple[FlatGame, Any]:
    """The same restricted game, as a tree and as a wrapped simulator."""
    fixed, inner = random_probabilities(flat, 3), tree_game(flat)
    if kind == "rnr":
        return restricted_nash(flat, RESPONDER, fixed, CONFIDENCE), RestrictedNash(inner, RESPONDER, CONFIDENCE, fixed)
    confidence = np.random.default_rng(4).random(flat.num_infosets)
    confidence[::5] = 0.0
    confidence[1::7] = 1.0
    by_slot = np.repeat(confidence, np.diff(flat.tree.infoset_start))
    return data_biased(flat, RESPONDER, fixed, confidence), DataBiased(inner, RESPONDER, by_slot, fixed)


def visits(game: Any, slots: int, episodes: int) -> np.ndarray[Any, Any]:
    """[slots + 2] how often each action is taken when the free players choose evenly, then the sums of payoffs."""
    rng, counts = streams(5, 1)[0], np.zeros(slots + 2)
    for _ in range(episodes):
        signals = deal(game, rng)
        node = start(game, signals, rng)
        while not is_terminal(game, node):
            action = below(rng, num_actions(game, node))
            counts[slot_of(game, node, signals) + action] += 1
            node = advance(game, node, action, signals, rng)
        for player in range(2):
            counts[slots + player] += payoff(game, node, signals, player)
    return counts


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
def test_episodes_have_the_same_distribution(kind: str) -> None:
    flat = flatten("kuhn")
    tree, wrapped = pair(flat, kind)
    episodes = 30_000
    one, other = (visits(game, flat.num_slots, episodes) for game in (tree_game(tree), wrapped))
    # a count's variance is at most the count, a payoff's at most 4 an episode
    spread = np.sqrt(np.r_[one[:-2] + other[:-2], 8 * episodes, 8 * episodes])
    assert (np.abs(one - other) <= 4.5 * spread).all()
    others = flat.tree.infoset_player != RESPONDER
    bound = np.repeat(others, np.diff(flat.tree.infoset_start))
    assert one[:-2][bound].sum() < 0.9 * one[:-2][~bound].sum()  # their bound moves are never seen


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
def test_exploring_the_model_changes_no_expectation(kind: str) -> None:
    """Weighted by what makes up for exploration, all counts and payoffs are those of the plain draw."""
    flat, episodes = flatten("kuhn"), 40_000
    _, wrapped = pair(flat, kind)
    sums, squares = {}, {}
    for name, game in (("plain", wrapped), ("explored", Explored(wrapped, 0.6))):
        rng = streams(6, 1)[0]
        table = np.zeros((episodes, flat.num_slots + 1))
        for episode in range(episodes):
            signals = deal(game, rng)
            node = start(game, signals, rng)
            while not is_terminal(game, node):
                action = below(rng, num_actions(game, node))
                weight = node[1] if name == "explored" else 1.0
                table[episode, slot_of(game, node, signals) + action] += weight
                node = advance(game, node, action, signals, rng)
            table[episode, -1] = payoff(game, node, signals, RESPONDER)
        sums[name], squares[name] = table.mean(0), table.var(0)
    spread = np.sqrt((squares["plain"] + squares["explored"]) / episodes)
    assert (np.abs(sums["plain"] - sums["explored"]) <= 4.5 * spread).all()
    assert squares["explored"][-1] > 1.05 * squares["plain"][-1]  # and it does explore


def test_responses_with_explored_models_are_responses() -> None:
    flat = flatten("kuhn")
    model = solve(flat, "uct", 2_000, seed=1).strategy
    exact = respond(flat, model, 0.7, algorithm="lp").quality
    for kind in ("rnr", "dbr"):
        found = respond(
            flat, model, 0.7, kind=kind, algorithm="os-mccfr", iterations=1_000_000, explore_model=0.6, seed=1
        )
        assert found.quality is not None
        assert exact is not None
        if kind == "rnr":
            assert found.quality.winnings == pytest.approx(exact.winnings, abs=0.03)
    with pytest.raises(FogplayError, match="explore_model is for os-mccfr"):
        respond(flat, model, 0.7, explore_model=0.6)


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
def test_the_kernels_learn_the_same_game_through_the_wrapper(kind: str) -> None:
    flat = flatten("leduc(suits=unseen)")
    tree, wrapped = pair(flat, kind)
    width, depth, slots = flat.widest, flat.deepest + 1, flat.num_slots

    def tables() -> outcome_sampling.Tables:
        return outcome_sampling.Tables(np.zeros(slots), np.zeros(slots), np.zeros(slots, np.int64))

    def as_on_the_tree(weights: np.ndarray[Any, Any], algorithm: str, iterations: int, **parameters: Any) -> bool:
        """Whether what was learned is as good, give or take, as by the same algorithm on the transformed tree."""
        found = measure(tree, flat.shares(weights)).nash_conv
        expected = solve(tree, algorithm, iterations, seed=2, **parameters).nash_conv
        start = measure(tree, flat.uniform()).nash_conv
        return expected is not None and found < 4 * expected < 0.2 * start  # seeds differ by a factor of two

    learned = tables()
    path = outcome_sampling.Path(width, np.zeros(depth, outcome_sampling.STEP), np.zeros(depth * width), np.zeros(2))
    policy = outcome_sampling.Form(epsilon=0.6, alternating=False, lazy=True, players=2)
    outcome_sampling.run(wrapped, learned, policy, streams(1, 1)[0], path, 1, 1, 2_000_000)
    assert as_on_the_tree(learned.average, "os-mccfr", 2_000_000, epsilon=0.6)

    learned = tables()
    stack = traversal_sampling.Stack(
        width,
        np.zeros(depth, traversal_sampling.FRAME),
        np.zeros(depth * width),
        np.zeros(depth * width),
        np.zeros((depth + 1, 2)),
        np.zeros(0),
        np.zeros(0, traversal_sampling.TOUCHED),
        np.zeros(1, np.int64),
    )
    traversal_sampling.run(wrapped, learned, traversal_sampling.External(2), streams(1, 1)[0], stack, 1, 1, 1_000_000)
    assert as_on_the_tree(learned.average, "es-mccfr", 1_000_000)

    cells = uct.Tables(np.zeros(slots, uct.CELL))
    smooth = uct.Selection(uct.Decay(0.1, 0.9, 0.002), uct.Uniform(), ByPlayer(np.full(2, 18.0)))
    uct.run(wrapped, cells, smooth, streams(1, 1)[0], uct.Path.of(depth, 2), 1, 1, 3_000_000)
    assert as_on_the_tree(cells.cell["visits"].astype(np.float64), "smooth-uct", 3_000_000, c=18.0)
