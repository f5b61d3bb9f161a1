"""The papers' figures and tables come out, with what they claim."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fogplay import FogplayError
from fogplay.experiments.lab import Mean
from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import better_from, experiments, final, reproduce, value_at
from tests.helpers import fogplay

QUICK = [
    "sampling-equilibria-2011/example",
    "sampling-equilibria-2011/fig4-left",
    "uct-vs-cfr-2009/rps",
    "uct-vs-cfr-2009/table1",
    "uct-vs-cfr-2009/table2",
    "uct-vs-cfr-2009/fig8",
    "smooth-uct-2015/fig1",
    "selfplay-mcts-2014/fig1",
]


@pytest.mark.parametrize("name", QUICK)
def test_quick_scale_shows_the_papers_effect(tmp_path: Path, name: str) -> None:
    outcome, folder = reproduce(name, "quick", tmp_path)
    wrong = [finding for finding in outcome.findings if finding.holds is False]
    assert not wrong
    assert any(finding.holds for finding in outcome.findings)
    facts = json.loads((folder / "report.json").read_text())
    assert len(facts["findings"]) == len(outcome.findings)
    assert (folder / "report.md").read_text().startswith(f"# {name}")
    assert list(folder.glob("*.csv"))
    for file in outcome.files:
        assert file.stat().st_size > 5000
    if "fig" in name:
        assert {file.suffix for file in outcome.files} == {".svg", ".png"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["smooth-uct-2015/fig2", "selfplay-mcts-2014/fig2"])
def test_the_longer_ones(tmp_path: Path, name: str) -> None:
    outcome, _ = reproduce(name, "quick", tmp_path)
    assert not [finding for finding in outcome.findings if finding.holds is False]


def test_the_command(tmp_path: Path) -> None:
    listed = fogplay("reproduce", "--json")
    assert set(json.loads(listed.stdout)["experiments"]) == set(experiments())
    done = fogplay("reproduce", "uct-vs-cfr-2009/table2", cwd=tmp_path, COLUMNS="140")
    assert done.returncode == 0, done.stderr
    assert "(0.4600, 0.5400)" in done.stdout
    one = json.loads(fogplay("reproduce", "uct-vs-cfr-2009/table2", "--json", cwd=tmp_path).stdout)
    assert all(finding["holds"] for finding in one["findings"])
    wrong = fogplay("reproduce", "smooth-uct-2015/fig9", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "no experiment is called 'smooth-uct-2015/fig9'" in wrong.stderr
    assert fogplay("reproduce", "uct-vs-cfr-2009/table2", "--scale", "huge", cwd=tmp_path).returncode == 2


def test_every_id_has_a_paper() -> None:
    papers = {"smooth-uct-2015", "selfplay-mcts-2014", "sampling-equilibria-2011", "uct-vs-cfr-2009"}
    assert {name.partition("/")[0] for name in experiments()} == papers
    with pytest.raises(FogplayError, match="scale must be quick or paper"):
        reproduce("uct-vs-cfr-2009/table2", "slow")


def test_reading_curves() -> None:
    lines = {"a": [5, 1, 3, 1], "b": [4, 2, 2, 2]}
    found = [Mean(label, "m", at + 1, 1, line[at], 0.1) for label, line in lines.items() for at in range(4)]
    assert better_from(found, "a", "b", "m") == 4
    assert better_from(found, "b", "a", "m") is None
    assert final(found, "a", "m").iteration == 4
    assert value_at(found, "b", "m", 1).mean == 4


def test_a_picture_has_every_line(tmp_path: Path) -> None:
    found = [Mean(label, "m", at, 2, 1 / at, 0.1 / at) for label in ("one", "two") for at in (1, 10, 100)]
    files = draw_curves(tmp_path / "picture", found, [Panel("m", "a title", "an axis", marks=((10, 0.2, "a mark"),))])
    text = files[0].read_text()
    assert text.count("<use") >= 1
    for word in ("one", "two", "a title", "an axis", "a mark"):
        assert word in text
