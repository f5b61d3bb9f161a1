"""Anything that can sit at a table of hold'em: it sees what its seat sees, and says what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fogplay.games.holdem import HoldemState


@dataclass(frozen=True)
class Observation:
    """What a player sees when it is its turn: its own cards and everything public."""

    seat: int
    hole: tuple[int, ...]
    board: tuple[int, ...]
    betting: tuple[str, ...]  # a string of f, c and r for each round begun
    paid: tuple[int, ...]  # [seats] chips in the pot
    in_hand: tuple[bool, ...]  # [seats] who has not folded
    legal: tuple[int, ...]  # of games.holdem's FOLD, CALL, RAISE

    @property
    def pot(self) -> int:
        return sum(self.paid)

    @property
    def to_call(self) -> int:
        return max(self.paid) - self.paid[self.seat]


class Agent(Protocol):
    """A player: a human, a program elsewhere, a search."""

    def act(self, seen: Observation, chance: float) -> int:
        """One of ``seen.legal``.

        ``chance`` is a random number from [0, 1), the same for every seating of a deal: who draws its actions should
        draw them with this one, and its matches are reproducible and less noisy.
        """


def observe(state: HoldemState) -> Observation:
    """What the player to act sees of a state."""
    seat = state.current_player()
    return Observation(
        seat,
        state.hole_cards(seat),
        state.board_cards(),
        state.betting,
        state.paid,
        state.in_hand,
        state.legal_actions(),
    )
