"""A walk through hold'em whose last round is on a GPU.

CPU threads prepare boards and walk the earlier rounds, each with a stream and scratch of its own on the GPU: one
prepares while another's boards are walked.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.simulators.holdem_boards import Dealt, Next
from fogplay.simulators.holdem_lines import DEEPER, Lanes, Round
from fogplay.simulators.holdem_vectors import Board
from fogplay.simulators.holdem_vectors_gpu import (
    NONE,
    THREADS,
    THREADS_IN_DOUBLE,
    cuda,
    sum_boards,
    sum_images,
    walk_double,
    walk_single,
)
from fogplay.simulators.holdem_walk import SEATS, Walk
from fogplay.strategies.packing import WHOLE
from fogplay.vectors import WIDTH

_launching = threading.Lock()  # the first launch compiles


@dataclass(frozen=True, eq=False)
class _Seat:
    """One responder's arrays in device memory."""

    spots: Any
    actions: Any
    path: Any  # [steps] the opponent's slots on the way to each decision
    path_end: Any  # [decisions + 1] where the steps of each decision begin and end
    share: Any  # [chunks, slots * buckets, WIDTH] 255ths
    buckets: np.uint64
    own: Any
    own_buckets: np.uint64
    stake: Any
    root: int  # the buffer of the first decision's values


def _seat(round_: Round, lanes: Lanes, responder: int, kind: Any) -> _Seat:
    spots = round_.spots[responder]
    steps: list[list[int]] = [[] for _ in spots]
    for place, spot in enumerate(spots):
        for action in round_.actions[spot["first"] : spot["first"] + spot["count"]]:
            if action["kind"] == DEEPER:
                moved = [int(action["slot"])] if spot["player"] != responder else []
                steps[int(action["to"])] = steps[place] + moved
    path_end = np.cumsum([0, *map(len, steps)]).astype(np.int64)
    path = np.array([slot for each in steps for slot in each] or [0], np.int64)
    own = lanes.theirs if lanes.own is None else lanes.own
    return _Seat(
        cuda.to_device(np.ascontiguousarray(spots)),
        cuda.to_device(round_.actions),
        cuda.to_device(path),
        cuda.to_device(path_end),
        cuda.to_device(_whole(lanes.theirs.share)),
        np.uint64(lanes.theirs.buckets),
        cuda.to_device(_whole(own.share)),
        np.uint64(own.buckets),
        cuda.to_device(lanes.stake.astype(kind)),
        int(spots[0]["value"]),
    )


def _whole(share: NDArray[np.float64]) -> NDArray[np.uint8]:
    return np.rint(share * WHOLE).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class GpuWalk(Walk):
    """A walk whose last round is on a GPU; what it returns of that round is overwritten by the thread's next."""

    seats: tuple[_Seat, ...] = ()
    places: Any = field(default_factory=threading.local)  # the scratch of each CPU thread

    def _last(
        self, dealt: Dealt, boards: Sequence[Next], reach: Sequence[NDArray[Any]]
    ) -> Sequence[NDArray[np.float64]]:
        unchanged = np.arange(self.lookups.deck.hands, dtype=np.int64)[None]
        return self._place().walk(*self.last_boards(dealt, boards), self, reach, unchanged, 1.0)

    def _beyond(self, dealt: Dealt, reach: Sequence[NDArray[Any]]) -> Sequence[NDArray[np.float64]]:
        if len(dealt) + 2 < self.rules.rounds:
            return super()._beyond(dealt, reach)
        boards = self.last_boards(dealt, self.next_boards(dealt))
        return self._place().walk(*boards, self, reach, *self.finishing(dealt))

    def _room(self, street: int) -> Sequence[NDArray[Any]]:
        return super()._room(street) if street + 1 < self.rules.rounds else self._place().given

    def _place(self) -> _Place:
        there: _Place | None = getattr(self.places, "place", None)
        if there is None:
            there = self.places.place = _Place(self)
        return there


class _Place:
    """One CPU thread's stream and scratch in device memory."""

    def __init__(self, walk: GpuWalk) -> None:
        deck, round_, kind = walk.lookups.deck, walk.rounds[-1], walk.precision
        dealt = sum(walk.rules.board)
        boards = math.comb(deck.cards - sum(walk.rules.board[:-1]), walk.rules.board[-1])
        self.stream, self.hands = cuda.stream(), math.comb(deck.cards - dealt, 2)
        chunks = [walk.lanes[seat][-1].chunks for seat in range(SEATS)]
        shape, whole, there = (boards, self.hands), (boards, deck.hands), cuda.device_array
        groups = (boards, min(self.hands, walk.lookups.strengths) + 1)
        self.cards = [there(shape, each) for each in (np.uint16, np.uint8, np.uint8, np.uint16, np.uint16)]
        self.cards += [there(groups, np.uint16), there(whole, np.int16), there(boards, np.float64)]
        self.images = there((math.factorial(deck.suits), deck.hands), np.int64)
        self.value = there((boards, max(chunks), round_.values * self.hands, WIDTH), kind)
        self.arrived = there((boards, max(chunks), self.hands, WIDTH), kind)
        self.beaten = there((boards, max(chunks), self.hands, WIDTH), kind)
        sizes = [(each, deck.hands, WIDTH) for each in chunks]
        self.sums, self.finished = ([there(size, np.float64) for size in sizes] for _ in range(2))
        self.found = [cuda.pinned_array(size, np.float64) for size in sizes]
        self.reach = [there(size, kind) for size in sizes]
        self.given = [cuda.pinned_array(size, kind) for size in sizes]
        for each in self.given:
            each[...] = 0
        self.unit = kind(1 / WHOLE)
        self.kernel, self.threads = (walk_single, THREADS) if kind is np.float32 else (walk_double, THREADS_IN_DOUBLE)

    def walk(
        self,
        board: Board,
        weight: NDArray[np.float64],
        walk: GpuWalk,
        reach: Sequence[NDArray[Any]],
        images: NDArray[np.int64],
        scale: float,
    ) -> Sequence[NDArray[np.float64]]:
        """[seats] the values of these boards, summed, then summed over ``images`` and scaled."""
        stream, number, whole = self.stream, board.hand.shape[0], walk.lookups.deck.hands
        where = np.full((number, whole), NONE, np.int16)
        np.put_along_axis(where, board.hand.astype(np.int64), np.arange(self.hands, dtype=np.int16)[None], axis=1)
        for there, here in zip(self.cards, (*board, where, weight), strict=True):
            there[:number].copy_to_device(np.ascontiguousarray(here), stream=stream)
        self.images[: len(images)].copy_to_device(images, stream=stream)
        for seat in range(SEATS):
            given, chunks = walk.seats[seat], walk.lanes[seat][-1].chunks
            self.reach[seat].copy_to_device(reach[seat], stream=stream)
            grid = (number, -(-chunks * WIDTH // self.threads)), self.threads, stream
            sums = -(-chunks * whole * WIDTH // THREADS), THREADS, stream
            with _launching:
                self.kernel[grid](
                    given.spots, given.actions, given.path, given.path_end, seat, walk.how, *self.cards[:6],
                    self.reach[seat], given.share, given.buckets, given.own, given.own_buckets, given.stake, self.unit,
                    self.arrived, self.beaten, self.value,
                )  # fmt: skip
                sum_boards[sums](
                    number, self.cards[6], self.cards[7], given.root * self.hands, self.value, self.sums[seat]
                )
                sum_images[sums](len(images), self.images, scale, self.sums[seat], self.finished[seat])
            self.finished[seat].copy_to_host(self.found[seat], stream=stream)
        stream.synchronize()
        return self.found


def on_gpu(walk: Walk) -> GpuWalk:
    """The same walk with its last round on a GPU."""
    if not cuda.is_available():
        missing = importlib.util.find_spec("numba_cuda") is None
        what = "an extra package: pip install 'fogplay[gpu]'" if missing else "its driver; use device cpu"
        raise FogplayError(f"device cuda needs an NVIDIA GPU and {what}")
    seats = tuple(_seat(walk.rounds[-1], walk.lanes[seat][-1], seat, walk.precision) for seat in range(SEATS))
    parts = {each.name: getattr(walk, each.name) for each in dataclasses.fields(walk)}
    return GpuWalk(**parts, seats=seats)
