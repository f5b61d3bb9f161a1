"""Tune the numbers of the rules of thumb of Doudizhu by self-play: ``python benchmarks/doudizhu_tune.py 600``.

Hill climbing. A candidate changes a few numbers at random and plays the same decks as the best so far, against that one
and against ``rhcp``. It takes over if it wins significantly more, first over few decks and then over many new ones.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu import arena

FEW, MANY = 400, 1600  # decks
ADP_WEIGHT = 0.1


def results(one: arena.Bot, other: arena.Bot, first: int, decks: int) -> NDArray[np.float64]:
    """[decks] what ``one`` wins of each deck, from 0 to 1, with the score counted a little."""
    won, score = np.zeros((decks, 2), bool), np.zeros((decks, 2))
    arena.compare(7, first, decks, one, other, np.zeros(2, np.uint64), np.zeros(3, np.uint64), won, score)
    return won.mean(axis=1) + ADP_WEIGHT * score.mean(axis=1)


def gain(new: arena.Bot, old: arena.Bot, rhcp: arena.Bot, first: int, decks: int) -> tuple[float, float]:
    """How much a candidate is better, and the standard error."""
    direct = results(new, old, first, decks) - 0.5
    other = results(new, rhcp, first, decks) - results(old, rhcp, first, decks)
    both = 0.5 * direct + 0.5 * other
    return float(both.mean()), float(both.std() / decks**0.5)


def main(seconds: float, seed: int, path: str) -> None:
    """Print every improvement and keep the numbers in a file."""
    rng = np.random.default_rng(seed)
    try:
        numbers = np.load(path)
    except OSError:
        numbers = arena.rules.numbers()
    old, rhcp = arena.bot(arena.RULES, numbers), arena.bot(arena.RHCP)
    first, began, tries = 10_000_000 * (seed + 1), time.time(), 0
    while time.time() - began < seconds:
        changed = numbers.copy()
        some = rng.choice(len(numbers), rng.integers(1, 6), replace=False)
        changed[some] += rng.normal(0, 1, len(some)) * (0.3 * np.abs(changed[some]) + 0.3)
        new = arena.bot(arena.RULES, changed)
        tries += 1
        mean, error = gain(new, old, rhcp, first, FEW)
        first += FEW
        if mean < 0.5 * error:
            continue
        mean, error = gain(new, old, rhcp, first, MANY)
        first += MANY
        if mean > 1.3 * error:
            numbers, old = changed, new
            np.save(path, numbers)
            print(f"{time.time() - began:5.0f} s, {tries} tries: {mean:+.4f} ± {error:.4f}", flush=True)
    check = results(old, rhcp, 1, 5000)
    print(f"against rhcp: {check.mean():.4f} ± {check.std() / 5000**0.5:.4f}")
    print(np.array2string(numbers, precision=3, separator=", ", max_line_width=110))


if __name__ == "__main__":
    main(
        float(sys.argv[1]),
        int(sys.argv[2]) if len(sys.argv) > 2 else 0,
        sys.argv[3] if len(sys.argv) > 3 else "numbers.npy",
    )
