"""Answering questions of many threads on a GPU.

A search asks often, about a few hundred rows at a time, and a GPU is fast with thousands. So threads lay questions on
desks (``fogplay/desks.py``), in memory that a GPU reads by itself, and a thread of its own goes round: all rows that
wait for one seat's network make a batch, whichever desks they lie on. The network of each seat is captured once for
batches of a few sizes, and replayed. While a question waits, its thread needs neither Python's lock nor a core.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fogplay.desks import ANSWERED, ASKED, FAILED, Desk, exchange, new_desk
from fogplay.errors import FogplayError
from fogplay.nets.convolution import Convolution
from fogplay.nets.dense import Dense
from fogplay.strategies.dense import DenseShape
from fogplay.strategies.network import Network

SIZES = (128, 512, 1024, 2048, 3072, 4096, 6144, 8192)  # rows of a batch, which is filled up to the next size
FLYING = 2  # batches on their way at the same time
MANY = SIZES[-1] // 2  # rows from which on a batch is sent while another one is on its way
ROUND = 1e-4  # seconds between two rounds without anything to do
Forward = Callable[[Tensor, int], Tensor]  # (seen[rows, words], seat) -> outputs[rows, outputs]


class Captured(NamedTuple):
    """A network that answers batches of one size: ``replay()`` fills ``outputs`` from ``seen``."""

    replay: Callable[[], None]
    seen: Tensor
    outputs: Tensor


class Attended:
    """A desk in memory that the GPU reads and writes, and how far it has come with what lies there."""

    def __init__(self, questions: Tensor, answers: Tensor, kinds: int) -> None:
        memory = iter((questions.numpy(), answers.numpy()))
        self.questions, self.answers = questions, answers
        self.desk = new_desk(len(questions), questions.shape[1], answers.shape[1], kinds, lambda *_: next(memory))
        self.left = 0  # rows that are not answered yet; 0: nothing was noticed here
        self.error: Exception | None = None

    def settle(self, error: Exception | None = None) -> None:
        """Let the desk's thread go on."""
        self.left, self.error = 0, error
        self.desk.state[0] = ANSWERED if error is None else FAILED


class Part(NamedTuple):
    """Rows of a desk that wait for one seat's network."""

    attended: Attended
    first: int
    rows: int


class Batch(NamedTuple):
    """What is on its way."""

    parts: list[Part]
    begin: Any  # marks: when the network began, when it ended, and when the answers had arrived
    end: Any
    arrived: Any


class Gpu:
    """Where networks are captured and answer."""

    def __init__(self) -> None:
        self.stream: Any = torch.cuda.Stream()
        self._pool: Any = None

    def event(self) -> Any:
        """A mark in the order of what was sent, now."""
        found: Any = torch.cuda.Event(enable_timing=True)
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
    """Called with a seat and ``seen[rows, words]``; returns ``outputs[rows, outputs]``. An ``Attendant`` of desks."""

    def __init__(
        self, forward: Forward, update: Callable[[], None], seats: int, words: int, outputs: int, place: Any = None
    ) -> None:
        self.place = place if place is not None else Gpu()
        self.seats, self._size, self._update = seats, (words, outputs), update
        self._forward = forward  # keeps the networks alive, whose memory the captured graphs read
        self._captured = {
            (seat, size): self.place.capture(forward, seat, size, words) for seat in range(seats) for size in SIZES
        }
        self._desks, self._spare = list[Attended](), list[Attended]()
        self._waiting = [deque[Part]() for _ in range(seats)]
        self._flying = deque[Batch]()
        self._wake, self._asking = threading.Condition(), 0
        self._seconds, self.rows, self.batches = 0.0, 0, 0
        self._broken: Exception | None = None
        threading.Thread(target=self._serve, daemon=True).start()

    def __call__(self, seat: int, seen: NDArray[np.int64]) -> NDArray[np.float32]:
        """Ask at a desk for the moment."""
        found, desk = [np.zeros((0, self._size[1]), np.float32)], self.desk(SIZES[-1])
        try:
            with self.attend():
                for at in range(0, len(seen), SIZES[-1]):
                    part = seen[at : at + SIZES[-1]]
                    desk.questions[: len(part)] = part
                    desk.first[:], desk.asked[:] = 0, 0
                    desk.asked[seat] = len(part)
                    if not exchange(desk):
                        raise self.failure(desk)
                    found.append(desk.answers[: len(part)].copy())
        finally:
            self.give_back(desk)
        return np.concatenate(found)

    # ---- The threads that ask

    def desk(self, rows: int) -> Desk:
        """A desk that is attended to from now on."""
        with self._wake:
            kept = next((each for each in self._spare if len(each.questions) >= rows), None)
            if kept is not None:
                self._spare.remove(kept)
        if kept is None:
            words, outputs = self._size
            seen = self.place.memory(rows, words, dtype=torch.int64)
            kept = Attended(seen, self.place.memory(rows, outputs, dtype=torch.float32), self.seats)
        with self._wake:
            self._desks = [*self._desks, kept]  # the other thread may be walking through the old one
        return kept.desk

    def give_back(self, desk: Desk) -> None:
        """Nobody will ask at this desk again, so another thread may have it."""
        with self._wake:
            kept = self._attended(desk)
            self._desks = [each for each in self._desks if each is not kept]
            self._spare.append(kept)

    @contextlib.contextmanager
    def attend(self) -> Iterator[None]:
        """Go round as long as somebody is in here."""
        with self._wake:
            if self._broken is not None:
                raise self._broken
            self._asking += 1
            self._wake.notify()
        try:
            yield
        finally:
            with self._wake:
                self._asking -= 1

    def failure(self, desk: Desk) -> Exception:
        """Why the questions on a desk failed."""
        return self._attended(desk).error or self._broken or FogplayError("a GPU did not answer")

    def update(self) -> None:
        """Take over what the networks have learned."""
        self.place.settle()
        self._update()
        self.place.settle()

    def seconds(self) -> float:
        """How long networks have computed so far."""
        return self._seconds

    def _attended(self, desk: Desk) -> Attended:
        return next(each for each in self._desks if each.desk.state is desk.state)

    # ---- The thread that answers

    def _serve(self) -> None:
        """Go round; once that has failed, everybody who waits or asks later gets the error."""
        while True:
            with self._wake:
                while self._asking == 0:
                    self._wake.wait()
            try:
                if self._broken is None:
                    self._notice()
                    if self._send() or self._receive():
                        continue
                else:
                    for each in self._desks:
                        if each.desk.state[0] == ASKED:
                            each.settle(self._broken)
            except Exception as error:
                self._broken = error
            time.sleep(ROUND)

    def _notice(self) -> None:
        """Note which rows wait that did not before."""
        for each in self._desks:
            if each.left == 0 and each.desk.state[0] == ASKED:
                asked = each.desk.asked.tolist()
                each.left = sum(asked)
                for seat, rows in enumerate(asked):
                    if rows:
                        self._waiting[seat].append(Part(each, int(each.desk.first[seat]), rows))
                if each.left == 0:
                    each.settle()

    def _send(self) -> bool:
        """Send the seat off for which most rows wait, if it is worthwhile; return whether it was."""
        numbers = [sum(part.rows for part in parts) for parts in self._waiting]
        most = max(numbers)
        if most == 0 or len(self._flying) == FLYING or (self._flying and most < MANY):
            return False
        seat, rows, parts = numbers.index(most), 0, list[Part]()
        queue = self._waiting[seat]
        while queue and rows < SIZES[-1]:
            part = queue.popleft()
            fits = min(part.rows, SIZES[-1] - rows)
            if fits < part.rows:
                queue.appendleft(Part(part.attended, part.first + fits, part.rows - fits))
            parts.append(part._replace(rows=fits))
            rows += fits
        try:
            self._flying.append(self._replay(seat, rows, parts))
        except Exception as error:  # the threads that wait for it raise it
            self._fail({id(part.attended): part.attended for part in parts}, error)
        return True

    def _replay(self, seat: int, rows: int, parts: list[Part]) -> Batch:
        """Send a batch on its way."""
        captured, at = self._captured[seat, next(size for size in SIZES if size >= rows)], 0
        with self.place.context():
            for each, first, count in parts:
                captured.seen[at : at + count].copy_(each.questions[first : first + count], non_blocking=True)
                at += count
            begin = self.place.event()
            captured.replay()
            end, at = self.place.event(), 0
            for each, first, count in parts:
                each.answers[first : first + count].copy_(captured.outputs[at : at + count], non_blocking=True)
                at += count
            arrived = self.place.event()
        self.rows += rows
        self.batches += 1
        return Batch(parts, begin, end, arrived)

    def _receive(self) -> bool:
        """Let those go on whose last answers have arrived; return whether a batch has."""
        if not self._flying or not self._flying[0].arrived.query():
            return False
        batch = self._flying.popleft()
        self._seconds += batch.begin.elapsed_time(batch.end) / 1e3
        for attended, _, rows in batch.parts:
            if attended.left > 0:  # none of its rows has failed
                attended.left -= rows
                if attended.left == 0:
                    attended.settle()
        return True

    def _fail(self, lost: dict[int, Attended], error: Exception) -> None:
        """Give up on desks, and on what else waits for them."""
        self._waiting = [deque(part for part in parts if id(part.attended) not in lost) for parts in self._waiting]
        for batch in self._flying:
            while not batch.arrived.query():  # nothing may arrive at a desk later that somebody asks at again
                time.sleep(ROUND)
        self._flying = deque(
            batch._replace(parts=[part for part in batch.parts if id(part.attended) not in lost])
            for batch in self._flying
        )
        for attended in lost.values():
            attended.settle(error)


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
