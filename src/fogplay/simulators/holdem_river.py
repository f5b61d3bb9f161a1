"""The program of a GPU thread that takes one line of betting through a complete board of hold'em.

The opponent's reach before an action is its reach at the start of the round times a product of probabilities, which
depends on the bucket of its hand alone. So all vectors of reach of a round are known before the first hand, and one
pass over the hands in order of strength can compute all showdowns at once. Nothing but the result is kept per hand.

Folds and showdowns of one hand add up, so they need not be told apart: what a responder that has decided on its actions
of the round is worth is one sum over the folds and showdowns that it then meets, a *form*. The value of a hand is made
of forms, and there are few: a round with four raises has nine or ten, of 17 folds and showdowns.

For each form, shared memory holds one number per card: what folds earn from all hands with this card, and what
showdowns earn from the weaker ones, less from the stronger ones. It begins with all folds and minus all showdowns. The
hands of one strength are added once; now the number is right for them, since equal hands cancel; then they are added
again. Threads of a block have the same board and adjacent lanes, so that they never diverge, and their numbers are
adjacent, so that there are no bank conflicts.

The decisions after each first action of the round are a *branch*; branches are walked by different blocks, since each
then needs half the shared memory. The program is generated, because the vectors of a branch are variables, which the
compiler keeps in registers; an array of them would be in slow local memory.

A block of 64 lines and five forms fills 61 kB, so three fit on a multiprocessor. What hides latency is mostly what a
thread does itself: it loads hands ahead (``holdem_program.py``), and all numbers before it stores one. A board has some
85 strengths, 230 changes of buckets and 1,200 changes of the higher card, whose numbers stay in registers. Device
memory sees little but the results: 25 TB, or 6 s.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.simulators.holdem_lines import DEEPER, ENDS, Lanes, Round, Table
from fogplay.simulators.holdem_vectors import CHOSEN, LARGEST, LEARNED, MIXED
from fogplay.vectors import WIDTH

AHEAD = 4  # hands that a GPU's thread loads before it needs them
PADDING = 16  # hands of zeros after the last, more than are loaded ahead
Path = tuple[int, ...]  # the opponent's actions within the round, as slots

# A hand in 64 bits: its number, its two cards, its bucket for the opponent and for the responder. Where each begins:
LOW, HIGH, THEIRS, OWN = 16, 24, 32, 48

PASSES = "COUNTED", "ADDED", "AGAIN"  # of a program over the hands


class Term(NamedTuple):
    """A fold or a showdown."""

    action: int  # which leads to it, and has its stake
    shown: bool  # a showdown
    path: Path  # the vector of reach that meets it


Form = tuple[Term, ...]  # what a responder meets that has decided on its actions
Sum = list[tuple[Term, bool]]  # False: subtracted


class Branch(NamedTuple):
    """The decisions after some of the first actions of a round, for one responder."""

    first: tuple[int, ...]  # these actions
    forms: list[Form]  # numbers per card and lane
    lines: list[str]  # how the value of a hand is computed: statements that end with ``found = ...``
    own: list[int]  # slots of the responder, if it follows a strategy
    chosen: list[int]  # slots of the responder, if what it chooses is marked
    how: int  # LARGEST, MIXED, LEARNED or CHOSEN: see ``holdem_vectors.py``

    @property
    def terms(self) -> list[Term]:
        """All folds and showdowns."""
        return list(dict.fromkeys(term for form in self.forms for term in form))

    @property
    def vectors(self) -> list[Path]:
        """All vectors of reach, by number."""
        return list(dict.fromkeys(term.path for term in self.terms))

    @property
    def rows(self) -> int:
        """Numbers per card and lane in shared memory."""
        return len(self.forms)

    @property
    def sums(self) -> tuple[list[Sum], list[Sum], list[Sum]]:
        """By pass and form, what a hand adds: to begin with; when it is passed; and what of it was subtracted twice."""
        return (
            [[(term, not term.shown) for term in form] for form in self.forms],
            [[(term, True) for term in form if term.shown] for form in self.forms],
            [[(term, True) for term in form if not term.shown] for form in self.forms],
        )


def branches(round_: Round, responder: int, how: int) -> list[Branch]:
    """The branches of the last round; ``holdem_vectors_gpu.sum_boards`` joins their values."""
    root = round_.spots[responder][0]
    first = range(int(root["first"]), int(root["first"] + root["count"]))
    alone = all(round_.actions[each]["kind"] == DEEPER for each in first)
    found = []
    for chosen in [(each,) for each in first] if alone else [tuple(first)]:
        writer = _Writer(round_, responder, how)
        value = writer.decision(0, (), (), chosen)
        found.append(Branch(chosen, writer.forms, [*writer.lines, f"found = {value}"], writer.own, writer.chosen, how))
    return found


class _Writer:
    """Writes how the value of one hand follows from forms, from the last decisions to the first.

    What an opponent's folds and showdowns are worth is not added to the value of the decision after its other actions,
    but taken along as the beginning of all forms there, since the largest of some sums with a common term is that term
    plus the largest of the rest; so is a mean, as probabilities add up to one.
    """

    def __init__(self, round_: Round, responder: int, how: int) -> None:
        self.round, self.responder, self.how = round_, responder, how
        self.lines: list[str] = []
        self.forms: list[Form] = []
        self.own: list[int] = []
        self.chosen: list[int] = []

    def decision(self, place: int, path: Path, before: Form, only: tuple[int, ...] = ()) -> str:
        """Write the value of a decision, with ``before`` added; its name is returned."""
        spot = self.round.spots[self.responder][place]
        numbers = only or tuple(range(int(spot["first"]), int(spot["first"] + spot["count"])))
        name = f"value_{place}"
        if spot["player"] != self.responder:
            terms = self._theirs(numbers, path, before)
        else:
            terms = [self._own(number, path, before) for number in numbers]
        if self.how == CHOSEN:
            self._choose(place, numbers, terms)
        elif spot["player"] == self.responder and self.how == LARGEST:
            self.lines.append(f"{name} = {functools.reduce(lambda one, other: f'larger({one}, {other})', terms)}")
        else:
            self.lines.append(f"{name} = {' + '.join(terms)}")
        return name

    def _theirs(self, numbers: Sequence[int], path: Path, before: Form) -> list[str]:
        """The terms of a value after the opponent's actions; those that end the hand are in the first one's forms."""
        paths = {number: (*path, int(self.round.actions[number]["slot"])) for number in numbers}
        deeper = [number for number in numbers if self.round.actions[number]["kind"] == DEEPER]
        form = before + tuple(self._term(number, paths[number]) for number in numbers if number not in deeper)
        if not deeper:
            return [self._form(form)]
        places = [int(self.round.actions[number]["to"]) for number in deeper]
        return [
            self.decision(place, paths[number], () if at else form)
            for at, (number, place) in enumerate(zip(deeper, places, strict=True))
        ]

    def _own(self, number: int, path: Path, before: Form) -> str:
        """The value after an action of the responder, times its probability where the responder follows a strategy."""
        action = self.round.actions[number]
        if action["kind"] == DEEPER:
            term = self.decision(int(action["to"]), path, before)
        else:
            term = self._form((*before, self._term(number, path)))
        slot = int(action["slot"])
        if self.how not in (MIXED, LEARNED):
            return term
        self.own.append(slot)
        if self.how == MIXED:
            return f"own_{slot} * {term}"
        self.lines += [f"worth_{slot} = {term}", f"sum_{slot} = sum_{slot} + worth_{slot}"]
        return f"own_{slot} * worth_{slot}"

    def _choose(self, place: int, numbers: Sequence[int], terms: list[str]) -> None:
        """Write the value of a decision with marks: the responder's actions from there on, the first of the best."""
        value = f"value_{place}"
        answers = self.round.spots[self.responder][place]["player"] == self.responder
        marks = [self._marks(number, answers) for number in numbers]
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

    def _term(self, number: int, path: Path) -> Term:
        return Term(number, bool(self.round.actions[number]["kind"] == ENDS), path)

    def _form(self, form: Form) -> str:
        """Write what a form is worth: all of it without both cards' part, in which a fold's own hand is twice."""
        name = f"form_{len(self.forms)}"
        self.forms.append(form)
        again = "" if all(term.shown for term in form) else f" + more_{name}"
        return f"({name} - low_{name} - top_{name}{again})"


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


def constants(branch: Branch, layout: Layout, skip: int, rows: int, slots: int, columns: int) -> dict[str, Any]:
    """The names in capital letters; they do not depend on strategies, so that programs are compiled once.

    A bucket has so many ``rows`` of weights, of which the branch's begin with number ``skip``, or so many vectors of
    reach. The responder has so many ``slots``. A hand's value has so many ``columns``.
    """
    found = {
        "ZERO_PLACE": 0, "ONE": 1, "TWO": 2, "AHEAD": layout.ahead, "LANES": layout.width, "NONE": (1 << 64) - 1,
        "HANDS": layout.hands, "CARDS": layout.cards, "ROWS": branch.rows * layout.lines,
        "NOWHERE": layout.cards * branch.rows * layout.lines, "ENDS_AT": layout.ends_at,
        "HAND_MASK": (1 << LOW) - 1, "CARD_MASK": (1 << HIGH - LOW) - 1, "BUCKET_MASK": (1 << OWN - THEIRS) - 1,
        "LOW": LOW, "HIGH": HIGH, "THEIRS": THEIRS, "OWN": OWN, "COLUMNS": columns,
        "WEIGHTS": rows * layout.width, "PRODUCTS": rows * layout.width, "OWNS": slots * layout.width,
    }  # fmt: skip
    found |= {f"PLACE_{each}": each for each in range(PADDING)}
    found |= {name: (skip + each * branch.rows) * layout.width for each, name in enumerate(PASSES)}
    found |= {f"FORM_{row}": row * layout.lines for row in range(branch.rows)}
    found |= {f"FORM_{row}_AT": row * layout.width for row in range(branch.rows)}
    found |= {f"OWN_{slot}": slot * layout.width for slot in branch.own}
    found |= {f"STAKE_{term.action}": term.action * layout.width for term in branch.terms}
    return {name: np.uint64(value) for name, value in found.items()}


def weights(some: list[Branch], lanes: Lanes, kind: Any) -> NDArray[Any]:
    """[chunks, buckets * rows * WIDTH] what a hand's reach is multiplied by, by pass and form of all branches."""
    share, stake = _by_slot(lanes.theirs), lanes.stake
    sums = [terms for branch in some for each in branch.sums for terms in each]
    found = np.zeros((len(share), lanes.theirs.buckets, len(sums), WIDTH), kind)
    for row, terms in enumerate(sums):
        for term, added in terms:
            played = stake[:, term.action, None] * (1 if added else -1)
            for slot in term.path:
                played = played * share[:, slot]
            found[:, :, row] += played.astype(kind)
    return found.reshape(len(share), -1)


def rows_of(some: list[Branch]) -> int:
    """How many rows of weights a bucket has."""
    return len(PASSES) * sum(branch.rows for branch in some)


def own_shares(own: Table | None, kind: Any, chunks: int) -> tuple[NDArray[Any], int]:
    """[chunks, buckets * slots * WIDTH] the responder's probabilities, and the number of its slots."""
    if own is None:
        return np.zeros((chunks, WIDTH), kind), 1
    share = _by_slot(own)
    return np.ascontiguousarray(share.transpose(0, 2, 1, 3), kind).reshape(chunks, -1), share.shape[1]


def _by_slot(table: Table) -> NDArray[np.float64]:
    """[chunks, slots, buckets, WIDTH] a player's probabilities."""
    return table.share.reshape(len(table.share), -1, table.buckets, WIDTH)
