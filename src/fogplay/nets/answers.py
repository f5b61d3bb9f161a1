"""Answering questions of many threads on a GPU.

A search asks often, about a few hundred rows at a time, and a GPU is fast with thousands. So the questions that wait
for one seat's network lie in one batch: every thread copies its rows into the batch that is open, and a thread of its
own sends batches off. The network of each seat is captured once for batches of a few sizes, and replayed, so a batch
costs two copies and one launch, however many threads have asked. While a question waits, its thread holds neither
Python's lock nor a core.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fogplay.errors import FogplayError
from fogplay.nets.convolution import Convolution
from fogplay.nets.dense import Dense
from fogplay.strategies.dense import DenseShape
from fogplay.strategies.network import Network

SIZES = (128, 512, 1024, 2048, 3072, 4096, 6144, 8192)  # rows of a batch, which is filled up to the next size
FLYING = 2  # batches on their way at the same time; more would be smaller
Forward = Callable[[Tensor, int], Tensor]  # (seen[rows, words], seat) -> outputs[rows, outputs]


class Captured(NamedTuple):
    """A network that answers batches of one size: ``replay()`` fills ``outputs`` from ``seen``."""

    replay: Callable[[], None]
    seen: Tensor
    outputs: Tensor


class Batch:
    """Rows of many threads, and the answers to them; used again when nobody reads it any more."""

    def __init__(self, seen: Tensor, outputs: Tensor) -> None:
        self.seen, self.outputs = seen, outputs
        self.questions: NDArray[np.int64] = seen.numpy()
        self.answers: NDArray[np.float32] = outputs.numpy()
        self.rows = self.writers = self.readers = 0
        self.error: Exception | None = None
        self.done = threading.Event()

    def clear(self) -> None:
        """Make it ready for other rows."""
        self.rows, self.error = 0, None
        self.done.clear()


class Gpu:
    """Where networks are captured and answer."""

    def __init__(self) -> None:
        self.stream: Any = torch.cuda.Stream()
        self._pool: Any = None

    def event(self) -> Any:
        """A mark in the order of what was sent, now."""
        found: Any = torch.cuda.Event(enable_timing=True, blocking=True)
        found.record(self.stream)
        return found

    def context(self) -> Any:
        """In which everything is sent."""
        return torch.cuda.stream(self.stream)

    def settle(self) -> None:
        """Wait until everything that was sent is done."""
        torch.cuda.synchronize()

    def memory(self, *size: int, dtype: torch.dtype) -> Tensor:
        """Memory from which a GPU copies by itself."""
        return torch.zeros(size, dtype=dtype, pin_memory=True)

    def capture(self, forward: Forward, seat: int, size: int, words: int) -> Captured:
        """The network of a seat for batches of a size."""
        seen, graph = torch.zeros((size, words), dtype=torch.int64, device="cuda"), torch.cuda.CUDAGraph()
        with torch.no_grad():
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                for _ in range(2):  # libraries choose and compile their kernels before the capture
                    forward(seen, seat)
            self.stream.synchronize()
            with torch.cuda.graph(graph, pool=self._pool, stream=self.stream, capture_error_mode="thread_local"):
                found = forward(seen, seat)
        self._pool = graph.pool()
        return Captured(graph.replay, seen, found)


class Answers:
    """Called with a seat and ``seen[rows, words]``; returns ``outputs[rows, outputs]``, which the next call reuses."""

    def __init__(
        self, forward: Forward, update: Callable[[], None], seats: int, words: int, outputs: int, place: Any = None
    ) -> None:
        self.place = place if place is not None else Gpu()
        self._size, self._update = (words, outputs), update
        self._forward = forward  # keeps the networks alive, whose memory the captured graphs read
        self._captured = {
            (seat, size): self.place.capture(forward, seat, size, words) for seat in range(seats) for size in SIZES
        }
        self._open: list[Batch | None] = [None] * seats
        self._full, self._spare = deque[tuple[int, Batch]](), list[Batch]()
        self._wake, self._own = threading.Condition(), threading.local()
        self._times, self._summing = deque[tuple[Any, Any]](), threading.Lock()
        self._seconds, self.rows, self.batches = 0.0, 0, 0
        self._broken: Exception | None = None
        threading.Thread(target=self._serve, daemon=True).start()

    def __call__(self, seat: int, seen: NDArray[np.int64]) -> NDArray[np.float32]:
        return self.together([(seat, seen)])[0]

    def together(self, questions: Sequence[tuple[int, NDArray[np.int64]]]) -> list[NDArray[np.float32]]:
        """The outputs for several seats and what they see, in the time of one; the next call reuses them."""
        found: list[list[NDArray[np.float32]]] = [[] for _ in questions]
        for number, batch, first, end in self._put(questions):
            batch.done.wait()
            if batch.error is not None:
                raise batch.error
            found[number].append(batch.answers[first:end])
        return [parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in found]

    def update(self) -> None:
        """Take over what the networks have learned."""
        self.place.settle()
        self._update()
        self.place.settle()

    def seconds(self) -> float:
        """How long networks have computed so far."""
        with self._summing:
            while self._times:
                begin, end = self._times.popleft()
                end.synchronize()
                self._seconds += begin.elapsed_time(end) / 1e3
            return self._seconds

    # ---- The threads that ask

    def _put(self, questions: Sequence[tuple[int, NDArray[np.int64]]]) -> list[tuple[int, Batch, int, int]]:
        """Copy questions into their seats' open batches: for each part its question, batch, first row and end.

        Threads take turns at the lock, so it is taken twice per call, not per question.
        """
        parts = [
            (number, seat, seen[at : at + SIZES[-1]])
            for number, (seat, seen) in enumerate(questions)
            for at in range(0, max(len(seen), 1), SIZES[-1])
        ]
        with self._wake:
            self._let_go()
            if self._broken is not None:
                raise self._broken
            places = [(number, *self._reserve(seat, len(seen))) for number, seat, seen in parts]
        for (_, batch, first, end), (_, _, seen) in zip(places, parts, strict=True):
            batch.questions[first:end] = seen
        with self._wake:
            for _, batch, _, _ in places:
                batch.writers -= 1
            self._wake.notify()
        return places

    def _reserve(self, seat: int, rows: int) -> tuple[Batch, int, int]:
        """Rows of the seat's open batch for the calling thread, which has the lock: the first one and their end."""
        batch = self._open[seat]
        if batch is not None and batch.rows + rows > SIZES[-1]:
            self._full.append((seat, batch))
            batch = None
        if batch is None:
            batch = self._open[seat] = self._spare.pop() if self._spare else self._new()
        first, batch.rows = batch.rows, batch.rows + rows
        batch.writers += 1
        batch.readers += 1
        self._held().append(batch)
        return batch, first, batch.rows

    def _let_go(self) -> None:
        """Give back the batches that the answers to the calling thread's last questions lie in; it has the lock."""
        for batch in self._held():
            batch.readers -= 1
            if batch.readers == 0:
                batch.clear()
                self._spare.append(batch)
        self._held().clear()

    def _held(self) -> list[Batch]:
        if not hasattr(self._own, "held"):
            self._own.held = list[Batch]()
        found: list[Batch] = self._own.held
        return found

    def _new(self) -> Batch:
        words, outputs = self._size
        seen = self.place.memory(SIZES[-1], words, dtype=torch.int64)
        return Batch(seen, self.place.memory(SIZES[-1], outputs, dtype=torch.float32))

    # ---- The thread that answers

    def _serve(self) -> None:
        """Send off what waits; if that fails, everybody who waits or asks later gets the error."""
        flying = deque[tuple[Batch, Any]]()
        try:
            self._answer_all(flying)
        except Exception as error:
            with self._wake:
                self._broken = error
                lost = [batch for batch, _ in flying] + [batch for _, batch in self._full]
                lost += [batch for batch in self._open if batch is not None]
            for batch in lost:
                batch.error = error
                batch.done.set()

    def _answer_all(self, flying: deque[tuple[Batch, Any]]) -> None:
        """Send off what waits; while batches are on their way (``flying``), the next ones fill up."""
        while True:
            with self._wake:
                found = self._next()
                while found is None and not flying:
                    self._wake.wait()
                    found = self._next()
            if found is not None:
                seat, batch = found
                try:
                    flying.append((batch, self._send(seat, batch)))
                except Exception as error:  # the threads that wait for it raise it
                    batch.error = error
                    batch.done.set()
            if flying and (found is None or len(flying) >= FLYING):
                batch, arrived = flying[0]
                arrived.synchronize()
                flying.popleft()
                batch.done.set()

    def _next(self) -> tuple[int, Batch] | None:
        """The oldest full batch, or else the open one with the most rows; only batches that nobody writes to."""
        for place, (seat, batch) in enumerate(self._full):
            if batch.writers == 0:
                del self._full[place]
                return seat, batch
        ready = [(each.rows, seat) for seat, each in enumerate(self._open) if each is not None and each.writers == 0]
        if not ready:
            return None
        _, seat = max(ready)
        chosen, self._open[seat] = self._open[seat], None
        return None if chosen is None else (seat, chosen)

    def _send(self, seat: int, batch: Batch) -> Any:
        """Send a batch on its way; return what says that it has been answered."""
        rows = batch.rows
        captured = self._captured[seat, next(size for size in SIZES if size >= rows)]
        with self.place.context():
            captured.seen[:rows].copy_(batch.seen[:rows], non_blocking=True)
            begin = self.place.event()
            captured.replay()
            end = self.place.event()
            batch.outputs[:rows].copy_(captured.outputs[:rows], non_blocking=True)
            arrived = self.place.event()
        self._times.append((begin, end))
        if len(self._times) > 10_000:
            self.seconds()
        self.rows += rows
        self.batches += 1
        return arrived


def answers_of(net: Dense | Convolution) -> Answers:
    """Answers of a module's networks, on a GPU; ``update()`` takes over their weights after they have learned."""
    if isinstance(net, Dense):
        forward: Forward = lambda seen, seat: net(seen.unsqueeze(0), seat).squeeze(0)  # noqa: E731
        return Answers(forward, lambda: None, net.copies, net.shape.words, net.shape.outputs)
    from fogplay.nets.convolution_gpu import FoldedConvolution

    folded = FoldedConvolution(net)
    return Answers(folded, folded.fold, net.copies, net.shape.words, net.shape.outputs)


def answers_of_dense(networks: Sequence[Network]) -> Answers:
    """Answers of networks of one dense shape, one per seat, on a GPU."""
    shape = networks[0].shape
    if not isinstance(shape, DenseShape) or any(network.shape != shape for network in networks):
        raise FogplayError("only dense networks of one shape can be asked on a GPU")
    net = Dense(shape, len(networks))
    with torch.no_grad():
        for name, array in net.arrays.items():
            array.copy_(torch.from_numpy(np.stack([network.arrays[name] for network in networks])))
    return answers_of(net.to("cuda"))
