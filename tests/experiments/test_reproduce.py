"""The papers' figures and tables come out, with what they claim."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from numba import cuda
from typer.testing import CliRunner

from fogplay import FogplayError
from fogplay.cli import app
from fogplay.experiments import concurrency, responses_2009, responses_2011
from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import experiment_called, experiments, reproduce
from fogplay.experiments.rows import Row, Rows, read_rows_of
from fogplay.experiments.runner import Mean, Runner
from fogplay.trees import flatten
from fogplay.trees.restrict import restricted_nash
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
    made = reproduce(name, "quick", tmp_path)
    assert made.outcome.findings[0].verdict == "holds"
    facts = json.loads((made.folder / "report.json").read_text())
    assert [each["verdict"] for each in facts["findings"]] == [each.verdict for each in made.outcome.findings]
    assert facts["cpu_seconds"] > 0
    assert (made.folder / "report.md").read_text().startswith(f"# {name}")
    again = experiment_called(name).report(Rows(read_rows_of(made.folder / "points.csv")), tmp_path)
    assert [each.verdict for each in again.findings] == [each.verdict for each in made.outcome.findings]
    for file in made.outcome.files:
        assert file.stat().st_size > 5000
    if "fig" in name:
        assert {file.suffix for file in made.outcome.files} == {".svg", ".png"}


def test_mixing_is_never_above_restricted_nash_where_the_model_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(responses_2009.CELLS, "quick", ((50.0, 1_000),))
    made = reproduce("uct-vs-cfr-2009/fig9", "quick", tmp_path)
    rows = Rows(read_rows_of(made.folder / "points.csv"))
    cell = "C = 50, 1,000 iterations"
    behind = responses_2009._behind(rows, cell, responses_2009.WON)
    assert behind.runs == 3
    assert behind.value < 0.05
    assert made.outcome.findings[0].verdict != "holds"
    best = [rows.estimate(f"{cell}, rnr", responses_2009.WON, p).value for p in sorted(responses_2009.TABLE_3)]
    assert best == sorted(best)  # more confidence wins more from the model itself
    assert (made.folder / "fig9.png").exists()
    table = responses_2009.table_3(rows, tmp_path)
    assert table.findings[0].verdict == table.findings[1].verdict == "holds"
    assert table.numbers["best"] == cell
    played = [each for each in table.findings if each.group == f"Against the actions that UCT takes, {cell}"]
    assert [each.what for each in played[:2]] == ["p = 1: as it plays", "p = 1: at worst"]
    assert len(played) == 2 * len(responses_2009.TABLE_3)
    stopped = [each for each in table.findings if each.group == responses_2009.STOPPED]
    assert len(stopped) == 2 * len(responses_2009.SHORT) * len(responses_2009.INNER)


def test_responses_by_sampling_and_full_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures 6 and 7 of 2011 on tiny games; the slow tests use their real sizes."""
    monkeypatch.setitem(responses_2011.RESPONSE_GAMES, "quick", {"OCP": "ocp(8)", "Bluff": "bluff(1,1,2)"})
    monkeypatch.setitem(responses_2011.RACES, "quick", ("ocp(8)",))
    monkeypatch.setitem(responses_2011.MODELS, "quick", 2)
    monkeypatch.setattr(
        responses_2011,
        "iterations_in",
        lambda spec, algorithm, seconds: 500 if algorithm.startswith("cfr") else 200_000,
    )
    made = reproduce("sampling-equilibria-2011/fig6", "quick", tmp_path)
    rows = Rows(read_rows_of(made.folder / "points.csv"))
    for p in rows.places("OCP, MCRNR", "winnings"):
        exact, sampled = (rows.estimate(f"OCP, {method}", "winnings", p) for method in ("RNR, exact", "MCRNR"))
        assert exact.value == pytest.approx(sampled.value, abs=0.05)
    assert [each.what for each in made.outcome.findings][:2] == ["OCP: p = 0.8", "Bluff: p = 0.8"]
    assert [each.published for each in made.outcome.findings[2:]] == ["high in every game except Bluff"] * 2
    assert {each.verdict for each in made.outcome.findings} == {"inconclusive"}  # two runs are too few
    assert (made.folder / "fig6.png").stat().st_size > 20_000

    made = reproduce("sampling-equilibria-2011/fig7", "quick", tmp_path)
    rows = Rows(read_rows_of(made.folder / "points.csv"))
    assert rows.estimate("ocp(8) cfr+", "nash_conv").value < 1e-3
    assert rows.estimate("ocp(8) os-mccfr", "nash_conv").value < 0.05
    flat = flatten("ocp(8)")
    restricted = restricted_nash(flat, 0, flat.uniform(), 0.5)
    assert rows.estimate("ocp(8) cfr", "nodes").value == restricted.num_nodes  # a full iteration visits both copies
    assert rows.estimate("ocp(8) cfr", "nodes").value > rows.estimate("ocp(8) es-mccfr", "nodes").value
    assert rows.estimate("ocp(8) es-mccfr", "nodes").value > rows.estimate("ocp(8) os-mccfr", "nodes").value > 5
    assert {file.name for file in made.outcome.files if file.suffix == ".png"} == {"fig7-ocp-8.png"}


def test_a_race_compares_both_at_the_same_place(tmp_path: Path) -> None:
    """CFR halves its nash_conv with every doubling, sampling is at 1/x; an iteration of CFR costs 100 of sampling."""
    rows = []
    for run in (1, 2, 3):
        for algorithm, cost, reached in (
            ("cfr", 100.0, 1.0),
            ("os-mccfr", 1.0, 10.0),
            ("es-mccfr", 1.0, 10.0),
            ("cfr+", 100.0, 1.0),
        ):
            rows.append(Row(f"g {algorithm}", "nodes", 1, run, cost))
            for at in (1, 3, 10, 100, 1_000):
                rows.append(Row(f"g {algorithm}", "nash_conv", at, run, reached / at))
                rows.append(
                    Row(f"g {algorithm}", "seconds", at, run, at * cost / 50 if at == 1_000 else 7.0)
                )  # the whole run counts
    rows.append(Row("g", "payoff range", 0, 1, 2.0))
    findings = {each.whole: each for each in responses_2011.figure_7(Rows(rows), tmp_path).findings}
    for unit in ("the same time", "equally many nodes touched"):
        # After 3 iterations CFR is at 1/3 and sampling, after 300, at 1/30; after 10, at 1/10 and 1/100.
        for iteration in (3, 10):
            found = findings[f"{responses_2011.LEAD}, for {unit}: g, beside iteration {iteration} of CFR"]
            assert found.measured.startswith("1.00 ± 0.00 (3 runs)")
            assert found.verdict == "holds"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["smooth-uct-2015/fig2", "selfplay-mcts-2014/fig2"])
def test_the_longer_ones(tmp_path: Path, name: str) -> None:
    findings = reproduce(name, "quick", tmp_path).outcome.findings
    assert any(finding.verdict == "holds" for finding in findings)


def test_the_command(tmp_path: Path) -> None:
    listed = fogplay("reproduce", "--json")
    assert set(json.loads(listed.stdout)["experiments"]) == set(experiments())
    done = fogplay("reproduce", "uct-vs-cfr-2009/table2", cwd=tmp_path, COLUMNS="140")
    assert done.returncode == 0, done.stderr
    assert "(0.4600, 0.5400)" in done.stdout
    one = json.loads(fogplay("reproduce", "uct-vs-cfr-2009/table2", "--json", cwd=tmp_path).stdout)
    assert all(finding["verdict"] == "holds" for finding in one["findings"])
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
    with pytest.raises(FogplayError, match="scale must be quick or medium or paper"):
        reproduce("uct-vs-cfr-2009/table2", "slow")


def test_many_episodes_at_once_learn_as_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "ALGORITHMS", ("smooth-uct",))
    made = reproduce("beyond/concurrency", "quick", tmp_path, engine="sequential")
    deltas = [float(finding.measured.split()[1]) for finding in made.outcome.findings]
    assert all(delta == pytest.approx(deltas[0], rel=0.4) for delta in deltas)  # after 3 million, 0.35
    assert len(deltas) == 3
    assert {finding.verdict for finding in made.outcome.findings} == {""}  # no paper claims anything
    points = (made.folder / "points.csv").read_text()
    assert all(label in points for label in ("one CPU thread", "2 at once", "4 at once"))
    assert {path.suffix for path in made.outcome.files} == {".svg", ".png"}


def test_all_go_on_if_one_cannot_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`--all` leaves out what lacks an extra, and says so at the end."""
    from fogplay.experiments import reproduce as module

    def refuse(runner: Runner, scale: str) -> list[Row]:
        raise FogplayError("needs an extra package")

    known = experiments()
    kept = {name: known[name] for name in ("uct-vs-cfr-2009/rps", "uct-vs-cfr-2009/table2")}
    kept["uct-vs-cfr-2009/rps"] = replace(kept["uct-vs-cfr-2009/rps"], run=refuse)
    monkeypatch.setattr(module, "experiments", lambda: kept)
    done = CliRunner().invoke(app, ["reproduce", "--all", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "needs an extra package" in done.output
    assert "seconds in all" in done.output


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
