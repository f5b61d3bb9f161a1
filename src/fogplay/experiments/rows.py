"""Rows, the raw points of a result, and what is estimated from them with an error over training runs."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from fogplay import storage
from fogplay.experiments.runner import Mean, Point

RESAMPLES = 200
FEWEST_RUNS = 3  # with fewer, the error over runs itself is too uncertain for a verdict


@dataclass(frozen=True)
class Row:
    """One value of one run."""

    label: str  # who or what
    measure: str
    at: float  # where: iterations, or the axis's own unit
    run: int  # the training run, by its seed
    value: float
    error: float = math.nan  # of this value alone, such as over cards
    runs: int = 1  # more if only the mean of so many runs was kept; its error is then over them


@dataclass(frozen=True)
class Estimate:
    """A mean over runs."""

    value: float
    error: float  # over runs; NaN if there is only one
    runs: int
    within: float = math.nan  # the standard error of a single run's value, such as over cards

    def show(self, digits: int = 2, unit: str = "", scale: float = 1.0) -> str:
        """The mean with as many decimals as asked, or significant digits if negative, and what its error is over."""
        if self.runs == 0:
            return "not measured"

        def text(number: float) -> str:
            return f"{number * scale:z.{digits}f}" if digits >= 0 else f"{number * scale:.{-digits}g}"

        unit = f" {unit}" if unit else ""
        if not math.isnan(self.error):
            return f"{text(self.value)} ± {text(self.error)}{unit} ({self.runs} runs)"
        within = "" if math.isnan(self.within) else f" ± {text(self.within)} over cards"
        return f"{text(self.value)}{within}{unit} (one run)"

    def minus(self, other: Estimate) -> Estimate:
        """The difference of two independent means."""
        within = math.hypot(self.within, other.within)
        return Estimate(
            self.value - other.value, math.hypot(self.error, other.error), min(self.runs, other.runs), within
        )


MISSING = Estimate(math.nan, math.nan, 0)


def mean_of(values: Sequence[float], within: float = math.nan) -> Estimate:
    """The mean over runs, one value each."""
    if not values:
        return MISSING
    error = float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return Estimate(float(np.mean(values)), error, len(values), within)


class Rows:
    """The rows of a result, by label and measure."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.all = list(rows)
        self._by: dict[tuple[str, str], dict[float, list[Row]]] = {}
        for row in self.all:
            self._by.setdefault((row.label, row.measure), {}).setdefault(row.at, []).append(row)

    def labels(self, measure: str) -> list[str]:
        return [label for label, name in self._by if name == measure]

    def places(self, label: str, measure: str) -> list[float]:
        """Where a label was measured, in order."""
        return sorted(self._by.get((label, measure), {}))

    def of(self, label: str, measure: str, at: float | None = None) -> list[Row]:
        """The rows of all runs at one place, by default the last."""
        found = self._by.get((label, measure), {})
        return found.get(max(found, default=math.nan) if at is None else at, [])

    def settled(self, measure: str, *labels: str) -> float:
        """The last place where all of these labels have enough runs for a verdict; else the last that they share."""
        shared = set.intersection(*({*self.places(label, measure)} for label in labels))
        enough = [at for at in shared if all(self.estimate(label, measure, at).runs >= FEWEST_RUNS for label in labels)]
        return max(enough or shared, default=math.nan)

    def estimate(self, label: str, measure: str, at: float | None = None) -> Estimate:
        rows = self.of(label, measure, at)
        if len(rows) == 1 and rows[0].runs > 1:
            return Estimate(rows[0].value, rows[0].error, rows[0].runs)
        return mean_of([row.value for row in rows], rows[0].error if len(rows) == 1 else math.nan)

    def curve(self, label: str, measure: str, name: str | None = None) -> list[Mean]:
        """Means for a picture."""
        found = []
        for at in self.places(label, measure):
            each = self.estimate(label, measure, at)
            error = each.within if each.runs == 1 else each.error
            found.append(Mean(name or label, measure, at, each.runs, each.value, error))
        return found

    def duel(self, label: str, other: str, at: float | None = None) -> Estimate:
        """What the runs of one label win from the runs of another, all against all.

        The runs are random, like the cards: the error combines those of both sides' means over their opponents.
        """
        start = f"against {other} #"
        measures = [name for mine, name in self._by if mine == label and name.startswith(start)]
        met = {(row.run, int(name[len(start) :])): row for name in measures for row in self.of(label, name, at)}
        mine, theirs = (sorted({pair[side] for pair in met}) for side in (0, 1))
        if not met or len(met) < len(mine) * len(theirs):
            return MISSING
        table = np.array([[met[a, b].value for b in theirs] for a in mine])
        within = met[mine[0], theirs[0]].error
        if min(table.shape) < 2:
            return Estimate(float(table.mean()), math.nan, 1, within)
        error = math.sqrt(sum(table.mean(axis).var(ddof=1) / table.shape[1 - axis] for axis in (0, 1)))
        return Estimate(float(table.mean()), error, min(table.shape), within)

    def crossing(self, good: str, bad: str, measure: str, bad_measure: str | None = None) -> Estimate:
        """Log10 of the first place from which ``good`` stays below ``bad`` to the end; its error by the bootstrap."""
        other = bad_measure or measure
        places = sorted(set(self.places(good, measure)) & set(self.places(bad, other)))
        if not places:
            return MISSING
        tables = [
            np.array([[row.value for row in sorted(self.of(who, what, at), key=lambda row: row.run)] for at in places])
            for who, what in ((good, measure), (bad, other))
        ]
        runs = min(table.shape[1] for table in tables)
        value = _stays_below(places, *(table.mean(axis=1) for table in tables))
        if runs < 2 or math.isinf(value):
            return Estimate(value, math.nan, runs)
        rng, found = np.random.default_rng(0), []
        for _ in range(RESAMPLES):
            picked = [table[:, rng.integers(table.shape[1], size=table.shape[1])].mean(axis=1) for table in tables]
            found.append(_stays_below(places, *picked))
        spacing = math.log10(places[-1] / places[-2]) if len(places) > 1 else 0.0
        finite = [each for each in found if math.isfinite(each)]
        if len(finite) < 0.95 * len(found):
            return Estimate(value, math.nan, runs)
        return Estimate(value, math.hypot(float(np.std(finite)), spacing / math.sqrt(12)), runs)


def _stays_below(places: Sequence[float], good: np.ndarray, bad: np.ndarray) -> float:  # type: ignore[type-arg]
    behind = np.flatnonzero(good >= bad)
    first = int(behind[-1]) + 1 if len(behind) else 0
    return math.log10(places[first]) if first < len(places) else math.inf


def show_crossing(estimate: Estimate) -> str:
    """A crossing in episodes, with a factor for its error."""
    if estimate.runs == 0:
        return "not measured"
    if math.isinf(estimate.value):
        return "not yet"
    factor = "" if math.isnan(estimate.error) else f", within a factor of {10**estimate.error:.2g}"
    return f"{10**estimate.value:,.0f}{factor} ({estimate.runs} runs)"


def rows_of(points: Iterable[Point], seconds: bool = False) -> list[Row]:
    """The points of jobs as rows; ``seconds`` adds the time of every point as a measure."""
    rows = []
    for point in points:
        rows.append(Row(point.label, point.measure, point.iteration, point.seed, point.value))
        if seconds:
            rows.append(Row(point.label, f"seconds of {point.measure}", point.iteration, point.seed, point.seconds))
    return rows


def write_rows_of(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV, with seven significant digits."""
    with storage.atomically(path) as temporary, open(temporary, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Row)])
        for row in rows:
            error = "" if math.isnan(row.error) else f"{row.error:.4g}"
            writer.writerow([row.label, row.measure, f"{row.at:.12g}", row.run, f"{row.value:.7g}", error, row.runs])


def read_rows_of(path: Path) -> list[Row]:
    """What ``write_rows_of`` wrote."""
    with open(path, newline="") as file:
        return [
            Row(
                row["label"],
                row["measure"],
                float(row["at"]),
                int(row["run"]),
                float(row["value"]),
                float(row["error"] or math.nan),
                int(row["runs"]),
            )
            for row in csv.DictReader(file)
        ]
