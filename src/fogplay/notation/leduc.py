"""Leduc hold'em as a person at the table reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fogplay.games.game import CHANCE
from fogplay.games.leduc import MAX_RAISES, RAISE_SIZES, Leduc, LeducState
from fogplay.games.limit import CALL, FOLD, RAISE
from fogplay.notation.talk import HIDDEN, Question, Talk, asked, begin, held_at_the_end, verb

MORE = {"k": CALL, "check": CALL, "call": CALL, "c": CALL, "b": RAISE, "bet": RAISE, "r": RAISE, "raise": RAISE}


def talk_of(game: Leduc) -> type[LeducTalk]:
    """The wording for these rules."""
    return LeducTalk


class LeducTalk(Talk):
    """The own card, the public one, bets by size, and the cards shown down."""

    game: Leduc

    def __init__(self, game: Leduc, names: Sequence[str], seat: int) -> None:
        super().__init__(game, names, seat)
        self.state: LeducState = game.new_initial_state()  # with cards that are not seen as HIDDEN

    @staticmethod
    def opening(game: Leduc, spec: str) -> str:
        return f"Leduc hold'em ({spec})."

    @staticmethod
    def rules(game: Leduc) -> list[str]:
        ranks = ", ".join(game.rank_to_string(card) for card in range(0, game.num_cards(), 2))
        first, second = RAISE_SIZES
        return [
            f"One card each from two suits of {ranks}; everybody pays 1. A public card comes before the second round.",
            f"Bets and raises are {first} in the first round and {second} in the second, at most {MAX_RAISES} per "
            "round.",
            "A pair with the public card wins, else the higher rank; equal ranks split the pot. Suits never matter.",
        ]

    def places(self) -> str:
        return f"In this order: {', '.join(self.names)}."

    def tell(self, event: Any) -> str | None:
        before = self.state
        self.state = after = before.child(HIDDEN if event.action is None else event.action)
        if event.seat != CHANCE:
            word, paid = _deed(before, after, event.action)
            return f"{begin(self.names[event.seat])} {verb(event.seat, self.seat, word)}{paid}."
        if len(before.cards) < self.game.players:
            mine = len(before.cards) == self.seat  # the others' cards are shown at the end
            return f"Your card: {self.game.card_to_string(event.action)}" if mine else None
        return f"The public card: {self.game.card_to_string(event.action)}   pot {sum(after.paid)}"

    def options(self, view: Any) -> tuple[str, ...]:
        state = self.state
        owed = max(state.paid) - state.paid[view.seat]
        size = RAISE_SIZES[len(state.betting) - 1]
        named = {FOLD: "fold", CALL: f"call {owed}" if owed else "check", RAISE: "raise" if owed else "bet"}
        return tuple(f"{named[each]} {size}" if each == RAISE else named[each] for each in view.legal)

    def situation(self, view: Any) -> str:
        state, show = self.state, self.game.card_to_string
        owed = max(state.paid) - state.paid[view.seat]
        public = state.cards[self.game.players :]
        held = f"You hold {show(state.cards[view.seat])}" + (f" with {show(public[0])} on the table" if public else "")
        if owed:
            raised = "a raise" if state.betting[-1].count("r") > 1 else "a bet"
            return f"{held} and face {raised} of {owed}"
        return f"{held} and act first" if not state.betting[-1] else f"{held} and nobody has bet"

    def question(self, view: Any) -> Question:
        more = {word: action for word, action in MORE.items() if action in view.legal}
        more |= {"f": FOLD} if FOLD in view.legal else {}
        return asked(
            f"Pot {sum(self.state.paid)}. {self.situation(view)}",
            self.options(view),
            view.legal,
            more | {str(number): action for number, action in enumerate(view.legal, 1)},
        )

    def shown_at_the_end(self, seen: Sequence[Any], before: Sequence[bool]) -> list[str]:
        held = [event for event in seen if event.seat == CHANCE][: self.game.players]
        cards = [None if event.action is None else self.game.card_to_string(event.action) for event in held]
        return [held_at_the_end(self.names, self.seat, cards)]


def _deed(before: LeducState, after: LeducState, action: int) -> tuple[str, str]:
    """An action as a verb, and what was paid for it."""
    paid = after.paid[before.player] - before.paid[before.player]
    if action == FOLD:
        return "fold", ""
    if action == CALL:
        return ("call", f" {paid}") if paid else ("check", "")
    size = RAISE_SIZES[len(before.betting) - 1]
    return ("raise", f" by {size}") if "r" in before.betting[-1] else ("bet", f" {size}")
