"""The one exception that means "the user can mend this"."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FogplayError(ValueError):
    """A mistake in what was asked for: one line that says what was wrong, what was expected, what to type instead.

    The command line prints the line and exits with 2; from Python it is an ordinary ``ValueError``.
    """


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question, with a space after it, where one of the names is close; else nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}? " if close else ""
