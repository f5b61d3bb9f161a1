"""The driver for GPUs: thousands of threads run a sampling kernel, the same as on a CPU, on tables in device memory.

What the threads share, the game and the tables, lies in device memory; tables are written by atomic operations, so no
count is lost. What a thread needs for itself, its scratch buffers and the deals waiting to be played, must lie in its
local memory, where a GPU wants every size to be known when it compiles. So the kernel that starts the threads is
written for the game at hand: a few lines of source that take the game apart and put it together again with arrays of
the thread's own. The file is kept beside the compiled kernels.

The 32 threads of a warp run in step as long as they are at the same place of the program. Episodes differ in length, so
the threads wait for each other after each: left alone they never find together again, and hold'em takes twice as long.
Some warps are faster than others, so each takes the next episodes in order when it is free: with shares of their own
the fast would number theirs far ahead of the slow, and lazy averages, which go by these numbers, would be theirs alone.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.jit import cache_folder
from fogplay.kernels.cpu import Zeros
from fogplay.kernels.updates import add, raise_to
from fogplay.simulators.interface import PER_WORKER
from fogplay.simulators.streams import many_streams

QUEUES = 32  # of kernels that can run beside each other: the most a GPU has
os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", str(QUEUES))
with warnings.catch_warnings():  # numba's own copy of what the extra installs says that it is old
    warnings.simplefilter("ignore")
    import numba.cuda

cuda: Any = numba.cuda
config: Any = numba.config
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # few threads play at first, and that is meant
SIMULATED = bool(config.ENABLE_CUDASIM)  # by plain Python, where every thread runs for itself
BLOCK = 128  # threads that start together: whole warps
FEWEST = BLOCK  # that play in the beginning
REGISTERS = 64  # of each thread at most: so 2^17 of them run at the same time on 128 multiprocessors or more
WARP = 1 if SIMULATED else 32  # threads that run in step
PLAYED = 3000  # episodes at least for each of those that are played at the same time, beyond the fewest
NONE = np.zeros(1, np.int64)
LOCAL_BYTES = 8192  # an array of a thread's own that is larger lies in device memory
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
    """By operations that no other thread can come between."""


def _atomic_add(table: Any, at: int, amount: Any) -> None:
    cuda.atomic.add(table, at, amount)


def _atomic_max(table: Any, at: int, value: Any) -> Any:
    return cuda.atomic.max(table, at, value)


_alone = threading.Lock()


def _simulated_add(table: Any, at: int, amount: Any) -> None:
    with _alone:
        table[at] += amount


def _simulated_max(table: Any, at: int, value: Any) -> Any:
    with _alone:
        before = table[at]
        table[at] = max(before, value)
        return before


# In the simulator a function that calls cuda's own loses them at the moment when another thread comes back from it.
_add_there: Any = _simulated_add if SIMULATED else cuda.jit(device=True)(_atomic_add)
_max_there: Any = _simulated_max if SIMULATED else cuda.jit(device=True)(_atomic_max)


@add.register(Atomic)
def _add(writing, table, at, amount):
    _add_there(table, at, amount)


@raise_to.register(Atomic)
def _raise_to(writing, table, at, value):
    return _max_there(table, at, value)


class CudaDriver:
    """So many threads of a GPU; the arguments are those of ``cpu.CpuDriver``, with one game for all."""

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
        self.stream = cuda.stream()  # several may run beside each other
        source = _Source()
        body = BODY.format(
            game=source.expression(game, own=False),
            scratch=source.expression(scratch, own=True),
            own=source.lines(),
            tell="pass" if SIMULATED else "place = cuda.shfl_sync(lanes, place, 0)",  # the first to the others
            meet="pass" if SIMULATED else "cuda.syncwarp(lanes)",
        )
        self.kernel = source.compiled(f"{HEAD}\n{body}", run)
        made = tables(np.zeros, Atomic())
        rows = [np.zeros((threads, *each.shape), each.dtype) for each in source.rows]
        needed = [*made, *source.given, *source.starts, *rows, many_streams(seed, threads)]
        _require_memory(sum(each.nbytes for each in needed if isinstance(each, np.ndarray)), threads)
        self.tables, self.policy = _each(made, self._there), _each(policy, self._there)
        self.given, self.starts = tuple(map(self._there, source.given)), tuple(map(self._there, source.starts))
        self.rows, self.rng = tuple(map(self._there, rows)), self._there(needed[-1])
        self.taken = self._there(NONE)
        self.stream.synchronize()

    def advance(self, first: int, count: int) -> None:
        """Play iterations ``first ... first + count - 1``.

        All who play at the same time know the same, and where little is known that is to make the same mistakes. So
        the threads begin to play one after the other, as ``at_once`` allows.
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
        """What the kernel is given, in the order of its arguments, beside numbers."""
        return self.given, self.tables, self.policy, self.rng, self.rows, self.starts, self.taken

    def table(self, name: str) -> NDArray[Any]:
        """One of the tables, copied."""
        return self._here(getattr(self.tables, name))

    def read(self) -> tuple[Any, NDArray[np.uint64]]:
        """The tables and the random streams, copied."""
        return _each(self.tables, self._here), self._here(self.rng)

    def write(self, tables: Any, rng: NDArray[np.uint64]) -> None:
        """Go on from what ``read`` gave, changed."""
        for mine, given in zip(self.tables, tables, strict=True):
            if isinstance(given, np.ndarray):
                mine.copy_to_device(given, stream=self.stream)
        self.rng.copy_to_device(rng, stream=self.stream)
        self.stream.synchronize()

    def _there(self, value: Any) -> Any:
        """The same in device memory, soon."""
        return cuda.to_device(np.ascontiguousarray(value), self.stream) if isinstance(value, np.ndarray) else value

    def _here(self, array: Any) -> NDArray[Any]:
        found: NDArray[Any] = array.copy_to_host(stream=self.stream)
        self.stream.synchronize()
        return found


def at_once(threads: int, played: int) -> int:
    """How many of the threads play when so many episodes have been played: they double as these do."""
    doubled = (played // (FEWEST * PLAYED)).bit_length() - 1
    return min(threads, FEWEST << max(doubled, 0))


class _Source:
    """The source of the kernel that starts the threads, and the arrays that it is given."""

    def __init__(self) -> None:
        self.given: list[Any] = []  # what all threads share
        self.rows: list[NDArray[Any]] = []  # large arrays of a thread's own: one for all, with a row for each
        self.starts: list[NDArray[Any]] = []  # what arrays of a thread's own hold in the beginning
        self.names: dict[str, Any] = {"cuda": cuda, "uint64": np.uint64, "WARP": WARP}
        self._lines: list[str] = []

    def expression(self, value: Any, own: bool) -> str:
        """What gives ``value`` inside the kernel, its arrays the thread's own or everybody's."""
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
        """An array of the thread's own. Only those of one dimension start with what is in ``array``."""
        if array.nbytes > LOCAL_BYTES:
            self.rows.append(array)
            return f"rows[{len(self.rows) - 1}][thread]"
        name = f"own{len(self._lines)}"
        self.names[f"{name}_type"] = array.dtype
        shape = tuple(max(size, 1) for size in array.shape)  # arrays without entries, which are not used, are not known
        self._lines.append(f"    {name} = cuda.local.array({shape}, {name}_type)\n")
        if array.ndim == 1 and array.dtype.names is None:
            self.starts.append(array)
            loop = f"    for at in range({len(array)}):\n        {name}[at] = starts[{len(self.starts) - 1}][at]\n"
            self._lines[-1] += loop
        return name

    def lines(self) -> str:
        return "".join(self._lines)

    def compiled(self, source: str, run: Any) -> Any:
        """The kernel, from a file in the folder of compiled kernels, so that it is compiled once a machine."""
        called = run.py_func if hasattr(run, "py_func") else run
        types = "".join(f"# {name}: {kind}\n" for name, kind in sorted(self.names.items()) if name.endswith("_type"))
        text = f"# starts {called.__module__}.{called.__qualname__}\n{types}{source}"
        name = f"grid_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        path = cache_folder() / f"{name}.py"
        if not path.exists():
            with storage.atomically(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
                file.write(text)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        vars(module).update(self.names, run=run)
        spec.loader.exec_module(module)
        return cuda.jit(cache=True, **({} if SIMULATED else {"max_registers": REGISTERS}))(module.grid)


def require_gpu() -> None:
    """Refuse where there is none."""
    if cuda.is_available():
        return
    if importlib.util.find_spec("numba_cuda") is None:
        raise FogplayError("device cuda needs an NVIDIA GPU and the extra that drives it: pip install 'fogplay[gpu]'")
    raise FogplayError("device cuda needs an NVIDIA GPU with its driver, and none was found; leave the device out")


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """``value``, a tuple of tuples and arrays, with every array in it changed."""
    return type(value)(*(_each(part, change) if isinstance(part, tuple) else change(part) for part in value))


def _require_memory(needed: float, threads: int) -> None:
    free = cuda.current_context().get_memory_info().free
    if needed > free:
        raise FogplayError(
            f"this needs {needed / 1e9:,.1f} GB of the GPU's memory with {threads:,} threads, and {free / 1e9:,.1f} GB "
            "are free"
        )
