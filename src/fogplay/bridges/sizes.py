"""The sizes that other packages ask of a game in advance: how many actions, how long an observation, which payoffs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL, fits_in_tree, spec_of
from fogplay.play.states import infoset_of

MOST_STATES = 50_000  # that are visited to measure a game
HANDS = 20  # played at random to measure a larger one
ROUND = 64  # bytes


@dataclass(frozen=True)
class Sizes:
    """Bounds over all states of a game; of a game too large to visit, over some hands (``visited`` is False)."""

    visited: bool
    actions: int  # one more than the largest number of a player's action
    outcomes: int  # one more than the largest number of an outcome of chance; 0 without chance
    bytes: int  # of the longest infoset's string
    moves: int  # of the longest history, without chance's
    chances: int  # chance's moves of the longest history
    low: float  # the least payoff
    high: float  # the largest payoff
    total: float | None  # of the payoffs of all players, if it is always the same


def sizes_of(game: Any) -> Sizes:
    """The sizes of a game; refuses one that is too large to visit and does not say how many actions it has."""
    known = game.num_distinct_actions() if hasattr(game, "num_distinct_actions") else None
    tally = _Tally()
    visited = fits_in_tree(game) and tally.all_of(_every_state(game))
    if not visited:
        if known is None:
            raise FogplayError(
                f"{spec_of(game)} has too many states to find its actions: define num_distinct_actions() in its class"
            )
        rng = random.Random(0)
        tally = _Tally()
        for _ in range(HANDS):
            tally.all_of(_hand(game, rng))
        tally.bytes *= 2  # other hands may have longer strings
    longest = -(-tally.bytes // ROUND) * ROUND if not visited else tally.bytes
    return Sizes(
        visited, max(tally.actions, known or 0), tally.outcomes, max(longest, 1), tally.moves, tally.chances,
        tally.low, tally.high, tally.total if tally.constant else None,
    )  # fmt: skip


@dataclass
class _Tally:
    """Bounds over the states seen so far."""

    actions: int = 0
    outcomes: int = 0
    bytes: int = 0
    moves: int = 0
    chances: int = 0
    low: float = 0.0
    high: float = 0.0
    total: float | None = None
    constant: bool = True

    def all_of(self, states: Iterator[tuple[Any, int, int]]) -> bool:
        """Look at states with their numbers of moves and of chance's moves; False if there are too many."""
        for number, (state, moves, chances) in enumerate(states):
            if number >= MOST_STATES:
                return False
            self.look(state, moves, chances)
        return True

    def look(self, state: Any, moves: int, chances: int) -> None:
        player = state.current_player()
        self.moves, self.chances = max(self.moves, moves), max(self.chances, chances)
        if player == TERMINAL:
            returns = [float(each) for each in state.returns()]
            self.low, self.high = min(self.low, *returns), max(self.high, *returns)
            total = sum(returns)
            self.constant &= self.total is None or abs(self.total - total) <= 1e-9
            self.total = total if self.total is None else self.total
        elif player == CHANCE:
            self.outcomes = max(self.outcomes, 1 + max(outcome for outcome, _ in state.chance_outcomes()))
        else:
            self.actions = max(self.actions, 1 + max(state.legal_actions()))
            self.bytes = max(self.bytes, len(infoset_of(state, player).encode()))


def _moves(state: Any) -> list[int]:
    if state.current_player() == CHANCE:
        return [int(outcome) for outcome, _ in state.chance_outcomes()]
    return [int(action) for action in state.legal_actions()]


def _every_state(game: Any) -> Iterator[tuple[Any, int, int]]:
    stack = [(game.new_initial_state(), 0, 0)]
    while stack:
        state, moves, chances = stack.pop()
        yield state, moves, chances
        if state.current_player() != TERMINAL:
            chance = state.current_player() == CHANCE
            stack += [(state.child(each), moves + (not chance), chances + chance) for each in _moves(state)]


def _hand(game: Any, rng: random.Random) -> Iterator[tuple[Any, int, int]]:
    state, moves, chances = game.new_initial_state(), 0, 0
    while state.current_player() != TERMINAL:
        yield state, moves, chances
        chance = state.current_player() == CHANCE
        state, moves, chances = state.child(rng.choice(_moves(state))), moves + (not chance), chances + chance
    yield state, moves, chances


def encoded(infoset: str, size: int) -> NDArray[np.uint8]:
    """[size] the bytes of an infoset's string in UTF-8, then zeros: different infosets have different arrays."""
    text = infoset.encode()
    if len(text) > size:
        raise FogplayError(f"an infoset has {len(text)} bytes, more than observations of {size}; pass a larger size=")
    out = np.zeros(size, np.uint8)
    out[: len(text)] = np.frombuffer(text, np.uint8)
    return out


def mask_of(legal: tuple[int, ...], actions: int) -> NDArray[np.int8]:
    """[actions] 1 at the legal ones."""
    mask = np.zeros(actions, np.int8)
    mask[list(legal)] = 1
    return mask
