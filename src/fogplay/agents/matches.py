"""``match`` for people: agents may be files, names, strategies or anything with ``act(view)``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from fogplay import play
from fogplay.agents.resolve import known_names, names_of, resolve
from fogplay.games.registry import load
from fogplay.play import MatchResult
from fogplay.trees import FlatGame, named


def match(
    game: Any, agents: Sequence[Any], hands: int | None = None, *, names: Sequence[str] | None = None, **options: Any
) -> MatchResult:
    """Play at least ``hands`` hands of a game between agents, each at every seat.

    Without ``hands``: 100,000, or as many as take about a minute if agents search or are your own.
    A game is a spec, its rules, or flattened; an agent a saved strategy's file, ``uniform``, a bot's name, a strategy,
    or any object with ``act(view)``. ``options`` are passed to ``play.match``: ``seed``, ``keep`` (for logs),
    ``progress``.
    """
    given = [os.fspath(agent) if isinstance(agent, os.PathLike) else agent for agent in agents]
    texts = [agent for agent in given if isinstance(agent, str)]
    if texts:
        rules = load(game.name) if isinstance(game, FlatGame) else named(game)[0]
        found = iter(resolve(texts, rules))
        words = known_names(rules)
        names = names or names_of([each if isinstance(each, str) else _word(each) for each in given], words)
        given = [next(found) if isinstance(agent, str) else agent for agent in given]
    return play.match(game, given, hands, names=names or names_of([_word(each) for each in given]), **options)


def _word(agent: Any) -> str:
    """A name for an agent that was not typed."""
    return type(agent).__name__.lower()
