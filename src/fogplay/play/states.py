"""What a table asks of a state, for our own games and OpenSpiel's alike."""

from __future__ import annotations

from typing import Any

from fogplay.games.game import CHANCE, SIMULTANEOUS


def infoset_of(state: Any, seat: int) -> str:
    """The game's string for what a seat knows; what it observes, where one of OpenSpiel's games has only that."""
    try:
        return str(state.information_state_string(seat))
    except Exception:
        if not hasattr(state, "observation_string"):
            raise
        return str(state.observation_string(seat))


def witnesses(game: Any, state: Any, seat: int, action: int) -> tuple[int, ...]:
    """Who sees a move: those whom the game names (``seen_by``), all where everything is open, else only who made it."""
    if hasattr(state, "seen_by"):
        return tuple(state.seen_by(action))
    if is_open(game):
        return tuple(range(int(game.num_players())))
    return () if seat == CHANCE else (seat,)


def is_open(game: Any) -> bool:
    """Whether one of OpenSpiel's games says that nothing in it is hidden."""
    return hasattr(game, "get_type") and game.get_type().information.name == "PERFECT_INFORMATION"


def joint_child(state: Any, chosen: dict[int, int], players: int) -> Any:
    """The state after several seats acted at the same time; who has nothing to choose does 0."""
    actions = [chosen.get(seat, 0) for seat in range(players)]
    if hasattr(state, "joint_child"):
        return state.joint_child(actions)
    after = state.clone()
    after.apply_actions(actions)
    return after


def legal_of(state: Any, seat: int) -> Any:
    """The legal actions of a seat that is to act."""
    return state.legal_actions(seat) if state.current_player() == SIMULTANEOUS else state.legal_actions()
