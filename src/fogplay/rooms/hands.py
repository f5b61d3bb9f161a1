"""The hands of a room afterwards: chosen by filters, written to files, and drilled."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE
from fogplay.notation.records import Record, kinds_for
from fogplay.pictures import Sight, sight_of
from fogplay.play import Table
from fogplay.play.luck import Given
from fogplay.rooms.room import Room
from fogplay.rooms.store import Finished

WORTH_DRILLING = 1e-3  # a choice that cost less is not asked again


@dataclass(frozen=True)
class Filter:
    """Which hands are wanted; a hand fits if one of its decisions does."""

    cost: float = 0.0  # of a choice, at least
    seat: int | None = None
    words: str = ""  # in the situation: cards, a round, what there is to call

    def fits(self, hand: Finished) -> bool:
        """Whether the hand is wanted."""
        if self.seat is not None and hand.seat != self.seat:
            return False
        if self.cost <= 0.0 and not self.words:
            return True
        return any(self.fits_decision(made) for made in hand.review or ())

    def fits_decision(self, made: dict[str, Any]) -> bool:
        """Whether a reviewed decision is wanted."""
        if self.cost > 0.0 and (made["cost"] is None or made["cost"] < self.cost):
            return False
        return all(word in made["situation"].lower() for word in self.words.lower().split())


def chosen(hands: Sequence[Finished], wanted: Filter) -> list[Finished]:
    """The hands that fit, the costliest first if costs are asked for, else the newest first."""
    found = [hand for hand in hands if wanted.fits(hand)]
    if wanted.cost > 0.0:
        return sorted(found, key=lambda hand: -(hand.cost or 0.0))
    return found[::-1]


# ---- Files


def exported(room: Room, kind: str) -> tuple[str, str]:
    """The name and the text of a file with all finished hands, as the person saw them."""
    rules, kinds = room.company.rules, kinds_for(room.company.rules)
    if kind not in kinds:
        raise FogplayError(f"hands of {room.settings.game} can be written as {', '.join(kinds)}, not {kind[:20]!r}")
    records = []
    for hand in room.history(None):
        table = table_of(room, hand, len(hand.events))
        more = {"baseline": hand.baseline, "cost": hand.cost}
        seen = tuple(table.seen(hand.seat))
        records.append(Record(hand.number, hand.seat, tuple(table.names), seen, tuple(table.scores), more))
    game = Path(room.settings.game.partition("(")[0]).name
    return f"fogplay-{game}.{kinds[kind].ending}", kinds[kind].write(rules, records)


def table_of(room: Room, hand: Finished, events: int) -> Table:
    """The table after the first events of a finished hand."""
    chance = [action for who, action in hand.events if who == CHANCE]
    return Table(room.company.rules, Given(chance, 0), room.names_at(hand.seat), events=hand.events[:events])


# ---- Drill


@dataclass(frozen=True)
class Exercise:
    """A decision of a finished hand, asked again."""

    hand: int
    place: int  # in the hand's review
    sight: Sight  # as the person saw it then
    made: dict[str, Any]  # the review of the decision

    def right(self, option: int) -> bool:
        """Whether an option is as good as the best, within the error of its estimate."""
        values = self.made["values"]
        if values is None:
            return bool(self.made["shares"][option] == max(self.made["shares"]))
        return bool(values[option] >= max(values) - max(2 * self.made["error"], WORTH_DRILLING))


def exercise(room: Room, rng: random.Random) -> Exercise | None:
    """A decision to practise: drawn by what it cost, and less often if it was answered well; None if there is none."""
    known = room.store.answers(room.kept.id)
    wanted, weights = [], []
    for hand in room.history(None):
        for place, made in enumerate(hand.review or ()):
            if made["cost"] is not None and made["cost"] > max(WORTH_DRILLING, 2 * made["error"]):
                wanted.append((hand, place))
                weights.append(made["cost"] * 0.5 ** known.get((hand.number, place), 0))
    if not wanted:
        return None
    hand, place = rng.choices(wanted, weights)[0]
    return exercise_of(room, hand, place)


def exercise_of(room: Room, hand: Finished, place: int) -> Exercise:
    """A decision of a hand by its place in the review."""
    left = place
    for number, (who, _) in enumerate(hand.events):
        if who != hand.seat:
            continue
        table = table_of(room, hand, number)
        if len(table.view(hand.seat).legal) < 2:
            continue
        if left == 0:
            return Exercise(hand.number, place, sight_of(table, hand.seat), (hand.review or ())[place])
        left -= 1
    raise FogplayError(f"hand {hand.number + 1} has no decision number {place + 1}")


def answer(room: Room, asked: Exercise, option: int) -> bool:
    """Note an answer; return whether it was right."""
    if not 0 <= option < len(asked.made["options"]):
        raise FogplayError("that is not an option here")
    right = asked.right(option)
    room.store.note_answer(room.kept.id, asked.hand, asked.place, right)
    return right
