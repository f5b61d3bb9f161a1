"""Plays one at a time by differences: after a move only the gates behind changed inputs are computed anew.

Gates that may change are marked in a set of bits and visited in order, so every gate is computed at most once per step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.gdl.circuit import Circuit, bits_in, evaluate, holds, settle
from fogplay.gdl.lanes import MOST_STEPS
from fogplay.jit import kernel, piece

_0, _1, _6, _11, _63 = (np.uint64(number) for number in (0, 1, 6, 11, 63))
_13, _7, _17 = np.uint64(13), np.uint64(7), np.uint64(17)


class Position(NamedTuple):
    """The values of all nodes for one state, and what is marked."""

    values: NDArray[np.uint8]  # [nodes]
    marked: NDArray[np.uint64]  # [words] gates to be computed, and from first_due on, fluents that may change
    before: NDArray[np.uint8]  # [nodes] room for the values of a loop
    changed: NDArray[np.uint32]  # [fluents + 1] room for those that change
    moves: NDArray[np.int32]  # [roles] the moves made last, -1 for none
    options: NDArray[np.int32]  # [most moves of a role + 1]
    random: NDArray[np.uint64]  # [1]


def make_position(circuit: Circuit, seed: int) -> Position:
    """A position without a state."""
    nodes = circuit.first_gate + len(circuit.left)
    roles = len(circuit.move_start) - 1
    return Position(
        values=np.zeros(nodes, np.uint8),
        marked=np.zeros((circuit.first_due + len(circuit.next)) // 64 + 1, np.uint64),
        before=np.zeros(nodes, np.uint8),
        changed=np.zeros(len(circuit.next) + 1, np.uint32),
        moves=np.full(roles, -1, np.int32),
        options=np.zeros(int(np.diff(circuit.move_start).max(initial=1)) + 1, np.int32),
        random=np.random.default_rng(seed).integers(1, 2**63, 1, np.uint64),
    )


@piece
def put(circuit, position, node, value):
    """Change a node and mark the gates that read it, unless their other input is false."""
    if position.values[node] != value:
        position.values[node] = value
        for place in range(np.uint64(circuit.fan_start[node]), np.uint64(circuit.fan_start[node + np.uint64(1)])):
            gate = np.uint64(circuit.fan[place])
            matters = np.uint64(holds(position.values, circuit.fan_other[place]))
            position.marked[gate >> _6] |= matters << (gate & _63)


@piece
def propagate(circuit, position, end):
    """Compute all marked gates before ``end``."""
    values, marked = position.values, position.marked
    for word in range((end + 63) >> 6):
        mask = ~_0 if (word + 1) << 6 <= end else (_1 << np.uint64(end & 63)) - _1
        while marked[word] & mask != _0:
            found = marked[word] & mask
            lowest = found & (_0 - found)
            marked[word] ^= lowest
            gate = (np.uint64(word) << _6) + bits_in(lowest - _1)
            number = circuit.segment_of[gate]
            if number < 0:
                value = holds(values, circuit.left[gate]) & holds(values, circuit.right[gate])
                put(circuit, position, np.uint64(circuit.first_gate) + gate, value)
            else:
                loop_again(circuit, position, number)


@kernel
def loop_again(circuit: Any, position: Any, number: int) -> None:
    """Compute a whole loop anew and mark what reads its changed gates."""
    begin, end = circuit.segments[number, 0], circuit.segments[number, 1]
    for gate in range(begin, end):
        position.before[circuit.first_gate + gate] = position.values[circuit.first_gate + gate]
    settle(circuit, position.values, number)
    for gate in range(begin, end):
        node = circuit.first_gate + gate
        value = position.values[node]
        position.values[node] = position.before[node]
        position.before[node] = value
    for gate in range(begin, end):
        node = np.uint64(circuit.first_gate + gate)
        put(circuit, position, node, position.before[node])
    for gate in range(begin, end):
        position.marked[gate >> 6] &= ~(_1 << np.uint64(gate & 63))


@kernel
def place(circuit: Any, position: Any, state: Any) -> None:
    """Set a position to a state from scratch."""
    values = position.values
    values[0] = 0
    for node in range(1, circuit.first_gate):
        values[node] = 0
    for fluent in range(len(state)):
        values[1 + fluent] = state[fluent]
    for role in range(len(position.moves)):
        position.moves[role] = -1
    for word in range(len(position.marked)):
        position.marked[word] = _0
    for fluent in range(len(circuit.next)):
        position.marked[(circuit.first_due + fluent) >> 6] |= _1 << np.uint64((circuit.first_due + fluent) & 63)
    evaluate(circuit, values, 0, len(circuit.left))


@piece
def go_to(circuit, position, state):
    """Change a position to another state."""
    for fluent in range(len(state)):
        put(circuit, position, np.uint64(1 + fluent), state[fluent])
    propagate(circuit, position, circuit.split)


@piece
def make(circuit, position, role, move):
    """Let a role make a move instead of its last one; ``advance`` carries out all roles' moves."""
    if position.moves[role] != move:
        if position.moves[role] >= 0:
            put(circuit, position, np.uint64(circuit.first_move + position.moves[role]), np.uint8(0))
        put(circuit, position, np.uint64(circuit.first_move + move), np.uint8(1))
        position.moves[role] = move


@piece
def advance(circuit, position):
    """The state after the moves that were made."""
    propagate(circuit, position, len(circuit.left))
    marked, count = position.marked, 0
    for word in range(circuit.first_due >> 6, len(marked)):
        due = marked[word]
        marked[word] = _0
        while due != _0:
            lowest = due & (_0 - due)
            due ^= lowest
            fluent = (np.uint64(word) << _6) + bits_in(lowest - _1) - np.uint64(circuit.first_due)
            position.changed[np.uint64(count)] = fluent
            count += holds(position.values, circuit.next[fluent]) != position.values[np.uint64(1) + fluent]
    for place in range(count):
        node = np.uint64(1) + position.changed[np.uint64(place)]
        put(circuit, position, node, position.values[node] ^ np.uint8(1))
    propagate(circuit, position, circuit.split)


@piece
def random_below(random, count):
    """A whole number from 0 to ``count - 1`` (xorshift64*)."""
    word = random[0]
    word ^= word << _13
    word ^= word >> _7
    word ^= word << _17
    random[0] = word
    return np.int64(((word * np.uint64(0x2545F4914F6CDD1D)) >> _11) * 2.0**-53 * count)


@piece
def move_at_random(circuit, position):
    """Let every role make a legal move at random; False if one has none."""
    for role in range(len(position.moves)):
        count: Any = 0
        for move in range(circuit.move_start[role], circuit.move_start[role + 1]):
            position.options[np.uint64(count)] = move
            count += np.int64(holds(position.values, circuit.legal[np.uint64(move)]))
        if count == 0:
            return False
        chosen = position.options[random_below(position.random, count) if count > 1 else 0]
        make(circuit, position, role, chosen)
    return True


@piece
def add_goals(circuit, position, sums):
    """Add the goals of a position to ``sums[roles]``, the highest of each role."""
    for goal in range(len(circuit.goals)):
        last = goal + 1 == len(circuit.goals) or circuit.goal_role[goal + 1] != circuit.goal_role[goal]
        if not holds(position.values, circuit.goals[goal]):
            continue
        higher = False
        after = goal + 1
        while not last and after < len(circuit.goals) and circuit.goal_role[after] == circuit.goal_role[goal]:
            higher |= holds(position.values, circuit.goals[after]) == 1
            after += 1
        if not higher:
            sums[circuit.goal_role[goal]] += circuit.goal_value[goal]


@kernel
def play_on(circuit: Any, position: Any, start: Any, plays: int, sums: Any) -> int:
    """Random plays from a state; adds their goals to ``sums[roles]`` and returns their steps."""
    steps = 0
    for _ in range(plays):
        go_to(circuit, position, start)
        taken = 0
        while holds(position.values, np.uint32(circuit.terminal)) == 0 and taken < MOST_STEPS:
            if not move_at_random(circuit, position):
                break
            advance(circuit, position)
            taken += 1
        steps += taken
        add_goals(circuit, position, sums)
    return steps


@kernel
def go_to_state(circuit: Any, position: Any, state: Any) -> None:
    """Change a position to another state."""
    go_to(circuit, position, state)


@kernel
def make_moves(circuit: Any, position: Any, moves: Any) -> None:
    """Let all roles make moves, by their numbers, and go on to the next state."""
    for role in range(len(moves)):
        make(circuit, position, role, moves[role])
    advance(circuit, position)
