"""Arrays that several threads write to: claim an empty entry, take from a counter, publish a number, read it.

The type of the first argument decides how: one thread needs nothing special, CPU threads use the processor's atomic
operations, and ``kernels/cuda.py`` adds those of a GPU. Compiled code gets them from LLVM; plain Python, where
compiling is switched off, uses a lock.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from fogplay.dispatch import by_type
from fogplay.jit import INLINED

_lock = threading.Lock()
_by_llvm: Any = intrinsic


class Plain(NamedTuple):
    """Plain read, add, write. CPU threads occasionally lose an addition this way; preventing that is far slower."""


class Shared(NamedTuple):
    """By the atomic operations of the processor, between CPU threads."""


@by_type
def claim(writing, table, at, value):
    """Put ``value`` at ``table[at]`` if 0 is there; what was there before is returned."""


@by_type
def take(writing, table, at, amount):
    """Add ``amount`` to ``table[at]``; what was there before is returned."""


@by_type
def publish(writing, table, at, value):
    """Put ``value`` at ``table[at]``, for all threads to see."""


@by_type
def look(writing, table, at):
    """The value that any thread published last at ``table[at]``."""


@claim.register(Plain)
def _claim(writing, table, at, value):
    before = table[at]
    if before == 0:
        table[at] = value
    return before


@take.register(Plain)
def _take(writing, table, at, amount):
    before = table[at]
    table[at] = before + amount
    return before


@publish.register(Plain)
def _publish(writing, table, at, value):
    table[at] = value


@look.register(Plain)
def _look(writing, table, at):
    return table[at]


@claim.register(Shared)
def _claim_shared(writing, table, at, value):
    return compare_and_swap(table, at, value)


@take.register(Shared)
def _take_shared(writing, table, at, amount):
    return fetch_and_add(table, at, amount)


@publish.register(Shared)
def _publish_shared(writing, table, at, value):
    store(table, at, value)


@look.register(Shared)
def _look_shared(writing, table, at):
    return fetch(table, at)


# ---- The processor's operations: plain Python here, and what they are compiled to below


def compare_and_swap(table, at, value):
    """Put ``value`` at ``table[at]`` if 0 is there; what was there before is returned."""
    with _lock:
        return _claim(Plain(), table, at, value)


def fetch_and_add(table, at, amount):
    """Add ``amount`` to ``table[at]``; what was there before is returned."""
    with _lock:
        return _take(Plain(), table, at, amount)


def store(table, at, value):
    """Put ``value`` at ``table[at]``."""
    table[at] = value


def fetch(table, at):
    """The value at ``table[at]``."""
    return table[at]


def _entry(context: Any, builder: Any, table_type: Any, table: Any, at_type: Any, at: Any) -> Any:
    """The address of ``table[at]``."""
    array = context.make_array(table_type)(context, builder, table)
    place = context.cast(builder, at, at_type, types.intp)
    return cgutils.get_item_pointer(context, builder, table_type, array, [place], wraparound=False)


@_by_llvm
def _compare_and_swap(typingctx: Any, table: Any, at: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entry = _entry(context, builder, table, arguments[0], at, arguments[1])
        new = context.cast(builder, arguments[2], value, table.dtype)
        swapped = builder.cmpxchg(entry, new.type(0), new, "acq_rel", "acquire")
        return builder.extract_value(swapped, 0)

    return table.dtype(table, at, value), generate


@_by_llvm
def _fetch_and_add(typingctx: Any, table: Any, at: Any, amount: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entry = _entry(context, builder, table, arguments[0], at, arguments[1])
        more = context.cast(builder, arguments[2], amount, table.dtype)
        return builder.atomic_rmw("add", entry, more, "acq_rel")

    return table.dtype(table, at, amount), generate


@_by_llvm
def _store(typingctx: Any, table: Any, at: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entry = _entry(context, builder, table, arguments[0], at, arguments[1])
        builder.store_atomic(context.cast(builder, arguments[2], value, table.dtype), entry, "release", 8)
        return context.get_dummy_value()

    return types.void(table, at, value), generate


@_by_llvm
def _fetch(typingctx: Any, table: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_entry(context, builder, table, arguments[0], at, arguments[1]), "acquire", 8)

    return table.dtype(table, at), generate


@overload(compare_and_swap, jit_options=INLINED)
def _compiled_compare_and_swap(table, at, value):
    def compiled(table, at, value):
        return _compare_and_swap(table, at, value)

    return compiled


@overload(fetch_and_add, jit_options=INLINED)
def _compiled_fetch_and_add(table, at, amount):
    def compiled(table, at, amount):
        return _fetch_and_add(table, at, amount)

    return compiled


@overload(store, jit_options=INLINED)
def _compiled_store(table, at, value):
    def compiled(table, at, value):
        return _store(table, at, value)

    return compiled


@overload(fetch, jit_options=INLINED)
def _compiled_fetch(table, at):
    def compiled(table, at):
        return _fetch(table, at)

    return compiled
