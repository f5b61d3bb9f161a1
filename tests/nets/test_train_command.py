"""`fogplay train` as people type it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers import fogplay

pytest.importorskip("torch")
SMALL = [
    word
    for setting in ("size=8", "steps=12", "batch=48", "width=16", "blocks=1")
    for word in ("--set", setting)
]  # fmt: skip


@pytest.mark.slow
def test_a_run_is_trained_stopped_and_resumed(tmp_path: Path) -> None:
    begun = ["train", "doudizhu", "--out", "nets", "--decks", "4", *SMALL]
    process = subprocess.Popen(
        [sys.executable, "-m", "fogplay", *begun, "--minutes", "10"], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not (tmp_path / "nets" / "log.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "--resume" in errors
    index = json.loads((tmp_path / "nets" / "run.json").read_text())

    again = fogplay(*begun, cwd=tmp_path)
    assert again.returncode == 2
    assert "add --resume" in again.stderr
    more = index["decisions"] + 200
    resumed = fogplay("train", "doudizhu", "--out", "nets", "--decks", "4", "--resume", "-n", str(more), "--json",
                      cwd=tmp_path)  # fmt: skip
    assert resumed.returncode == 0, resumed.stderr
    facts = json.loads(resumed.stdout.splitlines()[-1])
    assert facts["decisions"] >= more
    assert 0.0 <= facts["rhcp_wins"] <= 1.0
    assert (tmp_path / "nets" / "landlord.safetensors").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["leduc"], "cannot train networks for leduc"),
        (["doudizhu(bidding=True)"], "without bidding"),
        (["doudizhu", "--resume", "--out", "nothing"], "holds no run"),
        (["doudizhu", "--set", "sise=3"], "there is no setting 'sise'"),
        (["doudizhu", "--device", "tpu"], "there is no device 'tpu'"),
    ],
)
def test_mistakes_get_one_line(tmp_path: Path, words: list[str], message: str) -> None:
    done = fogplay("train", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


EPISODES = [
    word
    for setting in (
        "bootstrap=20", "bootstrap_passes=0.2", "games=12", "playouts=10", "passes=0.2", "width=8", "blocks=1",
        "batch=16",
    )
    for word in ("--set", setting)
]  # fmt: skip


def test_time_may_end_within_an_episode(tmp_path: Path) -> None:
    """The command says so, and --resume goes on with the seed of the run."""
    words = ["train", "doudizhu", "--episodes", "1", "--out", "nets", "--decks", "2"]
    begun = fogplay(*words, "--seed", "5", *EPISODES, "--minutes", "0.0001", cwd=tmp_path)
    assert begun.returncode == 0, begun.stderr
    assert "time is up in episode 1, which is not lost" in begun.stderr
    assert json.loads((tmp_path / "nets" / "run.json").read_text())["seed"] == 5
    done = fogplay(*words, "--resume", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["episode"] == 1
    assert json.loads((tmp_path / "nets" / "run.json").read_text())["seed"] == 5
