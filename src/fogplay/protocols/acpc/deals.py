"""The cards of a match's hands and the random numbers of its players, by seed and hand number.

If a game has duplicate matches, the deals are those of ``fogplay match``: hand 17 of seed 1 has the same cards and the
same random numbers in both, so a match over the network can be compared with one in compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fogplay.notation.acpc import Cards
from fogplay.protocols.acpc.game import AcpcGame
from fogplay.simulators import part_of

BLOCK = 1024  # hands whose cards are drawn together, if the game has no deals of its own


@dataclass(frozen=True, slots=True)
class Deal:
    """All the cards of a hand, numbered as in a deck of 52."""

    holes: tuple[Cards, ...]  # by seat
    boards: tuple[Cards, ...]  # before each round from the second on


class Deals:
    """Blocks of deals, drawn on demand."""

    def __init__(self, game: AcpcGame, seed: int) -> None:
        self.game, self.seed = game, seed
        find = part_of(game.game, "match_deals")
        self._own = find(game.game) if find is not None else None
        self._block = -1
        self._cards: list[list[int]] = []
        self._luck: list[list[float]] = []

    def deal(self, hand: int) -> Deal:
        """The cards of a hand."""
        definition, (cards, _) = self.game.definition, self._drawn(hand)
        held = definition.players * definition.hole
        boards, at = [], held
        for count in definition.board[1:]:
            boards.append(tuple(cards[at : at + count]))
            at += count
        holes = tuple(tuple(cards[at : at + definition.hole]) for at in range(0, held, definition.hole))
        return Deal(holes, tuple(boards))

    def luck(self, hand: int) -> Sequence[float]:
        """[decisions] a random number from [0, 1) for every decision of a hand, in the order of play."""
        return self._drawn(hand)[1] if self._own is None else self._own.cards(self.seed, hand)[1]

    def _drawn(self, hand: int) -> tuple[Sequence[int], Sequence[float]]:
        """Hole cards by seat and then the board, in dealing order; and the random numbers."""
        if self._own is not None:
            cards, luck = self._own.cards(self.seed, hand)
            board = len(cards) - self.game.definition.players * self.game.definition.hole
            return [*cards[board:], *cards[:board]], luck
        if hand // BLOCK != self._block:
            self._block = hand // BLOCK
            rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self._block,)))
            decks = rng.permuted(np.tile(np.array(self.game.deck), (BLOCK, 1)), axis=1)
            self._cards, self._luck = decks.tolist(), rng.random((BLOCK, self.game.most_actions)).tolist()
        return self._cards[hand % BLOCK], self._luck[hand % BLOCK]
