"""The experiments in limit hold'em come out whole; their real sizes are for the slow tests."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from fogplay.experiments import holdem, learned_models_2011, winnings_2011, winnings_2014, winnings_2015
from fogplay.experiments.concurrency import ALONE
from fogplay.experiments.reproduce import reproduce
from fogplay.experiments.rows import Row, Rows, read_rows_of

TWO_PLAYERS = ["smooth-uct-2015/fig3", "sampling-equilibria-2011/fig4-right"]
SLOW = [
    each.id
    for paper in (winnings_2015, winnings_2014, winnings_2011, learned_models_2011)
    for each in paper.EXPERIMENTS
]


@pytest.mark.parametrize("name", TWO_PLAYERS)
def test_every_part_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(holdem, "QUICK", 0.01)
    made = reproduce(name, "quick", tmp_path, engine="sequential")
    assert made.outcome.findings
    rows = read_rows_of(made.folder / "points.csv")
    assert {row.run for row in rows} == {1, 2, 3}
    assert all(row.error > 0 for row in rows)
    assert {file.suffix for file in made.outcome.files} == {".svg", ".png"}
    again = reproduce(name, "quick", tmp_path, engine="sequential")  # nothing is trained again
    assert again.outcome.findings == made.outcome.findings


def test_several_runs_of_each_kind_all_against_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem, "QUICK", 0.05)
    made = reproduce("beyond/strength", "quick", tmp_path, engine="sequential")
    rows = Rows(read_rows_of(made.folder / "points.csv"))
    for kind in ("greedy", "average"):
        many, alone = (f"{name}, {kind}" for name in ("four CPU threads", ALONE))
        met = [(row.run, row.measure) for row in rows.all if row.label == many]
        assert met == [(run, f"against {alone} #{other}") for run, other in itertools.product((1, 2, 3), repeat=2)]
        told = next(each.measured for each in made.outcome.findings if each.what.startswith(f"{kind}, four"))
        won = [row.value for row in rows.all if row.label == many]
        assert told.startswith(f"{sum(won) / 9:z.1f} ± ")
        assert told.endswith("(3 runs)")


def test_a_claim_about_the_end_of_training_is_not_for_short_runs(tmp_path: Path) -> None:
    rows = []
    for at, won in ((2e7, -30.0), (5e10, 8.0)):
        for run in range(1, 9):
            rows.append(Row("Smooth UCT", "against 2 x UCT", at, run, won + run))
            rows.append(Row("UCT", "against 2 x Smooth UCT", at, run, -won - run))
    findings = winnings_2015.table_3(Rows(rows), tmp_path).findings
    assert [each.verdict for each in findings] == ["holds", "holds", "", ""]
    short = Rows(row for row in rows if row.at < 1e9)
    assert {each.verdict for each in winnings_2015.table_3(short, tmp_path).findings} == {"inconclusive"}


def test_the_worth_of_the_headline_is_told_over_pairs_of_runs(tmp_path: Path) -> None:
    rows = [
        Row("Smooth UCT", f"against UCT #{other}", 1e10, run, 1.0 if other <= 8 else 3.0)
        for run, other in itertools.product(range(1, 17), repeat=2)
    ]
    rows[0] = replace(rows[0], value=-4.0)
    numbers = winnings_2015.table_2(Rows(rows), tmp_path).numbers
    assert (numbers["lowest"], numbers["highest"], numbers["pairs"], numbers["lost"]) == ("-4.0", "3.0", "256", "1")
    assert numbers["few"].startswith("3.00 ± 0.00")
    assert numbers["many"].startswith("0.96 ± 0.06")


def test_a_gpu_is_shown_beside_one_thread(tmp_path: Path) -> None:
    """The difference has an error over the runs of both."""
    rows = [
        Row("Smooth UCT", f"against UCT #{other}", 1e9, run, 1.0 + run, 1.0)
        for run, other in itertools.product(range(1, 4), repeat=2)
    ]
    rows += [Row(name, "against sparring", 1e9, run, 10.0 + run) for name in ("UCT", "Smooth UCT") for run in (1, 2, 3)]
    without = winnings_2015.figure_3(Rows(rows), tmp_path)
    assert not [each for each in without.findings if "beside" in each.group]
    rows += [Row(f"UCT, {ALONE}", "against sparring", 1e9, run, 9.0 + run) for run in (1, 2, 3)]
    outcome = winnings_2015.figure_3(Rows(rows), tmp_path)
    (found,) = (each for each in outcome.findings if "beside" in each.group)
    assert found.what == "UCT, 1,000,000,000"
    assert found.measured.endswith("one CPU thread 11.0 ± 0.6 mb/h (3 runs), difference 1.0 ± 0.8 mb/h (3 runs)")
    assert found.measured.startswith("a GPU 12.0 ± 0.6 mb/h (3 runs)")
    assert outcome.numbers["uct_more"] == "1.0 ± 0.8 mb/h (3 runs)"


def test_folded_cards_are_taken_out_of_a_log() -> None:
    log = "# a comment\nSTATE:0:rf:AsKd|QhQc:10|-10:me|bot\nSTATE:1:cc/cc/cc/cc:AsKd|QhQc/2c3c4c/5c/6c:10|-10:bot|me\n"
    shown = learned_models_2011.without_folded(log, "bot").splitlines()
    assert shown[0] == "# a comment"
    assert shown[1] == "STATE:0:rf:AsKd|:10|-10:me|bot"
    assert shown[2] == "STATE:1:cc/cc/cc/cc:AsKd|QhQc/2c3c4c/5c/6c:10|-10:bot|me"


def test_a_learned_model_is_shown_beside_an_exact_one(tmp_path: Path) -> None:
    """After equally many iterations, and beside the MCCFR of about as many."""
    rows = [
        Row(label, "against sparring", at, run, value + run)
        for label, at, value in (
            ("MCCFR10", 9e7, -130.0), ("MCCFR10", 1e9, -40.0), ("MCRNR10", 1e8, -160.0), ("MCRNR10", 1e9, -120.0),
            ("MCRNR10, exact model", 1e8, -40.0),
        )
        for run in (1, 2, 3)
    ]  # fmt: skip
    numbers = learned_models_2011._models(Rows(rows))
    assert numbers["exact_more"].startswith("0.120 ± ")
    assert numbers["learned_then"].startswith("-0.158 ± ")
    assert (numbers["exact_at"], numbers["usual_at"]) == ("100,000,000", "90,000,000")
    assert numbers["usual_then"].startswith("-0.128 ± ")


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_quick_scale(tmp_path: Path, name: str) -> None:
    findings = reproduce(name, "quick", tmp_path).outcome.findings
    assert findings
    if name in ("sampling-equilibria-2011/table2", "sampling-equilibria-2011/fig8"):
        assert not [finding for finding in findings if finding.verdict == "differs"]
