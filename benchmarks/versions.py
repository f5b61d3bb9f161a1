"""Compare two versions of fogplay: every row is measured with both sources in turn.

    git worktree add ../old COMMIT
    python benchmarks/versions.py ../old/src src
    python benchmarks/versions.py ../old/src src --device cuda       # the rows that a GPU runs
    python benchmarks/versions.py ../old/src src --only leduc --rounds 7

Each version has a process of its own per row, which stays alive; a round measures the old one, then the new one. The
table has the median over the rounds of new / old: above 1 is faster. The rows are those of `fogplay bench` and
`benchmarks/holdem.py`, and matches. Only names that both versions share are used: `solve`, `flatten`, `evaluate` and
the command line.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

BLUFF, GOOFSPIEL = "bluff(1,1,5)", "goofspiel(cards=5)"
HOLDEM, THREE = "holdem", "holdem(players=3,grid=ehs2:169/1000/100/20)"
SMALL_THREE = "holdem(players=3,grid=ehs2:169/20/10/5)"
# kind, game, algorithm, iterations per round
ROWS = [
    ("solve", "kuhn", "cfr+", 60_000),
    ("solve", "leduc", "cfr+", 6_000),
    ("solve", BLUFF, "cfr+", 1_500),
    ("solve", GOOFSPIEL, "cfr+", 250),
    *(("solve", "leduc", name, 5_000) for name in ("cfr", "lcfr", "dcfr", "pcfr+")),
    *(("solve", "leduc", name, 3_000_000) for name in ("smooth-uct", "uct", "os-mccfr", "es-mccfr")),
    ("solve", "leduc", "cs-mccfr", 30_000),
    ("solve", BLUFF, "es-mccfr", 1_000_000),
    ("solve", GOOFSPIEL, "smooth-uct", 2_000_000),
    ("solve", HOLDEM, "smooth-uct", 2_000_000),
    ("solve", HOLDEM, "uct", 2_000_000),
    ("solve", HOLDEM, "os-mccfr", 1_000_000),
    ("solve", HOLDEM, "es-mccfr", 200_000),
    ("solve", SMALL_THREE, "smooth-uct", 1_000_000),
    ("flatten", "leduc", "", 3),
    ("flatten", BLUFF, "", 1),
    ("evaluate", "leduc", "", 300),
    ("match", "leduc", "uniform", 3_000_000),
    ("match", HOLDEM, "rules", 400_000),
]  # fmt: skip
GPU_ROWS = [
    ("solve", "leduc", "smooth-uct", 2_000_000_000),
    ("solve", "leduc", "os-mccfr", 200_000_000),
    ("solve", "leduc", "es-mccfr", 100_000_000),
    ("solve", HOLDEM, "smooth-uct", 3_000_000_000),
    ("solve", HOLDEM, "uct", 3_000_000_000),
    ("solve", HOLDEM, "os-mccfr", 200_000_000),
    ("solve", THREE, "smooth-uct", 2_000_000_000),
]  # fmt: skip


def serve(kind: str, game: str, algorithm: str, count: int, device: str) -> None:
    """Measure once per line of input; print units per second."""
    import time

    import fogplay as fp

    if kind == "match":
        command = [sys.executable, "-m", "fogplay.cli", "match", game, algorithm, algorithm, "-n", str(count), "--json"]
    else:
        flat = fp.flatten(game) if kind == "evaluate" or not game.startswith("holdem") else game
        strategy = fp.solve(flat, "cfr", 1).strategy if kind == "evaluate" else None
    print("ready", flush=True)
    for _ in sys.stdin:
        if kind == "match":
            rate = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["hands_per_second"]
        elif kind == "solve":
            more = {} if device == "cpu" else {"device": device}
            result = fp.solve(flat, algorithm, count, seed=1, watch=False, **more)
            rate = result.iterations / result.seconds
        else:
            began = time.perf_counter()
            for _ in range(count):
                fp.flatten(game) if kind == "flatten" else fp.evaluate(strategy, flat)
            rate = count / (time.perf_counter() - began)
        print(rate, flush=True)


class Version:
    """One source, at work on one row."""

    def __init__(self, source: str, row: tuple[str, str, str, int], device: str) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
        cache = os.environ.get("FOGPLAY_CACHE")
        if cache:
            environment["FOGPLAY_CACHE"] = cache
        words = ["--serve", *map(str, row), device]
        self.process = subprocess.Popen(
            [sys.executable, *start_up(), __file__, *words],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            sys.exit("a version failed: see above")
        return line

    def measure(self) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return float(self._line())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def start_up() -> list[str]:
    """What goes before the script, from the environment variable VERSIONS_PYTHON: options of the interpreter."""
    return os.environ.get("VERSIONS_PYTHON", "").split()


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        kind, game, algorithm, count, device = sys.argv[2:]
        serve(kind, game, algorithm, int(count), device)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose text contains this")
    given = parser.parse_args()
    print("| what | game | algorithm | old, per second | new, per second | new / old |\n|---|---|---|---:|---:|---:|")
    for row in ROWS if given.device == "cpu" else GPU_ROWS:
        if given.only not in " ".join(map(str, row)):
            continue
        versions = [Version(str(source.resolve()), row, given.device) for source in (given.old, given.new)]
        for version in versions:
            version.measure()  # compiles
        rates = [[version.measure() for version in versions] for _ in range(given.rounds)]
        for version in versions:
            version.close()
        old, new = (statistics.median(each) for each in zip(*rates, strict=True))
        ratio = statistics.median(after / before for before, after in rates)
        print(f"| {row[0]} | {row[1]} | {row[2]} | {old:,.0f} | {new:,.0f} | {ratio:.3f} |", flush=True)


if __name__ == "__main__":
    main()
