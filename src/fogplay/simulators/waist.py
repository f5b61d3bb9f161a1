"""The narrow waist: the few functions through which every sampling kernel sees every game.

A game is a NamedTuple of arrays. Its type decides which code answers; numba settles that while it compiles, so the
dispatch costs nothing when the kernel runs, and each kernel is written once for all games.

A *node* is a whole number that stands for the public part of a history, *signals* for what chance has dealt (nothing
for a tree, whose nodes know all). A *slot* is one action of one infoset, an index into the learner's tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload


def waist(function: Callable[..., Any]) -> Any:
    """Make ``function`` answer by the type of its first argument: ``function.register(Type)`` adds an answer."""
    answers: dict[type, Callable[..., Any]] = {}

    def ask(first: Any, *rest: Any) -> Any:
        return answers[type(first)](first, *rest)

    def register(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def keep(answer: Callable[..., Any]) -> Callable[..., Any]:
            answers[kind] = answer
            return answer

        return keep

    options: Any = {"forceinline": True, "_nrt": False}  # as in jit.py

    @overload(ask, strict=False, jit_options=options)
    def _compiled(first: Any, *rest: Any) -> Any:
        return answers.get(getattr(first, "instance_class", type(None)))

    ask.__name__, ask.__doc__ = function.__name__, function.__doc__
    ask.register = register  # type: ignore[attr-defined]
    return ask


@waist
def deal(game, rng):  # type: ignore[no-untyped-def]
    """The signals of a new episode."""


@waist
def start(game, signals, rng):  # type: ignore[no-untyped-def]
    """The node at which the first player acts; chance's moves before it are made."""


@waist
def is_terminal(game, node):  # type: ignore[no-untyped-def]
    """Whether the game is over at ``node``."""


@waist
def player_of(game, node):  # type: ignore[no-untyped-def]
    """Who acts at ``node``."""


@waist
def num_actions(game, node):  # type: ignore[no-untyped-def]
    """How many actions there are at ``node``."""


@waist
def slot_of(game, node, signals):  # type: ignore[no-untyped-def]
    """The first slot of the acting player's infoset."""


@waist
def advance(game, node, action, signals, rng):  # type: ignore[no-untyped-def]
    """The node after ``action``, where again a player acts or the game is over; chance moves on the way."""


@waist
def payoff(game, node, signals, player):  # type: ignore[no-untyped-def]
    """What ``player`` is paid at a terminal node."""


@waist
def exploration(game, node, signals):  # type: ignore[no-untyped-def]
    """The exploration parameter c of UCB at ``node``."""


@waist
def calling_action(game, node, signals):  # type: ignore[no-untyped-def]
    """The action that neither folds nor raises, where the game knows one."""
