"""Rule sheets for tests: a small one to break, the ones that come with fogplay, and other ways to write them."""

from __future__ import annotations

import random
import re
from typing import Any

from fogplay.games.gdl import OWN, own_sheets
from fogplay.gdl.machine import Machine
from fogplay.gdl.sheet import Sheet, read_sheet

COUNT = """; Whoever counts to three wins.
(role ann)
(role bob)
(init (count 0))
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal ?player up) (role ?player) (not (true (count 3))))
(<= (legal ?player wait) (role ?player))
(<= (next (count ?m)) (does ann up) (true (count ?n)) (succ ?n ?m))
(<= (next (count ?n)) (true (count ?n)) (not (does ann up)))
(<= terminal (true (count 3)))
(<= terminal (does-nothing))
(<= does-nothing (true (stuck)))
(<= (goal ann 100) (true (count 3)))
(<= (goal ann 0) (not (true (count 3))))
(<= (goal bob 50) (role bob))
"""
KEYWORDS = {
    "role",
    "init",
    "true",
    "next",
    "legal",
    "does",
    "goal",
    "terminal",
    "sees",
    "distinct",
    "not",
    "or",
    "random",
}
_WORD = re.compile(r";[^\n]*|[^\s();]+")


def own(name: str) -> str:
    return (OWN / name).read_text(encoding="utf-8")


def names() -> list[str]:
    return own_sheets()


def renamed(text: str, seed: int = 1) -> str:
    """The same rules with every name that means something to people exchanged, as a server may send them."""
    rng, new = random.Random(seed), {}

    def other(found: re.Match[str]) -> str:
        word = found[0].lower()
        if word.startswith(";") or word == "<=" or word in KEYWORDS or word.removeprefix("-").isdigit():
            return "" if word.startswith(";") else word
        if word not in new:
            new[word] = ("?" if word[0] == "?" else "") + f"w{rng.randrange(10**6)}x{len(new)}"
        return new[word]

    return _WORD.sub(other, text)


def capitals(text: str) -> str:
    return text.upper()


def sheet(text: str) -> Sheet:
    return read_sheet(text, "test.kif")


def random_play(machine: Machine, seed: int, most: int = 200) -> list[tuple[Any, tuple[Any, ...]]]:
    """The states of a random play and the moves made in them; the last state has no moves."""
    rng, state, path = random.Random(seed), machine.initial(), []
    for _ in range(most):
        if machine.is_terminal(state):
            break
        moves = tuple(options[rng.randrange(len(options))] for options in machine.legal(state))
        path.append((state, moves))
        state = machine.next(state, moves)
    return [*path, (state, ())]
