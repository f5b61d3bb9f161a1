"""Bluff as a person at the table reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fogplay.games.bluff import Bluff
from fogplay.games.game import CHANCE
from fogplay.notation.talk import Question, Talk, begin, verb, words_for


def talk_of(game: Bluff) -> type[BluffTalk]:
    """The wording for these rules."""
    return BluffTalk


class BluffTalk(Talk):
    """The own dice, the bids in words, and all dice after the call."""

    game: Bluff

    @staticmethod
    def opening(game: Bluff, spec: str) -> str:
        return f"Bluff, or Liar's Dice ({spec})."

    @staticmethod
    def rules(game: Bluff) -> list[str]:
        rolled = f"Each rolls {_dice(game.dice1)}"
        if game.dice1 != game.dice2:
            rolled = f"Player 0 rolls {_dice(game.dice1)}, player 1 rolls {_dice(game.dice2)}"
        return [
            f"{rolled} of {game.faces} faces, in secret. A bid such as 2-3 says: at least two threes among all dice.",
            f"A {game.faces} counts as any face. Bid higher (more dice, or as many of a higher face), or call the "
            "last bid.",
            "The caller wins 1 if the bid is false, and loses 1 if it is true.",
        ]

    def places(self) -> str:
        return f"{begin(self.names[0])} {verb(0, self.seat, 'bid')} first, then {self.names[1]}."

    def tell(self, event: Any) -> str | None:
        if event.seat == CHANCE:
            return None  # the question says what you hold, the end what the other holds
        if event.action == self.game.call:
            return f"{begin(self.names[event.seat])} {verb(event.seat, self.seat, 'call')}."
        return f"{begin(self.names[event.seat])} {verb(event.seat, self.seat, 'bid')} {event.name}."

    def situation(self, view: Any) -> str:
        dice, _, bids = view.infoset.partition(":")
        held = f"You hold {dice.replace(',', ' ')}"
        return f"{held} and the bid is {bids.split()[-1]}" if bids.strip() else f"{held} and bid first"

    def question(self, view: Any) -> Question:
        names = view.names
        bids = [name for name in names if name != "call"]
        if not bids:
            return Question(f"{self.situation(view)}: call? ", words_for(names, view.legal), "type call")
        shown = f"bid {bids[0]}" + (f" to {bids[-1]}" if len(bids) > 1 else "")
        call = " or call" if len(names) > len(bids) else ""
        return Question(
            f"{self.situation(view)}: {shown}{call}? ",
            words_for(names, view.legal),
            f"type a bid, {shown.removeprefix('bid ')}{', or call' if call else ''}",
        )

    def shown_at_the_end(self, seen: Sequence[Any], before: Sequence[bool]) -> list[str]:
        rolls = [event.action for event in seen if event.seat == CHANCE]
        if None in rolls or len(rolls) < 2:
            return []
        bid = [event.action for event in seen if event.seat != CHANCE][-2]
        quantity, face = divmod(bid, self.game.faces)
        count = sum(self.game.holds[seat][roll][face] for seat, roll in enumerate(rolls))
        dice = ", ".join(
            f"{self.names[seat]} {verb(seat, self.seat, 'hold')} {' '.join(map(str, self.game.rolls[seat][roll]))}"
            for seat, roll in enumerate(rolls)
        )
        verdict = "true" if count > quantity else "false"
        return [f"{begin(dice)}: {count} for the bid {quantity + 1}-{face + 1}, which is {verdict}."]


def _dice(count: int) -> str:
    return "one die" if count == 1 else f"{count} dice"
