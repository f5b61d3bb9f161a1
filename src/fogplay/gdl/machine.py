"""``Machine``: the questions that a player asks about the states of a sheet, whoever answers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from fogplay.gdl.rules import Term

State = Any  # a state as its machine writes it; hashable
Moves = tuple[Term, ...]  # one per role


class Machine(Protocol):
    """A sheet that can be played. Moves and percepts of a role are in the order of their text."""

    roles: tuple[str, ...]
    kind: str  # network or interpreter

    def initial(self) -> State: ...

    def is_terminal(self, state: State) -> bool: ...

    def legal(self, state: State) -> tuple[tuple[Term, ...], ...]:
        """[roles] the legal moves of each role."""

    def goals(self, state: State) -> tuple[int, ...]:
        """[roles] what each role gets: the highest if there are several, 0 if there is none."""

    def next(self, state: State, moves: Sequence[Term]) -> State: ...

    def percepts(self, state: State, moves: Sequence[Term]) -> tuple[tuple[Term, ...], ...]:
        """[roles] what each role sees when these moves are made."""

    def fluents(self, state: State) -> frozenset[Term]:
        """All that is true in a state."""
