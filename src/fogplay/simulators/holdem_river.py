"""The program of a GPU thread that takes one line of betting through a complete board of hold'em.

The opponent's reach before an action is its reach at the start of the round times a product of probabilities, which
depends on the bucket of its hand alone. So all vectors of reach of a round are known before the first hand, and one
pass over the hands in order of strength can compute all showdowns at once. Nothing but the result is kept per hand.

For each vector that meets a showdown, shared memory holds one number per card: the reach of hands with this card that
are weaker, less those that are stronger. It begins at minus all reach. The hands of one strength are added once; now
the number is right for them, since equal hands cancel; then they are added again. For each vector that meets a fold,
another number per card is the reach of all hands with this card. Threads of a block have the same board and adjacent
lanes, so that they never diverge, and their numbers are adjacent, so that there are no bank conflicts.

The decisions after each first action of the round are a *branch*; branches are walked by different blocks, since each
then needs half the shared memory. The program is generated, because the vectors of a branch are variables, which the
compiler keeps in registers; an array of them would be in slow local memory.

The work, for two seats with 567 lines each on 2,554,656 boards, is 1e11 times one hand and 32 lines. Two branches with
four raises take some 720 instructions for that, and read or write shared memory 130 times. A multiprocessor issues
four instructions per cycle and serves shared memory once, so 132 of them at 1.75 GHz need at least 80 s or 55 s. A
block of 64 lines fills 108 kB, so two fit on a multiprocessor, with one warp per scheduler. Nothing hides latency but
what a thread does itself: it loads hands ahead (``holdem_program.py``), and all numbers before it stores one. A board
has some 85 strengths, 230 changes of buckets and 1,200 changes of the higher card, whose numbers stay in registers.
Device memory sees little but the results: 25 TB, or 6 s.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.simulators.holdem_lines import DEEPER, ENDS, Round, Table
from fogplay.simulators.holdem_vectors import CHOSEN, LARGEST, LEARNED, MIXED
from fogplay.vectors import WIDTH

AHEAD = 4  # hands that a GPU's thread loads before it needs them
PADDING = 16  # hands of zeros after the last, more than are loaded ahead
Path = tuple[int, ...]  # the opponent's actions within the round, as slots

# A hand in 64 bits: its number, its two cards, its bucket for the opponent and for the responder. Where each begins:
LOW, HIGH, THEIRS, OWN = 16, 24, 32, 48


class Branch(NamedTuple):
    """The decisions after some of the first actions of a round, for one responder."""

    first: tuple[int, ...]  # these actions
    shown: list[Path]  # vectors of reach that meet a showdown
    folded: list[Path]  # vectors of reach that meet a fold
    apart: list[Path]  # those that meet a fold only
    lines: list[str]  # how the value of a hand is computed: statements that end with ``found = ...``
    stakes: list[int]  # actions with stakes
    own: list[int]  # slots of the responder, if it follows a strategy
    chosen: list[int]  # slots of the responder, if what it chooses is marked
    how: int  # LARGEST, MIXED, LEARNED or CHOSEN: see ``holdem_vectors.py``

    @property
    def vectors(self) -> list[Path]:
        """All vectors, by number."""
        return self.shown + self.apart

    @property
    def rows(self) -> int:
        """Numbers per card and lane in shared memory."""
        return len(self.shown) + len(self.folded)


def branches(round_: Round, responder: int, how: int) -> list[Branch]:
    """The branches of the last round; ``holdem_vectors_gpu.sum_boards`` joins their values."""
    root = round_.spots[responder][0]
    first = range(int(root["first"]), int(root["first"] + root["count"]))
    alone = all(round_.actions[each]["kind"] == DEEPER for each in first)
    found = []
    for chosen in [(each,) for each in first] if alone else [tuple(first)]:
        writer = _Writer(round_, responder, how)
        value = writer.decision(0, (), chosen)
        shown = list(dict.fromkeys(writer.shown))
        folded = list(dict.fromkeys(writer.folded))
        apart = [path for path in folded if path not in shown]
        lines = [*writer.lines, f"found = {value}"]
        found.append(Branch(chosen, shown, folded, apart, lines, writer.stakes, writer.own, writer.chosen, how))
    return found


class _Writer:
    """Writes how the value of one hand follows from shared memory, from the last decisions to the first."""

    def __init__(self, round_: Round, responder: int, how: int) -> None:
        self.round, self.responder, self.how = round_, responder, how
        self.lines: list[str] = []
        self.shown: list[Path] = []
        self.folded: list[Path] = []
        self.stakes: list[int] = []
        self.own: list[int] = []
        self.chosen: list[int] = []

    def decision(self, place: int, path: Path, only: tuple[int, ...] = ()) -> str:
        """Write the value of a decision; its name is returned."""
        spot = self.round.spots[self.responder][place]
        answers = spot["player"] == self.responder
        numbers = only or range(int(spot["first"]), int(spot["first"] + spot["count"]))
        terms = []
        for number in numbers:
            slot = int(self.round.actions[number]["slot"])
            term = self._action(number, path if answers else (*path, slot))
            terms.append(self._weighed(slot, term) if answers else term)
        name = f"value_{place}"
        if self.how == CHOSEN:
            self._choose(place, answers, numbers, terms)
        elif answers and self.how == LARGEST:
            self.lines.append(f"{name} = {functools.reduce(lambda one, other: f'larger({one}, {other})', terms)}")
        else:
            self.lines.append(f"{name} = {' + '.join(terms)}")
        return name

    def _weighed(self, slot: int, term: str) -> str:
        """What an action is worth, times its probability where the responder follows a strategy."""
        if self.how not in (MIXED, LEARNED):
            return term
        self.own.append(slot)
        if self.how == MIXED:
            return f"own_{slot} * {term}"
        self.lines += [f"worth_{slot} = {term}", f"sum_{slot} = sum_{slot} + worth_{slot}"]
        return f"own_{slot} * worth_{slot}"

    def _choose(self, place: int, answers: bool, numbers: Sequence[int], terms: list[str]) -> None:
        """Write the value of a decision with marks: the responder's actions from there on, the first of the best."""
        value, marks = f"value_{place}", [self._marks(number, answers) for number in numbers]
        if not answers:
            some = " | ".join(each for each in marks if each)
            self.lines += [f"{value} = {' + '.join(terms)}", f"marks_{place} = {some or 'nobody'}"]
            return
        self.lines += [f"{value} = {terms[0]}", f"marks_{place} = {marks[0]}"]
        for term, mark in zip(terms[1:], marks[1:], strict=True):
            self.lines += [
                f"other_{place} = {term}",
                f"marks_{place} = prefer(other_{place}, {value}, {mark}, marks_{place})",
                f"{value} = larger({value}, other_{place})",
            ]

    def _marks(self, number: int, answers: bool) -> str:
        """The mark of an action, if it is the responder's, and those after it."""
        action, found = self.round.actions[number], list[str]()
        if answers:
            self.chosen.append(int(action["slot"]))
            found.append(f"mark_{self.chosen[-1]}")
        return " | ".join([*found, *([f"marks_{int(action['to'])}"] if action["kind"] == DEEPER else [])])

    def _action(self, number: int, path: Path) -> str:
        action = self.round.actions[number]
        if action["kind"] == DEEPER:
            return self.decision(int(action["to"]), path)
        self.stakes.append(number)
        name = name_of(path)
        if action["kind"] == ENDS:
            self.shown.append(path)
            return f"stake_{number} * (shown_{name} - low_shown_{name} - top_shown_{name})"
        self.folded.append(path)
        return f"stake_{number} * (folded_{name} - low_folded_{name} - top_folded_{name} + met_{name})"


def name_of(path: Path) -> str:
    """The name of a vector in the program."""
    return "_".join(map(str, path)) or "all"


class Layout(NamedTuple):
    """Sizes that the program knows as constants."""

    everything: int  # hands without a board
    hands: int  # that a board allows
    cards: int  # that are not on the board
    lines: int  # per block
    kind: Any  # of numbers
    width: int = WIDTH  # lanes that are told apart: 1 where a number is a row of them
    ahead: int = AHEAD  # hands that are loaded ahead

    @property
    def ends_at(self) -> int:
        """Where the second part of a board's row begins; some hands are loaded ahead of the last."""
        return self.hands + PADDING

    @property
    def places_at(self) -> int:
        return self.ends_at + self.hands

    @property
    def hand_mask(self) -> int:
        """What a word tells of the number of its hand."""
        return (1 << LOW) - 1

    @property
    def turn_at(self) -> int:
        return self.places_at + self.everything

    @property
    def columns(self) -> int:
        return self.turn_at + 2

    def shared_bytes(self, branch: Branch) -> int:
        """What a block needs: a row more than there are cards."""
        return branch.rows * (self.cards + 1) * self.lines * int(np.dtype(self.kind).itemsize)


def constants(branch: Branch, layout: Layout, skip: int, vectors: int, slots: int, columns: int) -> dict[str, Any]:
    """The names in capital letters; they do not depend on strategies, so that programs are compiled once.

    The branch's vectors begin with number ``skip`` of all ``vectors``. The responder has so many ``slots``. A hand's
    value has so many ``columns``.
    """
    found = {
        "ZERO_PLACE": 0, "ONE": 1, "TWO": 2, "AHEAD": layout.ahead, "LANES": layout.width, "NONE": (1 << 64) - 1,
        "HANDS": layout.hands, "CARDS": layout.cards, "ROWS": branch.rows * layout.lines,
        "NOWHERE": layout.cards * branch.rows * layout.lines, "ENDS_AT": layout.ends_at,
        "HAND_MASK": (1 << LOW) - 1, "CARD_MASK": (1 << HIGH - LOW) - 1, "BUCKET_MASK": (1 << OWN - THEIRS) - 1,
        "LOW": LOW, "HIGH": HIGH, "THEIRS": THEIRS, "OWN": OWN, "COLUMNS": columns,
        "PRODUCTS": vectors * layout.width, "OWNS": slots * layout.width,
    }  # fmt: skip
    found |= {f"PLACE_{each}": each for each in range(PADDING)}
    found |= {f"SHOWN_{name_of(path)}": row * layout.lines for row, path in enumerate(branch.shown)}
    folded = enumerate(branch.folded, len(branch.shown))
    found |= {f"FOLDED_{name_of(path)}": row * layout.lines for row, path in folded}
    found |= {f"PRODUCT_{name_of(path)}": (skip + at) * layout.width for at, path in enumerate(branch.vectors)}
    found |= {f"OWN_{slot}": slot * layout.width for slot in branch.own}
    found |= {f"STAKE_{each}": each * layout.width for each in branch.stakes}
    return {name: np.uint64(value) for name, value in found.items()}


def products(some: list[Branch], theirs: Table, kind: Any) -> NDArray[Any]:
    """[chunks, buckets * vectors * WIDTH] the products of probabilities of all branches' vectors."""
    share = _by_slot(theirs)
    made = []
    for branch in some:
        for path in branch.vectors:
            made.append(np.prod(share[:, list(path)], axis=1) if path else np.ones_like(share[:, 0]))
    return np.ascontiguousarray(np.stack(made, axis=2), kind).reshape(len(share), -1)


def own_shares(own: Table | None, kind: Any, chunks: int) -> tuple[NDArray[Any], int]:
    """[chunks, buckets * slots * WIDTH] the responder's probabilities, and the number of its slots."""
    if own is None:
        return np.zeros((chunks, WIDTH), kind), 1
    share = _by_slot(own)
    return np.ascontiguousarray(share.transpose(0, 2, 1, 3), kind).reshape(chunks, -1), share.shape[1]


def _by_slot(table: Table) -> NDArray[np.float64]:
    """[chunks, slots, buckets, WIDTH] a player's probabilities."""
    return table.share.reshape(len(table.share), -1, table.buckets, WIDTH)
