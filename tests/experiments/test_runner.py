"""Parallel runs: results, means, resuming, engines."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fogplay import FogplayError, solve, storage
from fogplay.experiments import runner as module
from fogplay.experiments import sources
from fogplay.experiments.runner import Job, Mean, Point, Runner, means, read_points


def jobs(iterations: int = 2000) -> list[Job]:
    curve = (10, 100, iterations)
    return [
        Job(label, "kuhn", algorithm, iterations, seed, curve, ("nash_conv", "squared_error"), parameters)
        for label, algorithm, parameters in (("plain", "uct", {"c": 2.0}), ("smooth", "smooth-uct", {"c": 1.75}))
        for seed in (1, 2, 3)
    ]


def values(points: list[Point]) -> list[tuple[str, int, int, str, float]]:
    return [(p.label, p.seed, p.iteration, p.measure, p.value) for p in points]


def test_points_are_those_of_solve(tmp_path: Path) -> None:
    points = Runner(tmp_path, "sequential").run(jobs())
    assert len(points) == 6 * 3 * 2
    curve = solve("kuhn", "uct", 2000, seed=2, c=2.0, curve=[10, 100, 2000]).curve
    mine = [p.value for p in points if (p.label, p.seed, p.measure) == ("plain", 2, "nash_conv")]
    assert mine == [point.nash_conv for point in curve]
    assert not list(tmp_path.rglob("*.part"))
    assert not list(tmp_path.rglob("*.checkpoint"))


@pytest.mark.parametrize("engine", ["loky", "ray"])
def test_every_engine_gives_the_same(tmp_path: Path, engine: str) -> None:
    """Ray is a real local one, started by the test."""
    here = Runner(tmp_path / "here", "sequential").run(jobs())
    there = Runner(tmp_path / "there", engine, workers=2).run(jobs())
    assert values(here) == values(there)
    if engine == "ray":
        import ray

        assert ray.is_initialized()
        ray.shutdown()


def test_a_stopped_experiment_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, ran = module.run_job, []

    def stop_at_the_fourth(job: Job, file: str) -> None:
        if len(ran) == 3:
            raise KeyboardInterrupt
        ran.append(job.key)
        run(job, file)

    monkeypatch.setattr(module, "run_job", stop_at_the_fourth)
    runner = Runner(tmp_path, "sequential")
    with pytest.raises(KeyboardInterrupt):
        runner.run(jobs())
    again: list[str] = []

    def count(job: Job, file: str) -> None:
        again.append(job.key)
        run(job, file)

    monkeypatch.setattr(module, "run_job", count)
    points = runner.run(jobs())
    assert len(again) == 3
    assert not set(again) & set(ran)
    monkeypatch.setattr(module, "run_job", run)
    assert values(points) == values(Runner(tmp_path / "fresh", "sequential").run(jobs()))


def test_a_job_cut_short_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    job = jobs()[0]
    file = tmp_path / "job.csv"
    solve(
        job.game,
        job.algorithm,
        500,
        seed=job.seed,
        curve=job.curve,
        measures=job.measures,
        checkpoint=file.with_suffix(".checkpoint"),
        **job.parameters,
    )
    module.run_job(job, str(file))
    whole = tmp_path / "whole.csv"
    module.run_job(job, str(whole))
    assert values(read_points(file)) == values(read_points(whole))


def test_another_setting_is_another_job() -> None:
    one = jobs()[0]
    keys = {job.key for job in jobs()} | {Job("plain", "kuhn", "uct", 2000, 1, (10,), parameters={"c": 2.0}).key}
    assert len(keys) == 7
    assert one.key == jobs()[0].key


def test_other_code_is_another_job(tmp_path: Path) -> None:
    """Results that were kept are not taken for those of code that has changed since; what people read may change."""
    package = shutil.copytree(
        sources.PACKAGE, tmp_path / "package", ignore=shutil.ignore_patterns("data", "__pycache__")
    )
    before, kernel = sources.digest(package), package / "kernels" / "regret.py"
    text = kernel.read_text()
    found = []
    for changed in (text.replace('"""', '"""Indeed: ', 1), text + "\n# A remark.\n", text.replace("0.0", "1e-9", 1)):
        assert changed != text
        kernel.write_text(changed)
        sources.digest.cache_clear()
        found.append(sources.digest(package) == before)
    assert found == [True, True, False]
    for part in sources.PARTS:
        assert (package / part).exists()


def test_what_a_run_imports_counts() -> None:
    """Every module of the package that solving needs is among the sources of results, but for the plainest."""
    script = (
        "import sys; from fogplay.experiments import runner; from fogplay.solvers import respond; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    needed = {name.removeprefix("fogplay.") for name in done.stdout.split() if name.startswith("fogplay.")}
    counted = {part.removesuffix(".py").replace("/", ".") for part in sources.PARTS}
    left = {name for name in needed if not any(name == part or name.startswith(f"{part}.") for part in counted)}
    unused = (
        "agents",
        "bots",
        "notation",
        "opponents",
        "pictures",
        "play",
    )  # imported with the package, not used by runs
    left = {name for name in left if not name.startswith(unused)}
    plain = {"engines", "errors", "frames", "version", "interrupts", "starting"}  # they never change a result
    assert left <= {*plain, "experiments", "experiments.sources"}, left


def test_means_by_hand() -> None:
    def point(label: str, seed: int, value: float) -> Point:
        return Point(label, "g", "a", "{}", seed, 10, 0.0, "nash_conv", value)

    found = means([point("a", 1, 1.0), point("a", 2, 3.0), point("b", 1, 5.0)])
    assert found[0] == Mean("a", "nash_conv", 10, 2, 2.0, 1.0)
    assert found[1].mean == 5.0
    assert math.isnan(found[1].standard_error)


def test_progress_covers_the_whole_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", 0.01)
    told: list[tuple[int, int]] = []
    Runner(tmp_path, "sequential", progress=lambda *now: told.append(now)).run(jobs(200_000))
    assert told[-1] == (6 * 200_000, 6 * 200_000)
    assert all(earlier[0] <= later[0] for earlier, later in pairwise(told))
    assert any(0 < done < 6 * 200_000 for done, _ in told)


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FogplayError, match="engine must be loky or ray or sequential, not 'dusk'"):
        Runner(tmp_path, "dusk")
    (tmp_path / "file").write_text("")
    with pytest.raises(FogplayError, match="cannot create the folder"):
        Runner(tmp_path / "file")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    runner = Runner(tmp_path / "runner", "sequential")
    monkeypatch.setattr(storage.os, "replace", full)
    with pytest.raises(FogplayError, match="No space left on device"):
        runner.run(jobs()[:1])
    assert not list(tmp_path.rglob("*.part"))
