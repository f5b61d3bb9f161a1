"""The loss in quality and the gain in speed from concurrent episodes that share tables.

Concurrent episodes see slightly stale statistics. A CPU runs a few threads, a GPU (`--device cuda`) thousands; both are
compared with one CPU thread, whose tables are never stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Finding, Outcome, final, show
from fogplay.experiments.runner import Job, Mean, Point, Runner, means, repeat, write_rows
from fogplay.kernels.cuda import at_once
from fogplay.solvers.run import log_spaced

GAME = "leduc"
ALGORITHMS = ("smooth-uct", "os-mccfr", "es-mccfr")
AT_ONCE = {"cpu": (2, 4), "cuda": (2**10, 2**12, 2**14, 2**17)}
ALONE = "one CPU thread"


def concurrency(runner: Runner, scale: str) -> Outcome:
    """Leduc: δ by episodes, with one thread and with many."""
    last, runs = (100_000_000, 3) if scale == "paper" else (3_000_000, 2)
    alone = [job for each in ALGORITHMS for job in _runs(ALONE, each, last, runs, 1)]
    # The number of GPU threads ramps up, so numbers that a run of this length never reaches need not be tried.
    most = last if runner.device == "cpu" else at_once(AT_ONCE["cuda"][-1], last - 1)
    sizes = {min(threads, most): threads for threads in reversed(AT_ONCE[runner.device])}
    together = [
        job
        for each in ALGORITHMS
        for playing, threads in sorted(sizes.items())
        for job in _runs(f"up to {playing:,} at once", each, last, runs, threads)
    ]
    one_by_one = replace(runner, engine="sequential")  # so that speeds are comparable
    found_together = one_by_one.run(together)
    points = [*replace(one_by_one, device="cpu").run(alone), *found_together]
    write_rows(runner.folder / "points.csv", points)
    found = {each: means([point for point in points if point.algorithm == each]) for each in ALGORITHMS}
    by_name = [replace(mean, label=f"{each}, {mean.label}") for each, group in found.items() for mean in group]
    write_rows(runner.folder / "means.csv", by_name)
    drawn = [replace(mean, measure=each) for each, group in found.items() for mean in group]
    panels = [Panel(each, f"Leduc, {each}", "exploitability δ (nash_conv)") for each in ALGORITHMS]
    pictures = draw_curves(runner.folder / "concurrency", drawn, panels)
    findings = []
    for each, group in found.items():
        base = final(group, ALONE, "nash_conv")
        for label in dict.fromkeys(mean.label for mean in group):
            end = final(group, label, "nash_conv")
            speed = _speed(points, each, label)
            measured = f"δ {show(end)} at {speed / 1e6:.1f} M episodes/s"
            near = None if label == ALONE else abs(end.mean - base.mean) <= 3 * _error(base, end) + 0.05 * base.mean
            findings.append(Finding(f"{each}, {label}", "", measured, near))
    notes = (
        f"{last:,} episodes (traversals for es-mccfr), {runs} runs each. A finding holds if the final δ equals that of "
        "one thread, within 5 % and three standard errors.",
    )
    return Outcome(tuple(findings), tuple(pictures), notes)


def _runs(label: str, algorithm: str, last: int, runs: int, threads: int) -> list[Job]:
    curve = [point for point in log_spaced(last, 6) if point >= 1000]
    return repeat(label, GAME, algorithm, last, runs, curve, ("nash_conv",), threads=threads)


def _speed(points: Sequence[Point], algorithm: str, label: str) -> float:
    """Episodes per second, over all runs."""
    last = max(point.iteration for point in points)
    seconds = [
        point.seconds for point in points if (point.algorithm, point.label, point.iteration) == (algorithm, label, last)
    ]
    return last * len(seconds) / sum(seconds)


def _error(one: Mean, other: Mean) -> float:
    return float((one.standard_error**2 + other.standard_error**2) ** 0.5)


EXPERIMENTS = (Experiment("beyond/concurrency", "Leduc: the cost of concurrent episodes", concurrency),)
