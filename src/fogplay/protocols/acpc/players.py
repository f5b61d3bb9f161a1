"""Our players at the competition's table: what each sees of a hand, and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fogplay import strategies
from fogplay.agents import Agent, Observation, policies
from fogplay.errors import FogplayError
from fogplay.games.game import Game
from fogplay.games.holdem import Holdem
from fogplay.games.registry import load
from fogplay.notation.acpc import MatchState
from fogplay.notation.gamedef import Definition, definition_of, game_of
from fogplay.protocols.acpc.table import Situation, Table
from fogplay.strategies import TabularStrategy
from fogplay.strategies.policy import BLIND, signals_of

UNIFORM = "uniform"


@dataclass(frozen=True, slots=True)
class View:
    """A hand as one seat sees it, and nothing more."""

    table: Table
    seen: MatchState
    situation: Situation


class Player(Protocol):
    """Anything that can answer a match state."""

    def act(self, view: View, chance: float) -> str:
        """One of the letters of ``view.situation.actions``; ``chance`` is the random number to draw it with."""


class HoldemPlayer:
    """Any ``Agent`` at a table of whole hold'em."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def act(self, view: View, chance: float) -> str:
        seen, situation = view.seen, view.situation
        state, letters = situation.state, situation.actions
        board = tuple([card for cards in seen.boards for card in cards])
        told = Observation(
            seen.seat, seen.holes[seen.seat], board, state.betting, state.paid, state.in_hand, tuple(letters.values())
        )
        action = self.agent.act(told, chance)
        for letter, number in letters.items():
            if number == action:
                return letter
        raise FogplayError(f"the agent answered {action!r}; it may {', '.join(letters)} here")


class UniformPlayer:
    """Does anything that is allowed, with equal probabilities."""

    def act(self, view: View, chance: float) -> str:
        letters = tuple(view.situation.actions)
        return letters[int(chance * len(letters))]


class TreePlayer:
    """A strategy of a game that fits in a tree."""

    def __init__(self, strategy: TabularStrategy) -> None:
        self.strategy = strategy

    def act(self, view: View, chance: float) -> str:
        seen, situation = view.seen, view.situation
        state = view.table.dealt(seen.holes, seen.boards, situation)
        where = self.strategy.slots(state.information_state_string(seen.seat))
        letters, shares = tuple(situation.actions), self.strategy.probabilities[where].tolist()
        left = chance * sum(shares)
        for letter, share in zip(letters, shares, strict=True):
            left -= share
            if left < 0:
                return letter
        return next(letter for letter, share in zip(reversed(letters), reversed(shares), strict=True) if share > 0)


@dataclass(frozen=True)
class Seated:
    """A player, and the table as it knows it."""

    player: Player
    table: Table


def seated(agent: str, definition: Definition) -> Seated:
    """A player by a bot's name or a strategy's file, for a game."""
    game = game_of(definition)
    if isinstance(game, Holdem) and game.is_full():
        (policy,) = policies([agent], game)
        if policy.grid != BLIND:
            signals_of(policy.grid)  # loads the tables of hand strength now, and not while the dealer waits
        return Seated(HoldemPlayer(policy), Table(definition, game))
    if agent == UNIFORM:
        return Seated(UniformPlayer(), Table(definition, game))
    if not Path(agent).exists():
        raise FogplayError(
            f"there is no file {agent}; at a table of {game.name} an agent is a saved strategy or {UNIFORM}"
        )
    strategy = TabularStrategy.read(agent)
    own = _game_in(agent, strategy.game)
    if definition_of(own) != definition:
        raise FogplayError(f"{agent} is a strategy for {strategy.game}, not for {game}")
    return Seated(TreePlayer(strategy), Table(definition, own))


def definition_for(agent: str) -> Definition | None:
    """The definition of the game that a strategy's file is for; None where the agent is no such file."""
    if not Path(agent).is_file():
        return None
    return definition_of(_game_in(agent, strategies.load(agent).game))


def _game_in(agent: str, spec: str) -> Game:
    game = load(spec)
    if not isinstance(game, Game):
        raise FogplayError(f"{agent} is for {spec}, which the competition's notation has no words for")
    return game
