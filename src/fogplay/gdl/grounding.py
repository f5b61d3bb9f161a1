"""From rules with variables to rules without: clingo's grounder, in a process of its own with limits.

The states that may be reached are found by letting every fluent be true or not that is in ``init`` or can become true
by ``next``, and every move be made or not that can be legal. The grounder evaluates what depends on neither, so static
relations vanish.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.gdl.demand import ASKED
from fogplay.gdl.rules import DISTINCT, Atom, Literal, Relation, Rule, Term, is_variable
from fogplay.gdl.sheet import Sheet
from fogplay.gdl.splitting import split

SECONDS, GIGABYTES, LARGEST = 8.0, 2.0, 300_000_000  # for one attempt: processor time, memory, bytes of output
PATIENCE = 3.0  # times as long may pass by the clock, where other programs take the processors
BEHIND = 10  # the priority of an attempt that has not succeeded soon
WANTED: dict[Relation, str] = {
    ("role", 1): "role",
    ("init", 1): "init",
    ("true", 1): "true",
    ("does", 2): "does",
    ("next", 1): "next",
    ("legal", 2): "legal",
    ("terminal", 0): "terminal",
    ("goal", 2): "goal",
    ("sees", 2): "sees",
}
_OF_ROLES = (("legal", 2), ("goal", 2), ("sees", 2))
_FRAME = """
base(X) :- init(X).
base(X) :- next(X).
{ true(X) } :- base(X).
{ does(R,M) } :- legal(R,M).
init(0) :- 0 = 1. next(0) :- 0 = 1. sees(0,0) :- 0 = 1. goal(0,0) :- 0 = 1. terminal :- 0 = 1. legal(0,0) :- 0 = 1.
"""
_PROCESS = Path(__file__).with_name("grounder.py")
_SYMBOL = re.compile(r"([a-z]+)([0-9]*)|([(),])")


class NotGroundedError(FogplayError):
    """The rules have too many instances for the limits."""


@dataclass(frozen=True)
class Ground:
    """Rules without variables; atoms are numbered from 1, and a negative number in a body must not hold.

    ``shown`` has, for each atom of a relation of the language itself: the relation's name, its terms, and its number;
    0 if it always holds. Atoms that say what is asked for are shown without terms.
    """

    program: NDArray[np.int32]  # [numbers] of every rule the head, the length of the body, and the body
    shown: tuple[tuple[str, tuple[Term, ...], int], ...]
    num_atoms: int
    seconds: float


def is_available() -> bool:
    """Whether the grounder is installed."""
    with contextlib.suppress(ImportError):
        import clingo  # noqa: F401

        return True
    return False


def ground(
    sheet: Sheet,
    eliminate: bool = False,
    seconds: float = SECONDS,
    gigabytes: float = GIGABYTES,
    patience: float = PATIENCE,
) -> Ground:
    """The ground instances of a sheet's rules, within limits of processor time and memory.

    ``patience``: how many times as long may pass by the clock.
    """
    attempt = Attempt(sheet, eliminate, seconds, gigabytes, patience)
    try:
        attempt.wait(attempt.end)
        return attempt.result()
    finally:
        attempt.close()


class Attempt:
    """A process that grounds a sheet's rules while others may do so in another way."""

    def __init__(
        self,
        sheet: Sheet,
        eliminate: bool,
        seconds: float,
        gigabytes: float = GIGABYTES,
        patience: float = PATIENCE,
    ) -> None:
        if not is_available():
            raise NotGroundedError("networks need clingo: pip install 'fogplay[ggp]'")
        needed = sheet.dependencies.needed_for(WANTED)
        if needed & sheet.resolved:
            raise NotGroundedError(f"{sheet.name}: some relations make terms without end, so they have no instances")
        rules = split([rule for rule in sheet.rules if rule.relation in needed], eliminate)
        writer = _Writer()
        text = "".join(writer.rule(rule) for rule in rules) + _FRAME
        self.sheet, self.words, self.limits = sheet, writer.words, (seconds, gigabytes)
        self.began = time.monotonic()
        self.end = self.began + patience * seconds
        command = [sys.executable, "-P", str(_PROCESS), *_arguments(seconds, gigabytes, writer.asked)]
        with tempfile.TemporaryFile() as given:
            given.write(text.encode())
            given.seek(0)
            self._written = tempfile.TemporaryFile()  # noqa: SIM115
            try:
                self._process = subprocess.Popen(command, stdin=given, stdout=self._written, stderr=subprocess.DEVNULL)
            except BaseException:
                self._written.close()
                raise

    def wait(self, end: float) -> bool:
        """Wait until some moment at most; returns whether the process is over."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, min(end, self.end) - time.monotonic()))
            return True
        return time.monotonic() >= self.end

    def step_back(self) -> None:
        """Leave the processors to others where there are not enough of them."""
        with contextlib.suppress(AttributeError, OSError):  # Windows has no such priorities
            os.setpriority(os.PRIO_PROCESS, self._process.pid, BEHIND)

    def result(self) -> Ground:
        """The ground rules of a process that is over."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._written.seek(0)
        output = self._written.read()
        if not output.endswith(b"\nend\n"):
            seconds, gigabytes = self.limits
            raise NotGroundedError(
                f"{self.sheet.name}: the rules have too many instances for {seconds:.2g} s and {gigabytes:g} GB"
            )
        return _read(output, self.words, time.monotonic() - self.began)

    def close(self) -> None:
        """End the process, if it still runs, and forget what it wrote."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._written.close()


def _arguments(seconds: float, gigabytes: float, asked: set[int]) -> list[str]:
    """What the process is told; ``asked`` are the numbers of arguments of relations that say what is asked for."""
    limits = [str(int(gigabytes * 2**30)), str(int(seconds + 0.999)), str(LARGEST)]
    wanted = [f"{name}/{arity}" for (_, arity), name in WANTED.items()]
    return limits + wanted + [f"{ASKED}/{arity}" for arity in sorted(asked)]


class _Writer:
    """Writes rules in the grounder's language; names are numbered, so that any may occur."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.numbers: dict[str, int] = {}
        self.relations: dict[Relation, str] = dict(WANTED)
        self.asked: set[int] = set()

    def rule(self, rule: Rule) -> str:
        names: dict[str, str] = {}
        body = [self._literal(each, names) for each in rule.body]
        head = self._atom(rule.head, names)
        if rule.relation in _OF_ROLES:
            body.append(f"role({self._term(rule.head[1], names)})")
        return f"{head} :- {', '.join(body)}.\n" if body else f"{head}.\n"

    def _literal(self, literal: Literal, names: dict[str, str]) -> str:
        if literal.relation == DISTINCT:
            one, other = (self._term(each, names) for each in literal.atom[1:])
            return f"{one} != {other}"
        return self._atom(literal.atom, names) if literal.positive else f"not {self._atom(literal.atom, names)}"

    def _atom(self, atom: Atom, names: dict[str, str]) -> str:
        relation = atom[0], len(atom) - 1
        if atom[0].startswith(f"{ASKED} "):  # one relation for all of them
            self.asked.add(len(atom))
            terms = [f"c{self._number(atom[0])}", *(self._term(each, names) for each in atom[1:])]
            return f"{ASKED}({','.join(terms)})"
        name = self.relations.setdefault(relation, f"p{len(self.relations)}")
        return f"{name}({','.join(self._term(each, names) for each in atom[1:])})" if len(atom) > 1 else name

    def _term(self, term: Term, names: dict[str, str]) -> str:
        if is_variable(term):
            return names.setdefault(term, f"V{len(names)}")
        if isinstance(term, str):
            return f"c{self._number(term)}"
        return f"f{self._number(term[0])}({','.join(self._term(each, names) for each in term[1:])})"

    def _number(self, word: str) -> int:
        number = self.numbers.get(word)
        if number is None:
            number = self.numbers[word] = len(self.words)
            self.words.append(word)
        return number


def _read(output: bytes, words: Sequence[str], seconds: float) -> Ground:
    """The output of the process: how many numbers, the numbers, and the atoms to show."""
    start = output.index(b"\n") + 1
    count = int(output[:start])
    program = np.frombuffer(output, np.int32, count, start)
    shown: list[tuple[str, tuple[Term, ...], int]] = []
    known: dict[str, tuple[Term, ...]] = {}
    names = {f"c{number}": word for number, word in enumerate(words)}
    for line in output[start + 4 * count :].decode("ascii").splitlines()[:-1]:
        atom, _, symbol = line.partition(" ")
        name, _, inside = symbol.partition("(")
        if inside not in known:
            known[inside] = _flat_terms(inside[:-1], names) or _terms(inside[:-1], words) if inside else ()
        shown.append((name, known[inside], int(atom)))
    named = max((atom for _, _, atom in shown), default=0)
    return Ground(program, tuple(shown), max(named, int(np.abs(program).max(initial=0))), seconds)


def _flat_terms(text: str, names: dict[str, str]) -> tuple[Term, ...]:
    """Constants and one function of constants at the end, as most moves are: a quick way; empty for all else."""
    before, bracket, inside = text.partition("(")
    words = before.split(",")
    if not bracket:
        return tuple(map(names.__getitem__, words))
    if inside.find(")") != len(inside) - 1 or "(" in inside:
        return ()
    function = names["c" + words.pop()[1:]]
    last = (function, *map(names.__getitem__, inside[:-1].split(",")))
    return (*map(names.__getitem__, words), last)


def _terms(text: str, words: Sequence[str]) -> tuple[Term, ...]:
    """Terms as the grounder prints them, separated by commas."""
    stack: list[list[Any]] = [[]]
    for found in _SYMBOL.finditer(text):
        if found[1]:
            word = words[int(found[2])]
            if found[1] == "f":
                stack.append([word])
            else:
                stack[-1].append(word)
        elif found[3] == ")":
            done = tuple(stack.pop())
            stack[-1].append(done)
    return tuple(stack[0])
