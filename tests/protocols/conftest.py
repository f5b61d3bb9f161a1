"""What the tests of commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fogplay import load
from fogplay.cli import main
from fogplay.search.sheets import SheetPlayer

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command here: its exit status, what it printed and what it said on stderr."""

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["fogplay", "acpc", *arguments])
        try:
            main()
            status = 0
        except SystemExit as stopped:
            status = int(str(stopped.code or 0))
        told = capsys.readouterr()
        return status, told.out, told.err

    return command


@pytest.fixture(scope="session")
def compiled_players() -> None:
    """Compile what players of rule sheets need, which no start clock has time for."""
    for name in ("rps.kif", "montyhall.kif"):
        SheetPlayer(load(name), seconds=0.01)
