"""What Ctrl-C and SIGTERM do: one mechanism for all commands.

Importing this module changes no handler. The command line installs one handler for SIGINT and SIGTERM (``install``). A
loop that can end between two steps says so with ``stopping``: there, a signal only sets its ``Stop``, and the loop
returns what it has. Anywhere else a signal raises KeyboardInterrupt at once. A second signal always raises it, unless
it follows within a second: ``timeout`` and shells send the same signal twice.

From Python, without the command line, ``stopping`` handles Ctrl-C alone, and only until its block ends. Signals that a
process inherited as ignored, as background jobs of a script do, stay ignored.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeVar

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SAME_SECONDS = 1.0  # within which a second signal counts as the first
SOON_SECONDS = 0.02  # after which a signal is sent again that came where it would be lost
POLL_SECONDS = 0.1

T = TypeVar("T")


class Stop:
    """A request to end a loop, which checks it between two steps."""

    def __init__(self, event: threading.Event | None = None) -> None:
        self._event = event or threading.Event()
        self._at_once = _AtOnce()

    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        self._event.set()

    def at_once(self) -> _AtOnce:
        """A step that may take long and changes nothing: in its block a signal raises KeyboardInterrupt."""
        return self._at_once

    @property
    def raises(self) -> bool:
        """Whether a signal raises KeyboardInterrupt now."""
        return self._at_once.depth > 0


class _AtOnce:
    """A block, entered for every hand or action of a match, so that it must cost little."""

    __slots__ = ("depth",)

    def __init__(self) -> None:
        self.depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


class Handler:
    """The handler of a process, and the loops that are under way."""

    def __init__(self) -> None:
        self.received = False  # whether a signal has arrived
        self.twice = False  # whether another one asked to stop at once
        self.over = False  # whether the command has ended: nothing is left to interrupt
        self.replaced: dict[int, Any] = {}  # the handlers from before
        self._last = 0.0
        self._loops: list[Stop] = []  # the innermost last

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.over or (self.received and now - self._last < SAME_SECONDS):
            return
        raises = self.received or not self._loops or self._loops[-1].raises
        if raises and _is_lost_in(frame):
            again = threading.Timer(SOON_SECONDS, os.kill, (os.getpid(), number))
            again.daemon = True
            again.start()
            return
        self.twice, self.received, self._last = self.received, True, now
        for loop in self._loops:
            loop.set()
        if raises:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def around(self, stop: Stop) -> Iterator[Stop]:
        """Send signals to a loop; an outer loop that is asked to stop asks the inner ones too."""
        if self._loops and self._loops[-1].is_set():
            stop.set()
        self._loops.append(stop)
        try:
            yield stop
        finally:
            self._loops.remove(stop)


def _is_lost_in(frame: FrameType | None) -> bool:
    """Whether Python drops exceptions here, and prints them: in callbacks of the compiler, of modules and of memory."""
    while frame is not None:
        code = frame.f_code
        if code.co_name in ("__del__", "_raw_object_cache_notify", "_raw_object_cache_getbuffer"):
            return True
        if code.co_name == "cb" and code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


_installed: Handler | None = None


def install() -> Handler:
    """Handle SIGINT and SIGTERM for the rest of this process, which is a command."""
    global _installed  # noqa: PLW0603 (a process has one handler)
    _installed = Handler()
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            _installed.replaced[number] = signal.signal(number, _installed)
    return _installed


def uninstall() -> None:
    """Put back the handlers from before ``install``, for a process that goes on after a command."""
    global _installed  # noqa: PLW0603
    if _installed is not None:
        for number, usual in _installed.replaced.items():
            signal.signal(number, usual)
    _installed = None


def received() -> bool:
    """Whether a signal asked the running command to stop."""
    return _installed is not None and _installed.received


@contextlib.contextmanager
def stopping(event: threading.Event | None = None) -> Iterator[Stop]:
    """A loop that ends when its ``Stop`` is set, by a signal or by somebody who holds ``event``."""
    stop = Stop(event)
    if threading.current_thread() is not threading.main_thread():
        yield stop
    elif _installed is not None:
        with _installed.around(stop):
            yield stop
    else:
        with _for_now() as handler, handler.around(stop):
            yield stop


@contextlib.contextmanager
def _for_now() -> Iterator[Handler]:
    """A handler for Ctrl-C that lasts as long as the block, unless Ctrl-C is ignored or handled outside Python."""
    handler, usual = Handler(), signal.getsignal(signal.SIGINT)
    if usual is None or usual is signal.SIG_IGN:
        yield handler
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield handler
    finally:
        signal.signal(signal.SIGINT, usual)


@contextlib.contextmanager
def promptly() -> Iterator[None]:
    """Work without which there is nothing to keep: a signal raises KeyboardInterrupt, even within ``stopping``."""
    with stopping() as stop, stop.at_once():
        if stop.is_set():
            raise KeyboardInterrupt
        yield


def apart(work: Callable[[], T]) -> T:
    """Do long work outside Python in a thread, so that the main thread can be interrupted meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[T] = []
    errors: list[BaseException] = []

    def do() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    with promptly():
        thread = threading.Thread(target=do, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(POLL_SECONDS)
    if errors:
        raise errors[0]
    return results[0]
