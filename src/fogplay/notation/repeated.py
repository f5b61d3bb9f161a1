"""Repeated matrix games as a person at the table reads them."""

from __future__ import annotations

from typing import Any

from fogplay.games.matrix import Matrix
from fogplay.games.repeated import Repeated
from fogplay.notation.matrix import MatrixTalk
from fogplay.notation.talk import Question, Talk, asked

BETWEEN = " / "  # rounds, in an infoset
MOST_PAST = 3  # earlier rounds that are listed


def talk_of(game: Repeated) -> type[Talk] | None:
    """The wording if a matrix game is repeated; None for other games."""
    return RepeatedTalk if isinstance(game.game, Matrix) else None


class RepeatedTalk(Talk):
    """Which round it is, and what everybody chose in those before."""

    game: Repeated

    @staticmethod
    def rules(game: Repeated) -> list[str]:
        return [*MatrixTalk.rules(game.game), f"{game.hands} rounds in a row; the payoffs add up."]

    def situation(self, view: Any) -> str:
        past = view.infoset.split(BETWEEN)[:-1]
        told = ", then ".join(" against ".join(self._own_first(hand)) for hand in past[-MOST_PAST:])
        dots = "… " if len(past) > MOST_PAST else ""
        return f"Round {len(past) + 1} of {self.game.hands}" + (f", after {dots}{told}" if past else "")

    def question(self, view: Any) -> Question:
        return asked(self.situation(view), view.names, view.legal)

    def _own_first(self, hand: str) -> list[str]:
        choices = hand.split("; ")
        return [choices[self.seat], *choices[: self.seat], *choices[self.seat + 1 :]]
