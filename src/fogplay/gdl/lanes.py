"""Lanes: thousands of random plays at once, one per bit of a machine word.

A row of words holds one node's value in all lanes, so a gate is one instruction per 64 lanes. Moves are chosen in the
same way: the legal moves of a role are counted with numbers whose binary digits are rows, a random number below the
count is drawn digit by digit, and a second count finds the move of that number. Lanes whose play is over begin another
one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.gdl.circuit import Circuit, bits_in
from fogplay.jit import kernel, piece

WIDTH = 32  # words per row, for small networks
NARROW = 8
LARGE = 8_000  # nodes, from which rows are narrow so that a network's values stay in the cache
DIGITS = 12  # binary digits of a random number beyond those of the count
MOST_STEPS = 100_000  # without the end of a single play: then all are cut off
_0, _1 = np.uint64(0), np.uint64(1)
_ALL = ~_0
_17, _23, _26 = np.uint64(17), np.uint64(23), np.uint64(26)


class Rows(NamedTuple):
    """What the lanes hold while they play; every row has ``width`` words."""

    values: NDArray[np.uint64]  # [nodes, width]
    start: NDArray[np.uint64]  # [nodes] all ones where a node holds in the state to start from
    after: NDArray[np.uint64]  # [fluents, width]
    over: NDArray[np.uint64]  # [width] lanes that wait
    counts: NDArray[np.uint64]  # [digits, width]
    drawn: NDArray[np.uint64]  # [digits, width]
    passed: NDArray[np.uint64]  # [digits, width]
    spare: NDArray[np.uint64]  # [4, width]
    random: NDArray[np.uint64]  # [2, width]
    won: NDArray[np.int64]  # [goals] how often each was reached
    plays: NDArray[np.int64]  # [4] left to start, finished, steps, cut off


@dataclass(frozen=True)
class Outcome:
    """What random plays from a state ended with."""

    plays: int
    means: tuple[float, ...]  # [roles] goals
    counts: NDArray[np.int64]  # [goals] how often each goal was reached
    steps: int  # of all plays together
    cut: int  # plays that did not end


def make_rows(circuit: Circuit, seed: int, width: int | None = None) -> Rows:
    """Empty lanes."""
    nodes = circuit.first_gate + len(circuit.left)
    width = width or (WIDTH if nodes < LARGE else NARROW)
    most = int(np.diff(circuit.move_start).max(initial=1))
    digits = max(1, most.bit_length())
    rng = np.random.default_rng(seed)
    return Rows(
        values=np.zeros((nodes, width), np.uint64),
        start=np.zeros(nodes, np.uint64),
        after=np.zeros((len(circuit.next), width), np.uint64),
        over=np.zeros(width, np.uint64),
        counts=np.zeros((digits, width), np.uint64),
        drawn=np.zeros((digits, width), np.uint64),
        passed=np.zeros((digits, width), np.uint64),
        spare=np.zeros((4, width), np.uint64),
        random=rng.integers(1, 2**63, (2, width), np.uint64) | _1,
        won=np.zeros(len(circuit.goals), np.int64),
        plays=np.zeros(4, np.int64),
    )


def simulate(circuit: Circuit, rows: Rows, state: bytes, plays: int) -> Outcome:
    """Random plays from a state; the random numbers go on where the rows' last ones ended."""
    rows.won[:] = 0
    rows.plays[:] = plays, 0, 0, 0
    play(circuit, rows, np.frombuffer(state, np.uint8))
    return outcome_of(circuit, rows.won.copy(), rows.plays)


def outcome_of(circuit: Circuit, won: NDArray[np.int64], plays: NDArray[np.int64]) -> Outcome:
    """What was counted, as an outcome."""
    sums = np.bincount(circuit.goal_role, won * circuit.goal_value, minlength=len(circuit.move_start) - 1)
    done = max(int(plays[1]), 1)
    return Outcome(done, tuple((sums / done).tolist()), won, int(plays[2]), int(plays[3]))


class Lanes(Protocol):
    """Random plays of one circuit, on a CPU or a GPU."""

    def simulate(self, state: bytes, plays: int) -> Outcome:
        """Random plays from a state."""


@dataclass(frozen=True)
class LanesOnCpu:
    """Lanes on one core."""

    circuit: Circuit
    rows: Rows

    def simulate(self, state: bytes, plays: int) -> Outcome:
        return simulate(self.circuit, self.rows, state, plays)


def make_lanes(circuit: Circuit, seed: int, device: str = "cpu", width: int | None = None) -> Lanes:
    """Lanes on a device, ``cpu`` or ``cuda``, with ``width`` words per row; 64 lanes are one word."""
    if device == "cpu":
        return LanesOnCpu(circuit, make_rows(circuit, seed, width))
    if device != "cuda":
        raise FogplayError(f"device must be cpu or cuda, not {device!r}")
    from fogplay.gdl.lanes_gpu import LanesOnGpu

    return LanesOnGpu(circuit, seed, width)


@piece
def both_rows(values, node, left, right):
    """Compute one gate in all lanes."""
    one, other = values[left >> np.uint32(1)], values[right >> np.uint32(1)]
    flip, turn = _0 - np.uint64(left & np.uint32(1)), _0 - np.uint64(right & np.uint32(1))
    target = values[node]
    for word in range(values.shape[1]):
        target[word] = (one[word] ^ flip) & (other[word] ^ turn)


@kernel
def evaluate_rows(circuit: Any, values: Any, begin: int, end: int) -> None:
    """Compute gates ``begin`` to ``end`` in all lanes, loops until nothing changes in any."""
    gate = begin
    while gate < end:
        number = circuit.segment_of[gate]
        if number < 0:
            both_rows(values, np.uint64(circuit.first_gate + gate), circuit.left[gate], circuit.right[gate])
            gate += 1
            continue
        first, last = circuit.segments[number, 2], circuit.segments[number, 3]
        for loop in range(first, last):
            for word in range(values.shape[1]):
                values[circuit.first_loop + loop, word] = _0
        changed = True
        while changed:
            for each in range(circuit.segments[number, 0], circuit.segments[number, 1]):
                both_rows(values, np.uint64(circuit.first_gate + each), circuit.left[each], circuit.right[each])
            changed = False
            for loop in range(first, last):
                source = circuit.loops[loop]
                flip = _0 - np.uint64(source & np.uint32(1))
                for word in range(values.shape[1]):
                    value = values[source >> np.uint32(1), word] ^ flip
                    changed |= value != values[circuit.first_loop + loop, word]
                    values[circuit.first_loop + loop, word] = value
        gate = circuit.segments[number, 1]


@piece
def random_word(random, word):
    """64 random bits for a place in a row (xorshift128+)."""
    one, other = random[0, word], random[1, word]
    random[0, word] = other
    one ^= one << _23
    random[1, word] = one ^ other ^ (one >> _17) ^ (other >> _26)
    return random[1, word] + other


@kernel
def count_legal(circuit: Any, rows: Any, role: int) -> int:
    """Count a role's legal moves in every lane; returns how many digits the counts have."""
    digits, width = len(rows.counts), rows.values.shape[1]
    used = 0
    for digit in range(digits):
        for word in range(width):
            rows.counts[digit, word] = _0
    carry = rows.spare[0]
    for move in range(circuit.move_start[role], circuit.move_start[role + 1]):
        literal = circuit.legal[move]
        flip = _0 - np.uint64(literal & np.uint32(1))
        legal = rows.values[literal >> np.uint32(1)]
        for word in range(width):
            carry[word] = legal[word] ^ flip
        digit = 0
        while digit < used:
            number = rows.counts[digit]
            for word in range(width):
                before = number[word]
                number[word] = before ^ carry[word]
                carry[word] &= before
            digit += 1
        left = _0
        for word in range(width):
            left |= carry[word]
        if left != _0:
            for word in range(width):
                rows.counts[used, word] = carry[word]
            used += 1
    return used


@kernel
def draw_below(rows: Any, used: int) -> None:
    """Draw a number below the count in every lane: the count times a random fraction, rounded down."""
    width = rows.values.shape[1]
    random, carry = rows.spare[1], rows.spare[2]
    for digit in range(used):
        for word in range(width):
            rows.drawn[digit, word] = _0
    for _ in range(used + DIGITS):
        for word in range(width):
            random[word] = random_word(rows.random, word)
            carry[word] = _0
        for digit in range(used):
            number, count = rows.drawn[digit], rows.counts[digit]
            if digit == 0:
                for word in range(width):
                    carry[word] = number[word] & count[word] & random[word]
                continue
            below = rows.drawn[digit - 1]
            for word in range(width):
                one, other = number[word], count[word] & random[word]
                half = one ^ other
                below[word] = half ^ carry[word]
                carry[word] = (one & other) | (half & carry[word])
        last = rows.drawn[used - 1]
        for word in range(width):
            last[word] = carry[word]


@kernel
def choose_moves(circuit: Any, rows: Any, role: int) -> None:
    """Choose one of a role's legal moves in every lane, all alike; a lane without one makes none."""
    first, last, width = circuit.move_start[role], circuit.move_start[role + 1], rows.values.shape[1]
    used = count_legal(circuit, rows, role)
    if used > 1:
        draw_below(rows, used)
    for digit in range(used):
        for word in range(width):
            rows.passed[digit, word] = _0
    if used == 1:
        for word in range(width):
            rows.drawn[0, word] = _0
    hit, carry = rows.spare[1], rows.spare[2]
    for move in range(first, last):
        literal = circuit.legal[move]
        flip = _0 - np.uint64(literal & np.uint32(1))
        legal, chosen = rows.values[literal >> np.uint32(1)], rows.values[circuit.first_move + move]
        for word in range(width):
            carry[word] = legal[word] ^ flip
            hit[word] = carry[word]
        for digit in range(used):
            passed, drawn = rows.passed[digit], rows.drawn[digit]
            for word in range(width):
                before = passed[word]
                hit[word] &= ~(before ^ drawn[word])
                passed[word] = before ^ carry[word]
                carry[word] &= before
        for word in range(width):
            chosen[word] = hit[word]


@kernel
def finish(circuit: Any, rows: Any, cut: bool) -> Any:
    """Note the goals of lanes whose play has ended, and let them wait; returns how many there are.

    A play also ends where a role has no move, and everywhere if ``cut``.
    """
    width = rows.values.shape[1]
    ended, taken, some = rows.spare[0], rows.spare[1], rows.spare[2]
    flip = _0 - np.uint64(circuit.terminal & 1)
    for word in range(width):
        ended[word] = _ALL if cut else rows.values[circuit.terminal >> 1, word] ^ flip
    for role in range(len(circuit.move_start) - 1):
        for word in range(width):
            some[word] = _0
        for move in range(circuit.move_start[role], circuit.move_start[role + 1]):
            literal = circuit.legal[move]
            turn = _0 - np.uint64(literal & np.uint32(1))
            legal = rows.values[literal >> np.uint32(1)]
            for word in range(width):
                some[word] |= legal[word] ^ turn
        for word in range(width):
            ended[word] |= ~some[word]
    found: Any = 0
    for word in range(width):
        ended[word] &= ~rows.over[word]
        rows.over[word] |= ended[word]
        found += np.int64(bits_in(ended[word]))
        taken[word] = _0
    if found == 0:
        return 0
    for goal in range(len(circuit.goals) - 1, -1, -1):  # the highest of a role first
        if goal + 1 < len(circuit.goals) and circuit.goal_role[goal + 1] != circuit.goal_role[goal]:
            for word in range(width):
                taken[word] = _0
        literal = circuit.goals[goal]
        turn = _0 - np.uint64(literal & np.uint32(1))
        for word in range(width):
            reached = (rows.values[literal >> np.uint32(1), word] ^ turn) & ended[word] & ~taken[word]
            taken[word] |= reached
            rows.won[goal] += np.int64(bits_in(reached))
    rows.plays[1] += found
    return found


@kernel
def begin_again(circuit: Any, rows: Any) -> None:
    """Start new plays in lanes that wait, as many as are left to start."""
    width = rows.values.shape[1]
    fresh = rows.spare[0]
    for word in range(width):
        fresh[word] = _0
        free = rows.over[word]
        while free != _0 and rows.plays[0] > 0:
            if np.int64(bits_in(free)) <= rows.plays[0]:
                rows.plays[0] -= np.int64(bits_in(free))
                fresh[word] |= free
                break
            lowest = free & (_0 - free)
            fresh[word] |= lowest
            free ^= lowest
            rows.plays[0] -= 1
        rows.over[word] &= ~fresh[word]
    for node in range(circuit.first_gate + circuit.split):
        if circuit.first_move <= node < circuit.first_loop:
            continue
        begin, row = rows.start[node], rows.values[node]
        for word in range(width):
            row[word] = (row[word] & ~fresh[word]) | (begin & fresh[word])


@kernel
def move_rows(circuit: Any, rows: Any) -> None:
    """Choose all roles' moves in every lane and compute what follows from them: the next state and percepts."""
    for role in range(len(circuit.move_start) - 1):
        choose_moves(circuit, rows, role)
    evaluate_rows(circuit, rows.values, circuit.split, len(circuit.left))


@kernel
def follow_rows(circuit: Any, rows: Any) -> None:
    """Go on to the next state in every lane and compute what depends on it alone."""
    values, width = rows.values, rows.values.shape[1]
    for fluent in range(len(circuit.next)):
        literal = circuit.next[fluent]
        flip = _0 - np.uint64(literal & np.uint32(1))
        source = values[literal >> np.uint32(1)]
        for word in range(width):
            rows.after[fluent, word] = source[word] ^ flip
    for fluent in range(len(circuit.next)):
        for word in range(width):
            values[1 + fluent, word] = rows.after[fluent, word]
    evaluate_rows(circuit, values, 0, circuit.split)


@kernel
def play(circuit: Any, rows: Any, state: Any) -> None:
    """Play ``rows.plays[0]`` random plays from a state to their ends."""
    width, values = rows.values.shape[1], rows.values
    for word in range(width):
        values[0, word] = _0
        rows.over[word] = _ALL
        for fluent in range(len(state)):
            values[1 + fluent, word] = _0 - np.uint64(state[fluent])
    evaluate_rows(circuit, values, 0, circuit.split)
    for node in range(circuit.first_gate + circuit.split):
        rows.start[node] = values[node, 0]
    lanes, idle = 64 * width, 0
    waiting = lanes
    while True:
        if rows.plays[0] > 0 and 4 * waiting >= lanes:
            waiting -= min(waiting, rows.plays[0])
            begin_again(circuit, rows)
            found = finish(circuit, rows, False)  # a state may be terminal at once
            waiting += found
            if found:
                continue
        if waiting == lanes:
            return
        move_rows(circuit, rows)
        follow_rows(circuit, rows)
        rows.plays[2] += lanes - waiting
        found = finish(circuit, rows, False)
        idle = 0 if found else idle + 1
        if idle > MOST_STEPS:
            found = finish(circuit, rows, True)
            rows.plays[3] += found
        waiting += found
