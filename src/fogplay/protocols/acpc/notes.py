"""Remarks about a match in progress, one line each, limited in number."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

MOST_NOTES = 50
MOST_KINDS = 20
# What differs between remarks of one kind: quoted text and numbers.
_VARIABLE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[0-9]+")


class Remarks(Protocol):
    """Takes remarks, and counts them."""

    count: int

    def add(self, line: str) -> None: ...


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


class Folded:
    """Prints the first remark of each kind; ``close`` says how often the others came."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.count = 0
        self._tell = tell
        self._first: dict[str, str] = {}  # by kind
        self._more: dict[str, int] = {}  # how many of the kind came after the first
        self._others = 0  # of further kinds

    def add(self, line: str) -> None:
        self.count += 1
        told = " ".join(line.split())
        kind = _VARIABLE.sub("", told)
        if kind in self._first:
            self._more[kind] += 1
        elif len(self._first) < MOST_KINDS:
            self._first[kind], self._more[kind] = told, 0
            self._tell(told)
        else:
            self._others += 1

    def close(self) -> None:
        """Say how many remarks were not printed, once."""
        for kind, more in self._more.items():
            if more:
                self._tell(f"{more:,} more like this: {self._first[kind]}")
                self._more[kind] = 0
        if self._others:
            self._tell(f"{self._others:,} other remarks")
            self._others = 0
