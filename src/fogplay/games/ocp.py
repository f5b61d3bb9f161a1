"""One-Card Poker (Gordon 2005): Kuhn poker for two players with a deck of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fogplay.games.game import Game, require_whole
from fogplay.games.kuhn import ACTIONS, KuhnState, settle_pot


@dataclass(frozen=True)
class OneCardPoker(Game):
    """One-Card Poker: two-player Kuhn poker with a deck of N cards."""

    name = "ocp"
    players: ClassVar[int] = 2
    cards: int = 13
    pot: float = 0  # the initial pot; 0: an ante of 1 per player

    def __post_init__(self) -> None:
        require_whole(self.name, "cards", self.cards, 3, 5000)
        settle_pot(self)

    def num_cards(self) -> int:
        return self.cards

    def card_to_string(self, card: int) -> str:
        return str(card + 1)

    def num_distinct_actions(self) -> int:
        return len(ACTIONS)

    def new_initial_state(self) -> KuhnState:
        return KuhnState(self, (), "")
