"""The code in the README and the docs, run as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import ROOT, fogplay


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


def test_write_your_own_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game, use = blocks("docs/write-your-own-game.md", "python")
    (tmp_path / "claim.py").write_text(game)
    done = fogplay("solve", "claim.py", "-a", "cfr+", "-n", "2000", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert fogplay("inspect", "claim.safetensors", cwd=tmp_path).returncode == 0
    assert fogplay("solve", "claim.py:Claim(stake=3)", "-a", "lp", cwd=tmp_path).returncode == 0
    namespace: dict[str, Any] = {}
    exec(game + use, namespace)
    # By hand: a bluff on tails must not pay: 1 - p - 2p = -1, so player 1 calls with p = 2/3.
    assert namespace["result"].strategy["player 1 hears a claim"]["1"] == pytest.approx(2 / 3, abs=0.01)


def run_commands(page: str, folder: Path) -> None:
    (commands,) = blocks(page, "bash")
    for line in commands.splitlines():
        done = fogplay(*shlex.split(line)[1:], cwd=folder)
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_responses(tmp_path: Path) -> None:
    run_commands("docs/algorithms/responses.md", tmp_path)
    assert {path.name for path in tmp_path.glob("curve.*")} == {"curve.csv", "curve.svg", "curve.png"}


def test_learning_holdem(tmp_path: Path) -> None:
    run_commands("docs/games/holdem.md", tmp_path)
    assert {path.name for path in tmp_path.glob("smooth.1*")} == {
        "smooth.100000.safetensors",
        "smooth.1000000.safetensors",
    }


def test_models_of_players(tmp_path: Path) -> None:
    run_commands("docs/opponents.md", tmp_path)
    example = re.search(r"^(good\|weak: .*)$", (ROOT / "docs/opponents.md").read_text(), re.M)
    assert example is not None
    assert example[1] in (tmp_path / "hands.txt").read_text()


def test_the_readmes_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks("README.md", "python"):
        exec(block, {})


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
