"""Rows, estimates over runs, and verdicts: `holds` and `differs` only at two standard errors over runs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fogplay.experiments.reproduce import tables_of
from fogplay.experiments.rows import Estimate, Row, Rows, mean_of, read_rows_of, show_crossing, write_rows_of
from fogplay.experiments.verdicts import Equal, Every, Exact, Finding, Positive


@pytest.mark.parametrize(
    ("value", "error", "runs", "verdict"),
    [
        (2.1, 1.0, 8, "holds"), (-2.1, 1.0, 8, "differs"),
        (1.9, 1.0, 8, "inconclusive"), (-1.9, 1.0, 8, "inconclusive"),
        (50.0, 1.0, 2, "inconclusive"), (50.0, math.nan, 1, "inconclusive"), (math.nan, math.nan, 0, "inconclusive"),
    ],
)  # fmt: skip
def test_a_claim_of_a_sign_needs_two_errors_over_runs(value: float, error: float, runs: int, verdict: str) -> None:
    test = Positive(Estimate(value, error, runs, within=0.1))
    assert test.verdict() == verdict
    assert Finding("what", "published", "measured", test).verdict == verdict
    assert Finding("what", "", "measured", test).verdict == ""  # no claim, no verdict


def test_nothing_holds_without_a_test() -> None:
    assert Finding("what", "published", "measured").verdict == "inconclusive"


@pytest.mark.parametrize(
    ("value", "error", "verdict"), [(10.5, 0.3, "holds"), (12.0, 0.3, "differs"), (10.5, 5.0, "inconclusive")]
)
def test_a_claim_of_a_number_counts_both_errors(value: float, error: float, verdict: str) -> None:
    assert Equal(Estimate(value, error, 5), 10.0, 0.4, 2.0).verdict() == verdict
    assert Equal(Estimate(value, error, 1), 10.0, 0.4, 2.0).verdict() == "inconclusive"


def test_several_claims_hold_only_together() -> None:
    good, bad, open_ = Exact(True), Exact(False), Positive(Estimate(0.0, 1.0, 9))
    assert Every((good, good)).verdict() == "holds"
    assert Every((good, open_)).verdict() == "inconclusive"
    assert Every((good, open_, bad)).verdict() == "differs"
    assert Every(()).verdict() == "inconclusive"


def test_the_error_over_runs_is_the_textbooks() -> None:
    found = mean_of([1.0, 2.0, 4.0])
    assert (found.value, found.runs) == (pytest.approx(7 / 3), 3)
    assert found.error == pytest.approx(np.std([1, 2, 4], ddof=1) / math.sqrt(3))
    assert math.isnan(mean_of([1.0]).error)
    assert mean_of([]).show() == "not measured"


def test_a_duel_counts_the_runs_of_both_sides() -> None:
    """Strengths that differ by run: more cards do not help, only more runs."""
    rng, errors, leads = np.random.default_rng(1), [], []
    for _ in range(300):
        mine, theirs = rng.normal(1.0, 3.0, 8), rng.normal(0.0, 2.0, 8)
        rows = [
            Row("a", f"against b #{j}", 1, i, mine[i - 1] - theirs[j - 1], 0.01)
            for i in range(1, 9)
            for j in range(1, 9)
        ]
        found = Rows(rows).duel("a", "b", 1)
        leads.append(found.value)
        errors.append(found.error)
    assert np.mean(errors) == pytest.approx(np.std(leads), rel=0.1)
    assert Rows(rows[:-1]).duel("a", "b", 1).runs == 0  # a match is missing


def test_crossings_have_an_error_over_runs() -> None:
    rng, places = np.random.default_rng(2), [10.0**k for k in np.arange(1, 5, 0.25)]
    rows = [
        Row(label, "m", at, run, float(level / at**slope * np.exp(rng.normal(0, 0.05))))
        for label, level, slope in (("fast", 100.0, 1.0), ("slow", 10.0, 0.5))
        for at in places
        for run in range(1, 6)
    ]  # the lines cross at 100
    found = Rows(rows).crossing("fast", "slow", "m")
    assert found.value == pytest.approx(2.0, abs=0.3)
    assert 0 < found.error < 0.3
    assert "5 runs" in show_crossing(found)
    assert show_crossing(Rows(rows).crossing("slow", "fast", "m")) == "not yet"
    assert Rows(rows).crossing("slow", "nobody", "m").runs == 0


def test_a_claim_is_judged_where_enough_runs_went() -> None:
    rows = Rows(
        Row(label, "won", at, run, 0.0)
        for label, at, runs in (("a", 1.0, 8), ("a", 2.0, 3), ("a", 4.0, 2), ("b", 1.0, 3), ("b", 4.0, 1))
        for run in range(runs)
    )
    assert (rows.settled("won", "a"), rows.settled("won", "a", "b"), rows.settled("won", "b")) == (2.0, 1.0, 1.0)
    few = Rows(Row("a", "won", at, 1, 0.0) for at in (1.0, 2.0))
    assert few.settled("won", "a") == 2.0
    assert math.isnan(few.settled("won", "a", "missing"))


def test_findings_of_a_group_share_a_table_with_claims_first() -> None:
    findings = (
        Finding("a", "", "1"),
        Finding("b", "2", "2", Exact(True)),
        Finding("c", "", "3", group="late"),
        Finding("d", "", "4"),
    )
    assert [line for line in tables_of(findings) if line] == [
        "| | published | measured | |", "|---|---|---|---|", "| b | 2 | 2 | holds |",
        "| beside it | measured |", "|---|---|", "| a | 1 |", "| d | 4 |",
        "**late**", "| | measured |", "|---|---|", "| c | 3 |",
    ]  # fmt: skip
    assert (findings[2].whole, findings[3].whole) == ("late: c", "d")


@given(
    st.lists(
        st.builds(
            Row,
            st.text("abc ,\"'#é", max_size=5),
            st.text("xyz,", max_size=4),
            st.integers(0, 10**12).map(float),
            st.integers(1, 50),
            st.floats(-1e6, 1e6).map(lambda value: float(f"{value:.7g}")),
            st.none().map(lambda _: math.nan) | st.floats(0.0, 100.0).map(lambda value: float(f"{value:.4g}")),
            st.integers(1, 9),
        ),
        max_size=8,
    )
)
def test_rows_are_read_as_they_were_written(rows: list[Row]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write_rows_of(Path(folder) / "rows.csv", rows)
        again = read_rows_of(Path(folder) / "rows.csv")
    assert [repr(row) for row in again] == [repr(row) for row in rows]
