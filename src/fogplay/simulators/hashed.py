"""Infosets found by key: a hash table in arrays gives slots to infosets as they are met.

``Hashed`` wraps any game that answers ``key_of``, and kernels play it like every other. The table is open addressing
with linear probing (Knuth, volume 3, 6.4). A key is written once and never removed; its first slot is published after
it, so a thread that finds a key before its slot waits a moment for the other thread.

Memory is bounded. When no more infosets fit, new ones share an overflow region at the end of the learner's tables, so
that nothing is written out of bounds, and a flag tells the learner to stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.atomics import Plain, claim, look, publish, take
from fogplay.errors import FogplayError
from fogplay.jit import kernel, piece, record
from fogplay.simulators import questions
from fogplay.simulators.interface import BATCH, Learned, Simulator
from fogplay.simulators.policies import BySlot, CallBySlot

ENTRY = record([("key", np.uint64), ("first", np.int64)])  # first slot + 1; both are 0 in an empty entry
SLOTS, INFOSETS, FULL = range(3)  # the counters
FULLEST = 0.75  # share of the entries that may be in use: beyond it, searches become long
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: neighbouring keys end up far apart (Fibonacci)
_1, _64 = np.uint64(1), np.uint64(64)


class Index(NamedTuple):
    """The hash table: where the slots of an infoset begin."""

    entries: NDArray[Any]  # [a power of two] ENTRY
    counters: NDArray[np.int64]  # [3] slots and infosets in use; whether one did not fit
    bits: int  # the power of two
    infosets: int  # the most that may be in use
    slots: int  # the same; from here on the tables hold a region that stays empty, then the overflow region ...
    widest: int  # ... of this many slots each
    writing: Any  # how workers share it: atomics.Plain, atomics.Shared or, on a GPU, cuda.Atomic


class Hashed(NamedTuple):
    """A game whose infosets are given slots as they are met."""

    inner: Any
    by_key: Index


def new_index(infosets: int, slots: int, widest: int, writing: Any) -> Index:
    """An empty hash table for ``infosets`` infosets with ``slots`` actions in all, at most ``widest`` each."""
    bits = max(2, int(np.ceil(infosets / FULLEST)).bit_length())
    return Index(np.zeros(1 << bits, ENTRY), np.zeros(3, np.int64), bits, infosets, slots, widest, writing)


def table_size(index: Index) -> int:
    """How many slots the learner's tables must have."""
    return index.slots + 2 * index.widest


def in_order(index: Index) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """[infosets] the keys in the order in which they were given slots, and their first slots."""
    used = index.entries[index.entries["first"] > 0]
    used = used[used["first"] <= index.slots]  # infosets in the overflow region have no slots of their own
    order = np.argsort(used["first"])
    return used["key"][order].copy(), used["first"][order] - 1


def refill(index: Index, keys: NDArray[np.uint64], first: NDArray[np.int64], slots: int) -> None:
    """Empty the table and insert the result of ``in_order``, with ``slots`` slots in use."""
    index.entries[...] = np.zeros(1, ENTRY)[0]
    _put(index, np.ascontiguousarray(keys), np.ascontiguousarray(first))
    index.counters[:] = slots, len(keys), 0


@kernel
def _put(index, keys, first):
    mask = np.uint64(len(index.entries) - 1)
    for number in range(len(keys)):
        at = home(index, keys[number])
        while index.entries[at].key != 0:
            at = (at + _1) & mask
        index.entries[at].key = keys[number]
        index.entries[at].first = first[number] + 1


@piece
def home(index, key):
    """A key's preferred entry."""
    return (key * SPREAD) >> (_64 - np.uint64(index.bits))


@piece
def find(index, key):
    """The entry that holds a key, and True; else the empty entry where the search ended, and False."""
    mask = np.uint64(len(index.entries) - 1)
    at = home(index, key)
    for _ in range(len(index.entries)):
        there = index.entries[at].key
        if there == key:
            return at, True
        if there == 0:
            break
        at = (at + _1) & mask
    return at, False


@piece
def slot_at(index, at):
    """The first slot of the infoset at an entry, published or about to be."""
    found = index.entries[at].first
    while found == 0:
        found = look(index.writing, index.entries["first"], at)
    return found - 1


@kernel
def insert(index, key, actions, at):
    """Give a new key slots, looking for an empty entry from ``at`` on; its first slot, and whether they are its own.

    Not merged into its callers: it runs once per infoset.
    """
    overflow = np.int64(index.slots + index.widest)
    mask = np.uint64(len(index.entries) - 1)
    if look(index.writing, index.counters, INFOSETS) < index.infosets:
        for _ in range(len(index.entries)):
            before = claim(index.writing, index.entries["key"], at, key)
            if before == 0:
                slot = take(index.writing, index.counters, SLOTS, actions)
                fits = slot + actions <= index.slots
                if fits:
                    take(index.writing, index.counters, INFOSETS, 1)
                else:
                    slot = overflow
                    index.counters[FULL] = 1
                publish(index.writing, index.entries["first"], at, slot + 1)
                return slot, fits
            if before == key:  # another thread was faster
                return slot_at(index, at), False
            at = (at + _1) & mask
    at, found = find(index, key)  # another thread may have given the last slots to this very key
    if found:
        return slot_at(index, at), False
    index.counters[FULL] = 1
    return overflow, False


@questions.slot_of.register(Hashed)
def _slot_of(game, node, signals):
    key = questions.key_of(game.inner, node, signals)
    at, found = find(game.by_key, key)
    if found:
        return slot_at(game.by_key, at)
    slot, new = insert(game.by_key, key, questions.num_actions(game.inner, node), at)
    if new:
        questions.name_infoset(game.inner, node, signals)
    return slot


@questions.slot_to_read.register(Hashed)
def _slot_to_read(game, node, signals):
    at, found = find(game.by_key, questions.key_of(game.inner, node, signals))
    return slot_at(game.by_key, at) if found else np.int64(game.by_key.slots)


questions.forward(
    Hashed,
    questions.deal,
    questions.start,
    questions.is_terminal,
    questions.player_of,
    questions.num_actions,
    questions.advance,
    questions.payoff,
)


class HashedSimulator(Simulator):
    """Any simulator that has keys, with tables for ``infosets`` infosets, of ``slots`` actions in all."""

    def __init__(self, inner: Simulator, infosets: int, slots: int) -> None:
        self.inner, self.infosets, self.slots = inner, infosets, slots
        self.name, self.game, self.digest = inner.name, inner.game, inner.digest
        self.num_players, self.widest, self.deepest = inner.num_players, inner.widest, inner.deepest
        self.decisions, self.payoff_range = inner.decisions, inner.payoff_range
        self.compiled, self.note = inner.compiled, inner.note
        self.defaults, self.calibration = inner.defaults, inner.calibration
        self.num_slots = table_size(new_index(0, slots, inner.widest, Plain()))

    def workers(self, count: int, batch: int = BATCH, writing: Any = None) -> list[Hashed]:
        index = new_index(self.infosets, self.slots, self.widest, Plain() if writing is None else writing)
        return [Hashed(game, index) for game in self.inner.workers(count, batch, writing)]

    def worker(self, batch: int = BATCH) -> Hashed:
        return self.workers(1, batch)[0]

    def index_of(self, worker: Hashed) -> Index:
        return worker.by_key

    def in_progress(self, workers: Sequence[Hashed]) -> dict[str, NDArray[Any]]:
        return self.inner.in_progress([each.inner for each in workers])

    def resume(self, workers: Sequence[Hashed], arrays: Learned) -> None:
        self.inner.resume([each.inner for each in workers], arrays)

    def failure(self, workers: Sequence[Hashed]) -> Any:
        return self.inner.failure([each.inner for each in workers])

    def exploration(self, k: float, cap: float) -> Any:
        by_pot = self.inner.exploration(k, cap)
        return None if isinstance(by_pot, BySlot) else by_pot  # needs numbered slots, which do not exist here

    def calls(self) -> Any:
        calls = self.inner.calls()
        return None if isinstance(calls, CallBySlot) else calls

    def strategy(self, learned: Learned, method: str, greedy: bool, **about: Any) -> Any:
        tables = {name: array for name, array in learned.items() if name not in ("keys", "first")}
        return self.inner.strategy_by_key(learned["keys"], learned["first"], tables, method, greedy, **about)

    def model(self, to: Any) -> NDArray[np.float64]:
        raise FogplayError(f"a response to a model needs the whole tree, and {self.game} is too large for one")


def full(game: str, index: Index, infosets: int) -> str:
    """The message when the tables are full."""
    more = 4 * max(index.infosets, 1)
    return (
        f"the tables are full: {infosets:,} infosets of {game} fitted, and there are more; "
        f"continue with larger tables: --resume --infosets {more} (in Python: resume=True, infosets={more})"
    )


def require_fit(index: Index, infosets: int, slots: int) -> None:
    """Refuse a checkpoint that is larger than the tables."""
    if infosets > index.infosets or slots > index.slots:
        raise FogplayError(
            f"the checkpoint holds {infosets:,} infosets, more than the tables: resume it with --infosets "
            f"{max(2 * infosets, index.infosets)} or more"
        )
