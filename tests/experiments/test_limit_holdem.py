"""The experiments in limit hold'em come out whole; their real sizes are for the slow tests."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import pytest

from fogplay.experiments import limit_holdem
from fogplay.experiments.concurrency import ALONE
from fogplay.experiments.reproduce import reproduce

TWO_PLAYERS = ["smooth-uct-2015/fig3", "sampling-equilibria-2011/fig4-right"]
SLOW = [each.id for each in limit_holdem.EXPERIMENTS]


@pytest.mark.parametrize("name", TWO_PLAYERS)
def test_every_part_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(limit_holdem, "QUICK", 0.01)
    monkeypatch.setattr(limit_holdem, "OBSERVED", 1_000)
    outcome, folder = reproduce(name, "quick", tmp_path, engine="sequential")
    assert outcome.findings
    lines = (folder / "winnings.csv").read_text().splitlines()
    assert lines[0] == "player,against,iteration,hands,mean,standard_error"
    assert len(lines) > 10
    assert {file.suffix for file in outcome.files} == {".svg", ".png"}
    again, _ = reproduce(name, "quick", tmp_path, engine="sequential")  # nothing is trained again
    assert again.findings == outcome.findings


def test_several_runs_of_each_kind_all_against_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit_holdem, "QUICK", 0.05)
    outcome, folder = reproduce("beyond/strength", "quick", tmp_path, engine="sequential")
    with (folder / "winnings.csv").open() as file:
        rows = list(csv.DictReader(file))
    for kind in ("greedy", "average"):
        many, alone = ([f"{name}, {kind}, seed {seed}" for seed in (1, 2)] for name in ("four CPU threads", ALONE))
        played = {(row["player"], row["against"]): float(row["mean"]) for row in rows if kind in row["player"]}
        assert list(played) == [*itertools.product(many, alone), tuple(alone)]
        won = [played[pair] for pair in itertools.product(many, alone)]
        told = next(each.measured for each in outcome.findings if each.what.startswith(f"{kind}, four"))
        assert told.startswith(f"{sum(won) / 4:.1f} ± ")
        assert "(4 matches, " in told


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_quick_scale(tmp_path: Path, name: str) -> None:
    outcome, _ = reproduce(name, "quick", tmp_path)
    assert outcome.findings
    if name in ("sampling-equilibria-2011/table2", "sampling-equilibria-2011/fig8"):
        assert not [finding for finding in outcome.findings if finding.holds is False]
