"""What a game is: the few methods, under OpenSpiel's names, that everything else asks of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fogplay.checks import one_of, whole

CHANCE = -1
SIMULTANEOUS = -2
TERMINAL = -4
PYSPIEL = "pyspiel:"  # before the name of one of OpenSpiel's games


class State:
    """A point of a game; immutable.

    A game of your own defines ``current_player``, ``legal_actions``, ``child``, ``information_state_string`` and
    ``returns``, and ``chance_outcomes`` if it has chance. ``current_player`` is the number of the player to act,
    ``CHANCE`` or ``TERMINAL``. What the player to act can tell apart, and nothing more, goes into
    ``information_state_string``: a state with the same string must look the same to that player.
    """

    __slots__ = ()

    def current_player(self) -> int:
        raise TypeError(f"{type(self).__name__} must define current_player()")

    def legal_actions(self) -> Sequence[int]:
        raise TypeError(f"{type(self).__name__} must define legal_actions()")

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        raise TypeError(f"{type(self).__name__} must define chance_outcomes()")

    def child(self, action: int) -> State:
        raise TypeError(f"{type(self).__name__} must define child(action)")

    def information_state_string(self, player: int) -> str:
        raise TypeError(f"{type(self).__name__} must define information_state_string(player)")

    def returns(self) -> Sequence[float]:
        raise TypeError(f"{type(self).__name__} must define returns()")

    # More methods are asked for only if a game has them:
    # ``calling_action()``: the action that checks or calls, for rollouts that call down;
    # ``betting_outlook()``: the pot at the beginning of this betting round, and how much all players together could
    # still add to it from then on, for exploration that follows the pot;
    # ``features()``: numbers by name that tell of the player to act and of all it knows, the same at every state of an
    # infoset; "phase" is one of them, and the others' names are the same throughout a phase (decision trees);
    # ``unseen(player)``, at the end: which moves of chance this player never saw, counting all moves from 0;
    # ``seen_by(action)``: which players see a move that is made here, chance's or the acting player's; without it a
    # table shows a move to whoever made it, and to nobody else;
    # ``observation(player)``: what a player sees, as an object of the game's own, for bots;
    # ``determinise(player, rng)``: a state drawn at random among those that this player cannot tell from this one;
    # ``joint_child(actions)``: the state after all players acted at the same time, where ``current_player`` is
    # ``SIMULTANEOUS`` and ``legal_actions(player)`` says what each may do.

    def action_to_string(self, player: int, action: int) -> str:
        return str(action)

    def is_terminal(self) -> bool:
        return self.current_player() == TERMINAL

    def is_chance_node(self) -> bool:
        return self.current_player() == CHANCE


class Game:
    """A game and its parameters: a frozen dataclass whose fields are what ``load("name(field=value)")`` sets."""

    name: ClassVar[str]

    def num_players(self) -> int:
        return 2

    def new_initial_state(self) -> State:
        raise TypeError(f"{type(self).__name__} must define new_initial_state()")

    def calibration(self) -> Mapping[str, Mapping[str, Any]]:
        """Parameters that a paper calibrated on this game, by algorithm; they become its defaults."""
        return {}

    # Two more methods are for games that are too large for a tree:
    # ``public_size()``: the decision nodes of what is public, and the infosets, or None where a tree can hold the game;
    # ``instead_of_a_tree()``: what to do instead, to end the sentence that refuses to flatten it.

    def __str__(self) -> str:
        """The spec that ``load`` turns into this game again."""
        name = getattr(self, "name", type(self).__name__)
        if not dataclasses.is_dataclass(self):
            return name
        settings = [f"{field.name}={spec_of(getattr(self, field.name))}" for field in dataclasses.fields(self)]
        return f"{name}({','.join(settings)})" if settings else name


def fits_in_tree(game: Any) -> bool:
    """Whether a game does not say of itself that no tree can hold it."""
    return not hasattr(game, "public_size") or game.public_size() is None


def spec_of(value: Any) -> str:
    """A game or a parameter as ``load`` reads it: numbers and names as they are, tuples as lists."""
    if isinstance(value, tuple):
        return "[" + ",".join(spec_of(entry) for entry in value) + "]"
    return f"{PYSPIEL}{value}" if type(value).__module__.startswith("pyspiel") else str(value)


def require_whole(game: str, parameter: str, value: Any, low: int, high: int) -> None:
    """Refuse a parameter that is not a whole number from ``low`` to ``high``."""
    whole(f"{game}: {parameter}", value, low, high)


def require_choice(game: str, parameter: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse a parameter that is none of the words it may be."""
    one_of(f"{game}: {parameter}", value, choices)
