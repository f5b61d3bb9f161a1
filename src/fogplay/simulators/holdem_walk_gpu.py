"""A walk through hold'em whose last round is on a GPU.

CPU threads prepare boards and walk the earlier rounds, each with a stream and scratch of its own on the GPU: one
prepares while another's boards are walked. Python runs one thread at a time, so a thread makes few calls per board of
the round before: two copies, two kernels per seat, and a copy back.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.simulators.holdem_boards import Dealt, Next
from fogplay.simulators.holdem_lines import Lanes, Round
from fogplay.simulators.holdem_river import Layout, branches, products
from fogplay.simulators.holdem_vectors import LARGEST
from fogplay.simulators.holdem_vectors_gpu import THREADS, allow_shared_memory, cuda, pack, sum_boards, walk_boards
from fogplay.simulators.holdem_walk import SEATS, Walk
from fogplay.vectors import WIDTH

LINES = 32  # per block: one warp
LINES_IN_DOUBLE = 16  # since shared memory holds half as many numbers


@dataclass(frozen=True, eq=False)
class _Seat:
    """One responder's kernel, and its arrays in device memory."""

    kernel: Any
    branches: int
    shared: int  # bytes of shared memory per block
    product: Any
    own: Any
    stake: Any
    largest: bool  # how branches are joined


def _seat(round_: Round, lanes: Lanes, responder: int, how: int, layout: Layout) -> _Seat:
    some, kind = branches(round_, responder, how), layout.kind
    own = lanes.theirs if lanes.own is None else lanes.own
    kernel = walk_boards(some, layout, lanes.theirs.buckets, own.buckets)
    shared = max(layout.shared_bytes(branch) for branch in some)
    arrays = (
        cuda.to_device(products(some, lanes.theirs, kind)),
        cuda.to_device(np.zeros((lanes.chunks, 1), kind) if lanes.own is None else _flat(own.share.astype(kind))),
        cuda.to_device(lanes.stake.astype(kind)),
    )
    cards, reach, value = (np.zeros((1,) * rank, each) for rank, each in ((2, np.uint64), (2, kind), (4, kind)))
    allow_shared_memory(kernel, (cards, reach, *arrays, value), shared)
    largest = how == LARGEST and round_.spots[responder][0]["player"] == responder
    return _Seat(kernel, len(some), shared, *arrays, largest)


def _flat(lanes: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, ``[chunks, rows * WIDTH]``: the fewer dimensions, the fewer instructions per access."""
    return lanes.reshape(len(lanes), -1)


@dataclass(frozen=True, eq=False)
class GpuWalk(Walk):
    """A walk whose last round is on a GPU; what it returns of that round is overwritten by the thread's next."""

    layout: Layout = Layout(0, 0, 0, np.float32)
    seats: tuple[_Seat, ...] = ()
    places: Any = field(default_factory=threading.local)  # the scratch of each CPU thread

    def _last(
        self, dealt: Dealt, boards: Sequence[Next], reach: Sequence[NDArray[Any]]
    ) -> Sequence[NDArray[np.float64]]:
        unchanged = np.arange(self.lookups.deck.hands, dtype=np.int64)[None]
        return self._place().walk(self, dealt, boards, reach, unchanged, 1.0)

    def _beyond(self, dealt: Dealt, reach: Sequence[NDArray[Any]]) -> Sequence[NDArray[np.float64]]:
        if len(dealt) + 2 < self.rules.rounds:
            return super()._beyond(dealt, reach)
        return self._place().walk(self, dealt, self.next_boards(dealt), reach, *self.finishing(dealt))

    def _room(self, street: int) -> Sequence[NDArray[Any]]:
        return super()._room(street) if street + 1 < self.rules.rounds else self._place().given.seats

    def _place(self) -> _Place:
        there: _Place | None = getattr(self.places, "place", None)
        if there is None:
            there = self.places.place = _Place(self)
        return there


class _Both:
    """Both seats' lanes, ``[chunks, all hands, WIDTH]`` each, in one array."""

    def __init__(self, whole: Any, first: int) -> None:
        self.whole, self.seats = whole, (whole[:first], whole[first:])


class _Place:
    """One CPU thread's stream and scratch in device memory."""

    def __init__(self, walk: GpuWalk) -> None:
        deck, layout = walk.lookups.deck, walk.layout
        boards = math.comb(deck.cards - sum(walk.rules.board[:-1]), walk.rules.board[-1])
        self.stream = cuda.stream()
        chunks = [walk.lanes[seat][-1].chunks for seat in range(SEATS)]
        shape = boards + math.factorial(deck.suits), layout.places_at + deck.hands + 1
        self.cards, self.packed = cuda.device_array(shape, np.uint64), cuda.pinned_array(shape, np.uint64)
        sizes = [(walk.seats[seat].branches, boards, layout.hands, chunks[seat] * WIDTH) for seat in range(SEATS)]
        self.value = [cuda.device_array(size, layout.kind) for size in sizes]
        whole = sum(chunks), deck.hands, WIDTH
        self.reach = _Both(cuda.device_array((whole[0], whole[1] * WIDTH), layout.kind), chunks[0])
        self.sums = _Both(cuda.device_array(whole, np.float64), chunks[0])
        self.given, self.found = (
            _Both(cuda.pinned_array(whole, each), chunks[0]) for each in (layout.kind, np.float64)
        )
        self.given.whole[...] = 0  # where no lane is, the reach stays zero

    def walk(
        self,
        walk: GpuWalk,
        dealt: Dealt,
        boards: Sequence[Next],
        reach: Sequence[NDArray[Any]],
        images: NDArray[np.int64],
        scale: float,
    ) -> Sequence[NDArray[np.float64]]:
        """[seats] the values of these boards, summed, then summed over ``images`` and scaled."""
        layout, stream, number = walk.layout, self.stream, len(boards)
        before = tuple(itertools.chain(*dealt))
        on_board = np.array([(*before, *each.cards) for each in boards], np.uint8)
        board, weight = walk.last_boards(dealt, boards)
        pack(board, on_board, weight, images, layout.ends_at, layout.places_at, self.packed)
        rows = number + len(images)
        self.cards[:rows].copy_to_device(self.packed[:rows], stream=stream)
        for seat in range(SEATS):
            if reach[seat] is not self.given.seats[seat]:
                self.given.seats[seat][...] = reach[seat]
        self.reach.whole.copy_to_device(_flat(self.given.whole), stream=stream)
        for seat in range(SEATS):
            given, lanes = walk.seats[seat], walk.lanes[seat][-1].chunks * WIDTH
            grid = number, -(-lanes // layout.lines), given.branches
            given.kernel[grid, layout.lines, stream, given.shared](
                self.cards, self.reach.seats[seat], given.product, given.own, given.stake, self.value[seat]
            )
            sum_boards[-(-lanes * walk.lookups.deck.hands // THREADS), THREADS, stream](
                number, len(images), layout.places_at, given.largest, scale, self.cards, self.value[seat],
                self.sums.seats[seat],
            )  # fmt: skip
        self.sums.whole.copy_to_host(self.found.whole, stream=stream)
        stream.synchronize()
        return self.found.seats


def on_gpu(walk: Walk, lines: int | None = None) -> GpuWalk:
    """The same walk with its last round on a GPU, whose blocks have ``lines`` threads."""
    if not cuda.is_available():
        missing = importlib.util.find_spec("numba_cuda") is None
        what = "an extra package: pip install 'fogplay[gpu]'" if missing else "its driver; use device cpu"
        raise FogplayError(f"device cuda needs an NVIDIA GPU and {what}")
    cards = walk.lookups.deck.cards - sum(walk.rules.board)
    lines = lines or (LINES if walk.precision is np.float32 else LINES_IN_DOUBLE)
    layout = Layout(math.comb(cards, 2), cards, lines, walk.precision)
    seats = tuple(_seat(walk.rounds[-1], walk.lanes[seat][-1], seat, walk.how, layout) for seat in range(SEATS))
    parts = {each.name: getattr(walk, each.name) for each in dataclasses.fields(walk)}
    return GpuWalk(**parts, layout=layout, seats=seats)
