"""What estimates from sampled flops are worth: many samples from a game in which all flops are known.

    python benchmarks/estimates.py champion                # 15 core-minutes, then a minute per number of flops
    python benchmarks/estimates.py rules --turns 1 --samples 20

All flops take hours on a CPU. Here each is followed by a few turns instead of all; the responder knows which, so it
earns more than in the whole game, but it chooses before the flop and meets different flops just as there. The values
are kept in --folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.holdem import bots
from fogplay.games.holdem import Holdem
from fogplay.simulators.holdem_boards import Next
from fogplay.simulators.holdem_estimate import STRENGTH_GRID, estimate, sample, strengths
from fogplay.simulators.holdem_full import full_game
from fogplay.simulators.holdem_lookups import buckets_of
from fogplay.simulators.holdem_walk import Walk

SCALE = 100  # mb/h per chip: the big blind is ten chips


def values_of(walk: Walk, turns: int, path: Path) -> NDArray[np.float64]:
    """[flops, seats, lines, classes] the values on every flop, each with so many turns."""
    if path.exists():
        known: NDArray[np.float64] = np.load(path)
        return known
    rng, all_boards = np.random.default_rng(1), type(walk).next_boards

    def some_boards(self: Walk, dealt: tuple[tuple[int, ...], ...]) -> list[Next]:
        found = all_boards(self, dealt)
        if len(dealt) != 1:
            return found
        weight = np.array([each.weight for each in found])
        drawn = rng.choice(len(found), turns, p=weight / weight.sum())
        return [Next(found[number].cards, weight.sum() / turns) for number in drawn]

    type(walk).next_boards = some_boards  # type: ignore[method-assign]
    reach = walk.begin()
    found = np.array([walk.on_flop(flop, reach) for flop in walk.flops()])
    np.save(path, found)
    return found


def judge(walk: Walk, found: NDArray[np.float64], counts: Sequence[int], samples: int) -> None:
    """Print how far estimates are off, and how far they say they may be."""
    flops = walk.flops()
    strength = strengths(flops, walk.classes, buckets_of(STRENGTH_GRID))
    by_flop, truth = dict(enumerate(found)), float(np.mean(walk.finish(found.sum(axis=0))))
    print(f"all flops: {SCALE * truth:.1f}")
    for count in counts:
        made = [estimate(walk, flops, sample(flops, count, seed), by_flop, strength) for seed in range(samples)]
        off = SCALE * (np.array([np.mean(each.values) for each in made]) - truth)
        errors = SCALE * np.array([each.standard_error for each in made])
        mean = off.std() / samples**0.5
        beyond = np.mean(np.abs(off) > 2 * errors)
        print(
            f"{count} flops: off by {off.mean():+.1f} ± {mean:.1f}, standard deviation {off.std():.1f}; standard error "
            f"{errors.mean():.1f}, {beyond:.0%} beyond two",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bot")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--flops", type=int, nargs="*", default=[20, 30, 60])
    parser.add_argument("--samples", type=int, default=80)
    parser.add_argument("--folder", type=Path, default=Path())
    given = parser.parse_args()
    rules = Holdem()
    walk = full_game(rules, bots([given.bot], rules)[given.bot]).walk
    found = values_of(walk, given.turns, given.folder / f"{given.bot}-{given.turns}-turns.npy")
    judge(walk, found, given.flops, given.samples)


if __name__ == "__main__":
    main()
