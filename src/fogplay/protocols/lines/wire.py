"""Requests and responses of a game: its own form (``wire_of`` in ``notation/<game>.py``), or by names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from fogplay.errors import FogplayError
from fogplay.play import View
from fogplay.simulators import part_of

NOTATION = "fogplay.notation"


class Wire(Protocol):
    """A game's requests and responses as JSON."""

    def talk(self, view: View, answered: Sequence[Any]) -> tuple[list[dict[str, Any]], list[Any]]:
        """The requests of this hand, with the one for ``view`` last, and the responses to all but the last.

        ``answered`` are a program's own answers in this hand, or what ``forfeit`` said where a move was made for it.
        """

    def forfeit(self, view: View) -> Any:
        """The response that stands for the first legal move; None if ``talk`` finds it out."""

    def action(self, answer: Any, view: View) -> int:
        """One of ``view.legal``; an answer that is none of them is refused with the reason."""


class ByName:
    """Requests are what the seat knows; responses are the names of moves."""

    def talk(self, view: View, answered: Sequence[Any]) -> tuple[list[dict[str, Any]], list[Any]]:
        requests = [{"infoset": infoset} for infoset, _ in view.memory]
        return [*requests, {}], list(answered)

    def forfeit(self, view: View) -> Any:
        return view.names[0]

    def action(self, answer: Any, view: View) -> int:
        return by_name(answer, view)


def by_name(answer: Any, view: View) -> int:
    """The action with this name."""
    if isinstance(answer, str) and answer in view.names:
        return view.legal[view.names.index(answer)]
    raise FogplayError('answer with one of the texts in "legal"')


def wire_of(rules: Any) -> Wire:
    """A game's form of requests and responses."""
    own = part_of(rules, "wire_of", NOTATION)
    made: Wire | None = own(rules) if own is not None else None
    return made or ByName()
