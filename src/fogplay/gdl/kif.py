"""The Knowledge Interchange Format, as far as rule sheets use it: lists in brackets, words, and comments.

A comment goes from ``;`` to the end of the line, or from ``#|`` to ``|#``.

One regular expression reads it: a sheet of five megabytes takes about a second. A word is a ``str`` in lower case,
since case has no meaning; a list is a ``Form``, a tuple that knows where it began.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from fogplay.errors import FogplayError

DEEPEST = 100  # lists within lists
_TOKEN = re.compile(r"\s+|;[^\n\r]*|([()])|(?!#\|)([^\s();]+)|#\|.*?(?:\|#|(\Z))", re.DOTALL)


class Form(tuple[Any, ...]):
    """A list of words and lists; ``at`` is the place of its bracket in the text."""

    at: int

    def __new__(cls, parts: Any = (), at: int = 0) -> Form:
        made = super().__new__(cls, parts)
        made.at = at
        return made


class Source:
    """A text and its name, to tell places in it."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name

    def place(self, at: int) -> str:
        """Line and column, counted from 1."""
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return f"line {line}, column {column}"

    def error(self, at: int, problem: str) -> FogplayError:
        """A mistake at a place of the text, to be raised."""
        return FogplayError(f"{self.name}, {self.place(at)}: {problem}")


def parse(text: str, name: str = "the rules") -> list[tuple[Any, int]]:
    """The words and lists of a text, and where each begins."""
    source = Source(text, name)
    done: list[tuple[Any, int]] = []
    stack: list[tuple[list[Any], int]] = []
    words: dict[str, str] = {}
    value: Any
    for found in _TOKEN.finditer(text):
        kind = found.lastindex
        if kind is None:
            continue
        at = found.start()
        if kind == 2:  # a word
            raw = found[2]
            value = words.get(raw)
            if value is None:
                value = words[raw] = sys.intern(raw.lower())
        elif kind == 3:
            raise source.error(at, "this comment is never closed; add the |# that belongs to it")
        elif found[1] == "(":
            stack.append(([], at))
            if len(stack) > DEEPEST:
                raise source.error(at, f"lists are nested deeper than {DEEPEST}; is a bracket missing before this one?")
            continue
        else:
            if not stack:
                raise source.error(at, "this ) closes nothing; remove it, or add the ( that belongs to it")
            parts, at = stack.pop()
            value = Form(parts, at)
        if stack:
            stack[-1][0].append(value)
        else:
            done.append((value, at))
    if stack:
        raise source.error(
            stack[-1][1], f"this ( is never closed; {_closing(len(stack))} missing by the end of the text"
        )
    return done


def _closing(count: int) -> str:
    return "a ) is" if count == 1 else f"{count} ) are"


def unparse(term: Any) -> str:
    """A word or a list as text; the inverse of ``parse``."""
    return term if isinstance(term, str) else "(" + " ".join(map(unparse, term)) + ")"
