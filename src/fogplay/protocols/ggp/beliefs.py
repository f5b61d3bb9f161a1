"""What a role knows of the state: the state itself, or with percepts a sample of states that agree with all it saw.

Where the sheet has a network, lanes find the sample (``LaneSample``); ``Belief`` needs the rules alone.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from fogplay.errors import FogplayError
from fogplay.games.gdl import GdlGame, GdlState
from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.kif import unparse
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.rules import Term
from fogplay.search.sheet_beliefs import LaneBelief

SAMPLES = 100
TRIES = 40  # per sample that is wanted


def belief_of(game: GdlGame, role: int, rng: np.random.Generator) -> Belief | LaneSample:
    """What a role knows before the first step of a match."""
    hidden = game.sheet.has_percepts and isinstance(game.machine, NetworkMachine)
    return LaneSample(game, role, rng) if hidden else Belief(game, role, rng)


class Belief:
    """States that a role holds possible, each with what every role has seen; one state if all moves are seen."""

    def __init__(self, game: GdlGame, role: int, rng: np.random.Generator) -> None:
        self.game, self.role, self.rng = _twin(game), role, rng
        self.shared = game  # which agents ask, in threads of their own
        self.start = (game.machine.initial(), ("",) * len(game.machine.roles))
        self.worlds: list[tuple[Any, tuple[str, ...]]] = [self.start]
        self.history: list[tuple[Term, tuple[Term, ...]]] = []  # own move and percepts of every step

    def legal(self) -> tuple[Term, ...]:
        """The role's legal moves, which are the same in all states it holds possible."""
        return self.game.machine.legal(self.worlds[0][0])[self.role]

    def infoset(self) -> str:
        """The game's string for what the role knows."""
        return f"{self.game.machine.roles[self.role]}:{self.worlds[0][1][self.role]}"

    def states(self) -> list[Any]:
        """The states that the role holds possible."""
        return [position for position, _ in self.worlds]

    def see_moves(self, moves: Sequence[Term]) -> None:
        """Take all roles' moves as the server tells them, also such as seem illegal here."""
        if len(moves) != len(self.game.machine.roles):
            raise FogplayError(f"{len(moves)} moves for {len(self.game.machine.roles)} roles")
        position, seen = self.worlds[0]
        try:
            self.worlds = [self.game.moved(position, self.game.machine.legal(position), tuple(moves), seen)]
        except KeyError:  # a move that is never legal by the rules is unknown to the network
            fluents = self.game.machine.fluents(position)
            for game in (self.game, self.shared):
                game.__dict__["machine"] = Interpreter(game.sheet)
            self.worlds = [self.game.moved(fluents, self.game.machine.legal(fluents), tuple(moves), seen)]

    def see_percepts(self, own: Term, percepts: Sequence[Term], end: float) -> None:
        """Keep states that agree with a step: this role made ``own`` and saw ``percepts``; stops at ``end``."""
        self.history.append((own, tuple(sorted(percepts, key=str))))
        found = self._stepped(self.worlds, SAMPLES, end)
        if not found:
            found = self._replayed(end)
        if not found:
            raise FogplayError("no state agrees with what was seen")
        self.worlds = found

    def _stepped(self, worlds: list[Any], wanted: int, end: float) -> list[Any]:
        found: list[Any] = []
        for _ in range(TRIES * wanted):
            if len(found) == wanted or (found and time.monotonic() > end):
                break
            if time.monotonic() > end:
                break
            made = self._step(worlds[int(self.rng.integers(len(worlds)))], len(self.history) - 1)
            if made is not None:
                found.append(made)
        return found

    def _replayed(self, end: float) -> list[Any]:
        """States by playing the whole match again at random."""
        found: list[Any] = []
        while not found and time.monotonic() < end:
            world: Any = self.start
            for step in range(len(self.history)):
                world = self._step(world, step)
                if world is None:
                    break
            if world is not None:
                found.append(world)
        return found

    def _step(self, world: Any, step: int) -> Any:
        """One step with the others' moves at random; None if this role would have seen something else."""
        machine, (position, seen), (own, percepts) = self.game.machine, world, self.history[step]
        legal = machine.legal(position)
        if own not in legal[self.role] or machine.is_terminal(position) or not all(legal):
            return None
        moves = [options[int(self.rng.integers(len(options)))] for options in legal]
        moves[self.role] = own
        if tuple(sorted(machine.percepts(position, moves)[self.role], key=str)) != percepts:
            return None
        return self.game.moved(position, legal, tuple(moves), seen)

    def draw(self, rng: np.random.Generator) -> GdlState:
        """A state for search, in which this role is to move and those asked before it have moved at random."""
        return _asked(self.shared, self.role, *self.worlds[int(rng.integers(len(self.worlds)))], rng)


def _twin(game: GdlGame) -> GdlGame:
    """The same game with a machine of its own, which another thread than the agent's may ask."""
    made = copy.copy(game)
    if isinstance(game.machine, NetworkMachine):
        made.__dict__["machine"] = game.machine.twin()
    return made


def _asked(game: GdlGame, role: int, position: Any, seen: tuple[str, ...], rng: np.random.Generator) -> GdlState:
    """A state in which a role is to move and those asked before it in this step have moved at random."""
    legal = game.machine.legal(position)
    acting = game.acting(legal)
    before = acting[: acting.index(role)]
    chosen = tuple(int(rng.integers(len(legal[each]))) for each in before)
    return GdlState(game, position, seen, legal, chosen, game.number(role))


class LaneSample:
    """The same by lanes: a thousand states; what the other roles saw in one of them is found when it is drawn."""

    def __init__(self, game: GdlGame, role: int, rng: np.random.Generator) -> None:
        machine = game.machine
        assert isinstance(machine, NetworkMachine)
        self.game, self.role = game, role
        self.lanes = LaneBelief(machine.twin(), role, int(rng.integers(2**31)))
        self.seen = ""
        self.drawn: dict[int, tuple[Any, tuple[str, ...]]] = {}

    def legal(self) -> tuple[Term, ...]:
        """The role's legal moves, which are the same in all states it holds possible."""
        return self.lanes.machine.legal(self.lanes.state())[self.role]

    def infoset(self) -> str:
        """The game's string for what the role knows."""
        return f"{self.lanes.machine.roles[self.role]}:{self.seen}"

    def states(self) -> list[Any]:
        """The states that the role holds possible."""
        return [state.tobytes() for state in self.lanes.now.states]

    def see_moves(self, moves: Sequence[Term]) -> None:
        raise FogplayError("the rules have percepts, so no role is told all moves")

    def see_percepts(self, own: Term, percepts: Sequence[Term], end: float) -> None:
        """Keep states that agree with a step: this role made ``own`` and saw ``percepts``; stops at ``end``."""
        chose = len(self.legal()) > 1
        if not self.lanes.see(own, percepts, end):
            raise FogplayError("no state agrees with what was seen")
        told = f"[{' '.join(map(unparse, sorted(percepts, key=unparse)))}]" if percepts else ""
        self.seen += f" {(unparse(own) if chose else '') + told or '.'}"
        self.drawn = {}

    def draw(self, rng: np.random.Generator) -> GdlState:
        """A state for search, in which this role is to move and those asked before it have moved at random."""
        place = int(rng.integers(len(self.lanes.now.states)))
        if place not in self.drawn:
            machine = self.game.machine
            position, seen = machine.initial(), ("",) * len(machine.roles)
            for moves in self.lanes.moves_to(place):
                position, seen = self.game.moved(position, machine.legal(position), tuple(moves), seen)
            self.drawn[place] = position, seen
        return _asked(self.game, self.role, *self.drawn[place], rng)
