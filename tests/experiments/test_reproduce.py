"""The papers' figures and tables come out, with what they claim."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from numba import cuda

from fogplay import FogplayError
from fogplay.experiments import concurrency
from fogplay.experiments import sampling_equilibria_2011 as paper_2011
from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import better_from, experiments, final, reproduce, value_at
from fogplay.experiments.runner import Mean
from tests.helpers import fogplay

QUICK = [
    "sampling-equilibria-2011/example",
    "sampling-equilibria-2011/fig4-left",
    "uct-vs-cfr-2009/rps",
    "uct-vs-cfr-2009/table1",
    "uct-vs-cfr-2009/table2",
    "uct-vs-cfr-2009/fig8",
    "uct-vs-cfr-2009/table3",
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


def read_rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_mixing_is_never_above_restricted_nash_where_the_model_is_right(tmp_path: Path) -> None:
    outcome, folder = reproduce("uct-vs-cfr-2009/fig9", "quick", tmp_path)
    assert outcome.findings[0].measured == "nowhere below"
    assert outcome.findings[1].holds  # but where UCT plays otherwise than it was modelled
    assert (folder / "fig9.png").exists()


def test_responses_by_sampling_and_full_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures 6 and 7 of 2011 on tiny games; the slow tests use their real sizes."""
    monkeypatch.setitem(paper_2011.RESPONSE_GAMES, "quick", {"OCP": "ocp(8)", "Bluff": "bluff(1,1,2)"})
    monkeypatch.setitem(paper_2011.FAMILIES, "quick", {"OCP": ("ocp(5)", "ocp(8)"), "Bluff": ("bluff(1,1,2)",)})
    monkeypatch.setattr(
        paper_2011,
        "iterations_in",
        lambda spec, algorithm, seconds: 500 if algorithm.startswith("cfr") else 200_000,
    )
    outcome, folder = reproduce("sampling-equilibria-2011/fig6", "quick", tmp_path)
    rows = read_rows(folder / "tradeoff.csv")
    assert len(rows) == 2 * (8 + 8 + 11)
    exact = [row for row in rows if row["method"] == "RNR, exact" and row["game"] == "OCP: ocp(8)"]
    sampled = [row for row in rows if row["method"] == "MCRNR" and row["game"] == "OCP: ocp(8)"]
    for one, other in zip(exact, sampled, strict=True):
        assert one["confidence"] == other["confidence"]
        assert float(one["exploitation"]) == pytest.approx(float(other["exploitation"]), abs=0.05)
    assert len(outcome.findings) == 3
    assert (folder / "fig6.png").stat().st_size > 20_000

    outcome, folder = reproduce("sampling-equilibria-2011/fig7", "quick", tmp_path)
    moments = read_rows(folder / "moments.csv")
    last = {(row["game"], row["algorithm"]): row for row in sorted(moments, key=lambda row: int(row["iteration"]))}
    assert len(last) == 3 * 4
    assert float(last["ocp(8)", "cfr+"]["nash_conv"]) < 1e-3
    assert float(last["ocp(8)", "os-mccfr"]["nash_conv"]) < 0.05
    assert len(outcome.findings) == 3 * 3
    assert {file.name for file in outcome.files if file.suffix == ".png"} == {"fig7-ocp.png", "fig7-bluff.png"}


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
    papers = {
        "smooth-uct-2015",
        "selfplay-mcts-2014",
        "sampling-equilibria-2011",
        "uct-vs-cfr-2009",
        "deltadou-2019",
        "beyond",
    }
    assert {name.partition("/")[0] for name in experiments()} == papers
    with pytest.raises(FogplayError, match="scale must be quick or paper"):
        reproduce("uct-vs-cfr-2009/table2", "slow")


def test_many_episodes_at_once_learn_as_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "ALGORITHMS", ("smooth-uct",))
    outcome, folder = reproduce("beyond/concurrency", "quick", tmp_path, engine="sequential")
    deltas = [float(finding.measured.split()[1]) for finding in outcome.findings]
    assert all(delta == pytest.approx(deltas[0], rel=0.4) for delta in deltas)  # after 3 million, 0.35
    assert [finding.holds is None for finding in outcome.findings] == [True, False, False]
    points = (folder / "points.csv").read_text()
    assert all(label in points for label in ("one CPU thread", "2 at once", "4 at once"))
    assert {path.suffix for path in outcome.files} == {".svg", ".png"}


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


def test_a_device_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(FogplayError, match=r"uct-vs-cfr-2009/rps runs only on the CPU; use --device cpu"):
        reproduce("uct-vs-cfr-2009/rps", "quick", tmp_path, device="cuda")
    if not cuda.is_available():
        with pytest.raises(FogplayError, match="device cuda needs an NVIDIA GPU"):
            reproduce("beyond/concurrency", "quick", tmp_path, device="cuda")
        assert not list(tmp_path.rglob("*.csv"))
