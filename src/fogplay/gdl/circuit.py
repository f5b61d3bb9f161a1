"""A network's arrays as kernels read them, and its evaluation for one state at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.gdl.gates import TRUE
from fogplay.gdl.network import Network
from fogplay.jit import kernel, piece

_1, _2, _4, _56, _63 = (np.uint64(number) for number in (1, 2, 4, 56, 63))
_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_EIGHTS, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


class Circuit(NamedTuple):
    """The arrays of a network. Gates before ``split`` depend on the state alone, the others on moves as well."""

    left: NDArray[np.uint32]  # [gates] literals
    right: NDArray[np.uint32]  # [gates]
    loops: NDArray[np.uint32]  # [loops] literals
    segments: NDArray[np.int32]  # [segments, 4] first gate, last gate + 1, first loop, last loop + 1
    next: NDArray[np.uint32]  # [fluents] literals, as in the following
    legal: NDArray[np.uint32]  # [moves]
    sees: NDArray[np.uint32]  # [percepts]
    goals: NDArray[np.uint32]  # [goals]
    goal_role: NDArray[np.int32]  # [goals] ascending
    goal_value: NDArray[np.int32]  # [goals] ascending within a role
    move_start: NDArray[np.int32]  # [roles + 1]
    fan_start: NDArray[np.uint32]  # [nodes + 1]
    fan: NDArray[np.uint32]  # [edges] the gates that read a node; from first_due on, the fluents that it may change
    fan_other: NDArray[np.uint32]  # [edges] the other literal that each gate reads; true in loops and for fluents
    segment_of: NDArray[np.int32]  # [gates] -1 outside of loops
    terminal: int
    split: int
    first_move: int  # nodes
    first_loop: int
    first_gate: int
    first_due: int  # a multiple of 64, beyond all gates


def circuit_of(network: Network) -> Circuit:
    """A network's arrays, its gates arranged by what they depend on."""
    fluents, moves = len(network.fluents), int(network.move_start[-1])
    first = network.first_gate
    count = len(network.left)
    late = np.zeros(count, bool)
    place, segments = np.zeros(count, np.int32), np.zeros_like(network.segments)
    split = arrange(
        network.left, network.right, network.segments, 1 + fluents, 1 + fluents + moves, first, late, place, segments
    )
    left, right = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    left[place], right[place] = (_moved(each, place, first) for each in (network.left, network.right))
    of = np.full(count, -1, np.int32)
    for number, (begin, end, _, _) in enumerate(segments.tolist()):
        of[begin:end] = number
    following = _moved(network.next, place, first)
    first_due = 64 * -(-count // 64)
    fan_start, fan, fan_other = _readers(left, right, following, of, first + count, first_due)
    return Circuit(
        left=left,
        right=right,
        loops=_moved(network.loops, place, first),
        segments=segments,
        next=following,
        legal=_moved(network.legal, place, first),
        sees=_moved(network.sees, place, first),
        goals=_moved(network.goals, place, first),
        goal_role=network.goal_role,
        goal_value=network.goal_value,
        move_start=network.move_start,
        fan_start=fan_start,
        fan=fan,
        fan_other=fan_other,
        segment_of=of,
        terminal=int(_moved(np.array([network.terminal], np.int32), place, first)[0]),
        split=int(split),
        first_move=1 + fluents,
        first_loop=1 + fluents + moves,
        first_gate=first,
        first_due=first_due,
    )


def _readers(
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    following: NDArray[np.uint32],
    segment_of: NDArray[np.int32],
    nodes: int,
    first_due: int,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """For every node, the gates that read it and their other inputs, and the fluents that it may change."""
    gates, fluents = np.arange(len(left)), np.arange(len(following))
    loose = segment_of < 0
    read = np.concatenate([left >> 1, right >> 1, following >> 1, 1 + fluents]).astype(np.int64)
    reader = np.concatenate([gates, gates, first_due + fluents, first_due + fluents])
    other = np.concatenate([np.where(loose, right, TRUE), np.where(loose, left, TRUE), np.full(2 * len(fluents), TRUE)])
    order = np.argsort(read, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(read, minlength=nodes))])
    return start.astype(np.uint32), reader[order].astype(np.uint32), other[order].astype(np.uint32)


def _moved(literals: NDArray[np.int32], place: NDArray[np.int32], first: int) -> NDArray[np.uint32]:
    """Literals by the new places of gates."""
    if not len(place):
        return literals.astype(np.uint32)
    gate = (literals >> 1) - first
    moved = 2 * (first + place[np.maximum(gate, 0)]) + (literals & 1)
    return np.where(gate >= 0, moved, literals).astype(np.uint32)


@kernel
def arrange(
    left: Any,
    right: Any,
    segments: Any,
    first_move: int,
    first_loop: int,
    first: int,
    late: Any,
    place: Any,
    moved: Any,
) -> int:
    """Put gates that depend on the state alone before the others; gates of a loop stay together.

    Fills ``late[gates]``, ``place[gates]`` and ``moved[segments]``; returns the number of early gates.
    """
    number = at = 0
    while at < len(left):
        end = at + 1
        begin_loop = end_loop = 0
        if number < len(segments) and segments[number, 0] == at:
            end, begin_loop, end_loop = max(segments[number, 1], at), segments[number, 2], segments[number, 3]
        any_late = False
        for gate in range(at, end):
            for literal in (left[gate], right[gate]):
                node = literal >> 1
                if first_move <= node < first_loop or (node >= first and late[node - first]):
                    any_late = True
                if first_loop <= node < first and not begin_loop <= node - first_loop < end_loop:
                    any_late = True  # another loop's node: never read outside of its loop
        for gate in range(at, end):
            late[gate] = any_late
        if begin_loop < end_loop:
            number += 1
            if end == at:
                continue
        at = end
    early = 0
    for gate in range(len(left)):
        early += not late[gate]
    front, back = 0, early
    for gate in range(len(left)):
        if late[gate]:
            place[gate] = back
            back += 1
        else:
            place[gate] = front
            front += 1
    for each in range(len(segments)):
        begin, end = segments[each, 0], segments[each, 1]
        moved[each, 2], moved[each, 3] = segments[each, 2], segments[each, 3]
        if begin == end:
            moved[each, 0] = moved[each, 1] = 0
        else:
            moved[each, 0] = place[begin]
            moved[each, 1] = place[begin] + end - begin
    return early


@piece
def holds(values, literal):
    """Whether a literal holds; ``values[nodes]`` are 0 or 1."""
    return values[literal >> np.uint32(1)] ^ np.uint8(literal & np.uint32(1))


@kernel
def evaluate(circuit: Any, values: Any, begin: int, end: int) -> None:
    """Compute gates ``begin`` to ``end`` of ``values[nodes]``, loops until nothing changes."""
    gate = begin
    while gate < end:
        number = circuit.segment_of[gate]
        if number < 0:
            values[circuit.first_gate + gate] = holds(values, circuit.left[gate]) & holds(values, circuit.right[gate])
            gate += 1
        else:
            settle(circuit, values, number)
            gate = circuit.segments[number, 1]


@kernel
def settle(circuit: Any, values: Any, number: int) -> None:
    """Compute the gates of a loop from nothing up to its fixpoint."""
    for loop in range(circuit.segments[number, 2], circuit.segments[number, 3]):
        values[circuit.first_loop + loop] = 0
    changed = True
    while changed:
        for gate in range(circuit.segments[number, 0], circuit.segments[number, 1]):
            values[circuit.first_gate + gate] = holds(values, circuit.left[gate]) & holds(values, circuit.right[gate])
        changed = False
        for loop in range(circuit.segments[number, 2], circuit.segments[number, 3]):
            value = holds(values, circuit.loops[loop])
            if value != values[circuit.first_loop + loop]:
                values[circuit.first_loop + loop] = value
                changed = True


@kernel
def at_state(circuit: Any, values: Any, state: Any) -> None:
    """Compute what depends on a state alone; ``state[fluents]`` are 0 or 1."""
    values[0] = 0
    for fluent in range(len(state)):
        values[1 + fluent] = state[fluent]
    evaluate(circuit, values, 0, circuit.split)


@kernel
def after_moves(circuit: Any, values: Any, moves: Any, state: Any) -> None:
    """Compute what depends on moves, by their numbers, and write the next state to ``state[fluents]``."""
    for node in range(circuit.first_move, circuit.first_loop):
        values[node] = 0
    for move in moves:
        values[circuit.first_move + move] = 1
    evaluate(circuit, values, circuit.split, len(circuit.left))
    for fluent in range(len(state)):
        state[fluent] = holds(values, circuit.next[fluent])


@piece
def bits_in(word):
    """How many bits of 64 are set."""
    word = word - ((word >> _1) & _PAIRS)
    word = (word & _FOURS) + ((word >> _2) & _FOURS)
    return (((word + (word >> _4)) & _EIGHTS) * _BYTES) >> _56
