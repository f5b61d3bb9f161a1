"""``match`` for people: agents may be files, names, strategies or anything with ``act(view)``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fogplay import checks, play
from fogplay.agents.resolve import known_names, names_of, resolve
from fogplay.agents.workers import Job, Workers
from fogplay.errors import FogplayError
from fogplay.games.registry import load
from fogplay.interrupts import promptly
from fogplay.play import MatchResult
from fogplay.play.agent import prepare
from fogplay.play.hands import close, twin
from fogplay.trees import FlatGame, named

MOST_WORKERS = 1024


def match(
    game: Any,
    agents: Sequence[Any],
    hands: int | None = None,
    *,
    names: Sequence[str] | None = None,
    workers: int | None = None,
    building: Callable[[str, int, int], None] | None = None,
    **options: Any,
) -> MatchResult:
    """Play at least ``hands`` hands of a game between agents, each at every seat.

    Without ``hands``: 100,000, or as many as take about a minute if agents search or are your own.
    A game is a spec, its rules, or flattened; an agent a saved strategy's file, ``uniform``, a bot's name, a strategy,
    or any object with ``act(view)``. ``workers`` is a number of processes, which make agents that are given as texts
    anew; the hands are the same for every number. ``building`` is told what agents build once, such as the tables of a
    grid, how much is done, and of how much. ``options`` are passed to ``play.match``: ``seed``, ``keep`` (for
    logs), ``progress``, ``decks``, ``limit``.
    """
    given = [os.fspath(agent) if isinstance(agent, os.PathLike) else agent for agent in agents]
    texts = [agent for agent in given if isinstance(agent, str)]
    rules: Any = None
    if texts:
        rules = load(game.name) if isinstance(game, FlatGame) else named(game)[0]
        words = known_names(rules)
        names = names or names_of([each if isinstance(each, str) else _word(each) for each in given], words)
    names = names or names_of([_word(each) for each in given])
    together = None if workers is None else _workers(game, given, names, workers, options)

    def seat(own: Callable[[Any], Any]) -> list[Any]:
        with promptly():  # a signal ends a slow step here at once
            found = iter(resolve(texts, rules)) if texts else iter(())
        return [next(found) if isinstance(agent, str) else own(agent) for agent in given]

    seated = seat(lambda agent: agent)
    try:
        if building is not None:
            for agent in seated:
                prepare(agent, building)
        return play.match(game, seated, hands, names=names, crew=lambda: seat(twin), workers=together, **options)
    finally:
        close([agent for agent, was in zip(seated, given, strict=True) if isinstance(was, str)])


def _workers(
    game: Any, agents: Sequence[Any], names: Sequence[str], workers: int, options: Mapping[str, Any]
) -> Workers | None:
    """Processes for a match, or a refusal if they could not know what to play."""
    checks.whole("workers", workers, 1, MOST_WORKERS)
    spec = game.name if isinstance(game, FlatGame) else named(game)[1]
    if workers > 1 and not all(isinstance(agent, str) for agent in agents):
        raise FogplayError("workers make the agents anew from their text: name agents by text, or leave workers out")
    seed, limit, decks = (options.get(key) for key in ("seed", "limit", "decks"))
    return Workers(Job(spec, tuple(agents), tuple(names), seed or 0, limit, decks), workers)


def _word(agent: Any) -> str:
    """A name for an agent that was not typed."""
    return type(agent).__name__.lower()
