"""Monte Carlo CFR: unbiased in all its forms, the paper's worked example, and convergence within tight bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from fogplay import solve
from fogplay.evaluate import measure
from fogplay.experiments.sampling_equilibria_2011 import worked_example
from fogplay.jit import kernel
from fogplay.kernels import outcome_sampling, traversal_sampling
from fogplay.kernels.regret import regret_matching
from fogplay.solvers.full_width import FullWidth
from fogplay.solvers.sampling import MonteCarloCfr
from fogplay.trees import FlatGame, flatten
from tests.random_games import RandomGame, random_games

FORMS: list[tuple[str, dict[str, Any]]] = [
    ("os-mccfr", {"updates": "parallel", "averaging": "lazy", "epsilon": 0.6}),
    ("os-mccfr", {"updates": "parallel", "averaging": "stochastic", "epsilon": 0.3}),
    ("os-mccfr", {"updates": "alternating", "averaging": "lazy", "epsilon": 0.6}),
    ("os-mccfr", {"updates": "alternating", "averaging": "stochastic", "epsilon": 0.6}),
    ("os-mccfr", {"updates": "alternating", "averaging": "stochastic", "epsilon": 0.5, "explore": "all"}),
    ("es-mccfr", {}),
    ("cs-mccfr", {}),
]
FALSE_ALARMS = 1e-6  # the probability that a test below fails although the kernel is right, over all its slots


@kernel
def _outcomes(game, start, tables, policy, rng, scratch, first, sums, squares, count):
    """Add up the regrets that ``count`` single iterations give from the same start, and their squares."""
    for number in range(count):
        for slot in range(len(start)):
            tables.regret[slot] = start[slot]
        outcome_sampling.run(game, tables, policy, rng, scratch, first + number, 1, 1)
        for slot in range(len(start)):
            change = tables.regret[slot] - start[slot]
            sums[slot] += change
            squares[slot] += change * change


@kernel
def _traversals(game, start, tables, policy, rng, scratch, first, sums, squares, count):
    for number in range(count):
        for slot in range(len(start)):
            tables.regret[slot] = start[slot]
        traversal_sampling.run(game, tables, policy, rng, scratch, first + number, 1, 1)
        for slot in range(len(start)):
            change = tables.regret[slot] - start[slot]
            sums[slot] += change
            squares[slot] += change * change


def exact_regrets(flat: FlatGame, start: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """[slots] the counterfactual regrets of one simultaneous CFR iteration from these cumulative regrets."""
    learner = FullWidth(flat, "cfr", {"alternating": False})
    learner.learned.regret[:] = start
    learner.advance(1, 1)
    return learner.learned.regret - start


def assert_unbiased(flat: FlatGame, algorithm: str, parameters: dict[str, Any], samples: int, seed: int) -> None:
    """A z-test at every slot; the error rate is shared out over the slots (Bonferroni)."""
    start = np.random.default_rng(seed).normal(size=flat.num_slots)
    learner = MonteCarloCfr(flat, algorithm, {"seed": seed, **parameters})
    sums, squares = np.zeros(flat.num_slots), np.zeros(flat.num_slots)
    loop = _outcomes if algorithm == "os-mccfr" else _traversals
    loop(
        learner.driver.games[0],
        start,
        learner.driver.tables,
        learner.driver.policy,
        learner.driver.rng[0],
        learner.driver.scratches[0],
        1,
        sums,
        squares,
        samples,
    )
    turns = flat.num_players if parameters.get("updates") != "parallel" else 1  # each player learns once in so many
    mean, wanted = sums / samples, exact_regrets(flat, start) / turns
    error = np.sqrt(np.maximum(squares / samples - mean**2, 0) / samples)
    bound = math.sqrt(
        2 * math.log(2 * max(flat.num_slots, 1) / FALSE_ALARMS)
    )  # P(|Z| > x) < 2 exp(-x²/2) at every slot
    off = np.abs(mean - wanted)
    assert (off <= bound * error + 1e-12).all(), np.max(off / (error + 1e-12))
    assert error.max(initial=0) < 0.5 * np.abs(wanted).max(initial=0) + 0.1  # precise enough to mean something


@pytest.mark.parametrize(("algorithm", "parameters"), FORMS)
@pytest.mark.parametrize("spec", ["kuhn", "kuhn(players=3)", "goofspiel(cards=3)", "bluff(2,1,2)"])
def test_sampled_regrets_are_unbiased(spec: str, algorithm: str, parameters: dict[str, Any]) -> None:
    assert_unbiased(flatten(spec), algorithm, parameters, samples=200_000, seed=11)


@pytest.mark.parametrize(("algorithm", "parameters"), [FORMS[0], *FORMS[3:]])
@given(random_games())
@settings(max_examples=12, deadline=None)
def test_sampled_regrets_are_unbiased_on_random_games(
    algorithm: str, parameters: dict[str, Any], game: RandomGame
) -> None:
    assert_unbiased(flatten(game), algorithm, parameters, samples=20_000, seed=game.seed % 1000)


def test_the_unbiasedness_test_can_fail() -> None:
    flat = flatten("kuhn")
    learner = MonteCarloCfr(flat, "os-mccfr", {"seed": 1})
    learner.driver.policy = learner.driver.policy._replace(epsilon=0.6)
    start = np.random.default_rng(1).normal(size=flat.num_slots)
    sums, squares = np.zeros(flat.num_slots), np.zeros(flat.num_slots)
    args = (
        learner.driver.games[0],
        start,
        learner.driver.tables,
        learner.driver.policy,
        learner.driver.rng[0],
        learner.driver.scratches[0],
        1,
        sums,
        squares,
    )
    _outcomes(*args, 200_000)
    wrong = exact_regrets(flat, start) * 1.05  # a weight that is off by a twentieth
    error = np.sqrt((squares / 200_000 - (sums / 200_000) ** 2) / 200_000)
    assert (np.abs(sums / 200_000 - wrong) > 6 * error).any()


def test_the_worked_example_of_2011() -> None:
    """Section 3.2.3: K|Q, bet, pass on the first iteration, whatever ε is."""
    for epsilon in (0.1, 0.6, 1.0):
        tables = worked_example(epsilon)
        assert tables["Q:b"]["regret"] == pytest.approx([-1, 1])
        assert tables["K:"]["regret"] == pytest.approx([-1, 1])
        assert tables["Q:b"]["sums"] == pytest.approx([0.5, 0.5])
        assert tables["K:"]["sums"] == pytest.approx([0.5, 0.5])
        assert tables["Q:b"]["w"] == pytest.approx([-2])
        assert tables["K:"]["w"] == pytest.approx([4])


@pytest.mark.parametrize(("algorithm", "parameters"), FORMS)
def test_the_average_of_a_fixed_strategy_is_that_strategy(algorithm: str, parameters: dict[str, Any]) -> None:
    """With payoffs of 0 nobody learns, so every average must stay at the uniform strategy they all play."""
    flat = flatten("kuhn(players=3)")
    still = flat.tree._replace(payoffs=np.zeros_like(flat.tree.payoffs))
    learner = MonteCarloCfr(flat, algorithm, {"seed": 3, **parameters})
    learner.driver.games = [learner.driver.games[0]._replace(payoffs=still.payoffs)]
    learner.advance(1, 20_000)
    np.testing.assert_allclose(learner.average(), flat.uniform(), atol=1e-9)
    assert (learner.driver.tables.average > 0).all()


BOUNDS = {"kuhn": (3_000_000, 0.01), "leduc": (20_000_000, 0.1)}


@pytest.mark.parametrize("spec", list(BOUNDS))
@pytest.mark.parametrize(("algorithm", "parameters"), [*FORMS[:1], *FORMS[2:]])
def test_convergence(spec: str, algorithm: str, parameters: dict[str, Any]) -> None:
    iterations, bound = BOUNDS[spec]
    iterations //= 1 if algorithm == "os-mccfr" else 10
    iterations *= 2 if parameters.get("explore") == "all" else 1  # larger weights: it learns more slowly
    result = solve(spec, algorithm, iterations, seed=1, **parameters)
    assert result.nash_conv is not None
    assert result.nash_conv < bound


def test_three_players_learn_on_kuhn() -> None:
    for algorithm in ("os-mccfr", "es-mccfr", "cs-mccfr"):
        result = solve("kuhn(players=3)", algorithm, 2_000_000, seed=1)
        assert result.nash_conv is not None
        assert result.nash_conv < 0.05


def test_chance_sampling_without_chance_is_cfr() -> None:
    """On a game without chance a traversal for each player in turn is an iteration of alternating CFR."""
    flat = flatten("goofspiel(cards=3,payoff=points)")
    sampled = MonteCarloCfr(flat, "cs-mccfr", {"seed": 1})
    full = FullWidth(flat, "cfr", {})
    start = np.random.default_rng(1).normal(size=flat.num_slots)  # no ties for rounding to break
    sampled.driver.tables.regret[:] = full.learned.regret[:] = start
    sampled.advance(2, 200)  # from player 0 on
    full.advance(1, 100)
    np.testing.assert_allclose(sampled.average(), full.average(), atol=1e-12)
    np.testing.assert_allclose(sampled.driver.tables.regret, full.learned.regret, atol=1e-9)
    assert measure(flat, sampled.average()).nash_conv == pytest.approx(measure(flat, full.average()).nash_conv)


def test_a_strategy_adds_up_though_others_change_the_regrets() -> None:
    """Each regret is read once: what is read a second time may be another thread's."""

    class Restless:
        reads = 0

        def __getitem__(self, slot: int) -> float:
            self.reads += 1
            return float(self.reads)

    strategy, regret = np.zeros(3), Restless()
    regret_matching.py_func(regret, 0, 3, strategy, 0)
    assert regret.reads == 3
    assert strategy.tolist() == [1 / 6, 2 / 6, 3 / 6]
