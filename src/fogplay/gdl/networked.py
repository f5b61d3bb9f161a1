"""A machine that answers by a network, one state at a time. States are bytes, one per fluent."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fogplay.gdl.circuit import after_moves, at_state, circuit_of
from fogplay.gdl.network import Network
from fogplay.gdl.rules import Term


class NetworkMachine:
    """A machine that computes with gates."""

    kind = "network"

    def __init__(self, network: Network) -> None:
        self.network, self.circuit = network, circuit_of(network)
        self.roles = network.roles
        self.number = [
            {move: int(network.move_start[role]) + place for place, move in enumerate(own)}
            for role, own in enumerate(network.moves)
        ]
        self._all_moves = [move for own in network.moves for move in own]
        self._values = np.zeros(network.num_nodes, np.uint8)
        self._at: bytes | None = None
        self._chosen: tuple[bytes, tuple[Term, ...]] | None = None
        self._next = np.zeros(len(network.fluents), np.uint8)

    def twin(self) -> NetworkMachine:
        """The same machine with a memory of its own: two threads may ask two twins at the same time."""
        made = copy.copy(self)
        made._values, made._next, made._at, made._chosen = self._values.copy(), self._next.copy(), None, None
        return made

    def initial(self) -> bytes:
        return self.network.initial.astype(np.uint8).tobytes()

    def is_terminal(self, state: bytes) -> bool:
        return bool(self._literals(state, np.array([self.circuit.terminal], np.uint32))[0])

    def legal(self, state: bytes) -> tuple[tuple[Term, ...], ...]:
        start = self.network.move_start
        found = np.flatnonzero(self._literals(state, self.circuit.legal))
        cuts = np.searchsorted(found, start)
        listed = found.tolist()
        return tuple(
            tuple([self._all_moves[move] for move in listed[cuts[role] : cuts[role + 1]]])
            for role in range(len(self.roles))
        )

    def goals(self, state: bytes) -> tuple[int, ...]:
        values = self._literals(state, self.circuit.goals)
        best = [0] * len(self.roles)
        for goal in np.flatnonzero(values).tolist():  # ascending within a role
            best[self.circuit.goal_role[goal]] = int(self.circuit.goal_value[goal])
        return tuple(best)

    def next(self, state: bytes, moves: Sequence[Term]) -> bytes:
        self._move(state, moves)
        return self._next.tobytes()

    def percepts(self, state: bytes, moves: Sequence[Term]) -> tuple[tuple[Term, ...], ...]:
        self._move(state, moves)
        found: list[list[Term]] = [[] for _ in self.roles]
        for place in np.flatnonzero(_held(self._values, self.circuit.sees)).tolist():
            role, term = self.network.percepts[place]
            found[role].append(term)
        return tuple(map(tuple, found))

    def fluents(self, state: bytes) -> frozenset[Term]:
        return frozenset(self.network.fluents[place] for place, value in enumerate(state) if value)

    def state_of(self, fluents: Sequence[Term]) -> bytes:
        """The state in which some fluents are true."""
        wanted = {*fluents}
        return bytes(fluent in wanted for fluent in self.network.fluents)

    def _settle(self, state: bytes) -> None:
        if self._at != state:
            at_state(self.circuit, self._values, np.frombuffer(state, np.uint8))
            self._at, self._chosen = state, None

    def _literals(self, state: bytes, literals: NDArray[np.uint32]) -> NDArray[np.uint8]:
        self._settle(state)
        return _held(self._values, literals)

    def _move(self, state: bytes, moves: Sequence[Term]) -> None:
        self._settle(state)
        key = state, tuple(moves)
        if self._chosen != key:
            numbers = [self.number[role][move] for role, move in enumerate(moves)]
            after_moves(self.circuit, self._values, np.array(numbers, np.int64), self._next)
            self._chosen = key


def _held(values: NDArray[np.uint8], literals: NDArray[np.uint32]) -> NDArray[np.uint8]:
    found: NDArray[np.uint8] = values[literals >> 1] ^ (literals & 1).astype(np.uint8)
    return found
