"""Mistakes of a game's own code while a hand is played: one line that names the method and the history."""

from __future__ import annotations

from pathlib import Path

import pytest

import fogplay as fp
from fogplay.agents.advice import sensible
from fogplay.errors import FogplayError
from fogplay.games.registry import load
from fogplay.play import Seeded, Table
from tests.helpers import fogplay
from tests.test_cli import GAME

KNOWS = 'return f"player {player}"'


def with_mistake(folder: Path, before: str, after: str) -> str:
    """The file of a game of one coin with a mistake in it."""
    assert before in GAME
    (folder / "coin.py").write_text(GAME.replace(before, after))
    return str(folder / "coin.py")


def test_a_view_names_the_method_and_the_moves_before_it(tmp_path: Path) -> None:
    spec = with_mistake(tmp_path, KNOWS, "return 'start' if player == 0 else {}['no key']")
    table = Table(load(spec), Seeded(1))
    view = table.view(0)
    assert view.infoset == "start"
    table.take(0, 1)
    late = table.view(1)
    with pytest.raises(FogplayError, match=r"failed with KeyError: 'no key' in information_state_string\(\), line \d+"):
        _ = late.infoset
    with pytest.raises(FogplayError, match=r"seen after: (1|tails)$"):
        _ = late.infoset
    table.take(1, 0)
    assert table.is_over
    with pytest.raises(FogplayError, match=r"seen after: (1|tails)$"):  # as it was when the view was made
        _ = late.infoset


def test_returns_that_fail_at_the_end_of_a_hand(tmp_path: Path) -> None:
    table = Table(load(with_mistake(tmp_path, "won = self.game.stake", "won = 1 / 0")), Seeded(1))
    table.take(0, 1)
    table.take(1, 0)
    with pytest.raises(FogplayError, match=r"ZeroDivisionError: .* in returns\(\), line \d+; seen after: \w+, \w+$"):
        _ = table.scores


def test_a_game_that_fails_before_anybody_can_be_seated_says_why(tmp_path: Path) -> None:
    """At the terminal and in the browser alike."""
    spec = with_mistake(tmp_path, "def child(self, action):", "def child(self, action):\n        {}[action]")
    with pytest.raises(FogplayError, match=r"failed with KeyError: 0 in child\(\), line \d+"):
        sensible(load(spec), spec)


@pytest.mark.parametrize("agent", ["search:uct:20", "coin.safetensors"])
def test_a_command_says_it_in_one_line(tmp_path: Path, agent: str) -> None:
    strategy = fp.solve(load(with_mistake(tmp_path, KNOWS, KNOWS)), "cfr", 10).strategy
    strategy.save(tmp_path / "coin.safetensors")
    with_mistake(tmp_path, KNOWS, "raise ValueError('no such cards')")
    done = fogplay("play", "coin.py", "--against", agent, "--seat", "1", "-n", "1", cwd=tmp_path)
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert "ValueError: no such cards in information_state_string(), line" in last
    assert "seen after: the start of the game" in last
    assert "Traceback" not in done.stderr
