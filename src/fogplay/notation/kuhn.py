"""Kuhn poker, with any deck, as a person at the table reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fogplay.games.game import CHANCE
from fogplay.games.kuhn import BET, PASS, KuhnState
from fogplay.notation.talk import HIDDEN, Question, Talk, asked, begin, held_at_the_end, verb

OPENING, FACING = ("check", "bet"), ("fold", "call")  # what a pass and a bet are called before and after a bet
MORE = {
    False: {"c": PASS, "k": PASS, "p": PASS, "pass": PASS, "b": BET, "r": BET, "raise": BET},
    True: {"f": PASS, "p": PASS, "pass": PASS, "c": BET, "b": BET, "bet": BET},
}


def talk_of(game: Any) -> type[KuhnTalk]:
    """The wording for these rules."""
    return KuhnTalk


class KuhnTalk(Talk):
    """The own card, checks and bets in words, the pot, and the cards shown down."""

    def __init__(self, game: Any, names: Sequence[str], seat: int) -> None:
        super().__init__(game, names, seat)
        self.state: KuhnState = game.new_initial_state()  # with cards that are not seen as HIDDEN

    @staticmethod
    def opening(game: Any, spec: str) -> str:
        return f"{'Kuhn poker' if game.num_cards() <= game.players + 1 else 'One-card poker'} ({spec})."

    @staticmethod
    def rules(game: Any) -> list[str]:
        cards = [game.card_to_string(card) for card in range(game.num_cards())]
        deck = ", ".join(cards) if len(cards) <= 5 else f"{cards[0]} to {cards[-1]}"
        paid = game.pot / game.players
        return [
            f"One card each from a deck of {deck}; everybody pays {paid:g} into the pot, and the highest card wins it.",
            "In turn, check or bet 1. After a bet the others fold or call 1, and nobody raises.",
            "A hand pays what you win from the others, or costs what you paid.",
        ]

    def places(self) -> str:
        return f"In this order: {', '.join(self.names)}."

    def tell(self, event: Any) -> str | None:
        before = self.state
        self.state = before.child(HIDDEN if event.action is None else event.action)
        if event.seat == CHANCE:
            mine = len(before.cards) == self.seat
            return f"Your card: {self.game.card_to_string(event.action)}" if mine else None
        word = (FACING if "b" in before.bets else OPENING)[event.action]
        paid = " 1" if word in ("bet", "call") else ""
        return f"{begin(self.names[event.seat])} {verb(event.seat, self.seat, word)}{paid}."

    def options(self, view: Any) -> tuple[str, ...]:
        return FACING if "b" in self._bets(view) else OPENING

    def situation(self, view: Any) -> str:
        card, _, bets = view.infoset.partition(":")
        mine = [bets[move] for move in range(view.seat, len(bets), self.game.players)]
        done = f"hold {card}{', checked,' if 'p' in mine else ''}"
        if "b" in bets:
            return f"You {done} and face a bet of 1"
        return f"You {done} and act first" if not bets else f"You {done} and everybody before you checked"

    def question(self, view: Any) -> Question:
        bets = self._bets(view)
        pot = self.game.pot + bets.count("b")
        return asked(f"Pot {pot:g}. {self.situation(view)}", self.options(view), view.legal, MORE["b" in bets])

    def shown_at_the_end(self, seen: Sequence[Any], before: Sequence[bool]) -> list[str]:
        """All cards that are known: at a showdown those of everybody still in."""
        held = [event for event in seen if event.seat == CHANCE]
        cards = [None if event.action is None else self.game.card_to_string(event.action) for event in held]
        return [held_at_the_end(self.names, self.seat, cards)]

    @staticmethod
    def _bets(view: Any) -> str:
        return str(view.infoset.partition(":")[2])
