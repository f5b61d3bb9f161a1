"""``Sight``: everything that one seat may know of a hand at any moment, its end included, in data and in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fogplay.notation.talk import talk_for


@dataclass(frozen=True)
class Sight:
    """One seat's sight of a hand. Nothing here is hidden from that seat."""

    game: Any  # the rules
    seat: int
    names: tuple[str, ...]  # of all seats
    seen: tuple[Any, ...]  # all events as this seat sees them (``play.table.Seen``)
    to_act: tuple[int, ...]  # empty at the end
    legal: tuple[int, ...] = ()  # this seat's actions, if it is to act
    options: tuple[str, ...] = ()  # their names in words
    view: Any = field(default=None, compare=False)  # of the decision (``play.View``), if this seat is to act
    situation: str = ""  # the decision in words
    lines: tuple[str, ...] = ()  # what happened so far, and at the end what is shown
    scores: tuple[float, ...] = ()  # of all seats, at the end

    @property
    def infoset(self) -> str:
        """The game's string for what this seat knows, if it is to act; some games read large tables for it."""
        return "" if self.view is None else str(self.view.infoset)

    @property
    def over(self) -> bool:
        return not self.to_act


def sight_of(table: Any, seat: int) -> Sight:
    """What a seat sees of a table (``play.Table``)."""
    seen, game = tuple(table.seen(seat)), table.game
    talk = talk_for(game)(game, table.names, seat)
    if table.is_over:
        lines = tuple(talk.end(seen))
        return Sight(game, seat, table.names, seen, (), lines=lines, scores=tuple(table.scores))
    lines = tuple(talk.news(seen))
    if seat not in table.to_act:
        return Sight(game, seat, table.names, seen, table.to_act, lines=lines)
    view = table.view(seat)
    options, situation = tuple(talk.options(view)), talk.situation(view)
    return Sight(game, seat, table.names, seen, table.to_act, view.legal, options, view, situation, lines)
