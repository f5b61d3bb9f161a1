"""The exception for mistakes that the user can correct."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FogplayError(ValueError):
    """A mistake in a request: one line that says what was wrong, what was expected and what to type instead.

    The command line prints the line and exits with 2; from Python it is an ordinary ``ValueError``.
    """


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question, followed by a space, if one of the known names is similar; otherwise an empty string."""
    plain = {_plain(each): each for each in known}
    close = [_plain(name)] if _plain(name) in plain else difflib.get_close_matches(_plain(name), plain, n=1)
    return f"did you mean {plain[close[0]]!r}? " if close else ""


def _plain(name: str) -> str:
    """A name as people vary it: ``CFR_plus`` and ``cfr+`` are the same."""
    return name.lower().replace("plus", "+").replace("-", "").replace("_", "").replace(" ", "")
