"""Products of small matrices in one thread: the threads of BLAS gain little there, and on busy cores they wait long.

While a core has other work to do, the threads of a product wait for each other, hundreds of times per move of a game.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside: list[Any] = []  # one entry per thread in ``one_thread``; the first one holds what to restore


@functools.cache
def _libraries() -> Any:
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS use one thread per caller, until the last of all callers has left.

    OpenBLAS takes a larger number only from the thread that set the smaller one. If that one leaves before others do,
    BLAS stays with one thread.
    """
    with _lock:
        _inside.append(_inside[0] if _inside else _libraries().limit(limits=1))
    try:
        yield
    finally:
        with _lock:
            limit = _inside.pop()
            if not _inside:
                limit.restore_original_limits()
