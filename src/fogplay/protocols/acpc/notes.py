"""Remarks about a match in progress, one line each, limited in number."""

from __future__ import annotations

from collections.abc import Callable

MOST_NOTES = 50


class Notes:
    """Prints remarks one by one, at most ``MOST_NOTES`` of them."""

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self.count = 0
        self._tell = tell

    def add(self, line: str) -> None:
        self.count += 1
        if self._tell is None or self.count > MOST_NOTES:
            return
        self._tell(" ".join(line.split()))
        if self.count == MOST_NOTES:
            self._tell(f"these were {MOST_NOTES} remarks; further ones are counted only")
