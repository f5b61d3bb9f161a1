"""Train the bot ``sparring``: a near-equilibrium of two-player limit hold'em with 10 buckets per round.

    python benchmarks/train_sparring.py 60000000 src/fogplay/bots/data/sparring-2.safetensors

External sampling on one thread. It saves the average strategy of the second half of the run, since the early strategies
are far from any equilibrium and would distort the average for a long time.
"""

from __future__ import annotations

import sys
import time

from fogplay.simulators import simulator_for
from fogplay.solvers.sampling import MonteCarloCfr

GAME = "holdem(grid=ehs:10/10/10/10)"
SEED = 1
STRETCH = 500_000


def main(traversals: int, out: str) -> None:
    simulator = simulator_for(GAME)
    learner = MonteCarloCfr(simulator, "es-mccfr", {"seed": SEED})
    began = time.perf_counter()
    forgotten = False
    for first in range(0, traversals, STRETCH):
        if not forgotten and first >= traversals // 2:
            learner.driver.tables.average[:] = 0
            forgotten = True
        count = min(STRETCH, traversals - first)
        learner.advance(first, count)
        done = first + count
        print(f"{done:,} traversals, {done / (time.perf_counter() - began):,.0f}/s", file=sys.stderr, flush=True)
    about = {"parameters": {"averaged": "second half"}, "iterations": traversals, "seed": SEED}
    simulator.strategy(learner.kept(), "es-mccfr", greedy=False, **about).save(out)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
