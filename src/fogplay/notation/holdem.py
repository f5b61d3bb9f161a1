"""A hand of limit hold'em as the terminal shows it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from fogplay.cards.deck import RANKS, SUITS
from fogplay.cards.evaluator import category, evaluate
from fogplay.games.game import CHANCE, TERMINAL
from fogplay.games.holdem import Holdem, HoldemState
from fogplay.games.limit import CALL, FOLD, RAISE
from fogplay.notation.holdem_records import kinds
from fogplay.notation.records import Kind
from fogplay.notation.talk import HIDDEN, Question, Talk, begin

WORDS = {  # what may be typed for each action
    FOLD: ("f", "fold"),
    CALL: ("c", "call", "check", "k"),
    RAISE: ("r", "raise", "bet", "b"),
}
STREETS = ("flop", "turn", "river")


def talk_of(game: Holdem) -> type[HoldemTalk] | None:
    """The wording for these rules; None if the general one suffices."""
    return HoldemTalk if game.is_full() else None


class HoldemTalk(Talk):
    """Own cards, bets by size, the board as it comes, and the hands shown down."""

    game: Holdem

    def __init__(self, game: Holdem, names: Sequence[str], seat: int) -> None:
        super().__init__(game, names, seat)
        self.state = game.new_initial_state()  # with cards that are not seen as HIDDEN

    @staticmethod
    def opening(game: Holdem, spec: str) -> str:
        return f"Limit hold'em, blinds {' '.join(map(str, game.blinds))}."

    @staticmethod
    def rules(game: Holdem) -> list[str]:
        small, big, bets = game.raises[0], game.raises[-1], max(game.max_raises)
        return [
            f"Two cards each, five on the board; bets are {small} before and on the flop and {big} later, at most "
            f"{bets} per round.",
            "The best five of seven cards win the pot. Everybody has as many chips as needed.",
        ]

    def places(self) -> str:
        places = []
        for seat, name in enumerate(self.names):
            where = ["on the button"] if seat == self.game.players - 1 else []
            if self.game.blinds[seat]:
                where.append(f"blind {self.game.blinds[seat]}")
            places.append(f"{name} ({', '.join(where)})")
        return " - ".join(places)

    def news(self, seen: Sequence[Any]) -> list[str]:
        lines = []
        for event in seen[self.printed :]:
            before = self.state
            self.state = before.child(HIDDEN if event.action is None else event.action)
            if before.player != CHANCE:
                lines.append(self._deed(before, self.state, event.action))
            elif self.state.player != CHANCE:
                lines.append(self._dealt())
        self.printed = len(seen)
        return lines

    def _dealt(self) -> str:
        mine, board = show_cards(self.state.hole_cards(self.seat)), self.state.board_cards()
        if not board:
            return f"Your cards: {mine}"
        held = f"   with {mine}" if self.state.in_hand[self.seat] else ""
        return f"The {STREETS[len(self.state.betting) - 2]}: {show_cards(board)}{held}   pot {sum(self.state.paid)}"

    def _deed(self, before: HoldemState, after: HoldemState, action: int) -> str:
        actor = before.player
        s, name = "" if actor == self.seat else "s", begin(self.names[actor])
        if action == FOLD:
            return f"{name} fold{s}."
        if action == CALL:
            owed = after.paid[actor] - before.paid[actor]
            return f"{name} call{s} {owed}." if owed else f"{name} check{s}."
        more = max(after.paid) - max(before.paid)
        begun = len(before.betting) == 1 or "r" in before.betting[-1]  # the blinds are bets too
        return f"{name} raise{s} by {more}." if begun else f"{name} bet{s} {more}."

    def options(self, view: Any) -> tuple[str, ...]:
        seen = view.observation
        named = {
            FOLD: "fold",
            CALL: f"call {seen.to_call}" if seen.to_call else "check",
            RAISE: "bet" if _may_bet(seen) else "raise",
        }
        return tuple(named[action] for action in view.legal)

    def situation(self, view: Any) -> str:
        seen = view.observation
        board = f" on {show_cards(seen.board)}" if seen.board else ""
        facing = f", {seen.to_call} to call" if seen.to_call else ""
        return f"{show_cards(seen.hole)}{board}, pot {seen.pot}{facing}"

    def question(self, view: Any) -> Question:
        check = view.observation.to_call == 0
        offered = [f"[{name[0]}]{name[1:]}" for name in self.options(view)]
        said = [f"{name[0]} or {name.split()[0]}" for name in self.options(view)]
        hint = f"type {', '.join(said)}"
        if check:
            hint += " (there is nothing to call, so no need to fold)"
        elif RAISE not in view.legal:
            hint += " (no more raises in this round)"
        allowed = {word: action for action in view.legal for word in WORDS[action]}
        return Question(f"Pot {view.observation.pot}. {', '.join(offered)}? ", allowed, hint)

    def end(self, seen: Sequence[Any]) -> list[str]:
        """The last events, and at a showdown the hands of all players still in; no other hands."""
        lines = self.news(seen)
        end = self.game.new_initial_state()
        for event in seen:
            end = end.child(HIDDEN if event.action is None else event.action)
        assert end.player == TERMINAL
        still_in = [seat for seat, stays in enumerate(end.in_hand) if stays]
        if len(still_in) > 1:
            for seat in still_in:
                hole = end.hole_cards(seat)
                made = category(evaluate([*hole, *end.board_cards()]))
                lines.append(f"{begin(self.names[seat])}: {show_cards(hole)}, {made}")
        return lines


def _may_bet(seen: Any) -> bool:
    """Whether a raise here is the first bet of its round: before the flop the blinds are bets."""
    return seen.to_call == 0 and len(seen.betting) > 1


def show_cards(cards: Sequence[int]) -> str:
    """Cards as text: ``A♠ K♦``, or ``As Kd`` if the terminal cannot show suit symbols."""
    signs = "♣♦♥♠"
    try:
        signs.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        signs = SUITS
    return " ".join(f"{RANKS[card // 4].replace('T', '10')}{signs[card % 4]}" for card in cards)


def records_of(game: Holdem) -> dict[str, Kind]:
    """How hands are written to files."""
    return kinds(game)
