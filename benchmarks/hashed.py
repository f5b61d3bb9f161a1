"""The cost of finding infosets by key: iterations per second with numbered and with hashed tables, in one run.

    python benchmarks/hashed.py [--game leduc] [--seconds 1] [--rounds 5] [--json]

Both learn the same numbers from the same random stream, which is checked first. The two take turns, so that a noisy
moment hits both alike; the median round counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import numpy as np

from fogplay.simulators import HashedSimulator, Simulator, simulator_for
from fogplay.simulators.interface import require_tree
from fogplay.solvers.sampling import MonteCarloCfr, SelfPlay

ALGORITHMS = ("uct", "smooth-uct", "os-mccfr", "es-mccfr", "cs-mccfr")
CHECKED = 1_000  # iterations


def learner(simulator: Simulator, algorithm: str) -> Any:
    """One thread, with the same constant exploration for both."""
    if algorithm.endswith("uct"):
        return SelfPlay(simulator, algorithm, {"seed": 1, "threads": 1, "c": 0.6 * simulator.payoff_range})
    return MonteCarloCfr(simulator, algorithm, {"seed": 1, "threads": 1})


def rate(playing: Any, at: int, count: int) -> float:
    """Iterations per second."""
    began = time.perf_counter()
    playing.advance(at, count)
    return count / (time.perf_counter() - began)


def measure(numbered: Simulator, hashed: Simulator, algorithm: str, seconds: float, rounds: int) -> dict[str, Any]:
    """One row: both rates, and the second over the first."""
    both = [learner(each, algorithm) for each in (numbered, hashed)]
    for each in both:
        each.advance(1, 0)  # compiles
        each.advance(1, CHECKED)
    strategies = [each.simulator.strategy(each.kept(), algorithm, greedy=False).probabilities for each in both]
    assert np.array_equal(*strategies), f"{algorithm} learned other numbers"
    count = max(1, int(rate(both[0], CHECKED + 1, CHECKED) * seconds))
    rates: list[list[float]] = [[], []]
    for number in range(rounds):
        for each, found in zip(both, rates, strict=True):
            found.append(rate(each, 2 * CHECKED + 1 + number * count, count))
    dense, by_key = (statistics.median(found) for found in rates)
    return {"algorithm": algorithm, "numbered": dense, "hashed": by_key, "ratio": by_key / dense}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    numbered = simulator_for(given.game)
    flat = require_tree(numbered, "the comparison")
    hashed = HashedSimulator(numbered, flat.num_infosets, flat.num_slots)
    rows = [measure(numbered, hashed, name, given.seconds, given.rounds) for name in ALGORITHMS]
    if given.json:
        print(json.dumps({"game": numbered.name, "rows": rows}))
        return
    print(f"{numbered.name}: iterations per second, one thread")
    print(f"{'algorithm':12}{'numbered':>14}{'hashed':>14}{'ratio':>8}")
    for row in rows:
        print(f"{row['algorithm']:12}{row['numbered']:14,.0f}{row['hashed']:14,.0f}{row['ratio']:8.2f}")


if __name__ == "__main__":
    main()
