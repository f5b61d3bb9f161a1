"""Train the bot ``sparring``: a near-equilibrium of two-player limit hold'em with 10 buckets a round.

    python benchmarks/train_sparring.py 40000000 src/fogplay/agents/data/sparring.safetensors

External sampling, one thread; the average strategy of the second half of the run, since the first moves of all are far
from any equilibrium and would weigh on the average for long.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from fogplay.kernels import outcome_sampling, traversal_sampling
from fogplay.simulators.holdem import simulate_holdem
from fogplay.simulators.profile import Profile
from fogplay.simulators.random import streams

GAME = "holdem(grid=ehs:10/10/10/10)"
SEED = 1
STRETCH = 500_000


def main(traversals: int, out: str) -> None:
    simulated = simulate_holdem(GAME)
    players, width, depth, slots = 2, simulated.widest, simulated.deepest + 1, simulated.num_slots
    tables = outcome_sampling.Tables(np.zeros(slots), np.zeros(slots), np.zeros(slots, np.int64))
    stack = traversal_sampling.Stack(
        width,
        np.zeros(depth, traversal_sampling.FRAME),
        np.zeros(depth * width),
        np.zeros(depth * width),
        np.zeros((depth + 1, players)),
        np.zeros(0),
        np.zeros(0, traversal_sampling.TOUCHED),
        np.zeros(1, np.int64),
    )
    game, rng, policy = simulated.worker(), streams(SEED, 1)[0], traversal_sampling.External(players)
    began = time.perf_counter()
    forgotten = False
    for first in range(0, traversals, STRETCH):
        if not forgotten and first >= traversals // 2:
            tables.average[:] = 0
            forgotten = True
        count = min(STRETCH, traversals - first)
        traversal_sampling.run(game, tables, policy, rng, stack, first, 1, count)
        done = first + count
        print(f"{done:,} traversals, {done / (time.perf_counter() - began):,.0f}/s", file=sys.stderr, flush=True)
    Profile.of(
        simulated,
        weights=tables.average,
        greedy=False,
        method="es-mccfr",
        parameters={"averaged": "second half"},
        iterations=traversals,
        seed=SEED,
    ).save(out)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
