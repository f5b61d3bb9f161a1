"""The command line: every command is a few lines over the Python interface."""

from __future__ import annotations

import os
import sys

from fogplay.cli import acpc, advising, laboratory, matches, opponents, playing, responses, solving
from fogplay.cli.app import app
from fogplay.errors import FogplayError

__all__ = ["acpc", "advising", "app", "laboratory", "main", "matches", "opponents", "playing", "responses", "solving"]


def main() -> None:
    """Run the command line; a user's mistake ends in one line on stderr and exit code 2."""
    try:
        app(standalone_mode=False)
    except FogplayError as error:
        _stop(str(error), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        _stop("stopped", 130)
    except Exception as error:  # the command line library's own, recognised by their methods
        if type(error).__name__ == "Abort":
            _stop("stopped", 130)
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
            sys.exit(0)
        if not hasattr(error, "format_message"):
            raise
        command = getattr(getattr(error, "ctx", None), "command_path", "fogplay").replace(
            "python -m fogplay.cli", "fogplay"
        )
        _stop(f"{error.format_message().rstrip('.')} (see `{command} --help`)", 2)


def _stop(line: str, status: int) -> None:
    print(f"fogplay: {' '.join(line.split())}", file=sys.stderr)
    sys.exit(status)
