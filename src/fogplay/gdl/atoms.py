"""Ground rules by their heads, and the order in which atoms are computed: each after those it depends on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel


class Rules(NamedTuple):
    """Ground rules; those of atom a are ``first[a]`` to ``first[a + 1]``, and the body of rule r is at ``start[r]``."""

    first: NDArray[np.int64]  # [atoms + 2]
    start: NDArray[np.int64]  # [rules + 1]
    body: NDArray[np.int32]  # [literals] atoms, negative where they must not hold


@kernel
def measure(program: Any) -> tuple[int, int]:
    """The numbers of rules and of body literals in the grounder's output."""
    at = rules = literals = 0
    while at < len(program):
        rules += 1
        literals += program[at + 1]
        at += 2 + program[at + 1]
    return rules, literals


@kernel
def sort_rules(program: Any, first: Any, start: Any, body: Any, where: Any, filled: Any) -> None:
    """Fill ``Rules`` from the grounder's output; ``where[rules]`` and ``filled[atoms + 2]`` are room to work in."""
    at = 0
    while at < len(program):
        first[program[at] + 1] += 1
        at += 2 + program[at + 1]
    for atom in range(1, len(first)):
        first[atom] += first[atom - 1]
        filled[atom] = first[atom]
    at = 0
    while at < len(program):
        where[filled[program[at]]] = at
        filled[program[at]] += 1
        at += 2 + program[at + 1]
    used = 0
    for rule in range(len(where)):
        start[rule] = used
        at = where[rule]
        for place in range(program[at + 1]):
            body[used] = program[at + 2 + place]
            used += 1
    start[len(where)] = used


@kernel
def order_atoms(rules: Any, literal: Any, roots: Any, order: Any, group: Any, index: Any, low: Any, stack: Any) -> int:
    """Atoms that the roots depend on, each after those it depends on, except within a loop (Tarjan).

    ``literal[atoms]`` is -1 for atoms that rules define; ``order`` is filled with atoms, ``group[atoms]`` with the
    number of each one's loop. ``index`` and ``low`` begin at 0; ``stack[4, atoms]`` is room to work in. Returns
    how many atoms there are.
    """
    path, work, edge, row = stack[0], stack[1], stack[2], stack[3]
    counter = done = groups = on_path = 0
    for root in roots:
        if root == 0 or literal[root] != -1 or index[root] != 0:
            continue
        depth = 0
        work[0] = root
        edge[0] = -1
        while depth >= 0:
            atom = work[depth]
            if edge[depth] == -1:
                counter += 1
                index[atom] = counter
                low[atom] = counter
                path[on_path] = atom
                on_path += 1
                edge[depth] = rules.start[rules.first[atom]]
                row[depth] = rules.start[rules.first[atom + 1]]
            pushed = False
            while edge[depth] < row[depth]:
                other = abs(rules.body[edge[depth]])
                edge[depth] += 1
                if literal[other] != -1:
                    continue
                if index[other] == 0:
                    depth += 1
                    work[depth] = other
                    edge[depth] = -1
                    pushed = True
                    break
                if group[other] == -1:
                    low[atom] = min(low[atom], index[other])
            if pushed:
                continue
            if low[atom] == index[atom]:
                while True:
                    on_path -= 1
                    member = path[on_path]
                    group[member] = groups
                    order[done] = member
                    done += 1
                    if member == atom:
                        break
                groups += 1
            depth -= 1
            if depth >= 0:
                low[work[depth]] = min(low[work[depth]], low[atom])
    return done


@kernel
def mentions_itself(rules: Any, atom: int) -> bool:
    """Whether an atom is a condition of itself."""
    for place in range(rules.start[rules.first[atom]], rules.start[rules.first[atom + 1]]):
        if rules.body[place] == atom:
            return True
    return False


@kernel
def count_loops(rules: Any, order: Any, count: int, group: Any) -> tuple[int, int]:
    """The numbers of loops and of atoms in them."""
    at = loops = atoms = 0
    while at < count:
        end = at + 1
        while end < count and group[order[end]] == group[order[at]]:
            end += 1
        if end > at + 1 or mentions_itself(rules, order[at]):
            loops += 1
            atoms += end - at
        at = end
    return loops, atoms
