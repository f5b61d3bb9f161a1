"""A running program: lines in, lines out, with deadlines; it and its children never outlive it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Sequence
from typing import BinaryIO

LONGEST = 1 << 20  # bytes of a line
SHOWN = 100  # characters of what a program printed, in messages


class TroubleError(Exception):
    """What a program did wrong: in a few words for counting, and what happened in particular."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail


class Process:
    """One run of a program."""

    def __init__(self, command: Sequence[str]) -> None:
        self._errors: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 (closed in ``end``)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                start_new_session=True,  # so that its children can be ended with it
            )
        except OSError as error:
            self._errors.close()
            raise TroubleError("could not be started", f"{command[0]}: {error.strerror or error}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._input, False)
        self._buffer = b""
        self._is_new = True  # no line has come from it
        self.is_silent = False  # whether it has closed its output
        self._finish = weakref.finalize(self, _end, self._process, self._errors)  # also at the interpreter's exit

    def send(self, line: str, deadline: float) -> None:
        """Write a line; a program that does not read it in time is in trouble."""
        left = memoryview(line.encode() + b"\n")
        while left:
            _, ready, _ = select.select([], [self._input], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TroubleError("did not answer in time", "it does not read its input")
            try:
                left = left[os.write(self._input, left) :]
            except BrokenPipeError:
                if self._is_new:  # it may have answered without reading
                    return
                raise self._death() from None
            except BlockingIOError:
                continue

    def receive(self, deadline: float) -> str:
        """The next line that is not blank."""
        while True:
            line, found, rest = self._buffer.partition(b"\n")
            if found:
                self._buffer = rest
                if line.strip():
                    self._is_new = False
                    return line.decode(errors="replace").strip()
                continue
            if len(line) > LONGEST:
                raise TroubleError("printed no JSON", f"over {LONGEST:,} bytes without an end of line")
            self._read(deadline)

    def _read(self, deadline: float) -> None:
        ready, _, _ = select.select([self._output], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TroubleError("did not answer in time", "no line came before the time limit")
        more = os.read(self._output, 1 << 16)
        if not more and self._buffer.strip():
            more = b"\n"  # the last line may have no end
        if not more:
            self.is_silent = True
            raise self._death()
        self._buffer += more

    def pending(self, seconds: float) -> str | None:
        """A line that comes within so many seconds; None if none comes."""
        try:
            return self.receive(time.monotonic() + seconds)
        except TroubleError:
            return None

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Whether the program ends within so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.poll() is not None

    def _death(self) -> TroubleError:
        self.has_ended(0.5)
        status = self._process.poll()
        how = "it closed its output" if status is None else _how_it_ended(status)
        last = self._last_words()
        return TroubleError("died", f"{how}{f': {last}' if last else ''}")

    def _last_words(self) -> str:
        """The last line on its standard error."""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - 4096))
        lines = self._errors.read().decode(errors="replace").split("\n")
        return next((shortened(line) for line in reversed(lines) if line.strip()), "")

    def end(self) -> None:
        """Kill the program and all its children, and wait for it."""
        self._finish()


def shortened(text: str) -> str:
    """Text for a message: one line, not too long."""
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return plain if len(plain) <= SHOWN else f"{plain[: SHOWN - 1]}…"


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


def _end(process: subprocess.Popen[bytes], errors: BinaryIO) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout, errors):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
    process.wait()
