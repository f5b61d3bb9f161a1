"""Train the bots ``smooth-uct`` and ``smooth-uct-average``, at the scale of Heinrich & Silver 2015, on a GPU.

    python benchmarks/train_smooth_uct.py 2 62100000000 src/fogplay/bots/data
    python benchmarks/train_smooth_uct.py 3 50000000000 src/fogplay/bots/data

Without a GPU, add ``--device cpu``. Three players have 530 million actions, most of them in hands that are hardly ever
played: rarely visited infosets are left out, and averages are rounded. The files that come with the package were
written by ``write`` from runs of smooth-uct-2015/fig3 and table3, which train in the same way; another run gives
another player, by chance (docs/results.md).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fogplay.errors import FogplayError
from fogplay.simulators import Simulator, simulator_for
from fogplay.solvers.sampling import SelfPlay
from fogplay.solvers.solve import require_device

GAMES = {2: "holdem(grid=ehs2:169/1000/500/200)", 3: "holdem(players=3,grid=ehs2:169/1000/100/20)"}
SEED = 1
STRETCHES = 100
# By players: what is left out and how averages are rounded (``BettingStrategy.of``).
GREEDY: dict[int, dict[str, int]] = {2: {}, 3: {"least": 10}}
AVERAGE: dict[int, dict[str, int]] = {2: {}, 3: {"least": 3000, "steps": 5}}


def main(players: int, episodes: int, folder: Path, device: str) -> None:
    require_device(device, "smooth-uct")
    folder.mkdir(parents=True, exist_ok=True)
    simulator = simulator_for(GAMES[players])
    learner = SelfPlay(simulator, "smooth-uct", {"seed": SEED, "device": device})
    done = 0
    for stretch in range(1, STRETCHES + 1):
        count = episodes * stretch // STRETCHES - done
        learner.advance(done + 1, count)
        done += count
        print(f"{done:,} episodes", file=sys.stderr, flush=True)
    write(simulator, learner.kept(), learner.parameters, episodes, folder)


def write(
    simulator: Simulator, learned: Mapping[str, Any], parameters: Mapping[str, Any], episodes: int, folder: Path
) -> None:
    """The two profiles."""
    players = simulator.num_players
    about = {"parameters": parameters, "iterations": episodes, "seed": SEED}
    for name, greedy, smaller in (("smooth-uct", True, GREEDY), ("smooth-uct-average", False, AVERAGE)):
        profile = simulator.strategy(learned, "smooth-uct", greedy, **about, **smaller[players])
        profile.save(folder / f"{name}-{players}.safetensors")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", type=int, choices=GAMES)
    parser.add_argument("episodes", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    try:
        main(given.players, given.episodes, given.folder, given.device)
    except FogplayError as error:
        sys.exit(str(error))
