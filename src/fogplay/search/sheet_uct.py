"""UCT and Smooth UCT on a sheet's network: simulations by differences, infosets by key.

Where all moves are seen, a role's infoset is the state, so states that are reached twice are one. With percepts it is
the role's own moves and percepts. Every simulation begins in a world, a state that the searching role holds possible,
walks down each role's tree, adds one infoset per role, and plays on at random (Shafiei, Sturtevant & Schaeffer 2009,
section 2; Heinrich & Silver 2015, algorithms 1 and 2).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.gdl.circuit import Circuit, holds
from fogplay.gdl.differences import add_goals, advance, go_to_state, make, propagate
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.sheet import RANDOM
from fogplay.jit import kernel, piece
from fogplay.kernels.uct import CELL, STEP, Tables, draw_average, eta, upper_confidence
from fogplay.simulators.streams import below, mix, uniform

MOST_STEPS = 10_000  # of one simulation
LONGEST_PATH = 4_000  # choices of one simulation that are remembered
PLACES = 1 << 20  # of infosets, half of which are used at most
SLOTS = 1 << 22  # moves of infosets
_0, _1 = np.uint64(0), np.uint64(1)


class Played(NamedTuple):
    """A network and what keys are made of."""

    circuit: Circuit
    is_chance: NDArray[np.bool_]  # [roles]
    percept_role: NDArray[np.int32]  # [percepts]
    words: NDArray[np.uint64]  # [fluents or percepts, whichever are more] random
    hidden: bool  # whether infosets are moves and percepts, not states


class Learned(NamedTuple):
    """What simulations have found out."""

    key: NDArray[np.uint64]  # [places] by open addressing; 0 where there is no infoset
    first: NDArray[np.int64]  # [places] the slot of an infoset's first move
    tables: Tables  # [slots]
    used: NDArray[np.int64]  # [2] infosets, slots


class Scratch(NamedTuple):
    """Room for one simulation."""

    key: NDArray[np.uint64]  # [roles] what each has seen so far
    learns: NDArray[np.bool_]  # [roles] whether it has a tree
    inside: NDArray[np.bool_]  # [roles] whether its infosets are in its tree so far
    path: NDArray[Any]  # [LONGEST_PATH] STEP
    won: NDArray[np.int64]  # [roles]


def played(machine: NetworkMachine, hidden: bool) -> Played:
    """What the kernels here know of a sheet."""
    circuit = machine.circuit
    count = max(len(circuit.next), len(circuit.sees), 1)
    return Played(
        circuit,
        np.array([role == RANDOM for role in machine.roles]),
        np.array([role for role, _ in machine.network.percepts], np.int32),
        np.random.default_rng(2009).integers(1, 2**63, count, np.uint64),
        hidden,
    )


def empty(places: int = PLACES, slots: int = SLOTS) -> Learned:
    """Nothing learned yet; memory is taken as it is used."""
    return Learned(
        np.zeros(places, np.uint64), np.zeros(places, np.int64), Tables(np.zeros(slots, CELL)), np.zeros(2, np.int64)
    )


def forget(learned: Learned) -> None:
    """Clear what was learned."""
    if learned.used.any():
        learned.key[:] = 0
        learned.used[:] = 0


def make_scratch(learns: NDArray[np.bool_], longest: int = LONGEST_PATH) -> Scratch:
    """Room for simulations in which some roles learn in their first so many choices."""
    roles = len(learns)
    return Scratch(
        np.zeros(roles, np.uint64), learns, np.zeros(roles, bool), np.zeros(longest, STEP), np.zeros(roles, np.int64)
    )


@kernel
def state_key(game: Any, position: Any) -> Any:
    """The key of a position's state."""
    key = _0
    for fluent in range(len(game.circuit.next)):
        key ^= game.words[fluent] & (_0 - np.uint64(position.values[1 + fluent]))
    return key


@kernel
def list_legal(circuit: Any, position: Any, role: int) -> int:
    """Write a role's legal moves to ``position.options`` and return how many there are."""
    count: Any = 0
    for move in range(circuit.move_start[role], circuit.move_start[role + 1]):
        position.options[count] = move
        count += np.int64(holds(position.values, circuit.legal[move]))
    return count  # type: ignore[no-any-return]


@kernel
def place_of(learned: Any, key: Any) -> Any:
    """Where an infoset is, or the empty place where it would be."""
    last = np.uint64(len(learned.key) - 1)
    place = mix(key, _0) & last
    while learned.key[place] != key and learned.key[place] != _0:
        place = (place + _1) & last
    return np.int64(place)


@kernel
def slot_to_add(learned: Any, place: int, key: Any, moves: int) -> int:
    """The first slot of a new infoset at an empty place; -1 if there is no room."""
    if 2 * learned.used[0] >= len(learned.key) or learned.used[1] + moves > len(learned.tables.cell):
        return -1
    learned.key[place], learned.first[place] = key, learned.used[1]
    learned.used[0] += 1
    learned.used[1] += moves
    for slot in range(learned.first[place], learned.used[1]):
        learned.tables.cell[slot].visits, learned.tables.cell[slot].total = 0, 0.0
    return learned.first[place]  # type: ignore[no-any-return]


@piece
def infoset_key(game, seen, state, role):
    """The key of a role's infoset by what it has seen, or by the state where all is seen; never 0."""
    return mix(seen if game.hidden else state, np.uint64(role + 1)) | _1


@piece
def by_urgency(tables, c, slot, moves, visits, rng):
    """Upper confidence where an untried move counts as one that was tried once and won the mean of all tries.

    A good move is thus repeated before all others have been tried, and simulations look further ahead.
    """
    log_visits, mean = math.log(visits), 0.0
    for move in range(moves):
        mean += tables.cell[slot + move].total
    mean /= visits
    best, ties, choice = -math.inf, 0, 0
    for move in range(moves):
        tried = tables.cell[slot + move].visits
        once = 1.0 / max(tried, 1)
        score = c * math.sqrt(log_visits * once) + (tables.cell[slot + move].total * once if tried > 0 else mean)
        if score > best:
            best, ties, choice = score, 1, move
        elif score == best:
            ties += 1
            if below(rng, ties) == 0:
                choice = move
    return choice


@kernel
def choose(learned: Any, schedule: Any, c: float, key: Any, moves: int, alone: bool, rng: Any) -> Any:
    """The number of a move, the slot of it, and whether its infoset is new; slot -1 if there is no room.

    ``alone``: whether no other role chooses at the same time.
    """
    place = place_of(learned, key)
    if learned.key[place] == _0:
        slot = slot_to_add(learned, place, key, moves)
        choice = below(rng, moves)
        return choice, (slot + choice if slot >= 0 else -1), True
    slot = learned.first[place]
    visits = 0
    for move in range(moves):
        visits += learned.tables.cell[slot + move].visits
    if visits == 0:
        choice = below(rng, moves)
    elif uniform(rng) < eta(schedule, learned.tables, slot, moves, visits):
        if alone:
            choice = by_urgency(learned.tables, c, slot, moves, visits, rng)
        else:
            choice = upper_confidence(learned.tables, c, slot, moves, visits, rng)
    else:
        choice = draw_average(learned.tables, slot, moves, visits, rng)
    return choice, slot + choice, False


@kernel
def perceive(game: Any, position: Any, scratch: Any) -> None:
    """Add every role's own move and percepts to what it has seen; moves have been made, the state is the old one."""
    propagate(game.circuit, position, len(game.circuit.left))
    for role in range(len(scratch.key)):
        scratch.key[role] = mix(scratch.key[role], np.uint64(position.moves[role] + 1))
    for percept in range(len(game.circuit.sees)):
        if holds(position.values, game.circuit.sees[percept]):
            scratch.key[game.percept_role[percept]] += game.words[percept]


@kernel
def carry_out(circuit: Any, position: Any) -> None:
    """Go on to the state after the moves that were made."""
    advance(circuit, position)


@kernel
def one_chooses(circuit: Any, position: Any, scratch: Any) -> bool:
    """Whether only one role has a choice, and still is in its tree."""
    inside = False
    for role in range(len(scratch.inside)):
        inside |= scratch.inside[role]
    if not inside:
        return False
    choosing = 0
    for role in range(len(scratch.inside)):
        choosing += list_legal(circuit, position, role) > 1
    return choosing == 1


@kernel
def walk(game: Any, position: Any, learned: Any, schedule: Any, c: float, rng: Any, scratch: Any) -> int:
    """Play from a position to an end; returns how many choices are in ``scratch.path``."""
    roles, depth, state = len(scratch.key), 0, _0
    for _ in range(MOST_STEPS):
        if holds(position.values, np.uint32(game.circuit.terminal)):
            return depth
        if not game.hidden:
            state = state_key(game, position)
        alone = not game.hidden and one_chooses(game.circuit, position, scratch)
        for role in range(roles):
            moves = list_legal(game.circuit, position, role)
            if moves == 0:
                return depth
            choice = 0
            if moves > 1 and scratch.inside[role] and depth < len(scratch.path):
                key = infoset_key(game, scratch.key[role], state, role)
                choice, slot, fresh = choose(learned, schedule, c, key, moves, alone, rng)
                scratch.inside[role] = not fresh
                if slot >= 0:
                    scratch.path[depth].slot, scratch.path[depth].player = slot, role
                    depth += 1
            elif moves > 1:
                choice = below(rng, moves)
            make(game.circuit, position, role, position.options[choice])
        if game.hidden:
            perceive(game, position, scratch)
        carry_out(game.circuit, position)
    return depth


@kernel
def simulate(
    game: Any,
    position: Any,
    learned: Any,
    worlds: Any,
    keys: Any,
    schedule: Any,
    c: float,
    rng: Any,
    scratch: Any,
    count: int,
) -> None:
    """Play simulations from ``worlds[worlds, fluents]``, where ``keys[worlds, roles]`` is what each role has seen."""
    for _ in range(count):
        world = below(rng, len(worlds))
        go_to_state(game.circuit, position, worlds[world])
        for role in range(len(scratch.key)):
            scratch.key[role], scratch.inside[role], scratch.won[role] = keys[world, role], scratch.learns[role], 0
        depth = walk(game, position, learned, schedule, c, rng, scratch)
        add_goals(game.circuit, position, scratch.won)
        for number in range(depth):
            cell = learned.tables.cell[scratch.path[number].slot]
            cell.visits += 1
            cell.total += scratch.won[scratch.path[number].player]


@kernel
def root_slot(game: Any, position: Any, learned: Any, world: Any, keys: Any, role: int) -> int:
    """The first slot of the role's infoset in a world, -1 if it is not known."""
    go_to_state(game.circuit, position, world)
    key = infoset_key(game, keys[role], state_key(game, position), role)
    place = place_of(learned, key)
    return learned.first[place] if learned.key[place] == key else -1
