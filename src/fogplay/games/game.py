"""What a game is: a few methods, under OpenSpiel's names, on which everything else is built."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fogplay.checks import one_of, whole

CHANCE = -1
SIMULTANEOUS = -2
TERMINAL = -4
PYSPIEL = "pyspiel:"  # before the name of one of OpenSpiel's games

Measure = Callable[[Sequence[str], NDArray[np.float64]], float]  # of infosets and their [slots] probabilities


class State:
    """A state of a game; immutable.

    A game of your own defines ``current_player``, ``legal_actions``, ``child``, ``information_state_string`` and
    ``returns``, and ``chance_outcomes`` if it has chance. ``current_player`` is the number of the player to act,
    ``CHANCE`` or ``TERMINAL``. ``information_state_string`` holds exactly what the player to act knows: two states
    have the same string if and only if that player cannot distinguish them.
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

    # More methods are optional:
    # ``calling_action()``: the action that checks or calls, for rollouts that call down;
    # ``betting_outlook()``: the pot at the start of this betting round, and how much all players together could still
    # add to it from then on, for exploration that scales with the pot;
    # ``features()``: named numbers that describe what the player to act knows, for decision trees; equal at all states
    # of an infoset, with an entry "phase" that decides which other names there are;
    # ``unseen(player)``, at a terminal: the indices, among all moves, of the chance moves that this player never saw;
    # ``seen_by(action)``: which players see a move that is made here, chance's or the acting player's; without it, a
    # table shows a move only to the player who made it;
    # ``observation(player)``: what a player sees, as an object of the game's own, for bots;
    # ``determinise(player, rng)``: a state that the player cannot tell from this one, drawn by the probabilities of
    # chance and of others who choose uniformly, for search (without it, the hand is replayed until a replay fits);
    # ``joint_child(actions)``: the state after all players acted at the same time, where ``current_player`` is
    # ``SIMULTANEOUS`` and ``legal_actions(player)`` says what each may do.

    def action_to_string(self, player: int, action: int) -> str:
        return str(action)

    def is_terminal(self) -> bool:
        return self.current_player() == TERMINAL

    def is_chance_node(self) -> bool:
        return self.current_player() == CHANCE


class Game:
    """A game and its parameters: a frozen dataclass whose fields ``load("name(field=value)")`` sets."""

    name: ClassVar[str]
    drawing: ClassVar[Callable[[Any], str] | None] = None  # how notebooks show games; ``pictures`` sets it

    def _repr_html_(self) -> str | None:
        """What a notebook shows: the tree of a small game, the parameters of a larger one."""
        return Game.drawing(self) if Game.drawing is not None else None

    def num_players(self) -> int:
        return 2

    def new_initial_state(self) -> State:
        raise TypeError(f"{type(self).__name__} must define new_initial_state()")

    @classmethod
    def suited(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Values for parameters that ``settings`` leave open, so that a person can wait for the game to be solved."""
        return {}

    def calibration(self) -> Mapping[str, Mapping[str, Any]]:
        """Parameters that a paper calibrated on this game, by algorithm; they become the defaults."""
        return {}

    def measures(self) -> Mapping[str, Measure]:
        """Measures of a strategy that only this game has, by name, such as the distance to known equilibria."""
        return {}

    def remarks(self) -> Sequence[str]:
        """Sentences about this game that its parameters do not say, for a person who asks what it is."""
        return ()

    # ``sides()`` is for games in which seats play together: the side of each seat, such as (0, 1, 1). Such a game is
    # also matched between as many agents as there are sides. ``side_names()`` are their names, and ``side_unit()`` is
    # the name of what a match counts and how many points of a side are one of it.
    # Three more methods are for games that are too large for a tree:
    # ``num_distinct_actions()``: one more than the largest number of an action, for other packages' environments;
    # ``public_size()``: the numbers of public decision nodes and of infosets, or None if the game fits in a tree;
    # ``instead_of_a_tree()``: what to do instead, as the end of the error message that refuses to flatten it.

    def __str__(self) -> str:
        """The spec from which ``load`` builds this game again."""
        name = getattr(self, "name", type(self).__name__)
        if not dataclasses.is_dataclass(self):
            return name
        settings = [f"{field.name}={spec_of(getattr(self, field.name))}" for field in dataclasses.fields(self)]
        return f"{name}({','.join(settings)})" if settings else name


def fits_in_tree(game: Any) -> bool:
    """Whether a tree can hold the game, as far as the game says."""
    return not hasattr(game, "public_size") or game.public_size() is None


def spec_of(value: Any) -> str:
    """A game or a parameter as ``load`` reads it; tuples are written as lists."""
    if isinstance(value, tuple):
        return "[" + ",".join(spec_of(entry) for entry in value) + "]"
    return f"{PYSPIEL}{value}" if type(value).__module__.startswith("pyspiel") else str(value)


def require_whole(game: str, parameter: str, value: Any, low: int, high: int) -> None:
    """Raise an error unless a parameter is a whole number from ``low`` to ``high``."""
    whole(f"{game}: {parameter}", value, low, high)


def require_choice(game: str, parameter: str, value: Any, choices: Sequence[str]) -> None:
    """Raise an error unless a parameter is one of ``choices``."""
    one_of(f"{game}: {parameter}", value, choices)
