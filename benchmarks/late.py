"""What stale statistics alone do to UCT in Leduc: one CPU thread whose updates are late, as on a GPU.

    python benchmarks/late.py 131072 --seeds 5     # adds rows to figure 2 of 2015 for the pages of results

With N concurrent episodes, an episode does not see the results of the N - 1 before it. Here one thread plays the
episodes in order and holds their updates back for so long; N grows during a run as it does on a GPU. If UCT then ends
as far from equilibrium as on a GPU, stale statistics are the cause.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import fogplay as fp
from fogplay import storage
from fogplay.experiments.rows import Row, read_rows_of, write_rows_of
from fogplay.experiments.smooth_uct_2015 import late
from fogplay.jit import kernel
from fogplay.kernels import cpu, uct
from fogplay.kernels.cuda import FEWEST, PLAYED
from fogplay.kernels.updates import add

GAME, DEPTH = "leduc(suits=unseen)", 16  # more actions than a hand has
PLACES = (85_000_000, 500_000_000)
TARGET = Path("benchmarks/results/papers/smooth-uct-2015/fig2.late.csv")


class Later(NamedTuple):
    """A way to write: updates wait in a ring, each as two entries, one of visits and one of a total."""

    slot: NDArray[np.int64]  # [entries]
    amount: NDArray[np.float64]  # [entries]
    ends: NDArray[np.int64]  # [episodes at once] where the entries of an episode end
    done: NDArray[np.int64]  # [2] entries written, and entries that are in the tables

    @staticmethod
    def of(at_once: int) -> Later:
        entries = 2 * DEPTH * (at_once + 1)
        return Later(np.zeros(entries, np.int64), np.zeros(entries), np.zeros(at_once, np.int64), np.zeros(2, np.int64))


@add.register(Later)
def _later(writing, table, at, amount):
    entry = writing.done[0] % len(writing.slot)
    writing.slot[entry] = at
    writing.amount[entry] = amount
    writing.done[0] += 1


@kernel
def run(game, tables, selection, rng, path, first, stride, count):
    """``uct.run`` with late updates; ``tables``, ``rng`` and ``path`` change."""
    waiting, most = tables.writing, len(tables.writing.ends)
    for number in range(first, first + count):
        uct.episode(game, tables, selection, rng, path)
        waiting.ends[number % most] = waiting.done[0]
        at_once = min(FEWEST, most)
        while at_once < most and number >= 2 * at_once * PLAYED:
            at_once *= 2
        known = number + 1 - min(at_once, most)  # the last episode that the next one sees
        if known < 1:
            continue
        for entry in range(waiting.done[1], waiting.ends[known % most]):
            place = entry % len(waiting.slot)
            if entry % 2 == 0:
                tables.cell[waiting.slot[place]].visits += np.int64(waiting.amount[place])
            else:
                tables.cell[waiting.slot[place]].total += waiting.amount[place]
        waiting.done[1] = max(waiting.done[1], waiting.ends[known % most])


def solve(at_once: int, seed: int, places: tuple[int, ...]) -> Any:
    """UCT with c = 20, the paper's, whose updates are so many episodes late."""
    with mock.patch.object(uct, "run", run), mock.patch.object(cpu, "Plain", return_value=Later.of(at_once)):
        return fp.solve(GAME, "uct", places[-1], seed=seed, c=20.0, curve=places, watch=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("at_once", type=int, nargs="+", help="concurrent episodes to imitate, a power of two")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0, help="of the episodes: a rehearsal")
    parser.add_argument("--target", type=Path, default=TARGET)
    given = parser.parse_args()
    rows = read_rows_of(given.target) if given.target.exists() else []
    known = {(row.label, row.run) for row in rows}
    for at_once in given.at_once:
        for seed in range(1, given.seeds + 1):
            if (late(at_once), seed) in known:
                continue
            result = solve(at_once, seed, tuple(int(place * given.share) for place in PLACES))
            rows += [Row(late(at_once), "nash_conv", each.iteration, seed, each.nash_conv) for each in result.curve]
            write_rows_of(given.target, rows)
            print(f"{late(at_once)}, seed {seed}: {result.curve[-1].nash_conv:.3f}, {result.seconds:.0f} s", flush=True)
    every = sorted({int(row.label.split()[2]) for row in rows})
    runs = max(row.run for row in rows)
    command = f"python benchmarks/late.py {' '.join(str(number) for number in every)} --seeds {runs}"
    about = {"command": command, "note": "UCT with c = 20 on one CPU thread, in order, whose updates are kept back"}
    storage.write_text(given.target.with_suffix(".json"), json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
