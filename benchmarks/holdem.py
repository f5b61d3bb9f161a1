"""Speed of learning limit hold'em: Smooth UCT episodes per second on one core, and memory.

    python benchmarks/holdem.py                     # two and three players, each in a process of its own
    python benchmarks/holdem.py --players 2 --episodes 200

plays millions of episodes, and prints the speed of each stretch, since it changes as the tree grows.
``--layout plain`` puts a node's buckets side by side instead of a family's, ``--batch 1`` looks up every deal alone,
and ``--cell large`` uses 16 bytes per slot for three players too; benchmarks/README.md lists the effect of each.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from fogplay.games import load
from fogplay.kernels import uct
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.simulators.streams import streams

MILLION = 1_000_000
STRETCH = 2 * MILLION
PROMISED = {2: (800_000, 1.0), 3: (300_000, 8.0)}  # episodes per second, GB


def resident() -> tuple[float, float]:
    """GB of the process now: its own, and with files that are mapped."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    own, files = (int(lines[name].split()[0]) * 1024 / 1e9 for name in ("RssAnon", "RssFile"))
    return own, own + files


def plain_layout(simulated: HoldemSimulator) -> None:
    """Each node's slots for itself, one bucket after the other."""
    nodes, buckets = simulated.betting.nodes, np.array(simulated.rules.buckets())
    sizes = np.where(nodes["player"] >= 0, nodes["count"].astype(np.int64) * buckets[nodes["street"]], 0)
    begin = np.cumsum(sizes) - sizes
    nodes["slot"] = np.where(nodes["player"] >= 0, begin, nodes["slot"])
    nodes["stride"] = nodes["count"]


def learn(players: int, episodes: int, layout: str, batch: int, cell: str) -> None:
    rules = load(f"holdem(players={players})")
    begin = time.perf_counter()
    simulated = HoldemSimulator.of(rules)
    built = time.perf_counter() - begin
    if layout == "plain":
        plain_layout(simulated)
    kind = uct.CELL if cell == "large" or (cell == "" and players == 2) else uct.SMALL_CELL
    tables = uct.Tables(np.zeros(simulated.num_slots, kind))
    gigabytes = [array.nbytes / 1e9 for array in (simulated.betting.nodes, tables.cell)]
    print(f"{rules}")
    print(
        f"built in {built:.1f} s; {simulated.decisions:,} decision nodes of {len(simulated.betting.nodes):,} "
        f"({gigabytes[0]:.3f} GB), {simulated.num_slots:,} slots ({gigabytes[1]:.3f} GB, {kind.itemsize} bytes each)"
    )
    game, rng = simulated.worker(batch), streams(1, 1)[0]
    path = uct.Path.of(simulated.deepest, players)
    exploration = simulated.exploration(simulated.defaults["k"], simulated.defaults["cap"])
    selection = uct.Selection(uct.Decay(0.1, 0.9, 1 / 20000), uct.Uniform(), exploration)
    uct.run(game, tables, selection, rng, path, 1, 1, 1_000)
    speeds = []
    for done in range(STRETCH, episodes * MILLION + 1, STRETCH):
        begin = time.perf_counter()
        uct.run(game, tables, selection, rng, path, 1, 1, STRETCH)
        speeds.append(STRETCH / (time.perf_counter() - begin))
        if done % (10 * STRETCH) == 0 or done == episodes * MILLION:
            own, everything = resident()
            last = speeds[-10:]
            print(
                f"after {done // MILLION:>4} M: {np.median(last):>9,.0f} episodes/s (best {max(last):,.0f}); "
                f"{own:.2f} GB, {everything:.2f} GB with mapped tables",
                flush=True,
            )
    speed, limit = PROMISED[players]
    most = gigabytes[0] + gigabytes[1] + 0.43 + 0.2  # every page touched, hand strength, Python and its libraries
    verdict = "as promised" if np.median(speeds[-10:]) >= speed and most <= limit else "NOT as promised"
    print(f"at most {most:.2f} GB once every page is touched; {verdict}: {speed:,} episodes/s in {limit} GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, choices=(2, 3))
    parser.add_argument("--episodes", type=int, default=40, help="in millions")
    parser.add_argument("--layout", choices=("family", "plain"), default="family")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--cell", choices=("large", "small"), default="")
    chosen = parser.parse_args()
    if chosen.players is None:
        for players in (2, 3):
            subprocess.run([sys.executable, __file__, "--players", str(players), *sys.argv[1:]], check=True)
        return
    learn(chosen.players, chosen.episodes, chosen.layout, chosen.batch, chosen.cell)


if __name__ == "__main__":
    main()
