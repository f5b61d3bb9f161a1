"""Learning hold'em through its simulator: every sampler, checkpoints, snapshots, responses, refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fogplay import FogplayError, flatten, load, respond, solve
from fogplay.bots.holdem import YARDSTICKS
from fogplay.simulators import simulator_for
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.solvers.sampling import MonteCarloCfr, SelfPlay
from fogplay.strategies import TabularStrategy
from fogplay.strategies.betting import BettingStrategy
from tests.helpers import fogplay as run

SPEC = "holdem(grid=ehs2-percentile:10/10/10/10)"
VERDICTS = ("wins", "loses", "undecided")
SAMPLERS = ["smooth-uct", "uct", "os-mccfr", "es-mccfr", "cs-mccfr"]


@pytest.fixture(scope="module")
def simulator() -> HoldemSimulator:
    made = simulator_for(SPEC)
    assert isinstance(made, HoldemSimulator)
    return made


@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_every_sampler_learns_not_to_fold_aces(simulator: HoldemSimulator, algorithm: str) -> None:
    iterations = {"es-mccfr": 20_000, "cs-mccfr": 3_000}.get(algorithm, 400_000)
    profile = solve(simulator, algorithm, iterations, seed=1).strategy
    assert isinstance(profile, BettingStrategy)
    assert profile.game == simulator.name
    first = profile.probabilities(0, 9)  # the button opens with a hand of the best tenth: fold, call, raise
    assert first[0] < 0.05
    assert first.sum() == pytest.approx(1)


def test_the_papers_exploration_is_the_default(simulator: HoldemSimulator) -> None:
    """Equation 3 of 2015 with C = 24 big blinds and k = 0.5; a constant c puts both aside."""
    learner = SelfPlay(simulator, "smooth-uct", {"seed": 1})
    assert {name: learner.parameters[name] for name in ("k", "cap", "d")} == {"k": 0.5, "cap": 240.0, "d": 1 / 20_000}
    table = learner.driver.policy.exploration.c
    assert table.max() == 240.0
    assert table.min() < 240.0
    constant = SelfPlay(simulator, "uct", {"seed": 1, "c": 33.0})
    assert constant.parameters["k"] is None
    assert (constant.driver.policy.exploration.c == 33.0).all()
    three = HoldemSimulator.of("holdem(players=3,max_raises=[1,1,1,1],grid=ehs2:2/2/2/2)")
    assert SelfPlay(three, "uct", {"seed": 1}).parameters["cap"] == 3 * three.rules.most_paid() / 2
    assert 3 * load("holdem(players=3)").most_paid() / 2 == 360.0


@pytest.mark.parametrize("algorithm", ["smooth-uct", "os-mccfr"])
def test_a_resumed_run_ends_in_the_same_bits(simulator: HoldemSimulator, algorithm: str, tmp_path: Path) -> None:
    """Deals are told in batches, so the checkpoint holds those that are under way."""
    file = tmp_path / "checkpoint"
    whole = solve(simulator, algorithm, 10_007, seed=5).strategy
    solve(simulator, algorithm, 3_001, seed=5, checkpoint=file)
    again = solve(simulator, algorithm, 10_007, seed=5, checkpoint=file, resume=True).strategy
    assert (again.share == whole.share).all()
    other = solve(simulator, algorithm, 10_007, seed=6).strategy
    assert (other.share != whole.share).any()
    with pytest.raises(FogplayError, match="game"):
        solve("holdem(grid=ehs2-percentile:11/10/10/10)", algorithm, 20_000, seed=5, checkpoint=file, resume=True)


def test_threads_share_the_tables(simulator: HoldemSimulator) -> None:
    learner = SelfPlay(simulator, "uct", {"seed": 1, "threads": 2})
    learner.advance(1, 20_000)
    root = simulator.betting.nodes[0]
    first = slice(int(root.slot), int(root.slot) + 10 * int(root.stride))
    at_root = learner.kept()["visits"][first].reshape(10, -1)[:, : int(root.count)].sum()
    assert 19_000 < at_root <= 20_000  # the button always acts first


def test_snapshots_and_greedy(simulator: HoldemSimulator) -> None:
    seen: dict[int, BettingStrategy] = {}
    last = solve(
        simulator, "uct", 20_000, seed=1, curve=[5_000, 20_000], greedy=True, snapshot=seen.__setitem__
    ).strategy
    assert list(seen) == [5_000, 20_000]
    assert seen[5_000].iterations == 5_000
    assert (seen[20_000].share == last.share).all()
    assert (seen[5_000].share != last.share).any()
    assert set(np.unique(last.share)) == {0, 255}


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
def test_responses_exploit_a_caller(simulator: HoldemSimulator, kind: str) -> None:
    """Against someone who always calls, a response bets good hands and hardly ever bets bad ones."""
    weights = np.zeros(simulator.num_slots)
    betting = simulator.betting
    for node in betting.nodes[betting.nodes["player"] >= 0]:
        for bucket in range(10):
            weights[int(node.slot) + bucket * int(node.stride) + int(node.calling)] = 1
    caller = BettingStrategy.of(simulator.rules, simulator.betting, weights=weights, greedy=True, method="always-call")
    found = respond(simulator, caller, 1.0, kind=kind, algorithm="es-mccfr", iterations=60_000, seed=1)
    assert found.quality is None
    assert found.strategy.method == kind
    button = found.strategy.probabilities(0, 9), found.strategy.probabilities(0, 0)
    assert button[0][2] > 0.9
    assert button[1][2] < 0.3
    # Both seats are there: the big blind's answer to a call was learned in another run than the button's opening.
    after_call = int(betting.nodes[0].first_child) + 1
    assert found.strategy.probabilities(after_call, 9)[-1] > 0.9


def test_linear_averaging_weighs_every_iteration_by_its_number(simulator: HoldemSimulator) -> None:
    """The same iterations, one at a time: what each adds to the average is t times as much, and visits are counted."""
    even, linear = (
        MonteCarloCfr(simulator, "es-mccfr", {"seed": 4, **chosen}) for chosen in ({}, {"averaging": "linear"})
    )
    for iteration in range(1, 12):
        added = []
        for learner in (even, linear):
            before = learner.kept()["weights"].copy()
            learner.advance(iteration, 1)
            added.append(learner.kept()["weights"] - before)
        np.testing.assert_allclose(added[1], iteration * added[0], rtol=1e-6, atol=1e-9)
    counts = [learner.kept()["counts"] for learner in (even, linear)]
    assert counts[1].sum() > 0
    assert counts[1].sum() == pytest.approx(counts[0].sum())
    made = [simulator.strategy(learner.kept(), "es-mccfr", False) for learner in (even, linear)]
    assert (made[0].levels == made[1].levels).all()
    with pytest.raises(FogplayError, match="averaging"):
        solve(simulator, "es-mccfr", 10, averaging="quadratic")


def test_auto_averages_linearly_where_there_is_no_tree(simulator: HoldemSimulator) -> None:
    chosen = solve(simulator, iterations=2_000, seed=3)
    named = solve(simulator, "es-mccfr", 2_000, seed=3, averaging="linear")
    assert (chosen.algorithm, chosen.parameters) == ("es-mccfr", {"averaging": "linear"})
    assert (chosen.strategy.share == named.strategy.share).all()
    assert solve("kuhn", "es-mccfr", 100).parameters == {}


def test_refusals(simulator: HoldemSimulator, tmp_path: Path) -> None:
    with pytest.raises(FogplayError, match=r"cfr\+ needs the whole tree"):
        solve(simulator, "cfr+", 10)
    with pytest.raises(FogplayError, match="lp needs the whole tree"):
        solve(simulator, "lp")
    flat = flatten("kuhn")
    with pytest.raises(FogplayError, match="must be a strategy of that game, not of kuhn"):
        respond(simulator, TabularStrategy.of(flat, flat.uniform(), "x"), 0.5, algorithm="os-mccfr", iterations=10)
    with pytest.raises(FogplayError, match="must be a strategy of that game, not of holdem"):
        respond(flat, solve(simulator, "uct", 10).strategy, 0.5, iterations=10)
    other = solve("holdem(grid=ehs2-percentile:12/10/10/10)", "uct", 10).strategy
    with pytest.raises(FogplayError, match="grid"):
        respond(simulator, other, 0.5, algorithm="os-mccfr", iterations=10)
    done = run("solve", "holdem", "-a", "cfr+", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].startswith("fogplay: cfr+ needs the whole tree")
    done = run("solve", SPEC, "--snapshots", "10,ten", cwd=tmp_path)
    assert done.returncode == 2
    assert "--snapshots takes numbers of iterations" in done.stderr


def test_the_command(tmp_path: Path) -> None:
    done = run(
        "solve", SPEC, "-n", "20000", "--snapshots", "1e4", "--greedy", "--json", "--out", "p.safetensors", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert facts["nash_conv"] is None
    assert facts["iterations"] == 20_000
    assert [row["bot"] for row in facts["matches"]] == list(YARDSTICKS)
    assert all(row["standard_error"] > 0 and row["verdict"] in VERDICTS for row in facts["matches"])
    infosets = sum(10 * count for count in load(SPEC).decisions())
    assert facts["visits_per_infoset"]["infosets"] == infosets
    assert 0 < facts["visits_per_infoset"]["never"] < infosets
    assert BettingStrategy.read(tmp_path / "p.safetensors").iterations == 20_000
    assert BettingStrategy.read(tmp_path / "p.10000.safetensors").iterations == 10_000
    told = run("solve", SPEC, "-n", "20000", cwd=tmp_path)
    assert "actions to learn" in told.stderr
    assert "fogplay match" in told.stdout
    assert re.search(r"sparring +-\d+ +\d+ +loses", told.stdout)
    assert re.search(r"It loses to .*sparring.*: learn longer", told.stdout)
    assert re.search(r"infosets: [\d,]+ never visited", told.stdout)
    assert "sparring" not in run("solve", SPEC, "-n", "2000", "--matches", "0", cwd=tmp_path).stdout


@pytest.mark.slow
def test_a_minute_of_two_cores_beats_the_bots(tmp_path: Path) -> None:
    """Each beyond two standard errors, by the matches that the command itself plays."""
    done = run("solve", "holdem", "--threads", "2", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    won = {row["bot"]: row["mean"] / row["standard_error"] for row in facts["matches"]}
    for bot in ("always-raise", "always-call", "rules", "sparring"):
        assert won[bot] > 2, won
