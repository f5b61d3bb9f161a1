"""The loss in quality and the gain in speed from concurrent episodes that share tables.

Concurrent episodes see slightly stale statistics. A CPU runs a few threads, a GPU (`--device cuda`) thousands; both are
compared with one CPU thread, whose tables are never stale.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import Row, Rows, rows_of
from fogplay.experiments.runner import Job, Runner, repeat
from fogplay.experiments.verdicts import Finding
from fogplay.kernels.cuda import at_once
from fogplay.solvers.run import log_spaced

GAME = "leduc"
ALGORITHMS = ("smooth-uct", "os-mccfr", "es-mccfr")
AT_ONCE = {"cpu": (2, 4), "cuda": (2**10, 2**12, 2**14, 2**17)}
ALONE = "one CPU thread"


def run_concurrency(runner: Runner, scale: str) -> list[Row]:
    """Leduc: δ by episodes, with one thread and with many."""
    last, runs = (3_000_000, 3) if scale == "quick" else (100_000_000, 3)
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
    return [
        *rows_of(one_by_one.run(together), seconds=True),
        *rows_of(replace(one_by_one, device="cpu").run(alone), seconds=True),
    ]


def concurrency(rows: Rows, folder: Path) -> Outcome:
    """The final δ beside that of one thread."""
    labels = rows.labels("nash_conv")
    drawn, findings = [], []
    for each in ALGORITHMS:
        mine = sorted(
            (label for label in labels if label.startswith(f"{each}, ")), key=lambda label: ALONE not in label
        )
        drawn += [
            replace(mean, measure=each)
            for label in mine
            for mean in rows.curve(label, "nash_conv", label[len(each) + 2 :])
        ]
        for label in mine:
            end, seconds = rows.estimate(label, "nash_conv"), rows.estimate(label, "seconds of nash_conv")
            more = end.minus(rows.estimate(f"{each}, {ALONE}", "nash_conv"))
            speed = rows.places(label, "nash_conv")[-1] / seconds.value / 1e6
            beyond = "" if ALONE in label else f", {more.show(3)} more than {ALONE}"
            findings.append(Finding(label, "", f"δ {end.show(4)} at {speed:.1f} M episodes/s{beyond}"))
    panels = [Panel(each, f"Leduc, {each}", "exploitability δ (nash_conv)") for each in ALGORITHMS]
    return Outcome(tuple(findings), tuple(draw_curves(folder / "concurrency", drawn, panels)))


def _runs(label: str, algorithm: str, last: int, runs: int, threads: int) -> list[Job]:
    curve = [point for point in log_spaced(last, 6) if point >= 1000]
    return repeat(f"{algorithm}, {label}", GAME, algorithm, last, runs, curve, ("nash_conv",), threads=threads)


EXPERIMENTS = (
    Experiment("beyond/concurrency", "Leduc: the cost of concurrent episodes", run_concurrency, concurrency),
)
