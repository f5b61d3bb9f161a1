"""Any Python game, played by its own rules."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fogplay import FogplayError, Progress, flatten, load, respond, solve
from fogplay.evaluate import measure
from fogplay.games import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from fogplay.simulators import HashedSimulator, RulesSimulator, Simulator, simulator_for
from fogplay.simulators import referee as referees
from fogplay.simulators.find import hashed
from fogplay.solvers.sampling import MonteCarloCfr, SelfPlay
from fogplay.strategies import TabularStrategy
from fogplay.strategies import load as load_strategy
from fogplay.trees import FlatGame
from tests.helpers import ROOT, fogplay

PHANTOM = "pyspiel:phantom_ttt"


def by_rules(game: Any, infosets: int = 20_000, **rest: Any) -> HashedSimulator:
    return hashed(RulesSimulator(game, **rest), infosets)


def by_tree(game: str) -> HashedSimulator:
    tree = simulator_for(game)
    assert tree.flat is not None
    return HashedSimulator(tree, tree.flat.num_infosets, tree.num_slots)


def learner(simulator: Simulator, algorithm: str, **settings: Any) -> Any:
    constant = {"c": 2.0} if algorithm.endswith("uct") else {}
    make = SelfPlay if algorithm.endswith("uct") else MonteCarloCfr
    return make(simulator, algorithm, {"seed": 5, "threads": 1, **constant, **settings})


def on(flat: FlatGame, strategy: TabularStrategy) -> Any:
    """The strategy on the tree; uniform where it has met nothing."""
    out = flat.uniform()
    for number, name in enumerate(flat.infosets):
        if name in strategy:
            assert tuple(strategy[name]) == flat.actions[flat.slots(number)]
            assert strategy.infoset_player[strategy.find(name)] == flat.tree.infoset_player[number]
            out[flat.slots(number)] = list(strategy[name].values())
    return out


@pytest.mark.parametrize("game", ["kuhn", "leduc", "kuhn(players=3)", "goofspiel(4)", "pyspiel:leduc_poker"])
@pytest.mark.parametrize("algorithm", ["uct", "smooth-uct", "os-mccfr", "es-mccfr"])
def test_the_same_stream_gives_the_numbers_of_the_tree(game: str, algorithm: str) -> None:
    """Where chance is even, a tree and the rules use random numbers alike: every table is the same, to the last bit."""
    there, here = learner(by_tree(game), algorithm), learner(by_rules(game), algorithm)
    for count in (0, 100, 500):
        there.advance(1, count)
        assert here.advance(1, count) == count
    expected, found = there.tables(), here.tables()
    assert found["first"].tolist() == expected["first"].tolist()
    for name in set(expected) - {"keys"}:
        assert found[name].tobytes() == expected[name].tobytes(), name
    flat = flatten(game)
    strategies = [each.simulator.strategy(each.kept(), algorithm, greedy=False) for each in (here, there)]
    assert on(flat, strategies[0]).tolist() == strategies[1].probabilities.tolist()


@pytest.mark.parametrize(
    ("game", "algorithm", "iterations", "bound"),
    [
        ("kuhn", "smooth-uct", 30_000, 0.1),
        ("kuhn", "os-mccfr", 30_000, 0.1),
        ("kuhn", "es-mccfr", 20_000, 0.05),
        ("leduc(suits=unseen)", "es-mccfr", 10_000, 1.0),  # chance is uneven there; uniform play has 4.7
    ],
)
def test_the_rules_are_learned_as_the_tree_is(game: str, algorithm: str, iterations: int, bound: float) -> None:
    result = solve(by_rules(game), algorithm, iterations)
    assert result.nash_conv is None
    assert isinstance(result.strategy, TabularStrategy)
    flat = flatten(game)
    assert measure(flat, on(flat, result.strategy)).nash_conv < bound


def test_uneven_chance_is_drawn_as_often_as_it_should_be() -> None:
    chances = referees._Chances([(7, 0.125), (8, 0.0), (9, 0.625), (3, 0.25)])
    drawn = [chances.draw((number + 0.5) / 1000) for number in range(1000)]
    assert [drawn.count(each) for each in (7, 8, 9, 3)] == [125, 0, 625, 250]


def test_large_games_are_played_by_their_rules(tmp_path: Path) -> None:
    simulator = simulator_for(PHANTOM, infosets=50_000)
    assert simulator.flat is None
    assert simulator.note is not None
    assert "too large for a tree (about " in simulator.note
    assert "plays per second" in simulator.note
    result = solve(simulator, "smooth-uct", 1_000)
    assert result.nash_conv is None
    assert 1_000 < len(result.strategy) <= 2_000
    result.strategy.save(tmp_path / "strategy")
    again = load_strategy(tmp_path / "strategy")
    assert isinstance(again, TabularStrategy)
    assert again.infosets == result.strategy.infosets
    first = again["...\n...\n...\n (player 0)"]  # both players have an infoset of this name
    assert max(first, key=lambda action: first[action]) == "x(1,1)"
    assert sum(first.values()) == pytest.approx(1)


@dataclass(frozen=True)
class Seen:
    infoset: str
    legal: tuple[int, ...]
    seat: int
    luck: float = 0.999
    observation: Any = None


def test_infosets_that_were_never_met_are_played_evenly() -> None:
    strategy = solve(PHANTOM, "smooth-uct", 200, infosets=5_000).strategy
    start = load(PHANTOM).new_initial_state()
    for seat, state in ((0, start), (1, start.child(4))):
        seen = Seen(state.information_state_string(seat), tuple(state.legal_actions()), seat)
        name = f"{seen.infoset} (player {seat})"
        assert strategy.distribution(seen) == list(strategy[name].values())
    unknown = Seen("nowhere", (3, 5, 8), 0)
    assert strategy.distribution(unknown) == [1 / 3] * 3
    assert strategy.act(unknown) == 8
    with pytest.raises(FogplayError, match="has no infoset 'nowhere'"):
        strategy["nowhere"]


@pytest.mark.parametrize("algorithm", ["smooth-uct", "es-mccfr"])
def test_resuming_ends_in_the_same_bits(algorithm: str, tmp_path: Path) -> None:
    whole = solve(by_rules("leduc"), algorithm, 900, checkpoint=tmp_path / "whole")
    solve(by_rules("leduc"), algorithm, 300, checkpoint=tmp_path / "parts")
    parts = solve(by_rules("leduc"), algorithm, 900, checkpoint=tmp_path / "parts", resume=True)
    assert parts.strategy.infosets == whole.strategy.infosets
    assert parts.strategy.probabilities.tobytes() == whole.strategy.probabilities.tobytes()
    assert parts.strategy.actions == whole.strategy.actions


def test_several_threads_share_the_infosets() -> None:
    flat = flatten("kuhn")
    playing = learner(by_rules("kuhn"), "es-mccfr", threads=3)
    playing.advance(1, 9_000)
    strategy = playing.simulator.strategy(playing.kept(), "es-mccfr", greedy=False)
    assert set(strategy.infosets) == set(flat.infosets)
    assert measure(flat, on(flat, strategy)).nash_conv < 0.25  # of uniform play: 0.92; usually 0.03


def test_full_tables_end_the_run() -> None:
    result = solve(by_rules("leduc", 100), "os-mccfr", 10**6)
    assert result.stopped is not None
    assert "100 infosets" in result.stopped
    assert "--resume --infosets 400" in result.stopped
    assert result.interrupted
    assert len(result.strategy) == 100


def test_an_episode_can_start_anywhere() -> None:
    """Here after the deal of a king to player 0 and a jack or a queen to player 1."""
    deal = load("kuhn").new_initial_state().child(2)
    asked: list[float] = []

    def start(luck: float) -> Any:
        asked.append(luck)
        return deal.child(0) if luck < 0.5 else deal.child(1)

    result = solve(by_rules("kuhn", start=start), "smooth-uct", 500)
    assert len(set(asked)) > 500
    assert 0.4 < np.mean(asked) < 0.6
    assert {name[0] for name in result.strategy.infosets} == {"J", "Q", "K"}
    assert sum(name.startswith("K") for name in result.strategy.infosets) == 2
    assert set(result.strategy.infoset_player[[name[0] == "K" for name in result.strategy.infosets]]) == {0}


# ---- Games that are broken


@dataclass(frozen=True)
class Chain(State):
    """Players in turn take one of two actions; something is wrong after the third action 1."""

    fault: str
    made: tuple[int, ...] = ()
    ones: int = 12

    @property
    def wrong(self) -> bool:
        return sum(self.made) >= self.ones

    def current_player(self) -> int:
        if self.fault == "endless":
            return len(self.made) % 2
        if self.wrong and self.fault in ("chance", "simultaneous", "nobody", "third"):
            return {"chance": CHANCE, "simultaneous": SIMULTANEOUS, "nobody": -3, "third": 2}[self.fault]
        return TERMINAL if len(self.made) == 14 else len(self.made) % 2

    def legal_actions(self) -> list[int]:
        if self.wrong and self.fault == "no action":
            return []
        return [0, 1, 2] if self.wrong and self.fault == "other actions" else [0, 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.4), (1, 0.4)]

    def child(self, action: int) -> Chain:
        if self.wrong and self.fault == "raises":
            raise RuntimeError("out of cards")
        return type(self)(self.fault, (*self.made, action), self.ones)

    def information_state_string(self, player: int) -> str:
        if self.fault == "other actions":
            return f"{player} {len(self.made)}"
        return f"{player} {self.made}"

    def returns(self) -> list[float]:
        if self.wrong and self.fault == "payoffs":
            return [1.0]
        return [float("nan"), 0.0] if self.wrong and self.fault == "not a number" else [1.0, -1.0]


@dataclass(frozen=True)
class Broken(Game):
    fault: str
    ones: int = 12

    def new_initial_state(self) -> Chain:
        return Chain(self.fault, (), self.ones)


FAULTS = {
    "raises": "the game's own code failed with RuntimeError: out of cards",
    "no action": "is to act but has no legal action",
    "other actions": "has actions [0, 1] elsewhere and [0, 1, 2] here",
    "third": "player 2 is to act, but players are numbered from 0 to 1",
    "chance": "chance's probabilities must sum to 1; they sum to 0.8",
    "simultaneous": "players move simultaneously; let each act in turn",
    "nobody": "current_player() is -3, which is not a player",
    "payoffs": "returns() has 1 numbers for 2 players",
    "not a number": "a payoff is not a finite number ([nan, 0.0])",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_mistake_is_found_as_it_is_played_and_nothing_is_lost(fault: str, tmp_path: Path) -> None:
    """It is so rare that the run gets somewhere first."""
    simulator = by_rules(Broken(fault))
    result = solve(simulator, "os-mccfr", 10**6, checkpoint=tmp_path / "run")
    assert result.stopped is not None
    assert FAULTS[fault] in result.stopped
    assert "; seen after: " in result.stopped
    assert result.stopped.split("seen after: ")[1].count("1") >= 12
    assert 0 < result.iterations < 10**6
    assert len(result.strategy) > 10
    assert (tmp_path / "run").exists()


@pytest.mark.parametrize("fault", sorted(set(FAULTS) - {"other actions"}))
def test_what_is_broken_from_the_start_is_refused(fault: str) -> None:
    with pytest.raises(FogplayError) as refused:
        by_rules(Broken(fault, ones=0))
    assert FAULTS[fault] in str(refused.value)
    assert "\n" not in str(refused.value)


def test_plays_that_do_not_end_are_reported() -> None:
    with pytest.raises(FogplayError, match=r"is not over after 2,000 moves; every play must end sooner; seen after"):
        solve(Broken("endless"), "uct", 10)


def test_traversals_that_are_too_long_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referees, "MOST_MOVES", 3_000)
    with pytest.raises(FogplayError, match=r"one iteration on goofspiel.* makes over 3,000 moves; use os-mccfr"):
        solve("goofspiel(13)", "es-mccfr", 5, infosets=100_000)


def test_what_cannot_run_on_rules_is_refused() -> None:
    simulator = simulator_for(PHANTOM, infosets=1_000)
    for algorithm in ("cfr+", "lp"):
        with pytest.raises(FogplayError, match=r"needs the whole tree, and pyspiel:phantom_ttt.* is too large for one"):
            solve(simulator, algorithm, 10)
    with pytest.raises(FogplayError, match="cs-mccfr tries all actions of all players"):
        solve(simulator, "cs-mccfr", 10)
    with pytest.raises(FogplayError, match="infosets must be a whole number"):
        simulator_for(PHANTOM, infosets=0)
    with pytest.raises(FogplayError, match=r"infosets of pyspiel:phantom_ttt.* take about .* GB, and .* GB are free"):
        simulator_for(PHANTOM, infosets=10**12)
    with pytest.raises(FogplayError, match="a response to a model needs the whole tree"):
        respond(simulator, solve("kuhn", "cfr", 10).strategy, algorithm="smooth-uct", iterations=5)
    with pytest.raises(FogplayError, match="has numbered infosets and room for all of them"):
        solve("kuhn", "uct", 10, infosets=5)


def test_ctrl_c_falls_between_two_stretches() -> None:
    def press(now: Progress) -> None:
        if now.iteration > 50:
            os.kill(os.getpid(), signal.SIGINT)

    result = solve(PHANTOM, "smooth-uct", 10**9, infosets=100_000, progress=press)
    assert result.interrupted
    assert result.stopped is None
    assert 50 < result.iterations < 10**6


def test_without_the_compiler(tmp_path: Path) -> None:
    test = "tests/simulators/test_rules.py::test_the_same_stream_gives_the_numbers_of_the_tree"
    tests = [f"{test}[{algorithm}-kuhn]" for algorithm in ("smooth-uct", "os-mccfr", "es-mccfr")]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "FOGPLAY_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-n0", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning", *tests]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# ---- The command


def test_the_command_says_what_it_does(tmp_path: Path) -> None:
    arguments = ("solve", PHANTOM, "-a", "smooth-uct", "-n", "300", "--infosets", "5000", "--out", "out.st")
    done = fogplay(*arguments, cwd=tmp_path, COLUMNS="400")
    assert done.returncode == 0, done.stderr
    assert "is too large for a tree (about " in done.stderr
    assert "its Python rules are asked at every step, which allows about " in done.stderr
    assert "fogplay evaluate" not in done.stdout
    looked = fogplay("inspect", "out.st", "--limit", "1", "--json", cwd=tmp_path)
    assert json.loads(looked.stdout.splitlines()[-1])["rows"][0]["value"] is None
    longer = fogplay(*(*arguments[:5], "400", *arguments[6:]), "--resume", "--json", cwd=tmp_path)
    assert json.loads(longer.stdout.splitlines()[-1])["iterations"] == 400


def test_the_command_keeps_what_fitted(tmp_path: Path) -> None:
    arguments = ("solve", PHANTOM, "-a", "os-mccfr", "--infosets", "2000", "--out", "out.st", "--json")
    done = fogplay(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("fogplay: the tables are full: 2,000 infosets of pyspiel:phantom_ttt() fitted")
    assert "--resume --infosets 8000" in done.stderr
    assert len(load_strategy(tmp_path / "out.st")) == 2_000  # type: ignore[arg-type]


def test_the_command_ends_after_some_minutes(tmp_path: Path) -> None:
    done = fogplay("solve", "kuhn", "-a", "smooth-uct", "--minutes", "0.005", "--json", cwd=tmp_path)
    facts = json.loads(done.stdout.splitlines()[-1])
    assert 0.3 <= facts["seconds"] < 5
    assert not facts["interrupted"]
    refused = fogplay("solve", "kuhn", "--minutes", "0", cwd=tmp_path)
    assert refused.returncode == 2
    assert "minutes must be a number from 0.001" in refused.stderr


def test_minutes_and_iterations_end_a_run_whichever_comes_first() -> None:
    assert solve("kuhn", "cfr", 50, minutes=10).iterations == 50
    timed = solve("kuhn", "cfr", 10**12, minutes=0.005)
    assert timed.seconds >= 0.3
    assert timed.iterations < 10**12
    assert not timed.interrupted


def test_the_seats_of_a_response_share_the_minutes() -> None:
    seen: list[Progress] = []
    model = solve("kuhn", "cfr", 10).strategy
    found = respond("kuhn", model, algorithm="smooth-uct", minutes=0.01, progress=seen.append)
    assert 0.6 <= found.seconds < 6
    assert all(now.time_limit == pytest.approx(0.6) for now in seen)
    assert max(now.iteration for now in seen) < 10**12
    assert seen[-1].seconds == pytest.approx(found.seconds)


def test_the_page_on_large_games_runs() -> None:
    page = (ROOT / "docs" / "algorithms" / "large-games.md").read_text()
    namespace: dict[str, Any] = {}
    exec(page.split("```python\n")[1].split("```")[0], namespace)
    assert namespace["result"].iterations > 0
    assert solve(hashed(namespace["searched"], 100), "uct", 50).iterations == 50
