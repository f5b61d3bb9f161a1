"""Queries of a table to a state, for fogplay's and OpenSpiel's games."""

from __future__ import annotations

from typing import Any

from fogplay.games.game import CHANCE, SIMULTANEOUS


def infoset_of(state: Any, seat: int) -> str:
    """The game's string for what a seat knows; its observation, if an OpenSpiel game has only that."""
    try:
        return str(state.information_state_string(seat))
    except Exception:
        if not hasattr(state, "observation_string"):
            raise
        return str(state.observation_string(seat))


def witnesses(game: Any, state: Any, seat: int, action: int) -> tuple[int, ...]:
    """The seats that see a move: those in the game's ``seen_by``, all with perfect information, else only the mover."""
    if hasattr(state, "seen_by"):
        return tuple(state.seen_by(action))
    if is_open(game):
        return tuple(range(int(game.num_players())))
    return () if seat == CHANCE else (seat,)


def is_open(game: Any) -> bool:
    """Whether an OpenSpiel game declares perfect information."""
    return hasattr(game, "get_type") and game.get_type().information.name == "PERFECT_INFORMATION"


def joint_child(state: Any, chosen: dict[int, int], players: int) -> Any:
    """The state after simultaneous actions; a seat without a choice plays 0."""
    actions = [chosen.get(seat, 0) for seat in range(players)]
    if hasattr(state, "joint_child"):
        return state.joint_child(actions)
    after = state.clone()
    after.apply_actions(actions)
    return after


def legal_of(state: Any, seat: int) -> Any:
    """The legal actions of a seat that is to act."""
    return state.legal_actions(seat) if state.current_player() == SIMULTANEOUS else state.legal_actions()
