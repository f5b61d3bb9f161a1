"""Tables for other programs: what is written is what is read; learning curves and their callback."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import fogplay as fp
from fogplay.cli.curves import Curves
from fogplay.experiments.compare import Plan, band_points, bands, compare
from fogplay.simulators import simulator_for
from tests.helpers import fogplay


@pytest.fixture(scope="module")
def strategy() -> fp.TabularStrategy:
    found = fp.solve("kuhn", "smooth-uct", 500, seed=1).strategy
    assert isinstance(found, fp.TabularStrategy)
    return found


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_strategy_as_csv(strategy: fp.TabularStrategy, tmp_path: Path) -> None:
    strategy.to_csv(tmp_path / "kuhn.csv")
    rows = rows_of(tmp_path / "kuhn.csv")
    assert len(rows) == len(strategy.actions)
    assert [float(row["probability"]) for row in rows] == strategy.probabilities.tolist()
    assert all(strategy[row["infoset"]][row["action"]] == float(row["probability"]) for row in rows)
    assert list(rows[0]) == ["player", "infoset", "action", "probability", "visits", "value"]


def test_a_strategy_as_a_frame(strategy: fp.TabularStrategy) -> None:
    pytest.importorskip("pandas")
    frame = strategy.to_pandas()
    assert np.array_equal(frame.probability, strategy.probabilities)
    assert frame.groupby("infoset").probability.sum().tolist() == pytest.approx([1.0] * len(strategy))


@pytest.mark.parametrize("ending", ["arrow", "feather", "parquet"])
def test_a_strategy_as_arrow(strategy: fp.TabularStrategy, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    file = tmp_path / f"kuhn.{ending}"
    strategy.export(file)
    read = pyarrow.parquet.read_table(file) if ending == "parquet" else pyarrow.feather.read_table(file)
    assert read.equals(strategy.to_arrow())
    assert read["probability"].to_pylist() == strategy.probabilities.tolist()


def test_missing_packages_are_said_in_one_line(
    strategy: fp.TabularStrategy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(fp.FogplayError, match="pip install pandas"):
        strategy.to_pandas()
    with pytest.raises(fp.FogplayError, match="pip install pyarrow"):
        strategy.export(tmp_path / "kuhn.arrow")
    with pytest.raises(fp.FogplayError, match=r"must end in \.csv"):
        strategy.export(tmp_path / "kuhn.xlsx")
    assert not list(tmp_path.iterdir())


def test_curves_are_tables_and_are_told_as_they_grow() -> None:
    told: list[fp.CurvePoint] = []
    result = fp.solve("kuhn", "cfr+", 50, curve=[1, 10, 40], measured=told.append)
    assert tuple(told) == result.curve
    columns = result.columns()
    assert columns["iteration"] == [1, 10, 40, 50]  # the end is always there
    assert columns["nash_conv"][-1] == result.nash_conv
    assert fp.solve("kuhn", "lp").columns()["iteration"] == [1]
    greedy = fp.solve("kuhn", "smooth-uct", 50, curve=[10], greedy=True)
    assert greedy.columns()["iteration"] == [10]  # the curve is of the average strategy


def test_a_failing_callback_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        fp.solve("kuhn", "cfr+", 50, curve=[10], measured=lambda point: point.iteration / 0)  # type: ignore[arg-type]


def test_the_command_writes_curves(tmp_path: Path) -> None:
    files = ("--curve", "curve.csv", "--plot", "curve.svg", "--snapshots", "37")
    done = fogplay("solve", "kuhn", "-a", "cfr+", "-n", "50", *files, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout.splitlines()[-1])
    rows = rows_of(tmp_path / "curve.csv")
    assert [int(row["iteration"]) for row in rows] == [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 37, 40, 50]
    assert float(rows[-1]["nash_conv"]) == facts["nash_conv"]
    assert (tmp_path / "curve.svg").read_text().startswith("<?xml")
    assert sorted(each.name for each in tmp_path.glob("*.safetensors")) == ["kuhn.37.safetensors", "kuhn.safetensors"]
    assert facts["plot"] == "curve.svg"
    done = fogplay("inspect", "kuhn.safetensors", "--export", "kuhn.csv", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["rows"] == len(rows_of(tmp_path / "kuhn.csv")) == 24


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ((None, "curve.docx"), r"must end in \.png"),
        (("curve.txt", None), r"must end in \.csv"),
        (("nowhere/curve.csv", None), "no folder nowhere"),
    ],
)
def test_files_that_cannot_be_written_are_refused_at_once(files: tuple[str | None, str | None], why: str) -> None:
    with pytest.raises(fp.FogplayError, match=why):
        Curves(*(Path(each) if each else None for each in files), folder=None)


def test_games_that_cannot_be_measured_have_no_curve() -> None:
    with pytest.raises(fp.FogplayError, match="too large for a tree"):
        Curves(Path("curve.csv"), None, None).require_measurable(simulator_for("holdem(grid=ehs:2/2/2/2)"))


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    curves = Curves(None, None, tmp_path / "runs")
    result = fp.solve("kuhn", "cfr+", 50, curve=curves.points([37], None), measured=curves.measured)
    assert curves.finish(result) == {"tensorboard": str(tmp_path / "runs")}
    read = EventAccumulator(str(tmp_path / "runs"), size_guidance={"tensors": 0})
    read.Reload()
    assert [event.step for event in read.Tensors("nash_conv")] == [point.iteration for point in result.points()]
    assert 37 in [event.step for event in read.Tensors("seconds")]


def test_algorithms_are_compared_over_seeds() -> None:
    plan = Plan("kuhn", ("smooth-uct", "cfr+"), None, 1000, 3)
    assert plan.tasks() == [("smooth-uct", 0), ("smooth-uct", 1), ("smooth-uct", 2), ("cfr+", 0)]
    points = [point for run in compare(plan, workers=1) for point in run]
    found = bands(points)
    smooth, cfr = found["iterations"]
    ends = [point.value for point in points if point.algorithm == "smooth-uct" and point.iteration == 1000]
    assert smooth.x[-1] == pytest.approx(1000)
    assert smooth.mean[-1] == pytest.approx(np.mean(ends))
    assert smooth.deviation[-1] == pytest.approx(np.std(ends, ddof=1))
    assert set(cfr.deviation) == {0.0}
    by_time = found["seconds of learning"][0]
    assert all(one < other for one, other in zip(by_time.x, by_time.x[1:], strict=False))
    assert {row.runs for row in band_points(found, points) if row.algorithm == "smooth-uct"} == {3}
    again = [point for run in compare(plan, workers=1) for point in run]
    assert [point.value for point in again] == [point.value for point in points]


def test_the_command_compares(tmp_path: Path) -> None:
    asked = ("compare", "kuhn", "es-mccfr", "cfr+", "-n", "300", "--runs", "2", "--workers", "1", "--json")
    done = fogplay(*asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert [row["runs"] for row in facts["algorithms"]] == [2, 1]
    assert {Path(each).name for each in facts["files"]} == {each.name for each in tmp_path.iterdir()}
    assert len({(row["algorithm"], row["seed"]) for row in rows_of(tmp_path / "kuhn-compared.csv")}) == 3
    refused = fogplay("compare", "kuhn", "cfr+", "cfr+", cwd=tmp_path)
    assert refused.returncode == 2
    assert "every algorithm once" in refused.stderr
