"""The cards of a match's hands and the luck of its players, by seed and number.

Of whole hold'em they are those of ``fogplay match``: hand 17 of seed 1 has the same cards and the same random numbers
there and here, so that a match over the network can be compared with the same match in compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fogplay.agents.match import BLOCK, Dealer
from fogplay.games.holdem import Holdem
from fogplay.notation.acpc import Cards
from fogplay.protocols.acpc.table import Table


@dataclass(frozen=True, slots=True)
class Deal:
    """All the cards of a hand, numbered as in a deck of 52."""

    holes: tuple[Cards, ...]  # by seat
    boards: tuple[Cards, ...]  # before each round from the second on


class Deals:
    """Blocks of deals, drawn when they are asked for."""

    def __init__(self, table: Table, seed: int) -> None:
        self.table, self.seed = table, seed
        self._whole = Dealer(table.game) if isinstance(table.game, Holdem) and table.game.is_full() else None
        self._block = -1
        self._cards: list[list[int]] = []
        self._luck: list[list[float]] = []

    def deal(self, hand: int) -> Deal:
        """The cards of a hand."""
        self._turn_to(hand)
        definition, cards = self.table.definition, self._cards[hand % BLOCK]
        held = definition.players * definition.hole
        boards, at = [], held
        for count in definition.board[1:]:
            boards.append(tuple(cards[at : at + count]))
            at += count
        holes = tuple(tuple(cards[at : at + definition.hole]) for at in range(0, held, definition.hole))
        return Deal(holes, tuple(boards))

    def luck(self, hand: int) -> Sequence[float]:
        """[decisions] a random number from [0, 1) for every decision of a hand, whoever makes it."""
        self._turn_to(hand)
        return self._luck[hand % BLOCK]

    def _turn_to(self, hand: int) -> None:
        if hand // BLOCK == self._block:
            return
        self._block = hand // BLOCK
        if self._whole is not None:
            self._whole.deal(self.seed, self._block)
            cards = self._whole.cards
            board = cards.shape[1] - 2 * self.table.players
            self._cards = np.concatenate([cards[:, board:], cards[:, :board]], axis=1).tolist()
            self._luck = self._whole.chance.tolist()
            return
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self._block,)))
        decks = rng.permuted(np.tile(np.array(self.table.deck), (BLOCK, 1)), axis=1)
        self._cards, self._luck = decks.tolist(), rng.random((BLOCK, self.table.most_actions)).tolist()
