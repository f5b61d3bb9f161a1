"""The scripts in benchmarks/ run: what the README there claims is shown by them."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fogplay.strategies.betting import BettingStrategy
from tests.helpers import ROOT


@pytest.mark.parametrize(
    ("script", "arguments", "shows"),
    [
        ("holdem.py", ("--players", "2", "--episodes", "2"), "episodes/s"),
        ("threads.py", ("--episodes", "100000", "--csv", "{folder}/t.csv", "--picture", "{folder}/t.png"), ""),
        ("hashed.py", ("--game", "kuhn", "--seconds", "0.01", "--rounds", "1"), "ratio"),
        ("doudizhu.py", ("--seconds", "0.01", "--rounds", "1"), "games/s"),
        ("ggp.py", ("rps.kif", "--seconds", "0.01"), "lanes / interpreter"),
        (
            "ggp_players.py",
            ("rps-repeated.kif", "--iterations", "9"),
            "| `rps-repeated.kif` | 16 | 50.0 | 50.0 | 50.0 |",
        ),
        ("doudizhu_ladder.py", ("--decks", "1", "greedy", "random"), "| greedy | random | 1 |"),
        ("doudizhu_tune.py", ("0", "0", "{folder}/numbers.npy"), "against rhcp: 0."),
        pytest.param("matches.py", ("--scale", "0.01"), "hands/s", marks=pytest.mark.slow),
        pytest.param("cards.py", ("--scale", "0.001"), "evaluat", marks=pytest.mark.slow),
        pytest.param("acpc.py", ("--scale", "0.01"), "over loopback", marks=pytest.mark.slow),
        ("train_smooth_uct.py", ("2", "1000", "{folder}", "--device", "cpu"), "1,000 episodes"),
        ("exploitability.py", ("train", "--folder", "{folder}", "--episodes", "500"), "smooth-uct: 500 episodes"),
        ("train_sparring.py", ("1000", "{folder}/sparring.safetensors"), "1,000 traversals"),
    ],
)
def test_it_runs(script: str, arguments: tuple[str, ...], shows: str, tmp_path: Path) -> None:
    given = [each.format(folder=tmp_path) for each in arguments]
    command = [sys.executable, str(ROOT / "benchmarks" / script), *given]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert shows in done.stdout + done.stderr


def test_training_for_the_curve_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    script = str(ROOT / "benchmarks" / "exploitability.py")

    def train(folder: str, *more: str) -> str:
        given = [sys.executable, script, "train", "--folder", str(tmp_path / folder), *more]
        return subprocess.run(given, capture_output=True, text=True, check=True, timeout=300).stdout

    assert "the time is up" in train("parts", "--episodes", "500", "--seconds", "0")
    train("parts", "--episodes", "500")
    assert "smooth-uct: 900 episodes" in train("parts", "--episodes", "500", "900")
    train("whole", "--episodes", "500", "900")
    for name in ("uct-900", "uct-900-average", "smooth-uct-900-average"):
        one, other = (BettingStrategy.read(tmp_path / folder / f"{name}.safetensors") for folder in ("parts", "whole"))
        assert np.array_equal(one.share, other.share)


def test_a_local_best_response_earns_no_more_than_a_best_response() -> None:
    with open(ROOT / "benchmarks" / "results" / "exploitability" / "points.csv", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if not row["against"]]
    found = {(row["player"], row["kind"]): (float(row["mean"]), float(row["standard_error"])) for row in rows}
    both = [
        player for player, kind in found if kind == "local" and {(player, "exact"), (player, "estimate")} & found.keys()
    ]
    assert len(both) >= 6
    for player in both:
        best, best_error = found.get((player, "exact")) or found[player, "estimate"]
        local, local_error = found[player, "local"]
        assert local < best + 3 * float(np.hypot(local_error, best_error)) + 1e-6, player


def test_the_table_of_exploitability_is_written_into_its_page(tmp_path: Path) -> None:
    script, page = str(ROOT / "benchmarks" / "exploitability.py"), tmp_path / "page.md"
    page.write_text((ROOT / "docs" / "exploitability.md").read_text())
    folder = ("--folder", str(tmp_path))
    row = "uct-1000-average,,exact,100.0,300.0,200.0,0.0,0,1.0,cuda"
    for words in (
        ("measure", "always-fold", "--local", "--hands", "200", *folder),
        ("write", *folder, "--page", str(page), "--picture", str(tmp_path / "curve.png")),
    ):
        done = subprocess.run([sys.executable, script, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        with open(tmp_path / "points.csv", "a") as points:
            points.write(f"{row}\n")
    text = page.read_text()
    assert "| always-fold |  |  |  | 750.0 ± 0.0 | not measured |" in text
    assert "| UCT | 1,000 |  | 200.00 | exact |" in text
    assert "](pictures/curve.png)" in text
    assert (tmp_path / "curve.png").exists()
    assert text.count("## How long it takes") == 1


@pytest.mark.parametrize(
    ("script", "arguments", "shows"),
    [
        ("gpu.py", ("--seconds", "0.01", "--scale", "1e-6", "kuhn:uct"), "| kuhn | uct | "),
        (
            "doudizhu.py",
            ("--device", "cuda", "--games", "4", "--seconds", "0.01", "--rounds", "1"),
            "the same 4 games bit for bit",
        ),
        ("at_once.py", ("--episodes", "20", "--threads", "4", "uct"), "| uct | 3,000 | "),
    ],
)
def test_it_runs_on_a_gpu(script: str, arguments: tuple[str, ...], shows: str) -> None:
    """In numba's simulator of one."""
    command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    assert shows in done.stdout
