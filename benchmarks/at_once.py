"""The cost of playing thousands of concurrent episodes on a GPU from the start, and the benefit of a slow ramp.

    python benchmarks/at_once.py
    python benchmarks/at_once.py --episodes 20000000 --threads 16384 smooth-uct

prints nash_conv on Leduc, the mean of three runs, and the seconds of the fastest: with all threads from the start, or
doubling the threads whenever each has played a thousand, three thousand, ... episodes (``kernels/cuda.py``).
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

from fogplay.errors import FogplayError
from fogplay.evaluate import measure
from fogplay.kernels import cuda as driver
from fogplay.simulators import Simulator, simulator_for
from fogplay.solvers.algorithms import ALGORITHMS
from fogplay.solvers.solve import require_device

SEEDS = (1, 2, 3)
SHARES = (0, 1000, 3000, 10000)  # episodes played for each of those that play; 0: all threads from the start


def run(simulator: Simulator, algorithm: str, episodes: int, threads: int, seed: int) -> tuple[float, float]:
    """nash_conv and seconds."""
    make = ALGORITHMS[algorithm].make
    assert make is not None
    learner: Any = make(simulator, algorithm, {"seed": seed, "device": "cuda", "threads": threads})
    learner.advance(1, 0)
    began = time.perf_counter()
    learner.advance(1, episodes)
    took = time.perf_counter() - began
    return measure(learner.flat, learner.average()).nash_conv, took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("algorithms", nargs="*", default=["smooth-uct", "os-mccfr", "es-mccfr"])
    parser.add_argument("--episodes", type=int, default=100_000_000)
    parser.add_argument("--threads", type=int, default=2**17)
    given = parser.parse_args()
    try:
        for name in given.algorithms:
            require_device("cuda", name)
        simulator = simulator_for("leduc")
        print("| algorithm | episodes for each at once | nash_conv | seconds |\n|---|---:|---:|---:|")
        for name in given.algorithms:
            for share in SHARES:
                driver.PLAYED = max(share, 1)
                driver.FEWEST = given.threads if share == 0 else driver.BLOCK
                runs = [run(simulator, name, given.episodes, given.threads, seed) for seed in SEEDS]
                found, took = zip(*runs, strict=True)
                print(f"| {name} | {share:,} | {np.mean(found):.4f} | {min(took):.2f} |", flush=True)
    except FogplayError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
