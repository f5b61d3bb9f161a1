"""The driver for GPUs: thousands of threads run a sampling kernel, the same as on a CPU, on tables in device memory.

The threads share the game and the tables in device memory; they write to tables by atomic operations, so no update is
lost. What is private to a thread, its scratch buffers and its batch of deals, must be in local memory, whose sizes have
to be constants when the kernel is compiled. The kernel that starts the threads is therefore generated for each game: a
few lines of source that take the game's tuple apart and rebuild it with the thread's private arrays. The file is kept
beside the compiled kernels.

The 32 threads of a warp run in lockstep as long as they execute the same instructions. Episodes differ in length, so
the threads of a warp synchronise after each; without that they diverge for good, and long games take twice as long.
Some warps are faster than others, so each warp takes the next episodes in order when it is free. With fixed shares, the
iteration numbers of fast warps would run far ahead, and lazy averages, which depend on these numbers, would ignore the
slow ones.
"""

from __future__ import annotations

import importlib.util
import os
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.atomics import claim, look, publish, take
from fogplay.errors import FogplayError
from fogplay.generated import module_from
from fogplay.kernels.cpu import Zeros
from fogplay.kernels.updates import add, raise_to
from fogplay.simulators.interface import PER_WORKER
from fogplay.simulators.streams import many_streams

QUEUES = 32  # of kernels that can run concurrently: the most a GPU has
os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", str(QUEUES))
with warnings.catch_warnings():  # numba's built-in CUDA target warns that it is deprecated
    warnings.simplefilter("ignore")
    import numba.cuda

cuda: Any = numba.cuda
config: Any = numba.config
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # few threads play at first, on purpose
SIMULATED = bool(config.ENABLE_CUDASIM)  # by plain Python, where every thread runs independently
BLOCK = 128  # threads per block: whole warps
FEWEST = BLOCK  # threads that play at the start
REGISTERS = 64  # per thread at most: then 2^17 threads run concurrently on 128 multiprocessors or more
WARP = 1 if SIMULATED else 32  # threads that run in lockstep
PLAYED = 3000  # episodes played per concurrent one before the number of threads doubles
NONE = np.zeros(1, np.int64)
LOCAL_BYTES = 8192  # a thread's private array that is larger than this goes to device memory
HEAD = "def grid(given, tables, policy, streams, rows, starts, taken, threads, first, count):"
BODY = """\
    thread = cuda.grid(1)
    if thread >= threads:
        return
    rng = cuda.local.array(2, uint64)
    rng[0] = streams[thread, 0]
    rng[1] = streams[thread, 1]
{own}
    lane = thread % WARP
    together = min(WARP, threads - thread + lane)
    lanes = (1 << together) - 1  # one bit for each thread of the warp that plays: the last warp may not be whole
    while True:
        place = 0
        if lane == 0:
            place = cuda.atomic.add(taken, 0, together)
        {tell}
        if place >= count:
            break
        if place + lane < count:
            run({game}, tables, policy, rng, {scratch}, first + place + lane, together, 1)
        {meet}
    streams[thread, 0] = rng[0]
    streams[thread, 1] = rng[1]
"""


class Atomic(NamedTuple):
    """Write by atomic operations."""


def _atomic_add(table: Any, at: int, amount: Any) -> None:
    cuda.atomic.add(table, at, amount)


def _atomic_max(table: Any, at: int, value: Any) -> Any:
    return cuda.atomic.max(table, at, value)


def _atomic_claim(table: Any, at: int, value: Any) -> Any:
    return cuda.atomic.cas(table, at, np.uint64(0), value)  # of 64-bit keys


def _atomic_take(table: Any, at: int, amount: Any) -> Any:
    return cuda.atomic.add(table, at, amount)


def _atomic_publish(table: Any, at: int, value: Any) -> None:
    cuda.atomic.exch(table, at, value)


def _atomic_look(table: Any, at: int) -> Any:
    return cuda.atomic.add(table, at, 0)


_alone = threading.Lock()
_starting = threading.Lock()  # a GPU that two threads start at the same time fails in one of them


def _simulated_add(table: Any, at: int, amount: Any) -> None:
    with _alone:
        table[at] += amount


def _simulated_max(table: Any, at: int, value: Any) -> Any:
    with _alone:
        before = table[at]
        table[at] = max(before, value)
        return before


def _simulated_claim(table: Any, at: int, value: Any) -> Any:
    with _alone:
        before = table[at]
        if before == 0:
            table[at] = value
        return before


def _simulated_take(table: Any, at: int, amount: Any) -> Any:
    with _alone:
        before = table[at]
        table[at] += amount
        return before


def _simulated_publish(table: Any, at: int, value: Any) -> None:
    table[at] = value


def _simulated_look(table: Any, at: int) -> Any:
    return table[at]


# In the simulator, a function that calls cuda's own functions loses them when another thread returns from it.
_add_there: Any = _simulated_add if SIMULATED else cuda.jit(device=True)(_atomic_add)
_max_there: Any = _simulated_max if SIMULATED else cuda.jit(device=True)(_atomic_max)
_claim_there: Any = _simulated_claim if SIMULATED else cuda.jit(device=True)(_atomic_claim)
_take_there: Any = _simulated_take if SIMULATED else cuda.jit(device=True)(_atomic_take)
_publish_there: Any = _simulated_publish if SIMULATED else cuda.jit(device=True)(_atomic_publish)
_look_there: Any = _simulated_look if SIMULATED else cuda.jit(device=True)(_atomic_look)


@add.register(Atomic)
def _add(writing, table, at, amount):
    _add_there(table, at, amount)


@raise_to.register(Atomic)
def _raise_to(writing, table, at, value):
    return _max_there(table, at, value)


@claim.register(Atomic)
def _claim(writing, table, at, value):
    return _claim_there(table, at, value)


@take.register(Atomic)
def _take(writing, table, at, amount):
    return _take_there(table, at, amount)


@publish.register(Atomic)
def _publish(writing, table, at, value):
    _publish_there(table, at, value)


@look.register(Atomic)
def _look(writing, table, at):
    return _look_there(table, at)


class CudaDriver:
    """``threads`` threads of a GPU; the arguments are those of ``cpu.CpuDriver``, with one game shared by all."""

    def __init__(
        self,
        run: Any,
        game: Any,
        tables: Callable[[Zeros, Any], Any],
        policy: Any,
        scratch: Any,
        seed: int,
        threads: int,
    ) -> None:
        require_gpu()
        self.threads, self.games = threads, ()
        self.stream = cuda.stream()  # several drivers may run concurrently
        source = _Source()
        body = BODY.format(
            game=source.expression(game, own=False),
            scratch=source.expression(scratch, own=True),
            own=source.lines(),
            tell="pass" if SIMULATED else "place = cuda.shfl_sync(lanes, place, 0)",  # broadcast the first lane's
            meet="pass" if SIMULATED else "cuda.syncwarp(lanes)",
        )
        self.kernel = source.compiled(f"{HEAD}\n{body}", run)
        made = tables(np.zeros, Atomic())
        rows = [np.zeros((threads, *each.shape), each.dtype) for each in source.rows]
        needed = [*made, *source.given, *source.starts, *rows, many_streams(seed, threads)]
        _require_memory(sum(each.nbytes for each in needed if isinstance(each, np.ndarray)), threads)
        self.tables, self.policy = _each(made, self._there), _each(policy, self._there)
        self.originals = source.given
        self.given, self.starts = tuple(map(self._there, source.given)), tuple(map(self._there, source.starts))
        self.rows, self.rng = tuple(map(self._there, rows)), self._there(needed[-1])
        self.taken = self._there(NONE)
        self.stream.synchronize()

    def advance(self, first: int, count: int) -> None:
        """Play iterations ``first ... first + count - 1``.

        Concurrent episodes see the same stale tables and, early on, make the same mistakes. The number of threads
        therefore ramps up, as ``at_once`` defines.
        """
        end = first + count
        while True:
            threads = at_once(self.threads, first - 1)
            part = end - first
            if threads < self.threads:
                part = min(part, 2 * PLAYED * threads - first + 1)
            blocks = -(-threads // BLOCK)
            self.taken.copy_to_device(NONE, stream=self.stream)
            self.kernel[blocks, min(BLOCK, threads), self.stream](*self.shared, threads, first, part)
            first += part
            if first == end:
                break
        self.stream.synchronize()

    @property
    def shared(self) -> tuple[Any, ...]:
        """The kernel's array arguments, in order."""
        return self.given, self.tables, self.policy, self.rng, self.rows, self.starts, self.taken

    def table(self, name: str) -> NDArray[Any]:
        """One of the tables, copied."""
        return self._here(getattr(self.tables, name))

    def read(self) -> tuple[Any, NDArray[np.uint64]]:
        """The tables and the random streams, copied."""
        return _each(self.tables, self._here), self._here(self.rng)

    def write(self, tables: Any, rng: NDArray[np.uint64]) -> None:
        """Continue from what ``read`` returned, with the caller's changes."""
        for mine, given in zip(self.tables, tables, strict=True):
            if isinstance(given, np.ndarray):
                mine.copy_to_device(given, stream=self.stream)
        self.rng.copy_to_device(rng, stream=self.stream)
        self.stream.synchronize()

    def fetch(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array of the game that workers write to, copied into ``array``."""
        array[...] = self._here(self._given_as(array))
        return array

    def store(self, array: NDArray[Any]) -> None:
        """Go on from what ``fetch`` gave, changed and put into ``array``."""
        self._given_as(array).copy_to_device(array, stream=self.stream)
        self.stream.synchronize()

    def _given_as(self, array: NDArray[Any]) -> Any:
        """The copy in device memory of an array of the game."""
        return next(there for here, there in zip(self.originals, self.given, strict=True) if here is array)

    def _there(self, value: Any) -> Any:
        """A copy in device memory, made asynchronously; values other than arrays stay as they are."""
        return cuda.to_device(np.ascontiguousarray(value), self.stream) if isinstance(value, np.ndarray) else value

    def _here(self, array: Any) -> NDArray[Any]:
        found: NDArray[Any] = array.copy_to_host(stream=self.stream)
        self.stream.synchronize()
        return found


def at_once(threads: int, played: int) -> int:
    """How many of the threads play after ``played`` episodes: their number doubles each time these double."""
    doubled = (played // (FEWEST * PLAYED)).bit_length() - 1
    return min(threads, FEWEST << max(doubled, 0))


class _Source:
    """The source of the kernel that starts the threads, and its array arguments."""

    def __init__(self) -> None:
        self.given: list[Any] = []  # what all threads share
        self.rows: list[NDArray[Any]] = []  # large private arrays: each is one array with a row per thread
        self.starts: list[NDArray[Any]] = []  # initial contents of private arrays
        self.names: dict[str, Any] = {"cuda": cuda, "uint64": np.uint64, "WARP": WARP}
        self._lines: list[str] = []

    def expression(self, value: Any, own: bool) -> str:
        """Source that evaluates to ``value`` inside the kernel; its arrays are private if ``own``, else shared."""
        if isinstance(value, tuple):
            kind = type(value)
            assert self.names.setdefault(kind.__name__, kind) is kind, "two types of the same name in one kernel"
            parts = [self.expression(part, own or kind in PER_WORKER) for part in value]
            return f"{kind.__name__}({', '.join(parts)})"
        if isinstance(value, bool | int):
            return repr(value)
        if own:
            return self._own(value)
        self.given.append(value)
        return f"given[{len(self.given) - 1}]"

    def _own(self, array: NDArray[Any]) -> str:
        """Source of a private array. Only one-dimensional arrays start with the contents of ``array``."""
        if array.nbytes > LOCAL_BYTES:
            self.rows.append(array)
            return f"rows[{len(self.rows) - 1}][thread]"
        name = f"own{len(self._lines)}"
        self.names[f"{name}_type"] = array.dtype
        shape = tuple(max(size, 1) for size in array.shape)  # CUDA has no empty arrays; these are never read
        self._lines.append(f"    {name} = cuda.local.array({shape}, {name}_type)\n")
        if array.ndim == 1 and array.dtype.names is None:
            self.starts.append(array)
            loop = f"    for at in range({len(array)}):\n        {name}[at] = starts[{len(self.starts) - 1}][at]\n"
            self._lines[-1] += loop
        return name

    def lines(self) -> str:
        return "".join(self._lines)

    def compiled(self, source: str, run: Any) -> Any:
        """The kernel, from a file in the folder of compiled kernels, so that each machine compiles it once."""
        called = run.py_func if hasattr(run, "py_func") else run
        types = "".join(f"# {name}: {kind}\n" for name, kind in sorted(self.names.items()) if name.endswith("_type"))
        text = f"# starts {called.__module__}.{called.__qualname__}\n{types}{source}"
        module = module_from("grid", text, {**self.names, "run": run})
        return cuda.jit(cache=True, **({} if SIMULATED else {"max_registers": REGISTERS}))(module.grid)


def require_gpu() -> None:
    """Raise an error unless there is a GPU; the first call starts it."""
    with _starting:
        if cuda.is_available():
            cuda.current_context()
            return
    if importlib.util.find_spec("numba_cuda") is None:
        raise FogplayError("device cuda needs an NVIDIA GPU and an extra package: pip install 'fogplay[gpu]'")
    raise FogplayError("device cuda needs an NVIDIA GPU with its driver, and none was found; use device cpu")


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """``value``, a tuple of tuples and arrays, with ``change`` applied to every array."""
    return type(value)(*(_each(part, change) if isinstance(part, tuple) else change(part) for part in value))


def _require_memory(needed: float, threads: int) -> None:
    free = cuda.current_context().get_memory_info().free
    if needed > free:
        raise FogplayError(
            f"{threads:,} threads need {needed / 1e9:,.1f} GB of GPU memory, and {free / 1e9:,.1f} GB are free; "
            "use fewer threads"
        )
