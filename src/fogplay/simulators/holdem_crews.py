"""How threads share the flops of a walk through hold'em: all draw from one queue, whatever device they walk on.

A GPU is fed by few threads, and most cores of its machine would idle. So threads that walk whole flops on a core of the
CPU help it. One of them needs for a flop what the GPU needs for some fifty, so they stop before the end: nobody waits
for a flop that the GPU would have finished earlier.
"""

from __future__ import annotations

import collections
import concurrent.futures
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.simulators.holdem_boards import Next
from fogplay.simulators.holdem_walk import Walk

UNTRIED = 60  # flops that must be left for a helper whose pace is not known yet


@dataclass
class Crew:
    """Threads that walk flops in the same way, and their pace so far."""

    walk: Walk
    size: int  # threads
    busy: int = 0
    done: int = 0  # flops
    spent: float = 0.0  # seconds of all its threads

    def helps(self, first: Crew, left: int) -> bool:
        """Whether a flop is done sooner by this crew than all that are ``left`` by the first."""
        if self.done == 0 or first.done == 0:
            return left > UNTRIED
        return left * first.spent / first.done / first.size > self.spent / self.done


def walk_flops(
    crews: Sequence[Crew],
    flops: Sequence[Next],
    numbers: Sequence[int],
    is_over: Callable[[], bool],
    add: Callable[[int, NDArray[np.float64]], None],
) -> None:
    """Walk the flops of these numbers until ``is_over``; ``add`` is called with each result, by this thread.

    The first crew takes all that it can; the others help it.
    """
    left, first = collections.deque(numbers), crews[0]
    reach = first.walk.begin()
    running: dict[concurrent.futures.Future[tuple[NDArray[np.float64], float]], tuple[int, Crew]] = {}
    with concurrent.futures.ThreadPoolExecutor(sum(crew.size for crew in crews)) as pool:
        while True:
            for crew in crews:
                while left and crew.busy < crew.size and not is_over():
                    if crew is not first and not crew.helps(first, len(left)):
                        break
                    number = left.popleft()
                    running[pool.submit(_timed, crew.walk, flops[number], reach)] = number, crew
                    crew.busy += 1
            if not running:
                return
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                number, crew = running.pop(future)
                crew.busy -= 1
                values, spent = future.result()
                crew.done += 1
                crew.spent += spent
                add(number, values)


def _timed(walk: Walk, flop: Next, reach: Any) -> tuple[NDArray[np.float64], float]:
    """What a walk finds on a flop, and the seconds it took."""
    began = time.monotonic()
    return walk.on_flop(flop, reach), time.monotonic() - began
