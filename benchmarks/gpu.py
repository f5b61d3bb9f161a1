"""Episodes per second on a GPU, compared with one CPU thread in the same run.

    python benchmarks/gpu.py
    python benchmarks/gpu.py --seconds 10 leduc:smooth-uct holdem:smooth-uct

The measurement starts after compiling, after all of the GPU's threads have started, and after the tables have grown for
a while; ``--scale`` shortens that while, for a quick look.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from fogplay.errors import FogplayError
from fogplay.simulators import Simulator, simulator_for
from fogplay.solvers.algorithms import ALGORITHMS
from fogplay.solvers.solve import require_device

THREE = "holdem(players=3,grid=ehs2:169/1000/100/20)"
RACES = ("leduc:smooth-uct", "leduc:os-mccfr", "leduc:es-mccfr", "holdem:smooth-uct", "holdem:uct", "holdem:os-mccfr",
         f"{THREE}:smooth-uct")  # fmt: skip
PLAYED = {"cuda": 400_000_000, "cpu": 300_000}  # before the clock runs


def speed(simulator: Simulator, algorithm: str, device: str, seconds: float, scale: float = 1.0) -> float:
    """Episodes, or traversals, per second."""
    require_device("cuda", algorithm)
    make = ALGORITHMS[algorithm].make
    assert make is not None
    learner: Any = make(simulator, algorithm, {"seed": 1, "device": device})
    played = max(1, int(PLAYED[device] * scale))
    learner.advance(1, 0)
    began = time.perf_counter()
    learner.advance(1, played)
    rate, measured, took = played / (time.perf_counter() - began), 0, 0.0
    while took < seconds:
        count = max(1, int(rate * max(seconds - took, seconds / 10)))
        began = time.perf_counter()
        learner.advance(played + measured + 1, count)
        took += time.perf_counter() - began
        measured += count
        rate = measured / took
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("races", nargs="*", default=RACES, help="game:algorithm")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--scale", type=float, default=1.0, help="of what is played before")
    given = parser.parse_args()
    head = "| game | algorithm | a GPU, per second | one CPU thread, per second | ratio |\n|---|---|---:|---:|---:|\n"
    try:
        for race in given.races:
            game, _, algorithm = race.rpartition(":")
            simulator = simulator_for(game)
            there, here = (
                speed(simulator, algorithm, device, given.seconds, given.scale) for device in ("cuda", "cpu")
            )
            print(f"{head}| {game} | {algorithm} | {there:,.0f} | {here:,.0f} | {there / here:,.0f} |", flush=True)
            head = ""
    except FogplayError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
