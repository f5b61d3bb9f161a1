"""The last round of a walk through hold'em on a GPU: kernels around the programs of ``holdem_river.py``."""

from __future__ import annotations

import functools
import importlib
import linecache
import os
import warnings
from typing import Any

import numpy as np

from fogplay.simulators.holdem_pack import NONE
from fogplay.simulators.holdem_program import for_a_thread, source
from fogplay.simulators.holdem_river import Branch, Layout, constants, rows_of
from fogplay.vectors import WIDTH

os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")  # kernels of many streams run concurrently
with warnings.catch_warnings():  # numba's built-in CUDA target warns that it is deprecated
    warnings.simplefilter("ignore")
    import numba.cuda

cuda: Any = numba.cuda
config: Any = numba.config
SIMULATED = bool(config.ENABLE_CUDASIM)
FREE_BYTES = 48 << 10  # of shared memory that a block may have
THREADS = 128  # per block of ``sum_boards``

HEAD = """\
def walk_boards(cards, reach, weights, own, value):
    held = cuda.shared.array(0, KIND)
    thread = np.uint64(cuda.threadIdx.x)
    line = np.uint64(cuda.blockIdx.y) * LINES + thread
    chunk, lane, board = line // LANES, line % LANES, np.uint64(cuda.blockIdx.x)
    if chunk >= np.uint64(reach.shape[1]):
        return
    turn = cards[board, TURN_AT]
"""
CALL = """\
    if cuda.blockIdx.z == {number}:
        branch_{number}(
            cards[board], reach[turn, chunk, lane:], weights[chunk, lane:], own[chunk, lane:], held, ZERO,
            thread, lane, value[{number}, board], line,
        )
"""


def walk_boards(branches: list[Branch], layout: Layout, slots: int, lanes: int) -> Any:
    """The kernel that fills ``value[branches, boards, hands * lanes]``, by blocks of ``layout.lines`` threads.

    It is launched with a grid of boards, lanes by the block's lines, and branches. ``pack`` makes
    ``cards[boards, columns]``; ``reach[turns, chunks, all hands * WIDTH]`` is the opponent's at the start of the round.
    """
    skip, parts = 0, []
    for number, branch in enumerate(branches):
        text = for_a_thread(source(branch, f"branch_{number}", layout.ahead))
        known = constants(branch, layout, skip, rows_of(branches), slots, lanes)
        parts.append((text, tuple(known.items())))
        skip += rows_of([branch])
    return _compiled(tuple(parts), layout)


@functools.lru_cache(maxsize=8)
def _compiled(parts: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...], layout: Layout) -> Any:
    """The kernel of the programs of branches, with their constants; strategies of the same lanes share it."""
    text, scope = HEAD, {"cuda": cuda, "np": np}
    for number, (program, known) in enumerate(parts):
        name = f"branch_{number}"
        made = _function(program, name, dict(known) | {"small": np.uint32})
        scope[name] = cuda.jit(made, device=True, inline="never")
        text += CALL.format(number=number)
    scope |= {
        "KIND": numba.from_dtype(np.dtype(layout.kind)),
        "LINES": np.uint64(layout.lines),
        "LANES": np.uint64(WIDTH),
        "ZERO": layout.kind(0),
        "TURN_AT": np.uint64(layout.turn_at),
    }
    return cuda.jit(_function(text, "walk_boards", scope))


def _function(text: str, name: str, scope: dict[str, Any]) -> Any:
    """A function from source that tracebacks can show."""
    file = f"<generated {name} {abs(hash((text, *map(str, scope.values()))))}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), scope)
    return scope[name]


def allow_shared_memory(made: Any, arguments: tuple[Any, ...], size: int) -> bool:
    """Let a kernel have so many bytes of shared memory per block; whether that is possible.

    More than 48 kB must be asked for, and numba has no public function for that. All kernels that run at the same time
    should leave as little to the cache, since a multiprocessor changes this only while it is idle.
    """
    if SIMULATED:
        return True
    try:
        library: Any = importlib.import_module("numba.cuda.cudadrv.driver")
        function = made.compile(tuple(numba.typeof(each) for each in arguments)).library.get_cufunc()
        wanted = library.binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        library.driver.cuKernelSetAttribute(wanted, size, function.handle, function.device.id)
        function.set_shared_memory_carveout(100)
    except (ImportError, AttributeError, cuda.cudadrv.driver.CudaAPIError):
        return size <= FREE_BYTES
    return True


@cuda.jit
def sum_boards(turns, turn_at, places_at, largest, cards, value, sums):
    """Fill ``sums[turns, chunks, all hands, WIDTH]``: join branches, add up boards and images, both in order.

    ``turns[turns, 5]`` has the first of a turn's boards, where they end, the same of its images
    (``holdem_boards.stabiliser``), and a factor.
    """
    at, turn = cuda.grid(1), cuda.blockIdx.y
    hands = sums.shape[2]
    lanes = sums.shape[1] * WIDTH
    if at >= lanes * hands:
        return
    line, hand = at % lanes, at // lanes
    total = 0.0
    for image in range(int(turns[turn, 2]), int(turns[turn, 3])):
        moved = places_at + np.int64(cards[image, hand])
        for board in range(int(turns[turn, 0]), int(turns[turn, 1])):
            place = cards[board, moved]
            if place != NONE:
                found = value[0, board, place * np.uint64(lanes) + np.uint64(line)]
                for branch in range(1, value.shape[0]):
                    other = value[branch, board, place * np.uint64(lanes) + np.uint64(line)]
                    found = max(found, other) if largest else found + other
                total += cards[board, turn_at + 1] * found
    sums[turn, line // WIDTH, hand, line % WIDTH] = total * turns[turn, 4]
