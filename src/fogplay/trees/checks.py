"""What is checked of a game as it is walked or played; each check is handed a function that complains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, SIMULTANEOUS, TERMINAL
from fogplay.games.own import PAGE, problem_of_actions

Complain = Callable[..., None]  # raises a FogplayError, or another kind, that names the history too


class NoTreeError(FogplayError):
    """A game that cannot be flattened: it is too large, or its players move at the same time."""


def check_infoset(player: int, players: int, key: Any, actions: Any, complain: Complain) -> None:
    """Of an infoset that is met for the first time."""
    if player >= players:
        complain(
            f"player {player} is to act, but players are numbered from 0 to {players - 1}: num_players() returned "
            f"{players}; for more, define `def num_players(self): return {player + 1}`"
        )
    problem = problem_of_actions(actions)
    if problem is not None:
        complain(problem)
    if not actions:
        complain(f"player {player} is to act but has no legal action")
    if not isinstance(key, str):
        complain(f"information_state_string returned {type(key).__name__}, not text")


def complain_of_infoset(key: str, owner: int, player: int, known: Any, actions: Any, complain: Complain) -> None:
    """Where an infoset that was met before looks different, if it does."""
    if owner != player:
        complain(
            f"infoset {key!r} belongs to player {owner} elsewhere and to player {player} "
            "here; put the player's number into its string"
        )
    if list(known) != list(actions):
        complain(
            f"infoset {key!r} has actions {list(known)} elsewhere and {list(actions)} here; "
            "its string must differ wherever the player can see a difference"
        )


def check_returns(returns: Any, players: int, complain: Complain) -> None:
    """Of a terminal."""
    if len(returns) != players:
        complain(f"returns() has {len(returns)} numbers for {players} players")


def check_chance_player(player: int, complain: Complain) -> None:
    """Of a node where no player is to act and the game is not over."""
    if player == SIMULTANEOUS:
        complain(
            f"players move simultaneously; let each act in turn without seeing the others' moves: {PAGE} shows how",
            kind=NoTreeError,
        )
    if player != CHANCE:
        complain(f"current_player() is {player}, which is not a player, CHANCE ({CHANCE}) or TERMINAL ({TERMINAL})")


def check_chances(probabilities: Sequence[float], complain: Complain) -> None:
    """Of a chance node."""
    total = sum(probabilities)
    if abs(total - 1) <= 1e-9 and min(probabilities) >= 0:  # the first comparison is false for NaN
        return
    if not probabilities:
        complain("chance is to act, and chance_outcomes() is empty")
    if min(probabilities) < 0:
        complain(f"a probability of chance is negative: {min(probabilities):g}")
    complain(f"chance's probabilities must sum to 1; they sum to {total:.10g}")
