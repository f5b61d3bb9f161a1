"""Every command by Ctrl-C, SIGTERM and SIGKILL: nothing that was finished is lost, and exit codes are as documented.

The whole matrix, every command by every signal at ten random moments, runs with ``pytest -m slow``.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import fogplay
from fogplay import storage
from fogplay.opponents import write_log

STOPPED = 130
MOMENTS = int(os.environ.get("FOGPLAY_MOMENTS", "10"))  # of each command and signal in the whole matrix


@dataclass(frozen=True)
class Case:
    """A command that takes long, what must be true of its output after a signal, and a command that ends soon."""

    words: str  # the command
    after: str  # a command that uses the same files and ends soon
    check: Callable[[Path, str], None] = lambda folder, out: None
    stdin: bool = False  # whether it waits for a person
    dealer: bool = False  # whether it joins a dealer


def _last(out: str) -> dict[str, Any]:
    return dict(json.loads(out.splitlines()[-1])) if out.strip() else {}


def _solved(folder: Path, out: str) -> None:
    facts = _last(out)
    if facts:
        assert fogplay.Strategy.load(folder / facts["out"]).iterations == facts["iterations"] > 0
        assert "--resume" in facts["next"]
        assert storage.read(folder / f"{facts['out']}.checkpoint", "checkpoint")[1]["iteration"] == facts["iterations"]


def _matched(folder: Path, out: str) -> None:
    facts = _last(out)
    if facts:
        assert 0 < facts["hands"] < facts["hands_asked"]
        lines = (folder / "hands.log").read_text().splitlines()
        assert sum(not line.startswith("#") for line in lines) == facts["hands"]


def _dealt(folder: Path, out: str) -> None:
    facts = _last(out)
    if facts:
        lines = (folder / "deal.log").read_text().splitlines()
        assert sum(line.startswith("STATE:") for line in lines) == facts["hands"]
        assert "stopped by hand" in lines[-1]


def _hosted(folder: Path, out: str) -> None:
    facts = _last(out)
    if facts:
        lines = (folder / "ggp.jsonl").read_text().splitlines()
        assert facts["interrupted"]
        assert [json.loads(line)["match"] for line in lines] == [each["match"] for each in facts["matches"]]


def _traded(folder: Path, out: str) -> None:
    if out.strip():
        assert (folder / "trade.svg").read_text().rstrip().endswith("</svg>")
        assert (folder / "trade.csv").exists()


CASES = {
    "solve": Case(
        "solve leduc -a cfr+ -n 1000000000 --json --out s.safetensors --checkpoint-seconds 0.2",
        "solve leduc -a cfr+ -n 5 --json --out s.safetensors --force",
        _solved,
    ),
    "sampling": Case(
        "solve leduc -a smooth-uct -n 100000000000 --json --out u.safetensors --checkpoint-seconds 0.2",
        "solve leduc -a smooth-uct -n 5 --json --out u.safetensors --force",
        _solved,
    ),
    "lp": Case("solve bluff(1,1,6) -a lp --json --out p.safetensors", "solve kuhn -a lp --json --out p.safetensors"),
    "tree": Case("solve goofspiel(7) -a cfr+ --json --out g.safetensors", "solve kuhn --json --out g.safetensors"),
    "evaluate": Case("evaluate leduc.safetensors --json", "evaluate kuhn.safetensors --json"),
    "inspect": Case("inspect leduc.safetensors --json", "inspect kuhn.safetensors --json"),
    "match": Case(
        "match leduc leduc.safetensors uniform --hands 90000000 --json --log hands.log",
        "match leduc leduc.safetensors uniform --hands 10 --json --log hands.log",
        _matched,
    ),
    "search": Case(
        "match kuhn kuhn.safetensors search:uct:2000 --hands 90000000 --json --log hands.log",
        "match kuhn kuhn.safetensors uniform --hands 10 --json --log hands.log",
        _matched,
    ),
    "respond": Case(
        "respond leduc --to leduc.safetensors -n 1000000 --json --out r.safetensors",
        "respond leduc --to leduc.safetensors -n 2 --json --out r.safetensors --force",
    ),
    "tradeoff": Case(
        "tradeoff leduc --to leduc.safetensors -n 2000 --json --out trade",
        "tradeoff leduc --to leduc.safetensors -n 2 --confidences 1 --json --out trade",
        _traded,
    ),
    "compare": Case(
        "compare kuhn es-mccfr --minutes 60 --runs 2 --workers 1 --json --out compared",
        "compare kuhn es-mccfr -n 10 --runs 1 --workers 1 --json --out compared",
    ),
    "model": Case(
        "model leduc --from l.log --player a --json --out m.safetensors",
        "model leduc --from l.log --player a --json --out m.safetensors",
    ),
    "deal": Case(
        "acpc deal leduc.limit.2p uniform uniform --hands 1000000 --json --log deal.log",
        "acpc deal leduc.limit.2p uniform uniform --hands 5 --json --log after.log",
        _dealt,
    ),
    "join": Case("acpc join localhost PORT --agent uniform --game leduc.limit.2p", "acpc games", dealer=True),
    "ggp player": Case("ggp player --port 0", "games rps.kif --json"),
    "ggp match": Case(
        "ggp match rps.kif uniform ggp:uct:0.05s --matches 100000 --playclock 2 --json --log ggp.jsonl",
        "ggp match rps.kif uniform uniform --json --log ggp.jsonl",
        _hosted,
    ),
    "train": Case(
        "train doudizhu --out run --minutes 60 --save-minutes 0.02 --judge-minutes 60 --decks 1 --json",
        "train doudizhu --out after --decisions 1 --decks 1 --json",
    ),
    "reproduce": Case("reproduce smooth-uct-2015/fig2 --out again", "reproduce --json"),
    "bench": Case("bench --games kuhn --out b.csv", "bench --games kuhn --seconds 0.01 --out b.csv"),
    "play": Case("play kuhn", "games --json", stdin=True),
    "games": Case("games --json", "algorithms --json"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Strategies and a log for the commands."""
    folder = tmp_path_factory.mktemp("files")
    for game in ("leduc", "kuhn"):
        fogplay.solve(game, "cfr+", 50).strategy.save(folder / f"{game}.safetensors")
    played = fogplay.match("leduc", ["uniform", "uniform"], 2000, names=("a", "b"), keep=True)
    write_log(folder / "l.log", played)
    return folder


def _start(words: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "fogplay.cli", *words.split()]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def _dealer(folder: Path) -> tuple[subprocess.Popen[str], str]:
    dealer = _start("acpc deal leduc.limit.2p :0 uniform --hands 1000000 --log dealer.log", folder)
    assert dealer.stdout is not None
    return dealer, dealer.stdout.readline().strip()


def _wait(moment: float | str, folder: Path) -> None:
    """Wait for some seconds, or until a file exists."""
    if isinstance(moment, float):
        time.sleep(moment)
        return
    end = time.monotonic() + 60
    while not (folder / moment).exists() and time.monotonic() < end:
        time.sleep(0.02)


def _interrupt(case: Case, number: int, moment: float | str, files: Path, folder: Path) -> None:
    """Start a command, send it a signal, check what it leaves, and run the command that comes after."""
    for file in files.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    known = {file.name: file.read_bytes() for file in folder.iterdir()}
    dealer, port = _dealer(folder) if case.dealer else (None, "")
    process = _start(case.words.replace("PORT", port), folder)
    _wait(moment, folder)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    if dealer is not None:
        dealer.kill()
        dealer.communicate()
    done = process.returncode
    if "fogplay" not in err and done in (1, -signal.SIGINT, -signal.SIGTERM):
        return  # before Python itself was ready, when nobody can handle a signal
    assert done in ((-signal.SIGKILL, 0) if number == signal.SIGKILL else (STOPPED, 0)), err
    assert "Traceback" not in err + out, err
    if done == STOPPED:
        case.check(folder, out)
        assert out.strip() or "fogplay: stopped" in err or "To go on: fogplay" in err, err
    for name, contents in known.items():
        assert (folder / name).read_bytes() == contents
    time.sleep(max(0.0, storage.SURE_SECONDS - 0.1))
    then = subprocess.run(
        [sys.executable, "-m", "fogplay.cli", *case.after.split()], cwd=folder, timeout=300, check=False
    )
    assert then.returncode == 0
    assert not [path.name for path in folder.rglob("*.part")]


@pytest.mark.parametrize(
    ("name", "number", "moment"),
    [
        ("solve", signal.SIGTERM, "s.safetensors.checkpoint"),
        ("match", signal.SIGINT, 3.0),
        ("deal", signal.SIGTERM, "deal.log"),
        ("evaluate", signal.SIGINT, 0.25),
        ("ggp match", signal.SIGINT, "ggp.jsonl"),
    ],
)
def test_a_signal_loses_nothing(name: str, number: int, moment: float | str, files: Path, tmp_path: Path) -> None:
    _interrupt(CASES[name], number, moment, files, tmp_path)


@pytest.fixture(scope="module")
def start_seconds(files: Path) -> float:
    """How long this machine takes now to start a command and end it."""
    began = time.monotonic()
    assert _start("algorithms --json", files).wait(120) == 0
    return time.monotonic() - began


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("name", CASES)
def test_every_command_by_every_signal(
    name: str, number: int, files: Path, start_seconds: float, tmp_path: Path
) -> None:
    rng = random.Random(f"{name} {number}")
    for moment in range(MOMENTS):
        folder = tmp_path / str(moment)
        folder.mkdir()
        _interrupt(CASES[name], number, rng.uniform(0.1, 3.0) * start_seconds, files, folder)
