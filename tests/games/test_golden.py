"""Recorded plays: the whole of what a game answers along one seeded random play, kept as text in tests/golden.

After a change of the rules that is meant, write the files anew and read the difference:
``python -m tests.games.test_golden --write``
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from fogplay.games import CHANCE, State, load, registered
from fogplay.games.registry import presets

from .specs import chosen

FOLDER = Path(__file__).parent.parent / "golden"

# file: spec and seed
PLAYS = {
    "biased-rps": ("biased-rps", 1),
    "bluff": ("bluff", 2),
    "bluff-two-dice": ("bluff(2,1,3)", 9),
    "doudizhu": ("doudizhu", 4),
    "goofspiel": ("goofspiel", 3),
    "goofspiel-revealed": ("goofspiel(5,ascending,revealed,percent)", 5),
    "holdem": ("holdem", 1),
    "holdem-small": ("holdem(players=3,rounds=2,ranks=3,suits=2,hole=1,board=[0,1])", 2),
    "kuhn": ("kuhn", 6),
    "kuhn-three-players": ("kuhn(players=3)", 7),
    "leduc": ("leduc", 37),
    "matrix": ("matrix([[1,-2.5,0],[0.125,1e-9,-3]])", 9),
    "matrix-three-players": (
        "matrix([[[[1,2],[3,4]],[[5,6],[7,8]]],[[[1,2],[3,4]],[[5,6],[7,8]]],[[[0,2],[3,4]],[[5,6],[7,9]]]])",
        10,
    ),
    "ocp": ("ocp(cards=13)", 11),
    "pam": ("pam(2,3,6)", 33),
    "repeated": ("repeated(rps,hands=3)", 13),
    "repeated-kuhn": ("repeated(kuhn,hands=2)", 14),
    "rps": ("rps", 1),
    "two-by-two": ("two-by-two", 16),
}


def written(spec: str, seed: int) -> str:
    """One play of the game as text."""
    game, rng = load(spec), random.Random(seed)
    state = game.new_initial_state()
    lines = [f"game: {game}", f"players: {game.num_players()}", f"seed: {seed}"]
    while not state.is_terminal():
        action = chosen(state, rng)
        lines += ["", *_situation(state), f"  chosen: {action}"]
        state = state.child(action)
    lines += ["", f"end: {state}", f"returns: {' '.join(f'{payoff:g}' for payoff in state.returns())}"]
    return "\n".join(lines) + "\n"


def _situation(state: State) -> list[str]:
    player = state.current_player()
    if player == CHANCE:
        outcomes = [
            f"{action}={state.action_to_string(player, action)} ({probability:.6g})"
            for action, probability in state.chance_outcomes()
        ]
        return ["chance", f"  outcomes: {', '.join(outcomes)}"]
    actions = [f"{action}={state.action_to_string(player, action)}" for action in state.legal_actions()]
    return [
        f"player {player}",
        f"  infoset: {state.information_state_string(player)!r}",
        f"  actions: {', '.join(actions)}",
    ]


@pytest.mark.parametrize("file", PLAYS)
def test_play_is_as_recorded(file: str) -> None:
    assert written(*PLAYS[file]) == (FOLDER / f"{file}.txt").read_text(encoding="utf-8")


def test_every_game_and_every_file_is_covered() -> None:
    assert {spec.partition("(")[0] for spec, _ in PLAYS.values()} == {*registered(), *presets()}
    recorded = {path.stem for path in FOLDER.glob("*.txt") if path.read_text(encoding="utf-8").startswith("game: ")}
    assert recorded == set(PLAYS)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tests.games.test_golden --write")
    for name, play in PLAYS.items():
        (FOLDER / f"{name}.txt").write_text(written(*play), encoding="utf-8")
