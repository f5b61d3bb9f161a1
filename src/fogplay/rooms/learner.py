"""A solver in a process of its own: it prints a line of JSON per report and ends when its standard input does.

``python -m fogplay.rooms.learner '{"game": …, "algorithm": …, "iterations": …, "folder": …, "resume": …}'``
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from fogplay.errors import FogplayError
from fogplay.solvers import Progress, solve
from fogplay.solvers.algorithms import AUTO

POINTS = 6  # measurements and snapshots per decade of iterations
CHECKPOINT_SECONDS = 5.0


def main(text: str) -> int:
    """Learn until the iterations are done, or until nobody holds the other end of standard input."""
    asked = json.loads(text)
    folder, stop = Path(asked["folder"]), threading.Event()

    def wait() -> None:
        sys.stdin.read()
        stop.set()

    threading.Thread(target=wait, daemon=True).start()

    def keep(iteration: int, strategy: Any) -> None:
        strategy.save(folder / "snapshot.safetensors")
        tell(snapshot=iteration)

    def report(at: Progress) -> None:
        tell(iteration=at.iteration, iterations=at.iterations, seconds=at.seconds, nash_conv=at.nash_conv)

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
            stop=stop,
        )
    except FogplayError as error:
        tell(error=str(error))
        return 2
    result.strategy.save(folder / "snapshot.safetensors")
    curve = [[point.iteration, point.nash_conv] for point in result.curve if "nash_conv" in point.values]
    done = result.iterations >= asked["iterations"]
    tell(
        iteration=result.iterations, seconds=result.seconds, nash_conv=result.nash_conv, curve=curve, done=done,
        snapshot=result.iterations, algorithm=result.algorithm,
    )  # fmt: skip
    return 0


def tell(**facts: Any) -> None:
    """One report to whoever started this."""
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
