"""``Work``: a thread that computes a value and can be ended, when its time is over or memory runs short.

Rules come from strangers, and the interpreter follows them for as long as they say. Python code ends at its next step;
compiled code runs in short stretches.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable
from typing import Any

import psutil
from numba.core.compiler_lock import global_compiler_lock

LOOK_SECONDS = 0.05  # between two looks at the memory
INSIST_SECONDS = 0.2  # between two requests to end
MEMORY = 4_000_000_000  # bytes that rules and thinking may take


class EndedError(Exception):
    """Raised in a thread whose work is not wanted any more."""


class Work(threading.Thread):
    """Computes ``run()`` in a thread of its own; ``value`` and ``error`` are there when it ends."""

    def __init__(self, run: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._run = run
        self.value: Any = None
        self.error: BaseException | None = None
        self.done = threading.Event()  # set when the work is done, or not wanted any more
        self.start()

    def run(self) -> None:
        try:
            try:
                self.value = self._run()
            except BaseException as error:
                self.error = error
        except EndedError as ended:  # it came when the work had just ended
            self.error = self.error or ended
        finally:
            self.done.set()

    def wait(self, end: float, memory: int = MEMORY, clock: Callable[[], float] = time.monotonic) -> bool:
        """Wait until the work is done, ``end`` has come or the process needs more memory; whether it is done."""
        process = psutil.Process()
        while not self.done.wait(min(max(end - clock(), 0.0), LOOK_SECONDS)):
            if clock() >= end:
                break
            if process.memory_info().rss > memory:
                self.finish()
                return False
        return not self.is_alive() or self.error is not None or self.value is not None

    def finish(self) -> None:
        """End the work; its thread ends soon."""
        self.done.set()
        if self.is_alive():
            threading.Thread(target=self._insist, daemon=True).start()

    def _insist(self) -> None:
        """Ask the thread to end until it does: an exception in a destructor or callback is lost.

        Not while kernels are compiled: an exception in the middle of that leaves a compiler that crashes.
        """
        while self.is_alive() and self.ident is not None:
            if _is_compiling():
                self.join(LOOK_SECONDS)
                continue
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident), ctypes.py_object(EndedError))
            self.join(INSIST_SECONDS)


def _is_compiling() -> bool:
    """Whether some other thread compiles a kernel."""
    lock = global_compiler_lock._lock
    if lock.acquire(blocking=False):
        lock.release()
        return False
    return True


def give_memory_back() -> None:
    """Return freed memory to the system, where that is possible."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
