"""Answering questions of many threads on a GPU.

A search asks often, about a few hundred rows at a time, and a GPU is fast with thousands. So the questions that wait
for one seat's network are answered together: a thread of its own takes as many as fit into a batch. The network of each
seat is captured once for batches of a few sizes, and replayed; a batch costs one launch. While a question waits, its
thread holds neither Python's lock nor a core.
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


class Question:
    """Some rows, where their answers go, and what says that they are there."""

    def __init__(self, seen: Tensor, outputs: Tensor) -> None:
        self.seen, self.outputs = seen, outputs
        self.sent = threading.Event()
        self.done: Any = None

    def wait(self) -> None:
        """Return when the answers are there."""
        self.sent.wait()
        if isinstance(self.done, Exception):
            raise self.done
        self.done.synchronize()


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
        self._captured = {
            (seat, size): self.place.capture(forward, seat, size, words) for seat in range(seats) for size in SIZES
        }
        self._waiting = [deque[Question]() for _ in range(seats)]
        self._wake, self._own = threading.Condition(), threading.local()
        self._times = deque[tuple[Any, Any]]()
        self._seconds, self.rows, self.batches = 0.0, 0, 0
        threading.Thread(target=self._serve, daemon=True).start()

    def __call__(self, seat: int, seen: NDArray[np.int64]) -> NDArray[np.float32]:
        rows = len(seen)
        there, outputs = self._desk(rows)
        there[:rows].numpy()[:] = seen
        starts = range(0, rows, SIZES[-1])
        questions = [
            Question(there[first : min(first + SIZES[-1], rows)], outputs[first : min(first + SIZES[-1], rows)])
            for first in starts
        ]
        with self._wake:
            self._waiting[seat].extend(questions)
            self._wake.notify()
        for question in questions:
            question.wait()
        found: NDArray[np.float32] = outputs[:rows].numpy()
        return found

    def update(self) -> None:
        """Take over what the networks have learned."""
        self.place.settle()
        self._update()
        self.place.settle()

    def seconds(self) -> float:
        """How long networks have computed so far."""
        while self._times:
            begin, end = self._times.popleft()
            end.synchronize()
            self._seconds += begin.elapsed_time(end) / 1e3
        return self._seconds

    # ---- Batches

    def _serve(self) -> None:
        flying = deque[Any]()
        while True:
            with self._wake:
                while not any(self._waiting):
                    self._wake.wait()
                seat, batch = self._next()
            try:
                flying.append(self._send(seat, batch))
            except Exception as error:  # the threads that wait for it raise it
                for question in batch:
                    question.done = error
                    question.sent.set()
            if len(flying) >= FLYING:
                flying.popleft().synchronize()

    def _next(self) -> tuple[int, list[Question]]:
        """The seat with the most rows waiting, and its oldest questions as far as they fit into a batch."""
        counts = [sum(len(question.seen) for question in waiting) for waiting in self._waiting]
        seat = counts.index(max(counts))
        waiting, batch, rows = self._waiting[seat], list[Question](), 0
        while waiting and rows + len(waiting[0].seen) <= SIZES[-1]:
            rows += len(waiting[0].seen)
            batch.append(waiting.popleft())
        return seat, batch

    def _send(self, seat: int, batch: list[Question]) -> Any:
        """Send a batch on its way; return what says that it has been answered."""
        rows = sum(len(question.seen) for question in batch)
        captured = self._captured[seat, next(size for size in SIZES if size >= rows)]
        with self.place.context():
            first = 0
            for question in batch:
                captured.seen[first : first + len(question.seen)].copy_(question.seen, non_blocking=True)
                first += len(question.seen)
            begin = self.place.event()
            captured.replay()
            end, first = self.place.event(), 0
            for question in batch:
                question.outputs.copy_(captured.outputs[first : first + len(question.seen)], non_blocking=True)
                first += len(question.seen)
            done = self.place.event()
        for question in batch:
            question.done = done
            question.sent.set()
        self._times.append((begin, end))
        if len(self._times) > 10_000:
            self.seconds()
        self.rows += rows
        self.batches += 1
        return done

    def _desk(self, rows: int) -> tuple[Tensor, Tensor]:
        """The calling thread's own memory for questions and answers."""
        desk: tuple[Tensor, Tensor] | None = getattr(self._own, "desk", None)
        if desk is None or len(desk[0]) < rows:
            size, (words, outputs) = max(rows, SIZES[-1]), self._size
            seen = self.place.memory(size, words, dtype=torch.int64)
            self._own.desk = desk = seen, self.place.memory(size, outputs, dtype=torch.float32)
        return desk


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
