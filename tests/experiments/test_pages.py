"""The pages of results are what the command writes from the points in the repository."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from fogplay import FogplayError
from fogplay.experiments import pages
from fogplay.experiments.reproduce import experiments, reproduce
from tests.helpers import fogplay

ROOT = Path(__file__).parents[2]
POINTS, DOCS = ROOT / "benchmarks" / "results" / "papers", ROOT / "docs"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    docs = tmp_path_factory.mktemp("docs")
    (docs / "pictures").mkdir()
    pages.write_pages(POINTS, docs)
    return docs


def test_the_committed_pages_are_those_of_the_committed_points(written: Path) -> None:
    names = sorted(path.relative_to(written) for path in written.rglob("*.md"))
    assert names == sorted([Path("results.md"), *(path.relative_to(DOCS) for path in (DOCS / "results").glob("*.md"))])
    for name in names:
        assert (written / name).read_text() == (DOCS / name).read_text(), f"{name}: fogplay reproduce --all --docs"


def test_every_picture_is_there_and_used(written: Path) -> None:
    drawn = {path.name for path in (written / "pictures").iterdir()}
    used = set(re.findall(r"\.\./pictures/([^)]+)", "".join(path.read_text() for path in written.rglob("*.md"))))
    assert drawn == used
    assert all((DOCS / "pictures" / name).stat().st_size > 10_000 for name in drawn)


def test_the_overview_has_every_result_with_a_command(written: Path) -> None:
    overview = (written / "results.md").read_text()
    rows = [line for line in overview.splitlines() if line.startswith("| [")]
    wanted = [name for name in experiments() if not name.startswith("beyond/")]
    assert len(rows) == len(wanted)
    for name, row in zip(wanted, rows, strict=True):
        assert row.startswith(f"| [{name.partition('/')[2]}](results/{name.partition('/')[0]}.md#")
        assert "`fogplay reproduce" in row or "`python benchmarks/" in row
        assert row.split(" | ")[3] in ("holds", "differs", "inconclusive")


def test_every_difference_has_its_causes(written: Path) -> None:
    for page in (written / "results").glob("*.md"):
        for section in page.read_text().split("\n## ")[1:]:
            if "| differs |" in section:
                assert "**Why.**" in section, section.splitlines()[0]


def test_a_run_can_be_kept_and_shown(tmp_path: Path) -> None:
    made = reproduce("uct-vs-cfr-2009/table2", "quick", tmp_path / "out")
    with pytest.raises(FogplayError, match="run this in a checkout"):
        pages.keep(made, "uct-vs-cfr-2009/table2", "quick", "cpu", tmp_path / "nowhere")
    points = tmp_path / "points"
    shutil.copytree(POINTS, points)
    kept = pages.keep(made, "uct-vs-cfr-2009/table2", "quick", "cpu", points)
    assert json.loads(kept.with_suffix(".json").read_text())["command"] == "fogplay reproduce uct-vs-cfr-2009/table2"
    assert kept.read_bytes() == (made.folder / "points.csv").read_bytes()


def test_the_overview_tells_what_a_run_of_all_took(tmp_path: Path) -> None:
    points, docs = tmp_path / "points", tmp_path / "docs"
    shutil.copytree(POINTS, points)
    (docs / "pictures").mkdir(parents=True)
    every: list[dict[str, Any]] = [{"id": name, "seconds": 30.4} for name in list(experiments())[:-1]]
    every.append({"id": "beyond/strength", "error": "it was left out"})
    pages.write_seconds(points, every)
    pages.write_pages(points, docs)
    overview = (docs / "results.md").read_text()
    assert f" in {len(every[:-1]) / 2:.0f} minutes on " in overview
    rows = [line for line in overview.splitlines() if line.startswith("| [")]
    assert all(row.endswith(" | 30 s |") for row in rows)


def test_the_command_asks_for_a_checkout(tmp_path: Path) -> None:
    done = fogplay("reproduce", "--all", "--docs", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "run this in a checkout of fogplay" in done.stderr
    done = fogplay("reproduce", "--docs", cwd=tmp_path)
    assert done.returncode == 2
    assert "fogplay reproduce --all --docs" in done.stderr
    done = fogplay("reproduce", "uct-vs-cfr-2009/table2", "--all", cwd=tmp_path)
    assert done.returncode == 2
    assert "leave out uct-vs-cfr-2009/table2" in done.stderr
    done = fogplay("reproduce", "--all", "--scale", "huge", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line == "fogplay: scale must be quick or medium or paper or wire or wire-paper, not 'huge'"
