"""Signals while a command starts: Ctrl-C during the imports, which take half a second, ends it with one line.

This module does nothing unless the process is the ``fogplay`` command itself, so importing fogplay changes no handler.
"""

from __future__ import annotations

import os
import signal
import sys

STOPPED = 130  # exit code after Ctrl-C or SIGTERM


def is_command() -> bool:
    """Whether this process was started as ``fogplay`` or ``python -m fogplay``, and not by it, as workers are."""
    words = iter(sys.orig_argv[1:])
    for word in words:
        if word.startswith("-m"):
            return (word[2:] or next(words, "")).partition(".")[0] == "fogplay"
        if word == "-c":
            return False
        if word in ("-W", "-X"):
            next(words, None)
        elif not word.startswith("-"):
            return os.path.basename(word) == "fogplay"
    return False


def leave(*_: object) -> None:
    """End the process: nothing has begun yet."""
    os.write(2, b"fogplay: stopped before anything was begun\n")
    os._exit(STOPPED)


if is_command():
    for _number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(_number) is not signal.SIG_IGN:
            signal.signal(_number, leave)
