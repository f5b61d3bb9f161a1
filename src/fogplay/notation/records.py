"""Finished hands as files that other programs read: CSV for every game, more for games with notations of their own.

``records_of(rules)`` in ``notation/<game>.py`` returns the game's own kinds by name, each a ``Kind``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fogplay.games.parts import part_of
from fogplay.notation.talk import NOTATION


class Record(NamedTuple):
    """A finished hand as one seat saw it."""

    number: int  # from 0
    seat: int
    names: tuple[str, ...]
    seen: tuple[Any, ...]  # events with a seat, an action (None if it was not seen) and a name (``play.table.Seen``)
    scores: tuple[float, ...]
    more: dict[str, Any]  # what else is known of it, by the names of columns


class Kind(NamedTuple):
    """A way to write hands."""

    ending: str  # of a file's name
    write: Callable[[Any, Sequence[Record]], str]  # from the rules and the hands to the text of a file


def kinds_for(rules: Any) -> dict[str, Kind]:
    """The kinds of files that hands of a game can be written to, by name."""
    own = part_of(rules, "records_of", NOTATION)
    return {"csv": Kind("csv", write_csv), **(own(rules) if own is not None else {})}


def write_csv(rules: Any, hands: Sequence[Record]) -> str:
    """A line per hand: number, seat, names, score, what else is known, and the moves that were seen."""
    more = list(dict.fromkeys(name for hand in hands for name in hand.more))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["hand", "seat", "players", "score", *more, "moves"])
    for hand in hands:
        moves = " ".join("?" if event.name is None else str(event.name).replace(" ", "_") for event in hand.seen)
        known = ["" if hand.more.get(name) is None else hand.more[name] for name in more]
        writer.writerow([hand.number + 1, hand.seat, "|".join(hand.names), hand.scores[hand.seat], *known, moves])
    return text.getvalue()
