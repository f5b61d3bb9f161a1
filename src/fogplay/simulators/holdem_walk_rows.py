"""A walk through hold'em whose last round is a program of ``holdem_river.py``, where a number is a row of lanes.

The same results as ``holdem_vectors.walk_last`` in about half the time: what it keeps per card fits in the first-level
cache, and it keeps nothing per hand. The program is written to a file in the folder of compiled kernels, so that each
machine compiles it once.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.generated import module_from
from fogplay.simulators.holdem_boards import Dealt, Next
from fogplay.simulators.holdem_lines import Lanes, Round
from fogplay.simulators.holdem_pack import pack
from fogplay.simulators.holdem_program import source
from fogplay.simulators.holdem_river import Layout, branches, constants, own_shares, rows_of, weights
from fogplay.simulators.holdem_vectors import LARGEST
from fogplay.simulators.holdem_walk import SEATS, Walk
from fogplay.vectors import WIDTH

HEAD = """\
import numpy as np
from fogplay.jit import kernel, piece
from fogplay.vectors import WIDTH, larger, load, store

"""
CALL = "        branch_{n}(row, reach, weights, own, held, zero, nothing, nothing, value[{n}], nothing)\n"
WALK = """
@kernel
def walk_boards(
    boards, hands, hand_mask, weight_at, largest, cards, reach, weights, own, held, zeros, value, sums
):
    nothing = np.uint64(0)
    zero = load(zeros, nothing)
    for board in range(boards):
        row, weight = cards[board], float(cards[board, weight_at])
{calls}\
        for place in range(hands):
            hand = row[place] & hand_mask
            for lane in range(WIDTH):
                found = value[0, place, lane]
                for branch in range(1, value.shape[0]):
                    other = value[branch, place, lane]
                    found = max(found, other) if largest else found + other
                sums[hand, lane] += weight * found
"""


@dataclass(frozen=True, eq=False)
class _Seat:
    """One responder's program, and its arrays in the precision of the walk."""

    program: Any
    branches: int
    rows: int  # per card
    weight: NDArray[Any]  # [chunks, rows * buckets, WIDTH]
    own: NDArray[Any]  # [chunks, slots * buckets, WIDTH]
    largest: bool  # how branches are joined


def _seat(round_: Round, lanes: Lanes, responder: int, how: int, layout: Layout) -> _Seat:
    some, text, skip = branches(round_, responder, how), HEAD, 0
    own, slots = own_shares(lanes.own, layout.kind, lanes.chunks)
    for number, branch in enumerate(some):
        known = constants(branch, layout, skip, rows_of(some), slots, columns=1)
        head, body = source(branch, f"branch_{number}", layout.ahead).split("\n", 1)
        values = "".join(f"    {name} = np.uint64({int(value)})\n" for name, value in known.items())
        text += f"@piece\n{head}\n{values}{body}\n\n"
        skip += rows_of([branch])
    text += WALK.format(calls="".join(CALL.format(n=number) for number in range(len(some))))
    weight = weights(some, lanes, layout.kind).reshape(lanes.chunks, -1, WIDTH)
    largest = bool(how == LARGEST and round_.spots[responder][0]["player"] == responder)
    rows = max(branch.rows for branch in some)
    own = own.reshape(lanes.chunks, -1, WIDTH)
    return _Seat(module_from("river", text).walk_boards, len(some), rows, weight, own, largest)


@dataclass(frozen=True, eq=False)
class RowWalk(Walk):
    """A walk whose last round is a program for rows of lanes."""

    layout: Layout = Layout(0, 0, 0, 1, np.float32, 1, 0)  # noqa: RUF009
    seats: tuple[_Seat, ...] = ()

    def _last(
        self, dealt: Dealt, boards: Sequence[Next], reach: Sequence[NDArray[Any]]
    ) -> Sequence[NDArray[np.float64]]:
        layout, kind, sums = self.layout, self.precision, self._zeros(self.rules.rounds - 1)
        board, weight = self.last_boards(dealt, boards)
        before = tuple(itertools.chain(*dealt))
        on_board = np.array([(*before, *each.cards) for each in boards], np.uint8)
        cards = np.empty((len(boards), layout.columns), np.uint64)
        none = np.zeros((0, layout.everything), np.int64)
        pack(board, on_board, np.zeros(len(boards), np.int64), weight, none, layout.ends_at, layout.places_at, cards)
        for seat in range(SEATS):
            given = self.seats[seat]
            held, zeros = np.zeros((given.rows * (layout.cards + 1), WIDTH), kind), np.zeros((1, WIDTH), kind)
            value = np.zeros((given.branches, layout.hands, WIDTH), kind)
            for chunk in range(len(given.weight)):
                given.program(
                    len(boards), layout.hands, np.uint64(layout.hand_mask), layout.turn_at + 1, given.largest, cards,
                    reach[seat][chunk].astype(kind, copy=False), given.weight[chunk], given.own[chunk],
                    held, zeros, value, sums[seat][chunk],
                )  # fmt: skip
        return sums


def by_rows(walk: Walk) -> RowWalk:
    """The same walk with its last round as a program."""
    deck, cards = walk.lookups.deck, walk.lookups.deck.cards - sum(walk.rules.board)
    layout = Layout(deck.hands, math.comb(cards, 2), cards, 1, walk.precision, 1, 0)
    seats = tuple(_seat(walk.rounds[-1], walk.lanes[seat][-1], seat, walk.how, layout) for seat in range(SEATS))
    parts = {each.name: getattr(walk, each.name) for each in dataclasses.fields(Walk)}
    return RowWalk(**parts, layout=layout, seats=seats)
