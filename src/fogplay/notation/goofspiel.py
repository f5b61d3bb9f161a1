"""Goofspiel as a person at the table reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fogplay.games.goofspiel import Goofspiel
from fogplay.notation.talk import Question, Talk, begin, verb, words_for

PAYOFFS = {
    "win": "More points win the game, which pays 1.",
    "points": "The game pays the difference in points.",
    "percent": "The game pays 100 to the winner, or 50 each.",
}
RESULTS = {">": "won the prize", "<": "lost the prize", "=": "the prize was discarded"}


def talk_of(game: Goofspiel) -> type[GoofspielTalk]:
    """The wording for these rules."""
    return GoofspielTalk


class GoofspielTalk(Talk):
    """The prize, the cards left, who leads, and at the end both players' bids."""

    game: Goofspiel

    @staticmethod
    def opening(game: Goofspiel, spec: str) -> str:
        return f"Goofspiel ({spec})."

    @staticmethod
    def rules(game: Goofspiel) -> list[str]:
        seen = "both bids are shown" if game.bids == "revealed" else "you see only who won, not the other bid"
        return [
            f"You both hold cards 1 to {game.cards} and bid one per prize, at the same time; the prizes are "
            f"{', '.join(map(str, game.prizes))}, in this order.",
            f"The higher bid takes the prize, and equal bids discard it; then {seen}. The last card plays itself.",
            PAYOFFS[game.payoff],
        ]

    def places(self) -> str:
        return begin(" against ".join(self.names)) + "."

    def tell(self, event: Any) -> str | None:
        return None  # the question shows the rounds; a bid alone says nothing

    def options(self, view: Any) -> tuple[str, ...]:
        return tuple(f"bid {action + 1}" for action in view.legal)

    def situation(self, view: Any) -> str:
        rounds = self._rounds(view)
        prizes = self.game.prizes
        lead = sum(prize * ((sign == ">") - (sign == "<")) for prize, (_, sign, _) in zip(prizes, rounds, strict=False))
        score = f"lead by {lead}" if lead > 0 else f"are {-lead} behind" if lead < 0 else "are level"
        return f"Prize {prizes[len(rounds)]}, and you {score}" if rounds else f"Prize {prizes[0]}"

    def question(self, view: Any) -> Question:
        cards = ", ".join(str(action + 1) for action in view.legal)
        last = ""
        rounds = self._rounds(view)
        if rounds:
            own, sign, other = rounds[-1]
            against = f" against {other}" if other else ""
            last = f"Your {own}{against}: {RESULTS[sign]}. "
        return Question(
            f"{last}{self.situation(view)}. Bid {cards}? ",
            words_for(self.options(view), view.legal),
            f"type one of your cards: {cards}",
        )

    def shown_at_the_end(self, seen: Sequence[Any], before: Sequence[bool]) -> list[str]:
        """Every round with both bids, the last included, which plays itself."""
        bids = [[event.action + 1 for event in seen if event.seat == seat] for seat in range(2)]
        if len(bids[0]) != len(bids[1]):
            return []
        left = [sum(range(1, self.game.cards + 1)) - sum(each) for each in bids]
        rounds = [*zip(*bids, strict=True), tuple(left)]
        return [self._told(prize, pair) for prize, pair in zip(self.game.prizes, rounds, strict=True)]

    def _told(self, prize: int, pair: tuple[int, ...]) -> str:
        each = ", ".join(f"{self.names[seat]} {verb(seat, self.seat, 'bid')} {pair[seat]}" for seat in range(2))
        if pair[0] == pair[1]:
            return f"Prize {prize}: {each}; discarded."
        winner = int(pair[1] > pair[0])
        return f"Prize {prize}: {each}; {self.names[winner]} {verb(winner, self.seat, 'win')} it."

    @staticmethod
    def _rounds(view: Any) -> list[tuple[str, str, str]]:
        """The rounds played: own bid, who won by > < =, and the other bid if it is shown."""
        return re.findall(r"(\d+)([<>=])(\d*)", view.infoset)
