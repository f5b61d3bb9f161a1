"""One contestant of ``fogplay bench`` in its own process.

The parent runs this file as a script, so that a peer's process holds the peer and nothing of fogplay: it imports only
the standard library and the file of contestants beside it. Requests are lines of JSON on stdin; each gets one line of
JSON in answer.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHECK_RATIO = 1.1  # nash_conv is measured after iterations 1, 2, 3 ..., each about this many times the last
CONTESTANTS = "contestants"


def contestants() -> Any:
    """The file of contestants as a module of its own, without the package around it."""
    spec = importlib.util.spec_from_file_location(CONTESTANTS, Path(__file__).with_name(f"{CONTESTANTS}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[CONTESTANTS] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


class Worker:
    """Answers the parent's requests; each method is one kind of request."""

    def __init__(self, entry: Any) -> None:
        began = time.perf_counter()
        self.contestant = entry.make()
        self.start_seconds = time.perf_counter() - began
        self.version = importlib.metadata.version(entry.package)
        self.rate = 1.0  # iterations per second in the last call

    def build(self, game: str, limit: float) -> dict[str, Any]:
        """Build a game; the process ends if that takes longer than ``limit`` seconds (0: no limit)."""
        resident = memory("VmRSS")
        with _alarm(limit):
            began = time.perf_counter()
            facts = self.contestant.build(game)
            seconds = time.perf_counter() - began
        start = {"start_seconds": self.start_seconds, "start_bytes": resident, "version": self.version}
        return {"build_seconds": seconds, **start, **facts}

    def rate_for(self, seconds: float) -> dict[str, Any]:
        """Iterate for ``seconds``, mostly in the last call, so that the cost of calls is negligible."""
        done, took, worked = 0, 0.0, time.process_time()
        while took < seconds:
            count = max(1, int(self.rate * (seconds - took)))
            began = time.perf_counter()
            self.contestant.iterate(count)
            lasted = time.perf_counter() - began
            done, took = done + count, took + lasted
            self.rate = max(1.0, min(count / max(lasted, 1e-9), 8 * self.rate))  # the first call is too short to trust
        return {"iterations": done, "seconds": took, "cpu_seconds": time.process_time() - worked}

    def find(self, target: float, limit: float, first: int = 1) -> dict[str, Any]:
        """Iterations from a fresh start until nash_conv is at most ``target``, or ``limit`` seconds have passed.

        nash_conv is first measured after ``first`` iterations.
        """
        self.contestant.restart()
        done, took, reached = 0, 0.0, float("inf")
        while reached > target and took < limit:
            count = max(first, done + 1, int(done * CHECK_RATIO)) - done
            began = time.perf_counter()
            self.contestant.iterate(count)
            took += time.perf_counter() - began
            done += count
            reached = self.contestant.nash_conv()
        return {"iterations": done, "nash_conv": reached, "seconds": took}

    def repeat(self, iterations: int) -> dict[str, Any]:
        """Seconds for ``iterations`` from a fresh start."""
        self.contestant.restart()
        self.contestant.iterate(0)
        began = time.perf_counter()
        self.contestant.iterate(iterations)
        return {"seconds": time.perf_counter() - began}

    def lost(self) -> dict[str, Any]:
        """The share of updates lost since the game was built, if it is known."""
        count = getattr(self.contestant, "lost", None)
        return {"lost_share": count() if count is not None else None}


def memory(field: str) -> int:
    """Bytes that this process holds (``VmRSS``) or held at most (``VmHWM``).

    getrusage is not used for the peak because on Linux it includes the parent's memory at the fork.
    """
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))
    except (OSError, StopIteration):
        return _peak_by_getrusage()


def _peak_by_getrusage() -> int:
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak if sys.platform == "darwin" else peak * 1024


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """End this process, even inside compiled code, if the block takes longer than ``seconds``."""
    if not seconds or not hasattr(signal, "setitimer"):
        yield
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)


def serve(suite: str, name: str, algorithm: str, cores: str) -> None:
    """Answer the parent's requests until it closes stdin, on these cores (if the system allows a choice)."""
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core) for core in cores.split(",")})
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # peers print to stdout
    entry = next(entry for entry in contestants().SUITES[suite] if (entry.name, entry.algorithm) == (name, algorithm))
    worker: Worker | None = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            worker = worker or Worker(entry)
            answer = getattr(worker, request.pop("do"))(**request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        print(json.dumps(answer | {"peak_bytes": memory("VmHWM")}), file=answers, flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
