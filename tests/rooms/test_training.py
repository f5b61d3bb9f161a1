"""Solvers beside the server: what they report, and what is found again."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fogplay.errors import FogplayError
from fogplay.rooms.training import CLOSE, Point, Training, Trainings


def wait_for(run: Training) -> None:
    assert run.process is not None
    run.process.wait(300)
    until = time.monotonic() + 60
    while not (run.done or run.trouble) and time.monotonic() < until:  # its last lines are being read
        time.sleep(0.05)


def test_reports_become_words_and_a_curve(tmp_path: Path) -> None:
    run = Training("run-1-abc", tmp_path, "kuhn", "", None)
    assert run.words == "stopped: iteration 0, 0 per second"
    run.heard({"iteration": 50, "iterations": 100, "seconds": 2.0})
    run.heard({"measure": "nash_conv", "point": [50, 2.0, 0.125]})
    assert run.words == "stopped: iteration 50 of 100, 25 per second, nash_conv 0.125"
    run.heard({"measure": "mb/h against rules", "point": [60, 2.0, -12.4], "error": 3.2})
    assert run.words.endswith(", -12 ± 3 mb/h against rules")
    run.heard({"trouble": "no memory"})
    assert run.words == "no memory"


def test_a_long_curve_stays_short(tmp_path: Path) -> None:
    run = Training("run-1-abc", tmp_path, "kuhn", "", None)
    for iteration in range(1, 20_000):
        run.heard({"point": [iteration, iteration / 10, 1 / iteration]})
    assert run.curve[-1] == Point(19_999, 1999.9, 1 / 19_999)
    assert len(run.curve) < 300
    steps = [later.iteration / earlier.iteration for earlier, later in zip(run.curve, run.curve[1:-1], strict=False)]
    assert min(steps[20:]) >= CLOSE - 0.01
    run.heard({"point": [100, 10.0, 0.5]})  # resumed from an earlier checkpoint
    assert run.curve[-1].iteration == 100


def test_a_run_is_found_again_with_its_curve(tmp_path: Path) -> None:
    runs = Trainings(tmp_path)
    run = runs.start("kuhn", "cfr+", 200)
    with pytest.raises(FogplayError, match="whole number from 1"):
        runs.start("kuhn", "cfr+", 0)
    wait_for(run)
    assert run.done
    assert run.measure == "nash_conv"
    assert run.curve[-1].iteration == 200
    assert run.snapshot is not None
    assert run.snapshot.stem == run.name  # its player is called so
    found = Trainings(tmp_path).runs[run.name]
    assert (found.curve, found.done, found.algorithm) == (run.curve, True, "cfr+")
    with pytest.raises(FogplayError, match="finished already"):
        runs.resume(run.name)


@pytest.mark.slow
def test_a_game_too_large_to_measure_is_scored_against_a_bot(tmp_path: Path) -> None:
    runs = Trainings(tmp_path)
    run = runs.start("holdem", "", 200_000)
    wait_for(run)
    assert run.measure == "mb/h against smooth-uct"
    assert len(run.curve) > 5
    assert run.curve[0].value < run.curve[-1].value  # it learns
    assert run.error > 0
