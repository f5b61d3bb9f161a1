"""Every algorithm has its page, and the numbers of the overview are those of the curves."""

from __future__ import annotations

import re

import pytest

from benchmarks.curves import BUDGET, POINTS, file_name
from fogplay.experiments.compare import ITERATIONS, bands
from fogplay.experiments.runner import read_points
from fogplay.solvers import ALGORITHMS
from tests.helpers import ROOT

PAGES = ROOT / "docs" / "algorithms"
PARTS = ("The idea", "The formula", "eviations from the paper", "When to use it")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_it_has_a_page(name: str) -> None:
    page = (PAGES / f"{file_name(name)}.md").read_text(encoding="utf-8")
    assert page.splitlines()[0].endswith(f"`{name}`")
    for part in PARTS:
        assert f"{part}.**" in page or f"{part}** are those" in page, part
    missing = [each for each in ALGORITHMS[name].parameters if f"`{each}" not in page]
    assert not missing
    if name != "lp":
        assert f"pictures/{f'curve-{file_name(name)}' if name in BUDGET else 'champion'}.png" in page


def test_the_overview_has_the_numbers_of_the_curves() -> None:
    points = read_points(POINTS)
    table = dict(
        re.findall(r"^\| \[`([^`]+)`\]\S+ \|.*\| ([^|]*) \|$", (PAGES / "README.md").read_text(), re.MULTILINE)
    )
    assert table.keys() == ALGORITHMS.keys()
    for name, budget in BUDGET.items():
        (band,) = bands([point for point in points if point.algorithm == name])[ITERATIONS]
        found = re.fullmatch(r"([\d.]+)(?: ± ([\d.]+))? after ([\d,]+)", table[name])
        assert found is not None, name
        assert float(found[1]) == pytest.approx(band.mean[-1], rel=0.03)
        assert float(found[2] or 0) == pytest.approx(band.deviation[-1], abs=0.0006)
        assert int(found[3].replace(",", "")) == budget == round(band.x[-1])
