"""An and-inverter graph built from ground rules: equal gates are made once, and gates come after their inputs.

A literal is twice a node's number, plus one where it is negated. Node 0 is false, so 0 and 1 are the constants. Nodes
are, in this order: false, fluents, moves, loops (one for each atom that depends on itself), gates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.gdl.atoms import mentions_itself
from fogplay.jit import kernel

FALSE, TRUE = 0, 1
FULL = -1  # no room for another gate


class Gates(NamedTuple):
    """Gates while they are made, and room to work in."""

    left: NDArray[np.int32]  # [capacity] literals
    right: NDArray[np.int32]  # [capacity]
    table: NDArray[np.int32]  # [a power of two] gates by their inputs, -1 where free
    made: NDArray[np.int64]  # [2] gates made; 1 once there was no room
    first: int  # node of the first gate
    move_role: NDArray[np.int32]  # [moves]
    move_start: NDArray[np.int32]  # [roles + 1]
    first_move: int  # node of the first move
    words: NDArray[np.int32]  # [longest] literals of a body
    members: NDArray[np.int32]  # [longest] literals of a disjunction
    places: NDArray[np.int32]  # [longest]
    keys: NDArray[np.uint64]  # [longest]
    rows: NDArray[np.int32]  # [longest]
    picked: NDArray[np.int32]  # [longest] moves of the alternatives
    tally: NDArray[np.int32]  # [2 × nodes] in how many alternatives a literal occurs; zero between two atoms
    met: NDArray[np.int32]  # [2 × nodes] the last rule in which it was counted


@kernel
def both(gates: Any, one: Any, other: Any) -> Any:
    """The literal that holds where both do."""
    a, b = min(one, other), max(one, other)
    if a == FALSE or a == b ^ 1:
        return FALSE
    if a in (TRUE, b):
        return b
    for one, other in ((a, b), (b, a)):
        gate = (other >> 1) - gates.first
        if gate >= 0:
            left, right = gates.left[gate], gates.right[gate]
            if other & 1 == 0:
                if one in (left, right):
                    return other
                if one ^ 1 in (left, right):
                    return FALSE
            elif one ^ 1 in (left, right):
                return one
    mask = len(gates.table) - 1
    place = (
        np.int64(
            (np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F))
            >> np.uint64(29)
        )
        & mask
    )
    while True:
        gate = gates.table[place]
        if gate == -1:
            break
        if gates.left[gate] == a and gates.right[gate] == b:
            return 2 * (gates.first + gate)
        place = (place + 1) & mask
    made = gates.made[0]
    if made >= len(gates.left):
        gates.made[1] = 1
        return FALSE
    gates.left[made] = a
    gates.right[made] = b
    gates.table[place] = made
    gates.made[0] = made + 1
    return 2 * (gates.first + made)


@kernel
def sort_by_key(keys: Any, values: Any, length: int) -> None:
    """Sort the first ``length`` keys, and values with them (Shell)."""
    gap = 1
    while gap < length // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(gap, length):
            key, value, at = keys[place], values[place], place
            while at >= gap and keys[at - gap] > key:
                keys[at] = keys[at - gap]
                values[at] = values[at - gap]
                at -= gap
            keys[at] = key
            values[at] = value
        gap //= 3


@kernel
def all_of(gates: Any, literals: Any, length: int) -> Any:
    """The conjunction of the first ``length`` literals, which are sorted on the way."""
    for place in range(1, length):
        word, at = literals[place], place
        while at > 0 and literals[at - 1] > word:
            literals[at] = literals[at - 1]
            at -= 1
        literals[at] = word
    result = TRUE
    for place in range(length):
        result = both(gates, result, literals[place])
    return result


@kernel
def any_of(gates: Any, literals: Any, length: int) -> Any:
    """The disjunction of the first ``length`` literals, in pairs of pairs; they are changed."""
    for place in range(length):
        gates.keys[place] = literals[place]
    sort_by_key(gates.keys, literals, length)
    if length == 0:
        return FALSE
    while length > 1:
        kept = 0
        for place in range(0, length - 1, 2):
            literals[kept] = both(gates, literals[place] ^ 1, literals[place + 1] ^ 1) ^ 1
            kept += 1
        if length & 1:
            literals[kept] = literals[length - 1]
            kept += 1
        length = kept
    return literals[0]


@kernel
def any_move(gates: Any, moves: Any, length: int, role: int) -> Any:
    """Whether a role makes one of the moves ``moves[:length]``, its own numbers, which are changed.

    A role makes exactly one move: most of its moves are not the few others.
    """
    start, end = gates.move_start[role], gates.move_start[role + 1]
    count = end - start
    for place in range(length):
        gates.keys[place] = moves[place]
    sort_by_key(gates.keys, moves, length)
    kept = 0
    for place in range(length):
        if kept == 0 or moves[kept - 1] != moves[place]:
            moves[kept] = moves[place]
            kept += 1
    negated = 2 * kept > count
    places, members = gates.places, gates.members
    size = at = 0
    for place in range(count if negated else kept):
        if negated and at < kept and moves[at] == place:
            at += 1
            continue
        places[size] = place if negated else moves[place]
        members[size] = 2 * (gates.first_move + start + places[size])
        size += 1
    while size > 1:  # neighbours first, so that sets share their halves
        made = at = 0
        while at < size:
            if at + 1 < size and places[at] >> 1 == places[at + 1] >> 1:
                members[made] = both(gates, members[at] ^ 1, members[at + 1] ^ 1) ^ 1
                places[made] = places[at] >> 1
                at += 2
            else:
                members[made] = members[at]
                places[made] = places[at] >> 1
                at += 1
            made += 1
        size = made
    result = members[0] if size else FALSE
    return result ^ 1 if negated else result


@kernel
def define(gates: Any, rules: Any, literal: Any, atom: int, alternatives: Any) -> Any:
    """The literal of an atom by its rules.

    Rules that differ only in a role's move are one, with a set of moves; what all rules share is required once.
    """
    count, last = 0, gates.first_move + len(gates.move_role)
    for rule in range(rules.first[atom], rules.first[atom + 1]):
        role, key, alive = -1, np.uint64(0), True
        for place in range(rules.start[rule], rules.start[rule + 1]):
            entry = rules.body[place]
            word = literal[abs(entry)] ^ (entry < 0)
            if word == FALSE:
                alive = False
                break
            node = word >> 1
            if role == -1 and word & 1 == 0 and gates.first_move <= node < last:
                role = gates.move_role[node - gates.first_move]
            elif word != TRUE:
                mixed = (np.uint64(word) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
                key += (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
        if alive:
            gates.keys[count] = (key & ~np.uint64(255)) | np.uint64((role + 1) & 255)
            gates.rows[count] = rule
            count += 1
    sort_by_key(gates.keys, gates.rows, count)
    found = at = 0
    while at < count:
        end = at + 1
        while end < count and gates.keys[end] == gates.keys[at]:
            end += 1
        alternatives[found] = at
        found += 1
        at = end
    _count_words(gates, rules, literal, count, 1)
    result = _joined(gates, rules, literal, alternatives, found, count)
    if count > 1:
        size, rule = 0, gates.rows[0]
        for place in range(rules.start[rule], rules.start[rule + 1]):
            entry = rules.body[place]
            word = literal[abs(entry)] ^ (entry < 0)
            if word != TRUE and gates.tally[word] == count:
                gates.words[size] = word
                size += 1
        result = both(gates, result, all_of(gates, gates.words, size))
    _count_words(gates, rules, literal, count, 0)
    return result


@kernel
def _count_words(gates: Any, rules: Any, literal: Any, count: int, by: int) -> None:
    """Count in how many rules each literal occurs, or, if ``by`` is 0, forget it."""
    for at in range(count):
        rule = gates.rows[at]
        for place in range(rules.start[rule], rules.start[rule + 1]):
            entry = rules.body[place]
            word = literal[abs(entry)] ^ (entry < 0)
            if by == 0:
                gates.tally[word] = gates.met[word] = 0
            elif gates.met[word] != rule + 1:
                gates.met[word] = rule + 1
                gates.tally[word] += 1


@kernel
def _joined(gates: Any, rules: Any, literal: Any, alternatives: Any, found: int, count: int) -> Any:
    """The disjunction of groups of rules; ``alternatives[:found]`` are their first places in ``gates.rows``."""
    last = gates.first_move + len(gates.move_role)
    for number in range(found):
        begin = alternatives[number]
        end = alternatives[number + 1] if number + 1 < found else count
        size, role, moves = 0, -1, 0
        for at in range(begin, end):
            rule, role = gates.rows[at], -1
            for place in range(rules.start[rule], rules.start[rule + 1]):
                entry = rules.body[place]
                word = literal[abs(entry)] ^ (entry < 0)
                node = word >> 1
                if role == -1 and word & 1 == 0 and gates.first_move <= node < last:
                    role = gates.move_role[node - gates.first_move]
                    gates.picked[moves] = node - gates.first_move - gates.move_start[role]
                    moves += 1
                elif at == begin and (count == 1 or gates.tally[word] != count):
                    gates.words[size] = word
                    size += 1
        if role != -1:
            gates.words[size] = any_move(gates, gates.picked, moves, role)
            size += 1
        alternatives[number] = all_of(gates, gates.words, size)
    return any_of(gates, alternatives, found)


@kernel
def build(
    gates: Any,
    rules: Any,
    literal: Any,
    order: Any,
    count: int,
    group: Any,
    loop_node: Any,
    segments: Any,
    sources: Any,
    room: Any,
) -> int:
    """Make the gates of all atoms in ``order[:count]``; ``literal[atoms]`` is filled.

    Atoms of a loop begin as nodes of their own, ``loop_node`` on; ``sources[loops]`` are their literals in the end, and
    ``segments[number]`` the gates and the loops to repeat until nothing changes. Returns the number of segments.
    """
    at = loops = found = 0
    while at < count:
        end = at + 1
        while end < count and group[order[end]] == group[order[at]]:
            end += 1
        loop = end > at + 1 or mentions_itself(rules, order[at])
        if not loop:
            literal[order[at]] = define(gates, rules, literal, order[at], room)
            at = end
            continue
        begin, first = gates.made[0], loops
        for place in range(at, end):
            literal[order[place]] = 2 * (loop_node + loops)
            loops += 1
        for place in range(at, end):
            sources[first + place - at] = define(gates, rules, literal, order[place], room)
        for place in range(at, end):
            literal[order[place]] = _outside(sources, first + place - at, first, loops, loop_node)
        segments[found, 0], segments[found, 1] = begin, gates.made[0]
        segments[found, 2], segments[found, 3] = first, loops
        found += 1
        at = end
    return found


@kernel
def _outside(sources: Any, loop: int, first: int, end: int, loop_node: int) -> Any:
    """The literal of an atom in a loop for all that is outside: a gate, not another node of the same loop."""
    found = sources[loop]
    for _ in range(first, end):
        node = (found >> 1) - loop_node
        if not first <= node < end:
            return found
        found = sources[node]
    return FALSE  # atoms that support only each other
