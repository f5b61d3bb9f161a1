"""Checks of games that users write: each mistake is one line that names what to define."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, SIMULTANEOUS, TERMINAL, Game

PAGE = "docs/write-your-own-game.md"
OURS = ("fogplay.", "pyspiel")  # modules whose games need no check
NEEDED = {
    "current_player": "current_player()",
    "legal_actions": "legal_actions()",
    "child": "child(action)",
    "information_state_string": "information_state_string(player)",
    "returns": "returns()",
}
UNKNOWN = object()  # in place of a state
SOMETIMES = {"chance_outcomes": "chance_outcomes()", "action_to_string": "action_to_string(player, action)"}
METHODS = (*NEEDED, *SOMETIMES, "observation", "determinise", "seen_by", "unseen", "joint_child")
MOST_NAMED = 40  # moves of a history that is shown


def checked_players(game: Any, name: str) -> int:
    """The result of ``num_players()``; refuses one that is missing or wrong."""
    known_as = type(game).__name__
    write = "write `def num_players(self): return 2` (or as many as there are)"
    if not hasattr(type(game), "num_players") and not hasattr(game, "num_players"):
        raise FogplayError(f"{name}: {known_as} must define num_players(); {write}")
    try:
        ask = game.num_players
        players = ask() if callable(ask) else ask
    except Exception as error:
        raise FogplayError(f"{name}: num_players() failed with {_named(error)}; {write}") from error
    if not callable(ask):
        if _is_whole(players):
            write = f"write `def num_players(self): return {players}`"
        raise FogplayError(f"{name}: {known_as}.num_players is {_short(players)}, not a method; {write}")
    count = operator.index(players) if _is_whole(players) else 0
    if count < 1:
        raise FogplayError(f"{name}: num_players() must return a whole number from 1, not {_short(players)}; {write}")
    return count


def checked_start(game: Any, name: str) -> Any:
    """The result of ``new_initial_state()``; refuses what is not a state."""
    ask, known_as = getattr(game, "new_initial_state", None), type(game).__name__
    if not callable(ask) or getattr(type(game), "new_initial_state", None) is Game.new_initial_state:
        raise FogplayError(f"{name}: {known_as} must define new_initial_state(), which returns a state ({PAGE})")
    try:
        state = ask()
    except FogplayError:
        raise
    except Exception as error:
        raise FogplayError(f"{name}: new_initial_state() failed with {_named(error)}") from error
    problem = problem_of_state(state)
    if problem is not None:
        raise FogplayError(f"{name}: new_initial_state() {problem}")
    return state


def require_own_game(game: Any, name: str) -> None:
    """Refuse an object that is not a playable game, unless it comes from fogplay or OpenSpiel."""
    if type(game).__module__.startswith(OURS):
        return
    checked_players(game, name)
    start = checked_start(game, name)
    try:
        problem = problem_at(start, moves=1)
    except Exception:
        return  # the walk reports it with its history
    if problem is not None and problem.startswith("child"):  # a state that changes spoils what comes after
        raise FogplayError(f"{name}: {problem}; seen after: the start of the game")


def problem_of_state(state: Any) -> str | None:
    """Why an object cannot be a state, as the end of a sentence; None if it can."""
    if isinstance(state, type):
        return f"returned the class {state.__name__}, not a state; call it"
    if not callable(getattr(state, "current_player", None)):
        methods = ", ".join(NEEDED.values())
        return f"returned {_short(state)}, which is not a state; a state has {methods}"
    return None


def problem_at(state: Any, moves: int | None = None) -> str | None:
    """What is wrong with the answers of a state and its first ``moves`` moves, in a sentence; None if nothing is found.

    It is called once, or after something failed, so it may be slow. The game's own exceptions are left to the caller.
    """
    player = state.current_player()
    if not _is_whole(player):
        return f"current_player() returned {_short(player)}; it must return a player's number, CHANCE or TERMINAL"
    if player == TERMINAL:
        return _problem_of_returns(state.returns())
    if player == SIMULTANEOUS:
        return None
    problem, found = _moves_of(state, player)
    if problem is not None:
        return problem
    for move in found[:moves]:
        after = state.child(move)
        if after is state:
            return "child() returned the state itself; it must return a new state and leave this one as it is"
        problem = problem_of_state(after)
        if problem is not None:
            return f"child({move!r}) {problem}"
    return None


def _moves_of(state: Any, player: int) -> tuple[str | None, list[Any]]:
    if player != CHANCE:
        name = state.information_state_string(player)
        if not isinstance(name, str):
            return f"information_state_string({player}) returned {type(name).__name__}, not text", []
        actions = state.legal_actions()
        return problem_of_actions(actions), list(actions) if isinstance(actions, Sequence) else []
    outcomes = state.chance_outcomes()
    try:
        return None, [move for move, _ in outcomes]
    except (TypeError, ValueError):
        return f"chance_outcomes() returned {_short(outcomes)}; it must return pairs of (outcome, probability)", []


def problem_of_actions(actions: Any) -> str | None:
    """What is wrong with the result of ``legal_actions()``; None if nothing is."""
    if not isinstance(actions, Sequence) or isinstance(actions, str):
        return f"legal_actions() returned {_short(actions)}; it must return a tuple or list of whole numbers"
    if not all(_is_whole(action) for action in actions):
        return f"legal_actions() returned {_short(actions)}; actions are whole numbers (action_to_string names them)"
    for one, other in pairwise(actions):
        if one == other:
            return f"legal_actions() returned {_short(actions)}, with {one} twice"
        if one > other:
            return f"legal_actions() returned {_short(actions)}; sort the actions in ascending order"
    return None


def _problem_of_returns(returns: Any) -> str | None:
    try:
        [float(each) for each in returns]
    except (TypeError, ValueError):
        return f"returns() returned {_short(returns)}; it must return one number per player"
    return None


def _is_whole(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


def failed(error: Exception, state: Any = UNKNOWN) -> str:
    """What to say of an exception in a game's own code at a state: the mistake behind it, if one is found."""
    if state is not UNKNOWN and problem_of_state(state) is not None:
        return f"child() {problem_of_state(state)}"
    if isinstance(error, TypeError) and " must define " in str(error):  # raised by fp.State
        return str(error)
    methods = NEEDED | SOMETIMES
    if isinstance(error, AttributeError) and error.name in methods and hasattr(error.obj, "current_player"):
        base = ", or inherit it from fp.State" if error.name == "action_to_string" else ""
        return f"{type(error.obj).__name__} must define {methods[error.name]}{base}"
    try:
        problem = problem_at(state) if state is not UNKNOWN else None
    except Exception:  # the same one again, as a rule
        problem = None
    return problem or f"the game's own code failed with {_named(error)}{_where(error)}"


def _where(error: Exception) -> str:
    """The method of the game, and the line, in which an exception was raised, as the end of a sentence."""
    asked, line, at = None, 0, error.__traceback__
    while at is not None:
        code = at.tb_frame.f_code
        if not str(at.tb_frame.f_globals.get("__name__", "")).startswith(OURS):
            asked = asked or (code.co_name if code.co_name in METHODS else None)
            line = at.tb_lineno
        at = at.tb_next
    return f" in {asked}(), line {line}" if asked is not None else ""


def history_named(made: Sequence[tuple[Any, int, Any]]) -> str:
    """The names of moves made: for each the state, the player and the move."""
    names = []
    for state, player, move in made:
        try:
            names.append(str(state.action_to_string(player, move)))
        except Exception:  # of rules that are broken
            names.append(str(move))
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED // 2], "…", *names[-MOST_NAMED // 2 :]]
    return ", ".join(names) if names else "the start of the game"


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
