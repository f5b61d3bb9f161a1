"""The learning curves on the pages of the algorithms: every algorithm on Leduc hold'em, several seeds each.

    python benchmarks/curves.py run    # benchmarks/results/curves.csv, some minutes on one core
    python benchmarks/curves.py draw   # docs/pictures/curve-NAME.png from it, and curve-search.png from docs/search.md

Curves are by iterations, which any machine counts alike; what an iteration is differs (see the algorithm's page).
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fogplay.experiments.compare import ITERATIONS, Plan, bands, compare
from fogplay.experiments.pictures import Band, new_picture, save_picture_as
from fogplay.experiments.runner import Point, read_points, write_rows
from fogplay.solvers import ALGORITHMS

ROOT = Path(__file__).parent.parent
POINTS, PICTURES = ROOT / "benchmarks" / "results" / "curves.csv", ROOT / "docs" / "pictures"
GAME, RUNS = "leduc", 3
BUDGET = {  # iterations
    "smooth-uct": 50_000_000,
    "uct": 50_000_000,
    "os-mccfr": 50_000_000,
    "es-mccfr": 10_000_000,
    "cs-mccfr": 1_000_000,
    "cfr": 10_000,
    "cfr+": 10_000,
    "lcfr": 10_000,
    "dcfr": 10_000,
    "pcfr+": 10_000,
}
ONE = {  # what an iteration is
    "smooth-uct": "episodes",
    "uct": "episodes",
    "os-mccfr": "episodes",
    "es-mccfr": "traversals for one player",
    "cs-mccfr": "traversals for one player",
}
FAMILIES = (
    ("smooth-uct", "uct", "os-mccfr"),
    ("es-mccfr", "cs-mccfr"),
    ("cfr", "cfr+", "lcfr", "dcfr", "pcfr+"),
)


def file_name(algorithm: str) -> str:
    """An algorithm's name in names of files and pages: cfr-plus for cfr+."""
    return algorithm.replace("+", "-plus")


def run() -> None:
    """Run everything, and keep every point."""
    points: list[Point] = []
    for algorithm, iterations in BUDGET.items():
        print(algorithm, flush=True)
        for found in compare(Plan(GAME, (algorithm,), None, iterations, RUNS), workers=1):
            points += found
    write_rows(POINTS, points)


def draw() -> None:
    """A picture per algorithm: its own curve in colour, its relatives' in grey."""
    points = read_points(POINTS)
    for family in FAMILIES:
        lines = {band.label: band for band in bands([p for p in points if p.algorithm in family])[ITERATIONS]}
        for algorithm in family:
            figure = _picture(lines, algorithm, f"{ONE.get(algorithm, 'iterations over the whole tree')}")
            save_picture_as(figure, PICTURES / f"curve-{file_name(algorithm)}.png")
    assert {each for family in FAMILIES for each in family} == {name for name in ALGORITHMS if name != "lp"}
    save_picture_as(_searches(), PICTURES / "curve-search.png")


def _picture(lines: Mapping[str, Band], chosen: str, across: str) -> Any:
    figure, (axes,) = new_picture(1)
    for name, band in lines.items():
        mine = name == chosen
        colour, width = ("tab:blue", 2.2) if mine else ("0.65", 1.2)
        axes.plot(band.x, band.mean, color=colour, linewidth=width, zorder=3 if mine else 2)
        if mine:
            low = [max(mean - spread, mean / 10) for mean, spread in zip(band.mean, band.deviation, strict=True)]
            high = [mean + spread for mean, spread in zip(band.mean, band.deviation, strict=True)]
            axes.fill_between(band.x, low, high, color=colour, alpha=0.2, linewidth=0)
    for name, place in _apart({name: math.log10(band.mean[-1]) for name, band in lines.items()}).items():
        style = {"color": "tab:blue", "fontweight": "bold"} if name == chosen else {"color": "0.45"}
        axes.annotate(
            name, (lines[name].x[-1], 10**place), (5, 0), textcoords="offset points", va="center", **style
        )  # fmt: skip
    _label(axes, f"{chosen} in Leduc hold'em", across)
    axes.set_xlim(1, max(band.x[-1] for band in lines.values()) ** 1.2)
    return figure


def _apart(ends: Mapping[str, float]) -> dict[str, float]:
    """Where names are written, from the bottom up: at the end of their line, but not one over the other."""
    least, places, before = (max(ends.values()) - min(ends.values()) + 1) / 16, dict[str, float](), -math.inf
    for name, end in sorted(ends.items(), key=lambda each: each[1]):
        places[name] = before = max(end, before + least)
    return places


def _searches() -> Any:
    """The table of docs/search.md as a picture."""
    row = re.compile(r"^\| (uct|smooth-uct) \| ([\d,]+) \| [^|]+ \| ([\d.]+) \| [^|]+ \| ([\d.]+) \|$", re.MULTILINE)
    found = row.findall((ROOT / "docs" / "search.md").read_text(encoding="utf-8"))
    figure, (axes,) = new_picture(1)
    for algorithm, colour in (("uct", "tab:orange"), ("smooth-uct", "tab:blue")):
        rows = [
            (int(budget.replace(",", "")), float(mean), float(best))
            for name, budget, mean, best in found
            if name == algorithm
        ]
        budgets, means, bests = zip(*rows, strict=True)
        _line(axes, budgets, means, colour, "-", f"{algorithm}, average")
        _line(axes, budgets, bests, colour, "--", f"{algorithm}, greedy")
    axes.legend()
    _label(axes, "search in Leduc hold'em", "simulations per decision")
    return figure


def _line(axes: Any, across: Sequence[float], up: Sequence[float], colour: str, style: str, label: str) -> None:
    axes.plot(across, up, color=colour, linestyle=style, marker="o", markersize=3, label=label)


def _label(axes: Any, title: str, across: str) -> None:
    axes.set(xscale="log", yscale="log", xlabel=across, ylabel="nash_conv", title=title)
    axes.grid(True, which="major", alpha=0.3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "draw"))
    {"run": run, "draw": draw}[parser.parse_args().what]()
