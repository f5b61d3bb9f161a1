"""``Network``: a sheet as a graph of gates that computes, from a state and moves, everything a player may ask.

It is data: one set of compiled kernels plays all networks (``lanes``, ``differences``).
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.gdl import atoms as ordering
from fogplay.gdl import gates as making
from fogplay.gdl.atoms import Rules
from fogplay.gdl.checks import is_whole
from fogplay.gdl.demand import ASKED
from fogplay.gdl.gates import Gates
from fogplay.gdl.grounding import GIGABYTES, PATIENCE, SECONDS, Attempt, Ground, NotGroundedError, ground
from fogplay.gdl.interpreter import ROLE
from fogplay.gdl.kif import unparse
from fogplay.gdl.narrowing import narrowed
from fogplay.gdl.rules import Term
from fogplay.gdl.sheet import Sheet

MANY = 100_000  # gates, from which eliminating variables is worth a try
HEAD_START = 0.1  # share of the time after which another way is tried at the same time
LOOKING = 0.02  # seconds between looks at one process and the other
SHARES = (8, 1)  # of the gates there may be at most: most rules share theirs, and little memory is quick
LITTLE_TIME = 1.5  # seconds that a second attempt may take where the first was good


@dataclass(frozen=True)
class Network:
    """Gates and what they mean. Nodes: false, fluents, moves, loops, gates; a literal is 2 × node + negated."""

    roles: tuple[str, ...]
    fluents: tuple[Term, ...]
    moves: tuple[tuple[Term, ...], ...]  # [roles] by their text
    move_start: NDArray[np.int32]  # [roles + 1]
    left: NDArray[np.int32]  # [gates] literals
    right: NDArray[np.int32]  # [gates]
    loops: NDArray[np.int32]  # [loops] the literal that each loop's node must equal in the end
    segments: NDArray[np.int32]  # [segments, 4] first gate, last gate + 1, first loop, last loop + 1
    initial: NDArray[np.bool_]  # [fluents]
    next: NDArray[np.int32]  # [fluents] literals, as in the following
    legal: NDArray[np.int32]  # [moves]
    terminal: int
    goal_value: NDArray[np.int32]  # [goals]
    goal_role: NDArray[np.int32]  # [goals] in the order of roles
    goals: NDArray[np.int32]  # [goals]
    percepts: tuple[tuple[int, Term], ...]  # [percepts] role and term
    sees: NDArray[np.int32]  # [percepts]

    @property
    def num_nodes(self) -> int:
        return self.first_gate + len(self.left)

    @property
    def first_gate(self) -> int:
        return 1 + len(self.fluents) + int(self.move_start[-1]) + len(self.loops)


def make_network(
    sheet: Sheet, seconds: float = SECONDS, gigabytes: float = GIGABYTES, patience: float = PATIENCE
) -> Network:
    """The network of a sheet, within limits of processor time and memory; ``patience`` times as long by the clock.

    Rules that are not grounded soon are also tried in a narrow form (``narrowing.py``) with variables eliminated, at
    the same time, and the first attempt that succeeds is taken. A large network is made again in the second way, and
    the smaller of both is taken.
    """
    with contextlib.ExitStack() as stack:
        plain = stack.enter_context(contextlib.closing(Attempt(sheet, False, seconds, gigabytes, patience)))
        if not plain.wait(plain.began + HEAD_START * seconds / 4):
            narrow = narrowed(sheet)
        if not plain.wait(plain.began + HEAD_START * seconds):
            plain.step_back()
            left = max(plain.end - time.monotonic(), 0.01)
            other = stack.enter_context(
                contextlib.closing(Attempt(narrow, True, min(seconds, left), gigabytes, max(left / seconds, 1.0)))
            )
            return _first_of(plain, other)
        try:
            found = from_ground(sheet, plain.result())
        except NotGroundedError:  # it took too much memory
            narrow = narrowed(sheet)
            return from_ground(
                narrow, ground(narrow, True, min(seconds, max(plain.end - time.monotonic(), 0.01)), gigabytes, 1.0)
            )
    if len(found.left) >= MANY:
        with contextlib.suppress(NotGroundedError):
            narrow = narrowed(sheet)
            smaller = from_ground(narrow, ground(narrow, True, LITTLE_TIME, gigabytes, 1.0))
            return min(found, smaller, key=lambda each: len(each.left))
    return found


def _first_of(*attempts: Attempt) -> Network:
    """The network of the first attempt that succeeds."""
    running = list(attempts)
    while True:
        for attempt in running:
            if attempt.wait(time.monotonic() + LOOKING):
                running.remove(attempt)
                try:
                    return from_ground(attempt.sheet, attempt.result())
                except NotGroundedError:
                    if not running:
                        raise
                break


def from_ground(sheet: Sheet, program: Ground) -> Network:
    """The network of ground rules."""
    shown: dict[str, list[tuple[tuple[Term, ...], int]]] = {}
    for name, terms, atom in program.shown:
        shown.setdefault(name, []).append((terms, atom))
    roles = _roles(sheet, [terms[0] for terms, _ in shown.get("role", ())])
    true = sorted(shown.get("true", ()), key=lambda each: unparse(each[0][0]))
    does: list[list[tuple[Term, int]]] = [[] for _ in roles]
    for (role, move), atom in shown.get("does", ()):
        does[roles.index(role)].append((move, atom))
    for own in does:
        own.sort(key=lambda each: unparse(each[0]))
    start = np.cumsum([0, *(len(own) for own in does)]).astype(np.int32)
    inputs = [atom for _, atom in true] + [atom for own in does for _, atom in own]
    return _Builder(program, shown, roles, true, does, start, inputs).network()


def _roles(sheet: Sheet, found: list[str]) -> tuple[str, ...]:
    """Roles in the order of the sheet, those that rules derive after them."""
    written = [rule.head[1] for rule in sheet.dependencies.heads[ROLE] if not rule.body]
    return (*dict.fromkeys(written), *sorted(role for role in found if role not in written))


class _Builder:
    """Ground rules on their way to a network."""

    def __init__(
        self,
        program: Ground,
        shown: dict[str, list[tuple[tuple[Term, ...], int]]],
        roles: tuple[str, ...],
        true: list[tuple[tuple[Term, ...], int]],
        does: list[list[tuple[Term, int]]],
        start: NDArray[np.int32],
        inputs: list[int],
    ) -> None:
        self.shown, self.roles, self.true, self.does, self.start = shown, roles, true, does, start
        atoms = program.num_atoms
        rules, literals = ordering.measure(program.program)
        self.rules = Rules(np.zeros(atoms + 3, np.int64), np.zeros(rules + 1, np.int64), np.zeros(literals, np.int32))
        ordering.sort_rules(program.program, *self.rules, np.zeros(rules, np.int64), np.zeros(atoms + 3, np.int64))
        self.literal = np.where(np.diff(self.rules.first)[: atoms + 1] > 0, -1, making.FALSE).astype(np.int32)
        self.literal[0] = making.TRUE  # what always holds is shown as atom 0
        for _, atom in shown.get(ASKED, ()):
            self.literal[atom] = making.TRUE  # it only kept the number of instances small
        for node, atom in enumerate(inputs, 1):
            self.literal[atom] = 2 * node
        self.atoms, self.size, self.inputs = atoms, literals, len(inputs)

    def network(self) -> Network:
        wanted = ("next", "legal", "terminal", "goal", "sees")
        roots = np.array([atom for name in wanted for _, atom in self.shown.get(name, ())], np.int32)
        order, group = np.zeros(self.atoms + 1, np.int32), np.full(self.atoms + 1, -1, np.int32)
        index, low = np.zeros(self.atoms + 1, np.int32), np.zeros(self.atoms + 1, np.int32)
        stack = np.zeros((4, self.atoms + 2), np.int64)
        count = ordering.order_atoms(self.rules, self.literal, roots, order, group, index, low, stack)
        loops, looped = ordering.count_loops(self.rules, order, count, group)
        sources, segments = np.zeros(looped, np.int32), np.zeros((loops, 4), np.int32)
        known = self.literal
        for share in SHARES:
            gates, self.literal = self._room(looped, share), known.copy()
            room = np.zeros(len(gates.words), np.int32)
            making.build(gates, self.rules, self.literal, order, count, group, 1 + self.inputs, segments, sources, room)
            if not gates.made[1]:
                return self._named(gates, segments, sources)
        raise NotGroundedError("the rules need more gates than expected")

    def _room(self, looped: int, share: int) -> Gates:
        """Empty gates, a share of all that there may be, and room for the longest rule and list of alternatives."""
        capacity = (2 * self.size + len(self.rules.start)) // share + 8 * self.inputs + 1024
        table = 1 << int(2 * capacity - 1).bit_length()
        bodies = np.diff(self.rules.start).max(initial=0)
        longest = int(max(bodies, np.diff(self.rules.first).max(initial=0), np.diff(self.start).max(initial=0))) + 8
        roles = np.repeat(np.arange(len(self.roles), dtype=np.int32), np.diff(self.start))
        return Gates(
            left=np.zeros(capacity, np.int32),
            right=np.zeros(capacity, np.int32),
            table=np.full(table, -1, np.int32),
            made=np.zeros(2, np.int64),
            first=1 + self.inputs + looped,
            move_role=roles,
            move_start=self.start,
            first_move=1 + len(self.true),
            words=np.zeros(longest, np.int32),
            members=np.zeros(longest, np.int32),
            places=np.zeros(longest, np.int32),
            keys=np.zeros(longest, np.uint64),
            rows=np.zeros(longest, np.int32),
            picked=np.zeros(longest, np.int32),
            tally=np.zeros(2 * (1 + self.inputs + looped + capacity), np.int32),
            met=np.zeros(2 * (1 + self.inputs + looped + capacity), np.int32),
        )

    def _named(self, gates: Gates, segments: Any, sources: Any) -> Network:
        fluents = {terms[0]: place for place, (terms, _) in enumerate(self.true)}
        following, initial = np.zeros(len(fluents), np.int32), np.zeros(len(fluents), bool)
        for terms, atom in self.shown.get("next", ()):
            following[fluents[terms[0]]] = self.literal[atom]
        for terms, _ in self.shown.get("init", ()):
            initial[fluents[terms[0]]] = True
        legal = np.zeros(int(self.start[-1]), np.int32)
        place = {
            (role, move): int(self.start[number]) + at
            for number, role in enumerate(self.roles)
            for at, (move, _) in enumerate(self.does[number])
        }
        for terms, atom in self.shown.get("legal", ()):
            legal[place[terms[0], terms[1]]] = self.literal[atom]
        goals = [
            (self.roles.index(terms[0]), int(terms[1]), int(self.literal[atom]))
            for terms, atom in self.shown.get("goal", ())
            if is_whole(terms[1])
        ]
        goals.sort()
        sees = sorted(
            ((self.roles.index(terms[0]), unparse(terms[1]), terms[1], int(self.literal[atom])))
            for terms, atom in self.shown.get("sees", ())
        )
        terminal = [int(self.literal[atom]) for _, atom in self.shown.get("terminal", ())]
        made = int(gates.made[0])
        return Network(
            roles=self.roles,
            fluents=tuple(fluents),
            moves=tuple(tuple(move for move, _ in own) for own in self.does),
            move_start=self.start,
            left=gates.left[:made].copy(),
            right=gates.right[:made].copy(),
            loops=sources,
            segments=segments,
            initial=initial,
            next=following,
            legal=legal,
            terminal=terminal[0] if terminal else making.FALSE,
            goal_value=np.array([value for _, value, _ in goals], np.int32),
            goal_role=np.array([role for role, _, _ in goals], np.int32),
            goals=np.array([literal for _, _, literal in goals], np.int32),
            percepts=tuple((role, term) for role, _, term, _ in sees),
            sees=np.array([literal for _, _, _, literal in sees], np.int32),
        )
