"""The command line: every command is a few lines over the Python interface."""

from __future__ import annotations

import atexit
import errno
import os
import sys
import threading
from typing import NamedTuple

from fogplay import interrupts
from fogplay.cli import (
    acpc,
    advising,
    curves,
    ggp,
    laboratory,
    listing,
    matches,
    opponents,
    playing,
    responses,
    serving,
    solving,
    training,
)
from fogplay.cli.app import Stopped, again, app
from fogplay.errors import FogplayError
from fogplay.games.registry import shortened
from fogplay.jit import NOT_KEPT
from fogplay.starting import STOPPED, is_command

__all__ = [
    "acpc",
    "advising",
    "app",
    "curves",
    "ggp",
    "laboratory",
    "listing",
    "main",
    "matches",
    "opponents",
    "playing",
    "responses",
    "serving",
    "solving",
    "training",
]

DONE, FAILED, PIPE_CLOSED = 0, 2, 141  # the last is what a shell reports for a program that SIGPIPE ended


class Ending(NamedTuple):
    """How a command ended: its exit code, and a line for stderr."""

    status: int
    line: str = ""


def main() -> None:
    """Run the command line. Every ending but success is one line on stderr; docs/commands.md lists the exit codes."""
    signals = interrupts.install()
    try:
        ending = _run(signals)
    finally:
        signals.over = True
        if not is_command():  # somebody called this function, and goes on
            interrupts.uninstall()
    if ending.status == DONE and signals.received:
        ending = Ending(STOPPED)  # the command itself has said what it kept
    ending = _flushed(ending)
    if NOT_KEPT:
        _complain(f"fogplay: {NOT_KEPT[0]}")
    if ending.line:
        _complain(f"fogplay: {shortened(' '.join(ending.line.split()))}")
    # Python ends itself by SIGINT if KeyboardInterrupt ever left code compiled from text; compiling more resets that.
    exec("")
    if ending.status == STOPPED and any(thread.daemon for thread in threading.enumerate()):
        atexit._run_exitfuncs()
        os._exit(STOPPED)  # compiled code is still at work in a thread
    sys.exit(ending.status)


def _run(signals: interrupts.Handler) -> Ending:
    try:
        status = app(prog_name="fogplay", standalone_mode=False)
    except FogplayError as error:
        return Ending(FAILED, str(error))
    except Stopped as stopped:
        return Ending(STOPPED, str(stopped))
    except KeyboardInterrupt:
        return _interrupted(signals.twice)
    except BrokenPipeError:
        return Ending(PIPE_CLOSED)
    except SystemExit as error:  # the libraries for commands and for tables leave like this when a pipe is closed
        if isinstance(error.__context__, BrokenPipeError):
            return Ending(PIPE_CLOSED)
        raise
    except OSError as error:
        return Ending(FAILED, _reason(error))
    except Exception as error:  # the command line library's own, recognised by their methods
        if type(error).__name__ == "Abort":
            return _interrupted(signals.twice)
        return _of_library(error)
    if status == STOPPED:
        return _interrupted(signals.twice)
    return Ending(status if isinstance(status, int) else DONE)


def _interrupted(twice: bool) -> Ending:
    """A command was interrupted that had nothing to show yet, or was asked a second time to stop."""
    if twice:
        return Ending(STOPPED, "stopped at once; what was not saved yet is lost")
    return Ending(STOPPED, f"stopped; nothing was finished, and no file was changed. To start again: {again()}")


def _of_library(error: Exception) -> Ending:
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]
        return Ending(DONE)
    if not hasattr(error, "format_message"):
        raise error
    command = getattr(getattr(error, "ctx", None), "command_path", "fogplay")
    return Ending(FAILED, f"{error.format_message().rstrip('.')} (see `{command} --help`)")


def _flushed(ending: Ending) -> Ending:
    """Flush stdout: a full disk or a closed pipe may only show now."""
    try:
        if sys.stdout is not None:  # as it is if the shell closed it
            sys.stdout.flush()
        return ending
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the interpreter's own flush
        if isinstance(error, BrokenPipeError):
            return ending if ending.status else Ending(PIPE_CLOSED)
        return Ending(FAILED, f"{ending.line}; {_reason(error)}".removeprefix("; "))


def _reason(error: OSError) -> str:
    """The operating system's complaint in one line."""
    why = error.strerror or str(error) or type(error).__name__
    if error.filename:
        return f"cannot use {error.filename}: {why}"
    full = (errno.ENOSPC, errno.EIO, getattr(errno, "EDQUOT", None))  # Windows has no quotas
    return f"cannot write the output: {why}" if error.errno in full else why


def _complain(line: str) -> None:
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:  # stderr is closed or on a full disk: the exit code has to do
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
