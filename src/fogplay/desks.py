"""Desks: where compiled code lays questions and waits for the answers, without Python's lock.

A desk belongs to one thread. Somebody else, who attends to many desks, looks at their states, answers and says so. The
thread meanwhile sleeps some microseconds at a time. Were it to wait in Python, it would need Python's lock to go on,
and many threads would spend their time queueing for it.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numba.core import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from fogplay import atomics
from fogplay.jit import INLINED, kernel

ANSWERED, ASKED, FAILED = range(3)  # the state of a desk
NAP = 100  # microseconds; a GPU needs some hundred for a batch
_by_llvm: Any = intrinsic


class Desk(NamedTuple):
    """The questions of one thread, kind by kind, and their answers."""

    questions: NDArray[np.int64]  # [rows, words]
    answers: NDArray[np.float32]  # [rows, outputs]
    first: NDArray[np.int64]  # [kinds] the row where a kind's questions begin
    asked: NDArray[np.int64]  # [kinds] how many there are
    state: NDArray[np.int64]  # [1]
    nap: NDArray[np.int64]  # [1] the address of the system's function that sleeps, or 0


@runtime_checkable
class Attendant(Protocol):
    """Somebody who answers what lies on desks, in a thread of their own."""

    def desk(self, rows: int) -> Desk:
        """A new desk, which is attended to from now on, until it is given back."""
        ...

    def give_back(self, desk: Desk) -> None:
        """Nobody will ask at this desk again."""
        ...

    def attend(self) -> Any:
        """A context in which desks are looked at often."""
        ...

    def failure(self, desk: Desk) -> Exception:
        """Why a desk's questions failed."""
        ...


def new_desk(rows: int, words: int, outputs: int, kinds: int, zeros: Callable[..., NDArray[Any]] = np.zeros) -> Desk:
    """A desk; ``zeros(size, type)`` makes its large arrays."""
    small = (np.zeros(kinds, np.int64), np.zeros(kinds, np.int64), np.zeros(1, np.int64))
    return Desk(zeros((rows, words), np.int64), zeros((rows, outputs), np.float32), *small, np.array([_address()]))


def _address() -> int:
    """Where the system's ``usleep`` is; 0 where there is none, and waiting keeps a core busy."""
    try:
        return ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p).value or 0
    except (AttributeError, OSError, TypeError):
        return 0


@kernel
def exchange(desk):
    """Wait until the questions on a desk are answered; return whether they were."""
    atomics.store(desk.state, 0, ASKED)
    while atomics.fetch(desk.state, 0) == ASKED:
        sleep(desk.nap[0], NAP)
    return atomics.fetch(desk.state, 0) == ANSWERED


def sleep(_address, microseconds):
    """Sleep for some microseconds, by the system's function at an address."""
    time.sleep(1e-6 * microseconds)


@_by_llvm
def _sleep(typingctx: Any, address: Any, microseconds: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir

        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32)])
        there = builder.icmp_unsigned("!=", arguments[0], arguments[0].type(0))
        with builder.if_then(there):
            function = builder.inttoptr(arguments[0], kind.as_pointer())
            builder.call(function, [builder.trunc(arguments[1], ir.IntType(32))])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@overload(sleep, jit_options=INLINED)
def _compiled_sleep(_address, microseconds):
    def compiled(_address, microseconds):
        _sleep(_address, microseconds)

    return compiled
