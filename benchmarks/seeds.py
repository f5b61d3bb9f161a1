"""UCT and Smooth UCT in two-player limit hold'em with error over training runs, at two degrees of concurrency.

    python benchmarks/seeds.py train FOLDER --threads 131072 --seconds 500     # on a GPU; stops and resumes by file
    python benchmarks/seeds.py train FOLDER --threads 8192 --seconds 500
    python benchmarks/seeds.py train FOLDER --device cpu --threads 1 --episodes 1e9 --seeds 3 --algorithm uct
    python benchmarks/seeds.py play FOLDER --hands 2500000                     # all against all, on all cores
    python benchmarks/seeds.py keep FOLDER --hands 100000                      # bots too; for the pages of results

Runs that differ only in the seed differ by several mb/h, so one run of each algorithm says little. ``train`` saves the
greedy strategy of every (algorithm, threads, seed) that is not there yet; ``play`` matches every pair and writes
``matches.csv`` and ``table.md``: for each pair of kinds the mean over all pairs of runs, and its standard error over
runs (the errors of both sides' means over their opponents, as in experiments/strength.py).
"""

from __future__ import annotations

import argparse
import csv
import itertools
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

GAME = "holdem(grid=ehs2:169/1000/500/200)"
ALGORITHMS = ("uct", "smooth-uct")


def train(given: argparse.Namespace) -> None:
    """Train what is missing, until the time is up."""
    import fogplay as fp

    folder, threads, episodes = given.folder, given.threads, int(given.episodes)
    called = threads if given.device == "cuda" else f"{given.device}-{threads}"
    end, longest = time.monotonic() + given.seconds, 0.0
    for seed, algorithm in itertools.product(range(1, given.seeds + 1), given.algorithm or ALGORITHMS):
        file = folder / f"{algorithm}_{called}_{episodes}_{seed}.safetensors"
        if file.exists():
            continue
        if time.monotonic() + longest > end:
            print("the time is up; run it again to continue")
            return
        began = time.monotonic()
        result = fp.solve(GAME, algorithm, episodes, seed=seed, device=given.device, threads=threads, greedy=True)
        result.strategy.save(file)
        longest = max(longest, time.monotonic() - began)
        print(f"{file.name}: {result.seconds:.1f} s, {episodes / result.seconds / 1e6:.0f} M/s", flush=True)


def meet(numbered: tuple[int, tuple[Path, Path]], hands: int) -> dict[str, object]:
    """One match; its seed is its number."""
    import fogplay as fp

    seed, pair = numbered
    result = fp.match("holdem", pair, hands, seed=seed)
    return {
        "player": pair[0].stem, "against": pair[1].stem, "hands": result.hands,
        "mean": result.means[0], "standard_error": result.standard_errors[0],
    }  # fmt: skip


def play(folder: Path, hands: int, workers: int) -> None:
    """Match every pair of strategies in a folder."""
    pairs = list(itertools.combinations(sorted(folder.glob("*.safetensors")), 2))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        rows = list(pool.map(partial(meet, hands=hands), enumerate(pairs, 1)))
    with open(folder / "matches.csv", "w", newline="") as out:
        writer = csv.DictWriter(out, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    report(folder)


def report(folder: Path) -> None:
    """The table of kinds, out of matches.csv."""
    with open(folder / "matches.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    won: dict[tuple[str, str], float] = {}
    for row in rows:
        won[row["player"], row["against"]] = float(row["mean"])
        won[row["against"], row["player"]] = -float(row["mean"])
    names = sorted({name for pair in won for name in pair})
    kinds = sorted({name.rpartition("_")[0] for name in names})
    algorithms, threads = (sorted({name.split("_")[part] for name in names}) for part in (0, 1))
    pairs = [
        *itertools.combinations(kinds, 2),
        *itertools.combinations(algorithms, 2),
        *itertools.combinations(threads, 2),
    ]
    text = "| kind | against | pairs | mb/h | standard error over runs |\n|---|---|---:|---:|---:|\n"
    for one, other in pairs:
        mine, theirs = (
            [name for name in names if kind in (name.rpartition("_")[0], *name.split("_")[:2])] for kind in (one, other)
        )
        table = np.array([[won[a, b] for b in theirs] for a in mine])
        error = np.sqrt(sum(table.mean(axis).var(ddof=1) / table.shape[1 - axis] for axis in (0, 1)))
        text += f"| {one} | {other} | {table.size} | {table.mean():+.2f} | {error:.2f} |\n"
    (folder / "table.md").write_text(text)
    print(text)


def keep(folder: Path, hands: int, points: Path) -> None:
    """Keep the matches of Smooth UCT against UCT, and of both against bots, as rows of figure 3 and table 2 of 2015."""
    from fogplay.experiments.holdem import HoldemTable
    from fogplay.experiments.rows import Row, write_rows_of
    from fogplay.experiments.winnings_2015 import SMOOTH, UCT, winnings
    from fogplay.strategies.betting import BettingStrategy
    from fogplay.strategies.policy import policy_of

    files = {
        name: sorted(folder.glob(f"{algorithm}_*.safetensors"))
        for name, algorithm in ((SMOOTH, "smooth-uct"), (UCT, "uct"))
    }
    at = float(files[UCT][0].stem.split("_")[2])
    number = {file.stem: run for each in files.values() for run, file in enumerate(each, 1)}
    smooth = {file.stem for file in files[SMOOTH]}
    rows = []
    with open(folder / "matches.csv", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["player"] in smooth and row["against"] not in smooth:
                against = f"against {UCT} #{number[row['against']]}"
                rows.append(
                    Row(SMOOTH, against, at, number[row["player"]], float(row["mean"]), float(row["standard_error"]))
                )
    write_rows_of(points / "fig3.seeds.csv", rows)
    table = HoldemTable.for_players(2)
    for name, each in files.items():
        rows += winnings(table, name, [policy_of(BettingStrategy.read(file), table.rules) for file in each], hands, at)
    write_rows_of(points / "table2.seeds.csv", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "play", "report", "keep"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--algorithm", action="append", choices=ALGORITHMS, help="both by default")
    parser.add_argument("--threads", type=int, default=131072)
    parser.add_argument("--episodes", type=float, default=1e10)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=1e9, help="start no run that would end later")
    parser.add_argument("--hands", type=int, default=2_500_000)
    parser.add_argument("--workers", type=int, default=2, help="matches at once")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.what == "train":
        train(given)
    elif given.what == "play":
        play(given.folder, given.hands, given.workers)
    elif given.what == "keep":
        keep(given.folder, given.hands, Path("benchmarks/results/papers/smooth-uct-2015"))
    else:
        report(given.folder)


if __name__ == "__main__":
    main()
