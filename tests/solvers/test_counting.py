"""Tables that count visits in 32 bits say how far they count before a run starts, and never lose one."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fogplay import FogplayError, load, solve
from fogplay.cli import app
from fogplay.simulators import holdem, simulator_for
from fogplay.simulators.find import known_slots
from fogplay.solvers import sampling


@pytest.fixture(autouse=True)
def small_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if Kuhn were large, and 32 bits few."""
    monkeypatch.setattr(sampling, "LARGE", 1)
    monkeypatch.setattr(sampling, "MOST_IN_SMALL_CELLS", 1000)


def test_too_many_iterations_are_refused_before_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling.SelfPlay, "advance", lambda *_: pytest.fail("it started"))
    with pytest.raises(FogplayError, match="can count 1,000 iterations on a CPU, not 1,001: ask for fewer with -n"):
        solve("kuhn", "smooth-uct", 1001)


def test_too_many_iterations_are_refused_before_anything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem, "HoldemSimulator", lambda *_: pytest.fail("it was built"))
    with pytest.raises(FogplayError, match=r"smooth-uct on holdem.* can count 1,000 iterations on a CPU, not 1,001"):
        solve("holdem", "smooth-uct", 1001)


def test_the_command_refuses_before_anything_is_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(holdem, "HoldemSimulator", lambda *_: pytest.fail("it was built"))
    done = CliRunner().invoke(app, ["solve", "holdem", "-a", "uct", "-n", "1001"])
    assert "can count 1,000 iterations on a CPU, not 1,001" in str(done.exception)


@pytest.mark.parametrize("spec", ["holdem", "holdem(max_raises=[1,2,1,1])", "holdem(blinds=[5,5],grid=ehs:3/3/3/3)"])
def test_the_slots_of_a_game_are_counted_without_building_it(spec: str) -> None:
    assert known_slots(load(spec)) == simulator_for(spec).num_slots


def test_a_game_with_a_tree_has_no_slots_before_it_is_built() -> None:
    assert known_slots(load("kuhn")) is None
    assert known_slots(load("holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1])")) is None


def test_all_that_can_be_counted_are_played() -> None:
    result = solve("kuhn", "uct", 1000)
    assert (result.iterations, result.stopped) == (1000, None)


def test_a_run_by_the_clock_ends_there_and_keeps_what_it_learned() -> None:
    result = solve("kuhn", "uct", minutes=1)
    assert result.iterations == 1000
    assert result.stopped is not None
    assert "count to 1,000 episodes on a CPU; the run ended there" in result.stopped
    assert result.strategy.visits is not None
    assert len(result.strategy) == 12
