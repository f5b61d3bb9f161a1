"""Large tables in large pages: an episode that jumps about in gigabytes otherwise waits for addresses too."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGE = 1 << 23  # bytes from which large pages pay
HUGE_PAGE = 1 << 21


def zeros(count: int, kind: Any) -> NDArray[Any]:
    """[count] zeros of a type, in huge pages where the machine lends them; memory is taken as it is first touched."""
    size = count * np.dtype(kind).itemsize
    if size < LARGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(count, kind)
    room = mmap.mmap(-1, size + HUGE_PAGE)
    room.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(room, np.uint8)
    begin = -whole.ctypes.data % HUGE_PAGE
    return whole[begin : begin + size].view(kind)
