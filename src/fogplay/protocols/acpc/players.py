"""Fogplay's players at the competition's table: agents by name or file, with the game they were made for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fogplay import strategies
from fogplay.agents import resolve
from fogplay.errors import FogplayError
from fogplay.games.game import Game
from fogplay.games.registry import load
from fogplay.notation.gamedef import Definition, definition_of, fit, game_of
from fogplay.play import Agent
from fogplay.play.agent import begin, prepare
from fogplay.protocols.acpc.game import AcpcGame


@dataclass(frozen=True)
class Seated:
    """An agent, and the game it was made for."""

    agent: Agent
    game: AcpcGame


def seated(
    text: str, definition: Definition, building: Callable[[str, int, int], None] = lambda what, done, total: None
) -> Seated:
    """An agent by a bot's name or a strategy's file, for a game; ``building`` is told what it builds once."""
    rules = game_of(definition)
    if Path(text).is_file():
        own = _game_in(text)
        if fit(definition, own) is None:
            raise FogplayError(f"{text} is a strategy for {own}, not for {rules}")
        rules = own
    (agent,) = resolve([text], rules)
    prepare(agent, building)
    begin(agent, rules, 0, 0)  # load large tables now, not while the dealer waits
    return Seated(agent, AcpcGame(definition, rules))


def definition_for(agent: str) -> Definition | None:
    """The definition of the game that a strategy's file is for; None if the agent is not a file."""
    return definition_of(_game_in(agent)) if Path(agent).is_file() else None


def _game_in(agent: str) -> Game:
    spec = strategies.load(agent).game
    game = load(spec)
    if not isinstance(game, Game):
        raise FogplayError(f"{agent} is for {spec}, which the competition's notation has no words for")
    return game
