"""How lock-free shared tables affect convergence: nash_conv against episodes and against seconds.

    python benchmarks/threads.py

writes benchmarks/results/threads-curve.csv and docs/pictures/threads.png, on two cores, in about two minutes.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import fogplay as fp

HERE = Path(__file__).parent
GAMES = ("leduc", "bluff(1,1,6)")
ALGORITHMS = ("smooth-uct", "os-mccfr")
THREADS = (1, 2)
SEEDS = (1, 2, 3)
POINTS_A_DECADE = 10
FROM = 1000  # episodes; before that a curve is noise
COLOURS = {"smooth-uct": "tab:blue", "os-mccfr": "tab:orange"}


class Point(NamedTuple):
    """One measurement of one run."""

    game: str
    algorithm: str
    threads: int
    seed: int
    episodes: int
    seconds: float
    nash_conv: float


def curves(episodes: int, seeds: Sequence[int] = SEEDS, games: Sequence[str] = GAMES) -> list[Point]:
    """Every algorithm on every game, with one thread and with two, by turns, so that a noisy moment hits both alike."""
    points: list[Point] = []
    for game in games:
        for algorithm in ALGORITHMS:
            for seed in seeds:
                for threads in THREADS:
                    found = fp.solve(
                        game, algorithm, episodes, seed=seed, threads=threads, curve=POINTS_A_DECADE, watch=False
                    )
                    points += [
                        Point(game, algorithm, threads, seed, at.iteration, at.seconds, at.nash_conv)
                        for at in found.curve
                        if at.iteration >= FROM
                    ]
    return points


def median(points: Sequence[Point], game: str, algorithm: str, threads: int) -> list[tuple[int, float, float]]:
    """Episodes, seconds and nash_conv of the median seed."""
    mine = [each for each in points if (each.game, each.algorithm, each.threads) == (game, algorithm, threads)]
    found = []
    for episodes in sorted({each.episodes for each in mine}):
        here = [each for each in mine if each.episodes == episodes]
        seconds, conv = np.median([each.seconds for each in here]), np.median([each.nash_conv for each in here])
        found.append((episodes, float(seconds), float(conv)))
    return found


def draw(points: Sequence[Point], path: Path) -> None:
    """Draw one column per game: nash_conv against episodes above, against seconds below."""
    games = list(dict.fromkeys(each.game for each in points))
    figure, axes = plt.subplots(2, len(games), figsize=(4.6 * len(games), 6.6), sharey="col", squeeze=False)
    for column, game in enumerate(games):
        for algorithm in ALGORITHMS:
            for threads in THREADS:
                episodes, seconds, conv = zip(*median(points, game, algorithm, threads), strict=True)
                style: dict[str, Any] = {
                    "color": COLOURS[algorithm],
                    "linestyle": "-" if threads == 1 else "--",
                    "label": f"{algorithm}, {threads} thread{'s' * (threads > 1)}",
                }
                axes[0, column].loglog(episodes, conv, **style)
                axes[1, column].loglog(seconds, conv, **style)
        axes[0, column].set_title(game)
        axes[0, column].set_xlabel("episodes")
        axes[1, column].set_xlabel("seconds")
    for axis in axes.flat:
        axis.grid(alpha=0.3, which="both", linewidth=0.5)
    for row in axes:
        row[0].set_ylabel("nash_conv")
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=20_000_000)
    parser.add_argument("--csv", type=Path, default=HERE / "results" / "threads-curve.csv")
    parser.add_argument("--picture", type=Path, default=HERE.parent / "docs" / "pictures" / "threads.png")
    options = parser.parse_args()
    points = curves(options.episodes)
    with options.csv.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Point._fields)
        writer.writerows(points)
    options.picture.parent.mkdir(parents=True, exist_ok=True)
    draw(points, options.picture)


if __name__ == "__main__":
    main()
