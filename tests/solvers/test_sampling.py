"""Sampling algorithms as a user calls them: seeds, resuming, threads, outputs, refusals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fogplay import FogplayError, Strategy, evaluate, solve
from fogplay.solvers.sampling import MonteCarloCfr, SelfPlay
from fogplay.strategies import TabularStrategy
from fogplay.trees import flatten
from tests.solvers.test_run import tables
from tests.trees.test_flatten import Forgetful

SAMPLERS = ["uct", "smooth-uct", "os-mccfr", "es-mccfr", "cs-mccfr"]


@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_the_same_seed_gives_the_same_bits(algorithm: str) -> None:
    one, two, other = (solve("leduc", algorithm, 20_000, seed=seed).strategy.probabilities for seed in (3, 3, 4))
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != other.tobytes()


@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_resuming_is_bit_for_bit_the_same(tmp_path: Path, algorithm: str) -> None:
    settings: dict[str, Any] = {"seed": 9, "curve": 4, "measures": ("nash_conv", "squared_error")}
    whole = solve("kuhn", algorithm, 30_000, checkpoint=tmp_path / "whole", **settings)
    solve("kuhn", algorithm, 11_111, checkpoint=tmp_path / "parts", **settings)
    parts = solve("kuhn", algorithm, 30_000, checkpoint=tmp_path / "parts", resume=True, **settings)
    assert tables(tmp_path / "whole") == tables(tmp_path / "parts")
    assert whole.strategy.probabilities.tobytes() == parts.strategy.probabilities.tobytes()
    shared = {point.iteration: point.values for point in parts.curve}
    assert all(shared[point.iteration] == point.values for point in whole.curve)


def test_measuring_does_not_disturb_the_run() -> None:
    watched = solve("leduc", "smooth-uct", 100_000, seed=1, curve=20, progress=lambda now: None)
    alone = solve("leduc", "smooth-uct", 100_000, seed=1)
    assert watched.strategy.probabilities.tobytes() == alone.strategy.probabilities.tobytes()
    assert len(watched.curve) > 60
    assert watched.curve[-1].nash_conv == alone.nash_conv


@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_threads_share_the_tables(algorithm: str) -> None:
    result = solve("leduc", algorithm, 400_000, seed=1, threads=2)
    one = solve("leduc", algorithm, 400_000, seed=1)
    assert result.iterations == 400_000
    assert result.nash_conv is not None
    assert one.nash_conv is not None
    assert result.nash_conv < 1.5 * one.nash_conv + 0.05
    if algorithm == "uct":
        assert result.strategy.visits is not None
        assert one.strategy.visits is not None
        first = result.strategy.infoset_player == 0
        total = np.add.reduceat(result.strategy.visits, result.strategy.infoset_start[:-1])[first].sum()
        alone = np.add.reduceat(one.strategy.visits, one.strategy.infoset_start[:-1])[first].sum()
        assert 0.8 * alone < total < 1.2 * alone


def test_threads_that_share_regrets_never_divide_by_zero() -> None:
    """A regret read twice, and changed between, made strategies that do not add up: such runs ended in NaN."""
    settings: dict[str, Any] = {"updates": "alternating", "averaging": "stochastic", "epsilon": 0.5}
    for seed in (1, 2):
        playing = MonteCarloCfr(flatten("leduc(suits=unseen)"), "os-mccfr", {"seed": seed, "threads": 2, **settings})
        for first in range(1, 12_000_000, 3_000_000):
            playing.advance(first, 3_000_000)
        for name, table in playing.tables().items():
            assert np.isfinite(table).all(), name


def test_threads_divide_the_iterations() -> None:
    seen = []
    driver = MonteCarloCfr(flatten("kuhn"), "os-mccfr", {"seed": 1, "threads": 3}).driver
    driver.run = lambda _game, _tables, _policy, _rng, _scratch, *part: seen.append(part)
    driver.advance(10, 8)
    assert sorted(seen) == [(10, 3, 3), (11, 3, 3), (12, 3, 2)]


def test_outputs() -> None:
    strategy = solve("leduc", "smooth-uct", 3_000_000, seed=1).strategy
    assert strategy.visits is not None
    assert strategy.action_values is not None
    for infoset in ("Kh:", "Jh:r"):
        where = strategy.slots(infoset)
        np.testing.assert_allclose(strategy.probabilities[where], strategy.visits[where] / strategy.visits[where].sum())
    greedy = strategy.greedy()
    assert set(greedy.probabilities) == {0.0, 1.0}
    assert greedy.method == "smooth-uct, greedy"
    where = strategy.slots("Jh:r")
    assert greedy.probabilities[where].argmax() == strategy.action_values[where].argmax()
    assert evaluate(greedy).nash_conv > evaluate(strategy).nash_conv  # pure strategies are exploitable in Leduc
    plain = solve("kuhn", "cfr+", 1000).strategy.greedy()
    assert plain["K:b"] == {"pass": 0.0, "bet": 1.0}


def test_round_trip_with_visits_and_values(tmp_path: Path) -> None:
    strategy = solve("kuhn", "uct", 10_000).strategy
    strategy.save(tmp_path / "kuhn.safetensors")
    again = Strategy.load(tmp_path / "kuhn.safetensors")
    assert strategy.visits is not None
    assert again.visits is not None
    assert again.visits.tolist() == strategy.visits.tolist()
    assert again.parameters["c"] == 2.0


def test_defaults_are_the_papers_on_their_games_and_scaled_elsewhere() -> None:
    def parameters(game: str, algorithm: str) -> dict[str, Any]:
        return dict(solve(game, algorithm, 10).parameters)

    assert parameters("leduc", "smooth-uct")["c"] == 18
    assert parameters("leduc(suits=unseen)", "uct")["c"] == 20
    assert parameters("kuhn", "smooth-uct")["d"] == 0.001
    assert parameters("leduc", "os-mccfr")["epsilon"] == 0.5
    assert parameters("kuhn", "os-mccfr")["epsilon"] == 0.6
    assert parameters("rps", "uct")["c"] == pytest.approx(60)


@pytest.mark.parametrize("algorithm", SAMPLERS)
@pytest.mark.parametrize(
    "spec", ["goofspiel(cards=4)", "bluff(1,1,3)", "pam(2,2,4)", "biased-rps", "repeated(rps,hands=2)"]
)
def test_every_sampler_learns_every_game(spec: str, algorithm: str) -> None:
    flat = flatten(spec)
    result = solve(flat, algorithm, 1_000_000, seed=1)
    assert result.nash_conv is not None
    random = evaluate(TabularStrategy.of(flat, flat.uniform(), "uniform"), flat).nash_conv
    if algorithm == "uct":  # UCT need not come near equilibrium, but it must not be absurd
        assert result.nash_conv < max(1.5 * random, 0.5 * flat.payoff_range)
    else:
        assert result.nash_conv < 0.05 * flat.payoff_range


def test_imperfect_recall_is_no_obstacle() -> None:
    for algorithm in SAMPLERS:
        result = solve(Forgetful(), algorithm, 1000)
        assert result.nash_conv is None
        assert np.isfinite(result.strategy.probabilities).all()


@pytest.mark.parametrize(
    ("algorithm", "name", "value", "allowed"),
    [
        ("uct", "c", math.nan, "from 0 to 1e"),
        ("uct", "c", math.inf, "from 0 to 1e"),
        ("uct", "c", -1, "from 0 to 1e"),
        ("uct", "c", [1, 2, 3], "one for each of 2 players"),
        ("uct", "c", "big", "from 0 to 1e"),
        ("uct", "k", 2, "from 0 to 1"),
        ("uct", "cap", 5, "set k too"),
        ("uct", "rollout", "dice", "uniform or call-down or on-policy"),
        ("smooth-uct", "eta", 1.5, "from 0 to 1"),
        ("smooth-uct", "gamma", math.nan, "from 0 to 1"),
        ("smooth-uct", "d", -0.1, "from 0 to 1e"),
        ("smooth-uct", "schedule", "never", "decay or confidence or slow-decay"),
        ("smooth-uct", "threshold", 0.5, "whole number"),
        ("os-mccfr", "epsilon", 0, "from 0.001 to 1"),
        ("os-mccfr", "epsilon", 2.0, "from 0.001 to 1"),
        ("os-mccfr", "epsilon", math.nan, "from 0.001 to 1"),
        ("os-mccfr", "updates", "both", "parallel or alternating"),
        ("os-mccfr", "averaging", "none", "lazy or stochastic"),
    ],
)
def test_absurd_parameters_are_refused_with_what_is_allowed(
    algorithm: str, name: str, value: Any, allowed: str
) -> None:
    with pytest.raises(FogplayError, match=allowed):
        solve("kuhn", algorithm, 10, **{name: value})


def test_other_refusals() -> None:
    with pytest.raises(FogplayError, match="no pot for exploration to follow"):
        solve("rps", "uct", 10, k=0.5)
    with pytest.raises(FogplayError, match="no action that calls"):
        solve("rps", "uct", 10, rollout="call-down")
    with pytest.raises(FogplayError, match="threads must be a whole number from 1 to 1024"):
        solve("kuhn", "uct", 10, threads=0)
    with pytest.raises(FogplayError, match="runs on one thread"):
        solve("kuhn", "cfr+", 10, threads=2)
    with pytest.raises(FogplayError, match="measures must be nash_conv or winnings or risk or squared_error or domin"):
        solve("kuhn", "uct", 10, curve=1, measures=("beauty",))
    with pytest.raises(FogplayError, match="es-mccfr has no parameter 'epsilon'; it has averaging"):
        solve("kuhn", "es-mccfr", 10, epsilon=0.5)


def test_learners_name_all_their_parameters() -> None:
    learner = SelfPlay(flatten("leduc"), "smooth-uct", {"seed": 0, "c": (5, 5)})
    assert learner.parameters["c"] == 5.0
    assert {"schedule", "gamma", "eta", "d", "threshold", "rollout", "k", "cap"} <= learner.parameters.keys()
