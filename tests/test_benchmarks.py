"""The scripts in benchmarks/ run: what the README there claims is shown by them."""

from __future__ import annotations

import csv
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import fogplay as fp
from fogplay.experiments.rows import Row, read_rows_of
from fogplay.simulators.holdem import HoldemSimulator
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
        (
            "deltadou.py",
            ("vary", "rhcp", "--set", "points=3", "--set", "sure=2", "--decks", "2", "--playouts", "5"),
            "deltadou with points=3, sure=2 against rhcp, 2 decks",
        ),
        ("deltadou.py", ("model", "greedy", "--decks", "2", "--playouts", "5"), "deltadou that knows greedy"),
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
    rows = (
        "uct-1000-average,,exact,100.0,300.0,200.0,0.0,0,1.0,cuda\n"
        "smooth-uct-1000-average,,estimate,100.0,200.0,150.0,9.0,30,1.0,cuda\n"
        "uct-1000-average,smooth-uct-1000-average,difference,0.0,100.0,50.0,3.0,30,1.0,cuda\n"
        "smooth-uct,,exact,50.0,150.0,100.0,0.0,0,1.0,cuda"
    )
    for words in (
        ("measure", "always-fold", "--local", "--hands", "200", *folder),
        ("write", *folder, "--page", str(page), "--picture", str(tmp_path / "curve.png")),
    ):
        done = subprocess.run([sys.executable, script, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        with open(tmp_path / "points.csv", "a") as points:
            points.write(f"{rows}\n")
    text = page.read_text()
    assert "| always-fold |  |  |  | 750.0 ± 0.0 | not measured |" in text
    assert "| 1,000 | average | 200.00 | 150.0 ± 9.0 | 50.0 ± 3.0 | exact |" in text
    assert "| 62,100,000,000 | greedy |  | 100.00 |  | exact |" in text  # a snapshot that is a bot
    assert "| player | against | wins |" not in text[text.index("| always-fold |") : text.index("curve.png")]
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


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


@pytest.mark.usefixtures("benchmarks")
def test_runs_can_be_shortened() -> None:
    winnings = importlib.import_module("winnings")
    short = winnings.shortened(winnings.plan(), 3e9)
    names = [each.name for each in short]
    assert len(set(names)) == len(names)
    (run,) = (each for each in short if each.name == "2011_MCCFR10_3")
    assert run.places == (90_000_000, 300_000_000, 1_000_000_000, 3_000_000_000)
    assert "2015-table3_UCT_1" not in names  # its only place is later


@pytest.mark.usefixtures("benchmarks")
def test_matches_are_played_by_what_is_in_the_folder(tmp_path: Path) -> None:
    matches = importlib.import_module("winnings_matches")
    for file in (
        "2011_MCCFR10_3.1000000000", "2011_MCCFR10_3.3000000000", "2011_MCCFR100_2.1000000000",
        "2011_MCRNR10_rules_seat0_1.100000000", "2011_MCRNR10_rules_seat0_1.1000000000",
        "2011_MCRNR10_rules_seat1_1.100000000", "2011_MCRNR10_rules_seat0_2.100000000",
    ):  # fmt: skip
        (tmp_path / f"{file}.safetensors").touch()
    found = matches.Matches(tmp_path, 100)
    assert {each.name: each.places for each in found.runs("2011", "MCCFR10", "MCCFR100")} == {
        "2011_MCCFR10_3": (1_000_000_000, 3_000_000_000),
        "2011_MCCFR100_2": (1_000_000_000,),
    }
    (pair,) = found.responses("MCRNR10")  # of the other run, one seat is missing
    assert (pair.name, pair.places) == ("2011_MCRNR10_rules_seat0_1", (100_000_000,))


@pytest.mark.usefixtures("benchmarks")
def test_rows_of_strategies_that_are_gone_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matches = importlib.import_module("winnings_matches")
    name, made = "sampling-equilibria-2011/table1", [Row("MCCFR10", "against rules", 1e9, 3, 60.0, 4.0)]

    def play(asked: object) -> list[Row]:
        asked.known.update({matches.key_of(row): row for row in made})  # type: ignore[attr-defined]
        return made

    monkeypatch.setattr(matches, "RESULTS", {name: play})
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path), "--device", "cpu", "--points", str(tmp_path)])
    matches.main()
    made = [Row("UCT, one CPU thread", "against rules", 1e9, seed, 1.0, 4.0) for seed in (1, 2)]
    matches.main()
    target = tmp_path / f"{name}.seeds-cpu.csv"
    assert [(row.label, row.run) for row in read_rows_of(target)] == [
        ("MCCFR10", 3), ("UCT, one CPU thread", 1), ("UCT, one CPU thread", 2),
    ]  # fmt: skip
    about = json.loads(target.with_suffix(".json").read_text())
    assert about["command"].endswith(" --device cpu")
    assert about["note"].endswith("on one CPU core each: MCCFR10, seed 3; UCT, seed 1 and 2")
    before = target.read_bytes()
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--hands", "7"])
    matches.main()  # nothing is new
    assert target.read_bytes() == before
    assert json.loads(target.with_suffix(".json").read_text()) == about


@pytest.mark.usefixtures("benchmarks")
def test_late_updates_are_late_and_none_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late = importlib.import_module("late")
    places = (2_000, 10_000)
    found = {at_once: late.solve(at_once, 3, places) for at_once in (1, 64)}
    alone = fp.solve(late.GAME, "uct", places[-1], seed=3, c=20.0, curve=places, watch=False)
    assert [each.nash_conv for each in found[1].curve] == [each.nash_conv for each in alone.curve]  # not late
    assert found[64].curve[-1].nash_conv != alone.curve[-1].nash_conv
    target = tmp_path / "fig2.late.csv"
    monkeypatch.setattr(sys, "argv", ["", "64", "--seeds", "1", "--share", "0.00002", "--target", str(target)])
    late.main()
    (_, row) = read_rows_of(target)
    assert (row.label, row.at, row.run) == ("UCT, updates 64 episodes late, suits unseen", 10_000, 1)
    assert row.value == pytest.approx(late.solve(64, 1, places).curve[-1].nash_conv)


@pytest.mark.usefixtures("benchmarks")
def test_what_waits_is_written_after_so_many_episodes() -> None:
    late = importlib.import_module("late")
    waiting = late.Later.of(8)
    with mock.patch.object(late.uct, "run", late.run), mock.patch.object(late.cpu, "Plain", return_value=waiting):
        result = fp.solve(late.GAME, "uct", 1_000, seed=1, c=20.0, watch=False)
    assert result.iterations == 1_000
    written, applied = waiting.done
    assert waiting.ends[993 % 8] == applied  # 7 episodes of 1,000 are still on their way
    assert written == waiting.ends[1_000 % 8] > applied


@pytest.mark.usefixtures("benchmarks")
def test_a_player_for_a_small_file_calls_where_its_moves_hardly_ever_lead() -> None:
    champion = importlib.import_module("champion")
    simulator = HoldemSimulator.of("holdem(grid=ehs:2/2/2/2)")
    nodes, weights = simulator.betting.nodes, np.ones(simulator.num_slots, np.float32)
    number = int(np.flatnonzero((nodes["street"] == 3) & (nodes["count"] == 3))[0])
    rare = nodes[number]["slot"] + np.arange(3)
    weights[rare] = 1e-4
    small = champion.reduced(simulator, weights, "cfr-br", iterations=1, seed=0)
    assert (small.method, small.iterations, small.seed) == ("cfr-br", 1, 0)
    assert small.probabilities(number, 0).tolist() == np.eye(3)[nodes[number]["calling"]].tolist()
    assert small.probabilities(number, 1) == pytest.approx(np.ones(3) / 3, abs=1 / champion.STEPS)
    assert set(small.share.tolist()) <= set(range(0, 256, 255 // champion.STEPS))
