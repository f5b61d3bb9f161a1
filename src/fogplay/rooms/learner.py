"""A solver in a process of its own: it prints a line of JSON per report and ends when its standard input does.

Where nash_conv cannot be measured, snapshots play short matches against a bot instead.

``python -m fogplay.rooms.learner '{"game": …, "algorithm": …, "iterations": …, "folder": …, "resume": …}'``
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from fogplay.agents.yardsticks import quick_score, yardsticks_of
from fogplay.errors import FogplayError
from fogplay.games.registry import load
from fogplay.solvers import Progress, solve
from fogplay.solvers.algorithms import AUTO
from fogplay.solvers.run import CurvePoint

POINTS = 6  # measurements and snapshots per decade of iterations
CHECKPOINT_SECONDS = 5.0
PATIENCE = 3.0  # seconds after which a solver that has not measured itself never will


def main(text: str) -> int:
    """Learn until the iterations are done, or until nobody holds the other end of standard input."""
    asked = json.loads(text)
    folder, stop = Path(asked["folder"]), threading.Event()

    def wait() -> None:
        sys.stdin.read()
        stop.set()

    threading.Thread(target=wait, daemon=True).start()

    latest: list[Progress] = []
    rules = load(asked["game"])

    def keep(iteration: int, strategy: Any) -> None:
        strategy.save(snapshot_in(folder))
        tell(snapshot=iteration)
        if not _is_measured(rules, latest):
            score = quick_score(strategy, rules)
            measure, seconds = f"{score.unit} against {score.bot}", latest[0].seconds if latest else 0.0
            tell(measure=measure, point=[iteration, seconds, score.mean], error=score.standard_error)

    def report(at: Progress) -> None:
        fresh = at.nash_conv is not None and not (latest and latest[0].nash_conv == at.nash_conv)
        latest[:] = [at]
        tell(iteration=at.iteration, iterations=at.iterations, seconds=at.seconds)
        if fresh:
            tell(measure="nash_conv", point=[at.iteration, at.seconds, at.nash_conv])

    def measured(point: CurvePoint) -> None:
        if "nash_conv" in point.values:
            tell(measure="nash_conv", point=[point.iteration, point.seconds, point.nash_conv])

    try:
        result = solve(
            asked["game"],
            asked["algorithm"] or AUTO,
            asked["iterations"],
            curve=POINTS,
            checkpoint=folder / "checkpoint",
            checkpoint_seconds=CHECKPOINT_SECONDS,
            resume=asked["resume"],
            progress=report,
            snapshot=keep,
            measured=measured,
            stop=stop,
        )
    except FogplayError as error:
        tell(trouble=str(error))
        return 2
    result.strategy.save(snapshot_in(folder))
    tell(iteration=result.iterations, seconds=result.seconds, algorithm=result.algorithm, snapshot=result.iterations)
    if result.nash_conv is not None:
        tell(measure="nash_conv", point=[result.iterations, result.seconds, result.nash_conv])
    tell(done=not result.interrupted and result.stopped is None, trouble=result.stopped or "")
    return 0


def snapshot_in(folder: Path) -> Path:
    """Where a run keeps its newest strategy; the file has the run's name, as its player has."""
    return folder / f"{folder.name}.safetensors"


def _is_measured(rules: Any, latest: list[Progress]) -> bool:
    """Whether the solver measures itself, or whether it is too early to know."""
    if yardsticks_of(rules):
        return False
    return not latest or latest[0].nash_conv is not None or latest[0].seconds < PATIENCE


def tell(**facts: Any) -> None:
    """One report to whoever started this."""
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
