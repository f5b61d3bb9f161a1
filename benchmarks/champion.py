"""Train hold'em players that are hard to exploit, and measure them in the full game.

    python benchmarks/champion.py train cfr-br --opponent kmeans:169/2000/2000/1000 --seconds 5000
    python benchmarks/champion.py measure cfr-br --flops 30           # every snapshot: an estimate, and matches
    python benchmarks/champion.py write                               # the table and picture of docs/exploitability.md
    python benchmarks/champion.py ship cfr-br --seconds 5000          # the bot `champion` is one of the snapshots
    python benchmarks/champion.py train cfr-br --device cuda --seconds 300 --opponent kmeans:169/5000/5000/1

``--seconds`` are core-seconds, on a GPU seconds; a run that was stopped goes on. ``--opponent`` is the parameter of
CFR-BR. A run lies in --folder: a checkpoint, and a strategy after each of SNAPSHOTS seconds, in a file that can be
shipped: with few different probabilities, and without what the player hardly ever does. What was measured is kept in
``champion.csv`` and not measured again. All estimates are of the same flops, so that their differences are more exact
than their errors. On a CPU, a run learns the bits of ``fogplay solve GAME -a ALGORITHM -n ITERATIONS --seed 0``.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay import match, storage
from fogplay.errors import FogplayError
from fogplay.games.holdem import Holdem
from fogplay.jit import num_cores
from fogplay.simulators import simulator_for
from fogplay.simulators.holdem_full import full_game
from fogplay.solvers.algorithms import algorithm_called
from fogplay.strategies.betting import BettingStrategy

ROOT = Path(__file__).resolve().parents[1]
POINTS = ROOT / "benchmarks" / "results" / "exploitability" / "champion.csv"
PAGE, PICTURE = ROOT / "docs" / "exploitability.md", ROOT / "docs" / "pictures" / "champion.png"
SHIPPED = ROOT / "src" / "fogplay" / "bots" / "data" / "champion-2.safetensors"
BEGIN, END = "<!-- made by benchmarks/champion.py write -->", "<!-- end of champion.py -->"
GRID = "ehs2-percentile:169/1000/1000/1000"
SNAPSHOTS = (30, 60, 120, 240, 300, 600, 1000, 1200, *range(2000, 10_000, 1000), *range(10_000, 21_000, 2000))
SEED, SAVE_SECONDS = 0, 120.0
BOARDS = 16  # of an iteration on a GPU: see simulators/holdem_tensors.py
STEPS = 51  # probabilities are multiples of 1 / STEPS
LEAST = 1e-3  # where the own moves lead a hand of a last round's bucket less often than this, the player calls
BOTS = ("rules", "sparring", "smooth-uct", "smooth-uct-average")
HANDS = 500_000
NUMBERS = ("seat_0", "seat_1", "mean", "standard_error")
ESTIMATOR = "2"  # 1: before estimates knew how strong hands are on a flop
KEY = ("estimator", "algorithm", "grid", "opponent", "device", "seconds")
FIELDS = (*KEY, "iterations", "flops", *NUMBERS, *BOTS)


def file_of(given: argparse.Namespace, algorithm: str, seconds: int) -> Path:
    start = "-".join(each for each in (algorithm, given.grid, given.opponent, given.device) if each)
    return Path(given.folder) / f"{start.replace('/', '-').replace(':', '-')}-{seconds}.safetensors"


def train(given: argparse.Namespace) -> None:
    """Learn for so many core-seconds, with a strategy at every snapshot."""
    given.folder.mkdir(parents=True, exist_ok=True)
    chosen, simulator = algorithm_called(given.algorithm), simulator_for(f"holdem(grid={given.grid})")
    assert chosen.make is not None
    asked = {"opponent": given.opponent} if given.opponent else {}
    workers = {"seed": SEED, "threads": given.threads, "device": given.device}
    learner: Any = chosen.make(simulator, given.algorithm, asked | workers)
    clock = time.process_time if given.device == "cpu" else time.monotonic
    checkpoint = file_of(given, given.algorithm, 0).with_suffix(".checkpoint")
    iteration, spent = 0, 0.0
    if checkpoint.exists():
        arrays, about = storage.read(checkpoint, "checkpoint")
        learner.restore(arrays)
        iteration, spent = int(about["iteration"]), float(about["spent"])
    learner.advance(iteration + 1, 0)
    saved = time.monotonic()
    for seconds in [each for each in SNAPSHOTS if spent < each <= given.seconds]:
        while spent < seconds:
            began = clock()
            iteration += learner.advance(iteration + 1, 1)
            spent += clock() - began
            if time.monotonic() - saved > SAVE_SECONDS or spent >= given.seconds:
                about = {"iteration": iteration, "spent": spent}
                storage.prepare(learner.tables(), sparse=True).write(checkpoint, "checkpoint", about)
                saved = time.monotonic()
        about = {"parameters": learner.parameters, "iterations": iteration, "seed": SEED}
        file = file_of(given, given.algorithm, seconds)
        reduced(simulator, learner.kept()["weights"], given.algorithm, **about).save(file)
        size = file.stat().st_size / 1e6
        print(f"{given.algorithm}: {iteration:,} iterations in {spent:,.0f} seconds, {size:.1f} MB", flush=True)


def reduced(simulator: Any, weights: NDArray[np.floating[Any]], method: str, **about: Any) -> BettingStrategy:
    """The average strategy of ``weights[slots]``, for a small file; ``about`` are its parameters, iterations and seed.

    All of a hand's weight is at the root. A bucket of the last round has its share of that wherever the own moves
    always lead, and less elsewhere.
    """
    root, buckets = simulator.betting.nodes[0], simulator.rules.buckets()
    at_root = root["slot"] + np.arange(buckets[0])[:, None] * root["stride"] + np.arange(root["count"])
    least = LEAST * weights[at_root].sum() / buckets[-1]
    return BettingStrategy.of(
        simulator.rules,
        simulator.betting,
        weights=weights,
        greedy=False,
        method=method,
        least=least,
        steps=STEPS,
        **about,
    )


def measure(given: argparse.Namespace) -> None:
    """Estimate what a best response earns from every snapshot, and play matches."""
    rows, rules = read(), Holdem()
    for seconds in SNAPSHOTS:
        file = file_of(given, given.algorithm, seconds)
        known = any(tuple(row[each] for each in KEY) == key(given, seconds) for row in rows)
        if not file.exists() or known:
            continue
        strategy = BettingStrategy.read(file)
        found = full_game(rules, strategy).measure(
            given.flops, seed=SEED, threads=given.threads, checkpoint=file.with_suffix(".full")
        )
        if found is None:
            return
        numbers = dict(zip(NUMBERS, (*found.values, found.mean, found.standard_error or 0.0), strict=True))
        won = {name: match("holdem", [strategy, name], HANDS, seed=SEED + 1).means[0] for name in BOTS}
        row = dict(zip(FIELDS, key(given, seconds), strict=False))
        row |= {"iterations": str(strategy.iterations), "flops": str(given.flops or 0)}
        row |= {name: f"{value:.2f}" for name, value in (numbers | won).items()}
        rows.append(row)
        rows.sort(key=lambda each: (*(each[name] for name in KEY[1:-1]), int(each["seconds"]), each["estimator"]))
        POINTS.parent.mkdir(parents=True, exist_ok=True)
        with open(POINTS, "w", newline="") as out:
            writer = csv.DictWriter(out, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
        print(row, flush=True)


def key(given: argparse.Namespace, seconds: int) -> tuple[str, ...]:
    return ESTIMATOR, given.algorithm, given.grid, given.opponent, given.device, str(seconds)


def read() -> list[dict[str, str]]:
    if not POINTS.exists():
        return []
    with open(POINTS, newline="") as lines:
        return list(csv.DictReader(lines))


def ship(given: argparse.Namespace) -> None:
    """Make a snapshot the bot."""
    shutil.copyfile(file_of(given, given.algorithm, int(given.seconds)), SHIPPED)
    print(f"{SHIPPED}: {SHIPPED.stat().st_size:,} bytes")


# ---- The page


def write(given: argparse.Namespace) -> None:
    """Write the table into the page between its marks, and the picture beside it."""
    rows, text = read(), PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark or not rows:
        sys.exit(f"{PAGE} has no marks {BEGIN} and {END}, or nothing was measured")
    bots = " | ".join(f"`{bot}`" for bot in BOTS)
    lines = [
        f"| learned by | grid | opponent's grid | core-seconds (GPU: seconds) | iterations | exploitability | {bots} |",
        f"|---|---|---|---:|---:|---:|{'---:|' * len(BOTS)}",
    ]
    for row in rows:
        won = " | ".join(f"{float(row[bot]):+.0f}" for bot in BOTS)
        grids = f"`{row['grid']}` | " + (f"`{row['opponent']}`" if row["opponent"] else "")
        spent = f"{int(row['seconds']):,}" + " on a GPU" * (row["device"] == "cuda")
        lines.append(
            f"| `{row['algorithm']}` | {grids} | {spent} | {int(row['iterations']):,} | "
            f"{float(row['mean']):.0f} ± {float(row['standard_error']):.0f}{_earlier(row, ' ¹')} | {won} |"
        )
    draw(rows)
    picture = f"![Exploitability by boards](pictures/{PICTURE.name})"
    PAGE.write_text(f"{before}{BEGIN}\n\n{chr(10).join(lines)}\n\n{picture}\n\n{END}{after}")
    print(f"wrote {PAGE}")


def _earlier(row: dict[str, str], mark: str) -> str:
    """The mark of an estimate by an earlier estimator."""
    return mark if row["estimator"] != ESTIMATOR else ""


def draw(rows: list[dict[str, str]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 6.5))
    for key in dict.fromkeys(tuple(row[each] for each in KEY[:-1]) for row in rows):
        own = [row for row in rows if tuple(row[each] for each in KEY[:-1]) == key]
        name = f"{key[1]}, {key[2]}" + (f"\nagainst {key[3]}" if key[3] else "") + ", GPU" * (key[4] == "cuda")
        name += _earlier(own[0], " ¹")
        at = [int(row["iterations"]) * (BOARDS if row["device"] == "cuda" else 1) for row in own]
        means, errors = ([float(row[each]) for row in own] for each in ("mean", "standard_error"))
        axes.errorbar(at, means, errors, fmt="o-", capsize=3, label=name)
    axes.set(xscale="log", xlabel="boards learned from", ylabel="exploitability in full hold'em, mb/h", ylim=(0, None))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize="small")
    axes.grid(alpha=0.3, which="both")
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "measure", "ship", "write"))
    parser.add_argument("algorithm", nargs="?", default="cfr-br", choices=("cfr-br", "pcs-mccfr", "es-mccfr"))
    parser.add_argument("--grid", default=GRID)
    parser.add_argument("--opponent", default="", help="the grid of CFR-BR's opponents; the same by default")
    parser.add_argument("--seconds", type=float, default=SNAPSHOTS[-1])
    parser.add_argument("--flops", type=int, help="estimate from so many; all by default")
    parser.add_argument("--threads", type=int, default=num_cores())
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="on which a player learns")
    parser.add_argument("--folder", type=Path, default=Path("champion"))
    given = parser.parse_args()
    try:
        {"train": train, "measure": measure, "ship": ship, "write": write}[given.what](given)
    except FogplayError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
