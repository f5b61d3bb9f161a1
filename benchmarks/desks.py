"""How many questions per second the threads of self-play ask, if a GPU answers them in the time that networks take.

    python benchmarks/desks.py --threads 32 --games 8192        # a minute; on 16 cores
    python benchmarks/desks.py --games 512 --parts 2

The GPU is simulated: its answers are random numbers that lie there already, and a batch takes 0.1 ms and 0.2 µs per row
(`--row`), so only what threads need of the cores counts. `--row 0.02` shows what they could ask of a faster one.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import time
from typing import Any

import numpy as np
import torch

from fogplay.bots.doudizhu import selfplay
from fogplay.bots.doudizhu.training import TOGETHER, deliberation
from fogplay.jit import num_cores
from fogplay.nets.answers import Answers, Captured
from fogplay.simulators.doudizhu_features import SEEN
from fogplay.simulators.doudizhu_policy import OUTPUTS

START = 1e-4  # seconds that a batch takes besides those of its rows


class Nowhere:
    """Memory that nothing has to be copied to or from."""

    def __init__(self, size: tuple[int, ...] = (), kind: Any = torch.float32) -> None:
        self.shape, rng = size, np.random.default_rng(0)
        self.array = rng.standard_normal(size, np.float32) if kind == torch.float32 else np.zeros(size, np.int64)

    def numpy(self) -> Any:
        return self.array

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Nowhere:
        return NOWHERE

    def copy_(self, other: Any, non_blocking: bool = False) -> None:
        pass


NOWHERE = Nowhere()


class Mark:
    """A moment in the order of what was sent."""

    def __init__(self, moment: float) -> None:
        self.moment = moment

    def query(self) -> bool:
        return time.monotonic() >= self.moment

    def elapsed_time(self, other: Mark) -> float:
        return 1e3 * (other.moment - self.moment)


class Simulated:
    """What ``answers.Gpu`` does, in no time but the one that it says."""

    def __init__(self, row: float) -> None:
        self.row, self.busy = row, 0.0

    def event(self) -> Mark:
        return Mark(max(self.busy, time.monotonic()))

    def context(self) -> Any:
        return contextlib.nullcontext()

    def settle(self) -> None:
        pass

    def memory(self, *size: int, dtype: Any) -> Any:
        return Nowhere(size, dtype)

    def capture(self, forward: Any, seat: int, size: int, words: int) -> Captured:
        def replay() -> None:
            self.busy = max(self.busy, time.monotonic()) + START + self.row * size

        return Captured(replay, NOWHERE, NOWHERE)  # type: ignore[arg-type]


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2 * num_cores())
    parser.add_argument("--games", type=int, default=TOGETHER * 2 * num_cores())
    parser.add_argument("--parts", type=int, help=f"of the games, played in step; of {TOGETHER} games by default")
    parser.add_argument("--playouts", type=int, default=400)
    parser.add_argument("--row", type=float, default=0.2, help="microseconds")
    parser.add_argument("--seconds", type=float, default=30.0)
    given = parser.parse_args()
    answers = Answers(lambda seen, seat: seen, lambda: None, 3, SEEN, OUTPUTS, Simulated(1e-6 * given.row))
    selfplay.go_on(1, selfplay.begin(2, 1), 1, answers, deliberation(4), 1.0)  # compiles
    own = selfplay.begin(given.games, given.parts or max(given.games // TOGETHER, 1))
    rows, batches, network = answers.rows, answers.batches, answers.seconds()
    used, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    end = began + given.seconds
    selfplay.go_on(1, own, given.threads, answers, deliberation(given.playouts), 1.0, lambda: time.monotonic() > end)
    wall, now = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF)
    rows, batches = answers.rows - rows, answers.batches - batches
    cores = (now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime) / wall
    decisions = sum(int(each.length.sum()) for each in own)
    print(
        f"{rows / wall / 1e6:.2f} million questions per second, {rows / max(batches, 1):,.0f} at a time; "
        f"{1e6 * cores * wall / rows:.1f} µs of a core each, {cores:.1f} cores busy; the network for "
        f"{(answers.seconds() - network) / wall:.0%} of the time; {decisions / wall:,.0f} decisions per second"
    )


if __name__ == "__main__":
    main()
