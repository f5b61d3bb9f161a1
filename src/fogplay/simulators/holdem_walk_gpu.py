"""A walk through hold'em whose last round is on a GPU.

CPU threads prepare boards and walk the earlier rounds, each with a stream and scratch of its own on the GPU: one
prepares while another's boards are walked.
"""

from __future__ import annotations

import dataclasses
import importlib.util
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
    """A walk whose last round is on a GPU."""

    seats: tuple[_Seat, ...] = ()
    places: Any = field(default_factory=threading.local)  # the scratch of each CPU thread

    def _last(
        self, dealt: Dealt, boards: Sequence[Next], reach: Sequence[NDArray[Any]], sums: Sequence[NDArray[np.float64]]
    ) -> None:
        board, weight = self.last_boards(dealt, boards)
        place = self._place(board.hand.shape)
        place.walk(board, weight, self, reach, sums)

    def _place(self, shape: tuple[int, int]) -> _Place:
        there: _Place | None = getattr(self.places, "place", None)
        if there is None or there.boards < shape[0] or there.hands != shape[1]:
            there = self.places.place = _Place(self, *shape)
        return there


class _Place:
    """One CPU thread's stream and scratch in device memory."""

    def __init__(self, walk: GpuWalk, boards: int, hands: int) -> None:
        self.stream, self.boards, self.hands = cuda.stream(), max(boards, walk.lookups.deck.cards - 4), hands
        round_, kind = walk.rounds[-1], walk.precision
        chunks = max(walk.lanes[seat][-1].chunks for seat in range(SEATS))
        whole = walk.lookups.deck.hands
        self.value = cuda.device_array((self.boards, chunks, round_.values * hands, WIDTH), kind)
        self.arrived = cuda.device_array((self.boards, chunks, hands, WIDTH), kind)
        self.beaten = cuda.device_array((self.boards, chunks, hands, WIDTH), kind)
        self.sums = [cuda.device_array((walk.lanes[seat][-1].chunks, whole, WIDTH), np.float64) for seat in (0, 1)]
        self.found = [cuda.pinned_array(each.shape, np.float64) for each in self.sums]
        self.reach = [cuda.device_array(each.shape, kind) for each in self.sums]
        self.given = [cuda.pinned_array(each.shape, kind) for each in self.sums]
        self.unit = kind(1 / WHOLE)
        self.kernel, self.threads = (walk_single, THREADS) if kind is np.float32 else (walk_double, THREADS_IN_DOUBLE)

    def walk(
        self,
        board: Board,
        weight: NDArray[np.float64],
        walk: GpuWalk,
        reach: Sequence[NDArray[Any]],
        sums: Sequence[NDArray[np.float64]],
    ) -> None:
        """Add the values of these boards to ``sums``."""
        stream, number, whole = self.stream, board.hand.shape[0], walk.lookups.deck.hands
        where = np.full((number, whole), NONE, np.int16)
        np.put_along_axis(where, board.hand.astype(np.int64), np.arange(self.hands, dtype=np.int16)[None], axis=1)
        cards = [cuda.to_device(each, stream) for each in (*board, where, weight)]
        for seat in range(SEATS):
            given, chunks = walk.seats[seat], walk.lanes[seat][-1].chunks
            self.given[seat][...] = reach[seat]
            self.reach[seat].copy_to_device(self.given[seat], stream=stream)
            grid = (number, -(-chunks * WIDTH // self.threads)), self.threads, stream
            count = chunks * whole * WIDTH
            with _launching:
                self.kernel[grid](
                    given.spots, given.actions, given.path, given.path_end, seat, walk.how, *cards[:6],
                    self.reach[seat], given.share, given.buckets, given.own, given.own_buckets, given.stake, self.unit,
                    self.arrived, self.beaten, self.value,
                )  # fmt: skip
                sum_boards[-(-count // THREADS), THREADS, stream](
                    cards[6], cards[7], given.root * self.hands, self.value, self.sums[seat]
                )
            self.sums[seat].copy_to_host(self.found[seat], stream=stream)
        stream.synchronize()
        for seat in range(SEATS):
            sums[seat] += self.found[seat]


def on_gpu(walk: Walk) -> GpuWalk:
    """The same walk with its last round on a GPU."""
    if not cuda.is_available():
        missing = importlib.util.find_spec("numba_cuda") is None
        what = "an extra package: pip install 'fogplay[gpu]'" if missing else "its driver; use device cpu"
        raise FogplayError(f"device cuda needs an NVIDIA GPU and {what}")
    seats = tuple(_seat(walk.rounds[-1], walk.lanes[seat][-1], seat, walk.precision) for seat in range(SEATS))
    parts = {each.name: getattr(walk, each.name) for each in dataclasses.fields(walk)}
    return GpuWalk(**parts, seats=seats)
