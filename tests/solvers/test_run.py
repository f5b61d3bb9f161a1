"""Runs that are watched, interrupted, killed and resumed."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fogplay import FogplayError, Progress, flatten, solve, storage
from fogplay.games.matrix import Matrix
from fogplay.solvers import ALGORITHMS
from fogplay.solvers.run import log_spaced


def tables(path: Path) -> dict[str, bytes]:
    arrays, about = storage.read(path, "checkpoint")
    return {name: array.tobytes() for name, array in arrays.items() if name != "curve"} | {
        "at": str(about["iteration"]).encode()
    }


def test_resuming_is_bit_for_bit_the_same(tmp_path: Path) -> None:
    solve("leduc", "pcfr+", 300, checkpoint=tmp_path / "whole", curve=3)
    solve("leduc", "pcfr+", 100, checkpoint=tmp_path / "parts", curve=3)
    result = solve("leduc", "pcfr+", 300, checkpoint=tmp_path / "parts", resume=True, curve=3)
    assert tables(tmp_path / "whole") == tables(tmp_path / "parts")
    assert result.iterations == 300
    whole = solve("leduc", "pcfr+", 300, curve=3)
    assert result.strategy.probabilities.tobytes() == whole.strategy.probabilities.tobytes()
    assert [point.iteration for point in result.curve] == [point.iteration for point in whole.curve]
    assert [point.nash_conv for point in result.curve] == [point.nash_conv for point in whole.curve]


@pytest.mark.parametrize(("kills", "iterations"), [(6, 150_000), pytest.param(20, 800_000, marks=pytest.mark.slow)])
def test_killed_at_random_moments_and_resumed(tmp_path: Path, kills: int, iterations: int) -> None:
    """kill -9 many times; the run that is left ends in the same bits as one that was left alone."""
    algorithm = "cfr+"
    solve("leduc", algorithm, iterations, checkpoint=tmp_path / "whole")
    out = tmp_path / "killed.safetensors"
    command = [sys.executable, "-m", "fogplay.cli", "solve", "leduc", "--algorithm", algorithm, "--json", "--resume"]
    command += ["--iterations", str(iterations), "--out", str(out), "--checkpoint-seconds", "0"]
    checkpoint = out.with_name(out.name + ".checkpoint")
    rng, finished = random.Random(7), False
    for kill in range(kills):
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if kill % 2:  # once it has got somewhere, often in the middle of writing a checkpoint
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline and (not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before):
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.2))
        else:  # at any moment of its start
            time.sleep(rng.uniform(0, 1.2))
        process.send_signal(signal.SIGKILL)
        finished |= process.wait() == 0
    assert not finished, "the run ended before it was killed often enough"
    killed_at = storage.read(checkpoint, "checkpoint")[1]["iteration"]
    assert 0 < killed_at < iterations
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout.splitlines()[-1])["iterations"] == iterations
    assert tables(checkpoint) == tables(tmp_path / "whole")
    left = {path.name for path in tmp_path.iterdir() if not path.name.endswith(".part")}
    assert left == {"whole", "killed.safetensors", "killed.safetensors.checkpoint"}


def test_ctrl_c_keeps_what_was_learned(tmp_path: Path) -> None:
    before, seen = signal.getsignal(signal.SIGINT), list[Progress]()

    def press(now: Progress) -> None:
        seen.append(now)
        if now.iteration > 1000:
            os.kill(os.getpid(), signal.SIGINT)

    result = solve("leduc", "cfr+", 10**9, checkpoint=tmp_path / "run", progress=press)
    assert result.interrupted
    assert 1000 < result.iterations < 10**9
    assert result.nash_conv is not None
    assert result.nash_conv < 0.01
    assert signal.getsignal(signal.SIGINT) is before
    resumed = solve("leduc", "cfr+", result.iterations + 5, checkpoint=tmp_path / "run", resume=True)
    assert resumed.iterations == result.iterations + 5
    assert not resumed.interrupted


def test_another_thread_can_stop_a_run() -> None:
    stop = threading.Event()

    def watch(now: Progress) -> None:
        if now.iteration > 100:
            stop.set()

    result = solve("kuhn", "smooth-uct", 10**12, progress=watch, watch=False, stop=stop)
    assert result.interrupted
    assert 100 < result.iterations < 10**12
    assert solve("kuhn", "cfr+", 10, stop=stop).iterations == 0


def test_progress_falls_and_ends_at_the_end() -> None:
    seen: list[Progress] = []
    result = solve("leduc", "cfr+", 30_000, progress=seen.append)
    assert seen[-1].iteration == result.iterations == 30_000
    assert seen[-1].nash_conv == result.nash_conv
    assert (seen[0].iteration, seen[0].nash_conv) == (0, None)
    assert seen[1].nash_conv > 1 > 0.001 > seen[-1].nash_conv  # type: ignore[operator]


def test_solving_in_another_thread_works() -> None:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(solve("kuhn", "cfr", 100)))
    thread.start()
    thread.join()
    assert results[0].iterations == 100


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    solve("kuhn", "cfr", 10, checkpoint=tmp_path / "run")
    with pytest.raises(FogplayError, match="with algorithm 'cfr', not 'cfr\\+'"):
        solve("kuhn", "cfr+", 20, checkpoint=tmp_path / "run", resume=True)
    with pytest.raises(FogplayError, match=r"with game 'kuhn\(players=2,pot=2\)', not 'leduc"):
        solve("leduc", "cfr", 20, checkpoint=tmp_path / "run", resume=True)
    with pytest.raises(FogplayError, match="parameter gamma"):
        solve("kuhn", "cfr", 20, gamma=1, checkpoint=tmp_path / "run", resume=True)
    with pytest.raises(FogplayError, match="already at iteration 10; ask for more"):
        solve("kuhn", "cfr", 5, checkpoint=tmp_path / "run", resume=True)
    (tmp_path / "run").write_bytes(b"nonsense")
    with pytest.raises(FogplayError, match="damaged"):
        solve("kuhn", "cfr", 20, checkpoint=tmp_path / "run", resume=True)


@pytest.mark.parametrize("iterations", [0, -1, 1.5, True, "ten", 2**63])
def test_iterations_that_make_no_sense_are_refused(iterations: Any) -> None:
    with pytest.raises(FogplayError, match="iterations must be a whole number"):
        solve("kuhn", "cfr", iterations)


@pytest.mark.parametrize("seed", [-1, 0.5, 2**63, "x", False])
def test_seeds_that_make_no_sense_are_refused(seed: Any) -> None:
    with pytest.raises(FogplayError, match="seed must be a whole number"):
        solve("kuhn", "cfr", 5, seed=seed)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gamma", math.nan),
        ("gamma", -1),
        ("gamma", math.inf),
        ("alpha", math.nan),
        ("beta", 1e9),
        ("alternating", 1),
        ("predictive", "yes"),
        ("alpha", True),
        ("beta", "much"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name: str, value: Any) -> None:
    with pytest.raises(FogplayError, match=f"{name} must be"):
        solve("kuhn", "dcfr", 5, **{name: value})


def test_unknown_names_are_refused_with_what_there_is() -> None:
    with pytest.raises(FogplayError, match=r"did you mean 'cfr\+'\?"):
        solve("kuhn", "crf+", 5)
    with pytest.raises(FogplayError, match="cfr has no parameter 'epsilon'; it has alpha"):
        solve("kuhn", "cfr", 5, epsilon=0.5)
    assert {"cfr", "cfr+", "lcfr", "dcfr", "pcfr+", "lp"} <= ALGORITHMS.keys()


def test_log_spaced() -> None:
    assert log_spaced(1000, 1) == [1, 10, 100, 1000]
    assert log_spaced(50, 2) == [1, 3, 10, 32, 50]
    assert log_spaced(1, 5) == [1]
    assert log_spaced(1000, 0) == []


def test_a_checkpoint_of_the_same_game_with_other_payoffs_is_refused(tmp_path: Path) -> None:
    solve(Matrix(((1.0, 0.0), (0.0, 2.0))), "cfr", 10, checkpoint=tmp_path / "run")
    changed = flatten(Matrix(((1.0, 0.0), (0.0, 3.0))), name="matrix(payoffs=[[1.0,0.0],[0.0,2.0]])")
    with pytest.raises(FogplayError, match="a checkpoint of a run with tree"):
        solve(changed, "cfr", 20, checkpoint=tmp_path / "run", resume=True)


def test_another_runs_checkpoint_is_kept_aside(tmp_path: Path) -> None:
    solve("kuhn", "cfr", 500, checkpoint=tmp_path / "run")
    before = tables(tmp_path / "run")
    solve("kuhn", "cfr", 5, checkpoint=tmp_path / "run")
    assert tables(tmp_path / "run.previous") == before


def test_a_full_disk_does_not_stop_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise FogplayError("cannot write: No space left on device")

    monkeypatch.setattr(storage.Prepared, "write", full)
    result = solve("kuhn", "cfr", 1000, checkpoint=tmp_path / "run", checkpoint_seconds=0)
    assert result.iterations == 1000
    assert result.trouble is not None
    assert "No space left" in result.trouble


def test_whole_numbers_of_numpy_will_do() -> None:
    assert solve("kuhn", "cfr", np.int64(5), seed=np.int32(1)).iterations == 5
    with pytest.raises(FogplayError, match="a number of points per decade, or a list of iterations"):
        solve("kuhn", "cfr", 5, curve=2.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "payoffs", [((1e-310, 0.0), (0.0, 2e-310)), ((1e-9, -1e-9), (-1e-9, 2e-9)), ((1e99, 0.0), (0.0, 1.0))]
)
def test_tiny_and_huge_payoffs_give_strategies_all_the_same(payoffs: Any) -> None:
    for algorithm in ("cfr+", "dcfr", "smooth-uct", "os-mccfr", "lp"):
        result = solve(Matrix(payoffs), algorithm, 200)
        assert np.isfinite(result.strategy.probabilities).all()
        if algorithm == "lp" and payoffs[0][0] == 1e-9:
            assert result.nash_conv == pytest.approx(0, abs=1e-15)
    assert np.isfinite(solve("kuhn", "dcfr", 200, alpha=-20).strategy.probabilities).all()
