"""Processes that play the deals of a match: each makes the agents anew from their text.

A worker is ``python -m fogplay.agents.worker``. It reads lines of JSON, first the match and then ranges of deals, and
answers each range with a line. It ends with its input, so it outlives neither the match nor a killed parent.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fogplay.errors import FogplayError
from fogplay.interrupts import Stop
from fogplay.play.formats import Block, Trouble

SECONDS = 0.5  # of work per range, about
MOST = 1024  # deals per range


@dataclass(frozen=True)
class Job:
    """A match, as a worker needs to know it."""

    game: str  # its spec
    agents: tuple[str, ...]  # as a user types them
    names: tuple[str, ...]
    seed: int
    limit: float | None = None  # seconds per decision
    decks: Sequence[Sequence[int]] | None = None


class Workers:
    """A number of processes that share the deals of a match."""

    def __init__(self, job: Job, count: int) -> None:
        self.job, self.count = job, count

    def blocks(self, first: int, deals: int, seconds: float, stop: Stop) -> Iterator[Block]:
        """Blocks of deals ``first`` to ``deals`` in order; ``seconds`` is about what one deal takes."""
        size = max(1, min(MOST, int(SECONDS / max(seconds, 1e-9)), -(-(deals - first) // self.count)))
        ranges = [(start, min(size, deals - start)) for start in range(first, deals, size)]
        done: dict[int, Block] = {}
        retried: set[int] = set()
        given = yielded = 0
        started = [_Worker(self.job) for _ in range(min(self.count, len(ranges)))]
        try:
            for worker in started:
                worker.give(given, *ranges[given])
                given += 1
            while yielded < len(ranges):
                with stop.at_once():
                    ready = _ready(started)
                for worker in ready:
                    block = worker.taken()
                    if block is None:
                        started.remove(worker)
                        worker.end()
                        if worker.number >= yielded and worker.number not in done:
                            started.append(self._instead(worker, retried))
                        continue
                    done[worker.number] = block
                    if given < len(ranges):
                        worker.give(given, *ranges[given])
                        given += 1
                while yielded in done:
                    yield done.pop(yielded)
                    yielded += 1
        finally:
            for worker in started:
                worker.end()

    def _instead(self, dead: _Worker, retried: set[int]) -> _Worker:
        """Another worker for the range of one that died; a range at which two have died is given up."""
        first, count = dead.range
        if dead.number in retried:
            raise FogplayError(
                f"two workers died (the last with exit status {dead.process.returncode}) while they played deals "
                f"{first} to {first + count - 1}; see above, or play in one process with --workers 1"
            )
        retried.add(dead.number)
        worker = _Worker(self.job)
        worker.give(dead.number, first, count)
        return worker


class _Worker:
    """One process and the range that it plays."""

    def __init__(self, job: Job) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fogplay.agents.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the parent, which ends the workers
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout
        self.number, self.range = -1, (0, 0)
        self._send(asdict(job))

    def give(self, number: int, first: int, count: int) -> None:
        self.number, self.range = number, (first, count)
        self._send([first, count])

    def _send(self, what: Any) -> None:
        with contextlib.suppress(BrokenPipeError):  # ``taken`` notices that it died
            self.input.write(json.dumps(what).encode() + b"\n")
            self.input.flush()

    def taken(self) -> Block | None:
        """The block that was played; None if the worker has died."""
        line = self.output.readline()
        if not line.endswith(b"\n"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=5)
            return None
        answer = json.loads(line)
        if "error" in answer:
            raise FogplayError(answer["error"])
        troubles = tuple(Trouble(*each) for each in answer["troubles"])
        return Block(np.array(answer["points"]), None, troubles)

    def end(self) -> None:
        """Close its input, upon which it ends its agents and itself, and wait for that."""
        for stream in (self.input, self.output):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _ready(workers: Sequence[_Worker]) -> list[_Worker]:
    """Workers that have answered or died; waits until there is one."""
    outputs = {worker.output.fileno(): worker for worker in workers}
    found, _, _ = select.select(list(outputs), [], [])
    return [outputs[each] for each in found]
