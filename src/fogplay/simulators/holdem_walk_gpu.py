"""A walk through hold'em whose last round is on a GPU.

CPU threads, the *feeders*, prepare boards and walk the earlier rounds, each with a stream and scratch of its own on the
GPU: one prepares while another's boards are walked. Python runs one thread at a time, so a feeder makes few calls: it
takes several boards of the round before, called *turns* here, to the GPU at once. Other threads that walked flops on
idle cores were tried: they delayed the feeders, and the GPU was busy for 60 % of the time instead of 98 %.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.simulators.holdem_boards import Dealt, Next
from fogplay.simulators.holdem_lines import Lanes, Round
from fogplay.simulators.holdem_pack import pack
from fogplay.simulators.holdem_river import AHEAD, Layout, branches, own_shares, weights
from fogplay.simulators.holdem_vectors import LARGEST
from fogplay.simulators.holdem_vectors_gpu import SIMULATED, THREADS, allow_shared_memory, cuda, sum_boards, walk_boards
from fogplay.simulators.holdem_walk import SEATS, Walk
from fogplay.vectors import WIDTH

LINES = 64  # per block: two warps
LINES_IN_DOUBLE = 32  # since shared memory holds half as many numbers
TURNS = 4  # that a thread takes to the GPU at once, if the device memory allows that to all threads
FEEDERS = 8  # threads that take turns to the GPU: while some prepare, others wait
POLL_SECONDS = 0.001
MEMORY = 0.8  # of the free device memory
NO_LAYOUT = Layout(0, 0, 0, 0, np.float32)


@dataclass(frozen=True, eq=False)
class _Seat:
    """One responder's kernel, and its arrays in device memory."""

    kernel: Any
    lines: int  # threads per block
    branches: int
    shared: int  # bytes of shared memory per block
    weight: Any
    own: Any
    largest: bool  # how branches are joined


def _seat(round_: Round, lanes: Lanes, responder: int, how: int, layout: Layout) -> _Seat:
    some, kind = branches(round_, responder, how), layout.kind
    own, slots = own_shares(lanes.own, kind, lanes.chunks)
    kernel = walk_boards(some, layout, slots, lanes.chunks * WIDTH)
    shared = max(layout.shared_bytes(branch) for branch in some)
    arrays = cuda.to_device(weights(some, lanes, kind)), cuda.to_device(own)
    cards, reach, value = (np.zeros((1,) * rank, each) for rank, each in ((2, np.uint64), (3, kind), (3, kind)))
    if not allow_shared_memory(kernel, (cards, reach, *arrays, value), shared):
        return _seat(round_, lanes, responder, how, layout._replace(lines=layout.lines // 2))
    largest = bool(how == LARGEST and round_.spots[responder][0]["player"] == responder)
    return _Seat(kernel, layout.lines, len(some), shared, *arrays, largest)


@dataclass(frozen=True, eq=False)
class GpuWalk(Walk):
    """A walk whose last round is on a GPU; what it returns of that round is overwritten by the thread's next."""

    layout: Layout = NO_LAYOUT
    seats: tuple[_Seat, ...] = ()
    turns: int = TURNS
    places: Any = field(default_factory=threading.local)  # the scratch of each CPU thread

    @property
    def threads(self) -> int:
        return FEEDERS

    def _last(
        self, dealt: Dealt, boards: Sequence[Next], reach: Sequence[NDArray[Any]]
    ) -> Sequence[NDArray[np.float64]]:
        unchanged, place = np.arange(self.lookups.deck.hands, dtype=np.int64)[None], self._place()
        for seat in range(SEATS):
            place.given[seat][0] = reach[seat]
        return place.walk(self, [_Turn(dealt, boards, unchanged, 1.0)])[0]

    def _after(
        self, dealt: Dealt, boards: Sequence[Next], reach: Sequence[NDArray[Any]]
    ) -> Sequence[NDArray[np.float64]]:
        street = len(dealt) + 1
        if street + 2 != self.rules.rounds:
            return super()._after(dealt, boards, reach)
        sums, place = self._zeros(street), self._place()
        for first in range(0, len(boards), self.turns):
            some, turns, hands = boards[first : first + self.turns], [], []
            for place.turn, board in enumerate(some):
                now = (*dealt, board.cards)
                turns.append(_Turn(now, self.next_boards(now), *self.finishing(now)))
                hands.append(self._board(now))
                self._down(street, hands[-1], reach)
            for board, on_board, values in zip(some, hands, place.walk(self, turns), strict=True):
                for seat in range(SEATS):
                    self._up(street, on_board, seat, reach[seat], values[seat], float(board.weight), sums[seat])
        return sums

    def _room(self, street: int) -> Sequence[NDArray[Any]]:
        if street + 1 < self.rules.rounds:
            return super()._room(street)
        place = self._place()
        return [place.given[seat][place.turn] for seat in range(SEATS)]

    def _place(self) -> _Place:
        there: _Place | None = getattr(self.places, "place", None)
        if there is None:
            there = self.places.place = _Place(self)
        return there


class _Turn(NamedTuple):
    """What was dealt before the last round, and what can be dealt now."""

    dealt: Dealt
    boards: Sequence[Next]
    images: NDArray[np.int64]  # permutations of hands to add over
    scale: float  # then


class _Place:
    """One CPU thread's stream and scratch in device memory, for some turns."""

    def __init__(self, walk: GpuWalk) -> None:
        deck, layout, turns = walk.lookups.deck, walk.layout, walk.turns
        boards = turns * math.comb(deck.cards - sum(walk.rules.board[:-1]), walk.rules.board[-1])
        self.stream, self.done, self.turn = cuda.stream(), cuda.event(), 0  # whose reach is being computed
        chunks = [walk.lanes[seat][-1].chunks for seat in range(SEATS)]
        shape = boards + turns * math.factorial(deck.suits), layout.columns
        self.cards, self.packed = cuda.device_array(shape, np.uint64), cuda.pinned_array(shape, np.uint64)
        self.turns, self.packed_turns = (
            cuda.device_array((turns, 5), np.float64),
            cuda.pinned_array((turns, 5), np.float64),
        )
        shapes = [(walk.seats[seat].branches, boards, layout.hands * chunks[seat] * WIDTH) for seat in range(SEATS)]
        shared = {shape: cuda.device_array(shape, layout.kind) for shape in set(shapes)}
        self.value = [shared[shape] for shape in shapes]  # of one seat after the other
        whole = [(turns, each, deck.hands, WIDTH) for each in chunks]
        self.reach = [cuda.device_array((turns, each, deck.hands * WIDTH), layout.kind) for each in chunks]
        self.given = [cuda.pinned_array(each, layout.kind) for each in whole]
        self.sums = [cuda.device_array(each, np.float64) for each in whole]
        self.found = [cuda.pinned_array(each, np.float64) for each in whole]
        for each in self.given:
            each[...] = 0  # where no lane is, the reach stays zero

    def walk(self, walk: GpuWalk, turns: Sequence[_Turn]) -> list[list[NDArray[np.float64]]]:
        """[turns, seats] the values of a turn's boards, summed, then summed over images and scaled.

        The reach is in ``given``; what is returned is overwritten by the next call.
        """
        layout, stream, count = walk.layout, self.stream, len(turns)
        boards, rows = self._pack(walk, turns)
        self.cards[:rows].copy_to_device(self.packed[:rows], stream=stream)
        self.turns.copy_to_device(self.packed_turns, stream=stream)
        for seat in range(SEATS):
            given, lanes = walk.seats[seat], walk.lanes[seat][-1].chunks * WIDTH
            reach = self.given[seat].reshape(self.reach[seat].shape)
            self.reach[seat][:count].copy_to_device(reach[:count], stream=stream)
            grid = boards, -(-lanes // given.lines), given.branches
            given.kernel[grid, given.lines, stream, given.shared](
                self.cards, self.reach[seat], given.weight, given.own, self.value[seat]
            )
            sum_boards[(-(-lanes * layout.everything // THREADS), count), THREADS, stream](
                self.turns, layout.turn_at, layout.places_at, given.largest, self.cards, self.value[seat],
                self.sums[seat],
            )  # fmt: skip
            self.sums[seat][:count].copy_to_host(self.found[seat][:count], stream=stream)
        self._wait()
        return [[self.found[seat][turn] for seat in range(SEATS)] for turn in range(count)]

    def _wait(self) -> None:
        """Wait for the stream without keeping a core busy, as ``synchronize`` would: other threads need it."""
        if SIMULATED:
            return
        self.done.record(self.stream)
        while not self.done.query():
            time.sleep(POLL_SECONDS)

    def _pack(self, walk: GpuWalk, turns: Sequence[_Turn]) -> tuple[int, int]:
        """Prepare what the kernels read: the number of boards, and of rows."""
        on_board = [(*itertools.chain(*turn.dealt), *each.cards) for turn in turns for each in turn.boards]
        weight = np.array([each.weight for turn in turns for each in turn.boards], np.float64)
        sizes, images = [len(turn.boards) for turn in turns], [len(turn.images) for turn in turns]
        board = walk.lookups.board(walk.rules.rounds - 1, on_board, last=True)
        pack(
            board, np.array(on_board, np.uint8), np.repeat(np.arange(len(turns)), sizes), weight,
            np.concatenate([turn.images for turn in turns]), walk.layout.ends_at, walk.layout.places_at, self.packed,
        )  # fmt: skip
        ends, last = np.cumsum(sizes), len(on_board) + np.cumsum(images)
        self.packed_turns[: len(turns)] = np.stack(
            [ends - sizes, ends, last - images, last, [turn.scale for turn in turns]], axis=1
        )
        return len(on_board), int(last[-1])


def on_gpu(walk: Walk, lines: int | None = None, turns: int | None = None, ahead: int = AHEAD) -> GpuWalk:
    """The same walk with its last round on a GPU, in blocks of ``lines`` threads, ``turns`` at once."""
    if not cuda.is_available():
        missing = importlib.util.find_spec("numba_cuda") is None
        what = "an extra package: pip install 'fogplay[gpu]'" if missing else "its driver; use device cpu"
        raise FogplayError(f"device cuda needs an NVIDIA GPU and {what}")
    cards = walk.lookups.deck.cards - sum(walk.rules.board)
    lines = lines or (LINES if walk.precision is np.float32 else LINES_IN_DOUBLE)
    layout = Layout(walk.lookups.deck.hands, math.comb(cards, 2), cards, lines, walk.precision, ahead=ahead)
    turned, sums = np.zeros((1, 5)), np.zeros((1, 1, 1, 1))
    allow_shared_memory(
        sum_boards, (turned, 0, 0, True, sums[0, 0].astype(np.uint64), sums[0].astype(walk.precision), sums), 0
    )
    seats = tuple(_seat(walk.rounds[-1], walk.lanes[seat][-1], seat, walk.how, layout) for seat in range(SEATS))
    parts = {each.name: getattr(walk, each.name) for each in dataclasses.fields(Walk)}
    made = GpuWalk(**parts, layout=layout, seats=seats)
    return dataclasses.replace(made, turns=turns or _turns(made))


def _turns(walk: GpuWalk) -> int:
    """How many turns at once the free device memory allows, where values take most of it."""
    boards = math.comb(walk.lookups.deck.cards - sum(walk.rules.board[:-1]), walk.rules.board[-1])
    lanes = max(walk.lanes[seat][-1].chunks * WIDTH for seat in range(SEATS))
    size = max(seat.branches for seat in walk.seats) * boards * walk.layout.hands * lanes * walk.precision().itemsize
    free = cuda.current_context().get_memory_info()[0]
    return max(1, int(min(TURNS, MEMORY * free / FEEDERS / size)))
