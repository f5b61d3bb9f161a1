"""What a role knows of the state where a sheet has percepts: a sample of states that agree with all it saw.

Lanes make a step from many states at once, with this role's own move forced and the others' moves at random; lanes in
which the role would have seen something else are dropped, and those that are left are the new sample. Without a state
that agrees, the match is played again from its start.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.gdl.kif import parse
from fogplay.gdl.lanes import Rows, choose_moves, evaluate_rows, make_rows
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.rules import Term
from fogplay.jit import kernel
from fogplay.search.sheet_uct import Played, played
from fogplay.simulators.streams import mix

SAMPLES = 1024  # states
WIDTH = 16  # words of 64 lanes: as many as samples
TRIES = 60  # of all lanes, per step
ENOUGH = 64  # states with which a step ends once a few tries were made
FEW = 4  # tries
OTHERS, UNSEEN, SEEN = 2, 0, 1
_0, _1 = np.uint64(0), np.uint64(1)
_ALL = ~_0


class Sample(NamedTuple):
    """States that a role holds possible after some step, and how they came about."""

    states: NDArray[np.uint8]  # [states, fluents]
    keys: NDArray[np.uint64]  # [states, roles] what each role has seen
    parent: NDArray[np.int32]  # [states] in the sample before
    moves: NDArray[np.int32]  # [states, roles] made since then, by their numbers

    def first(self, count: int) -> Sample:
        return Sample(self.states[:count], self.keys[:count], self.parent[:count], self.moves[:count])


def make_sample(states: int, fluents: int, roles: int) -> Sample:
    return Sample(
        np.zeros((states, fluents), np.uint8),
        np.zeros((states, roles), np.uint64),
        np.zeros(states, np.int32),
        np.zeros((states, roles), np.int32),
    )


class Seen(NamedTuple):
    """One step as a role saw it."""

    own: Term | None  # its move; None for the only legal one
    percepts: tuple[Term, ...]


def history_of(infoset: str) -> list[Seen]:
    """The steps that an infoset's string tells of: ``alice: [jh] call[call] .``."""
    steps: list[Seen] = []
    for word in _words(infoset.partition(":")[2]):
        own, _, told = word.partition("[")
        seen = tuple(_term(form) for form, _ in parse(told.removesuffix("]"))) if told else ()
        moved = parse(own) if own not in ("", ".") else []
        steps.append(Seen(_term(moved[0][0]) if moved else None, seen))
    return steps


def _words(text: str) -> list[str]:
    """Words that spaces outside of brackets separate."""
    found, depth, word = [], 0, ""
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == " " and depth == 0:
            found.append(word)
            word = ""
        else:
            word += letter
    return [each for each in (*found, word) if each]


def _term(form: Any) -> Term:
    return form if isinstance(form, str) else tuple(map(_term, form))


class LaneBelief:
    """The states that a role holds possible, by lanes; ``samples[-1]`` are those of now."""

    def __init__(self, machine: NetworkMachine, role: int, seed: int) -> None:
        self.machine, self.role = machine, role
        self.game: Played = played(machine, hidden=True)
        self.rows: Rows = make_rows(machine.circuit, seed, WIDTH)
        self.rng = np.random.default_rng(seed)
        self.clear()

    def clear(self) -> None:
        """Begin at the start of a match."""
        first = make_sample(1, len(self.machine.circuit.next), len(self.machine.roles))
        first.states[0] = np.frombuffer(self.machine.initial(), np.uint8)
        self.samples: list[Sample] = [first]
        self.history: list[tuple[int, NDArray[np.uint8]]] = []  # own move's number, and what of each percept

    @property
    def now(self) -> Sample:
        return self.samples[-1]

    def state(self) -> bytes:
        """One of the states that are possible now."""
        return bytes(self.now.states[0].tobytes())

    def see(self, own: Term | None, percepts: Sequence[Term], end: float) -> bool:
        """Take note of a step; False, and nothing changes, if no state that agrees is found until ``end``."""
        step = self._understood(own, percepts)
        if step is None:
            return False
        made = self._stepped(self.now, step, end)
        self.history.append(step)
        if made is not None:
            self.samples.append(made)
            return True
        samples = self._replayed(end)
        if samples is None:
            self.history.pop()
            return False
        self.samples = samples
        return True

    def _understood(self, own: Term | None, percepts: Sequence[Term]) -> tuple[int, NDArray[np.uint8]] | None:
        """A step in numbers; None if a move or a percept cannot occur by the rules."""
        if own is None:
            own = self.machine.legal(self.state())[self.role][0]
        number = self.machine.number[self.role].get(own)
        known = self.machine.network.percepts
        told = {*percepts}
        if number is None or not told <= {term for role, term in known if role == self.role}:
            return None
        wanted = [OTHERS if role != self.role else SEEN if term in told else UNSEEN for role, term in known]
        return number, np.array(wanted, np.uint8)

    def _stepped(self, before: Sample, step: tuple[int, NDArray[np.uint8]], end: float) -> Sample | None:
        """A sample after a step from another; None if no state agrees."""
        found = make_sample(SAMPLES, before.states.shape[1], before.keys.shape[1])
        count = 0
        for attempt in range(TRIES):
            source = self.rng.integers(len(before.states), size=64 * WIDTH).astype(np.int32)
            if attempt == 0 and len(before.states) > 1:
                source = np.arange(64 * WIDTH, dtype=np.int32) % len(before.states)
            count = step_lanes(self.game, self.rows, before, source, self.role, *step, found, count)
            if count == SAMPLES or (count >= ENOUGH and attempt >= FEW) or time.monotonic() > end:
                break
        return found.first(count) if count else None

    def _replayed(self, end: float) -> list[Sample] | None:
        """Samples of all steps from the start of the match, by trying until ``end``."""
        while time.monotonic() < end:
            samples = [self.samples[0]]
            for step in self.history:
                made = self._stepped(samples[-1], step, end)
                if made is None:
                    break
                samples.append(made)
            else:
                return samples
        return None

    def moves_to(self, place: int) -> list[list[Term]]:
        """[steps][roles] the moves that lead to a state of the present sample."""
        found: list[list[Term]] = []
        for sample in self.samples[:0:-1]:
            starts = self.machine.network.move_start
            numbers = sample.moves[place].tolist()
            found.append(
                [self.machine.network.moves[role][move - int(starts[role])] for role, move in enumerate(numbers)]
            )
            place = int(sample.parent[place])
        return found[::-1]


@kernel
def load_lanes(rows: Any, before: Any, source: Any) -> None:
    """Put the state ``source[lane]`` of a sample into every lane."""
    fluents = before.states.shape[1]
    for word in range(rows.values.shape[1]):
        rows.values[0, word] = _0
    for fluent in range(fluents):
        row = rows.values[1 + fluent]
        for word in range(len(row)):
            bits = _0
            for bit in range(64):
                bits |= np.uint64(before.states[source[64 * word + bit], fluent]) << np.uint64(bit)
            row[word] = bits


@kernel
def alive_lanes(circuit: Any, rows: Any, role: int, own: int) -> None:
    """Choose moves in all lanes, the role's own being given; ``rows.over`` gets the lanes in which that is possible."""
    width = rows.values.shape[1]
    flip = _0 - np.uint64(circuit.terminal & 1)
    for word in range(width):
        rows.over[word] = ~(rows.values[circuit.terminal >> 1, word] ^ flip)
    for each in range(len(circuit.move_start) - 1):
        choose_moves(circuit, rows, each)
        if each != role:
            some = rows.spare[3]
            for word in range(width):
                some[word] = _0
            for move in range(circuit.move_start[each], circuit.move_start[each + 1]):
                for word in range(width):
                    some[word] |= rows.values[circuit.first_move + move, word]
            for word in range(width):
                rows.over[word] &= some[word]
    for move in range(circuit.move_start[role], circuit.move_start[role + 1]):
        for word in range(width):
            rows.values[circuit.first_move + move, word] = _ALL if move == own else _0
    literal = circuit.legal[own]
    flip = _0 - np.uint64(literal & np.uint32(1))
    for word in range(width):
        rows.over[word] &= rows.values[literal >> np.uint32(1), word] ^ flip


@kernel
def step_lanes(
    game: Any, rows: Any, before: Any, source: Any, role: int, own: int, wanted: Any, found: Any, count: int
) -> int:
    """One step in all lanes; appends those that agree to ``found`` from ``count`` on and returns the new count.

    ``wanted[percepts]`` is SEEN, UNSEEN or OTHERS for each percept.
    """
    circuit, width = game.circuit, rows.values.shape[1]
    load_lanes(rows, before, source)
    evaluate_rows(circuit, rows.values, 0, circuit.split)
    alive_lanes(circuit, rows, role, own)
    evaluate_rows(circuit, rows.values, circuit.split, len(circuit.left))
    for percept in range(len(wanted)):
        if wanted[percept] != OTHERS:
            literal = circuit.sees[percept]
            flip = _0 - np.uint64(literal & np.uint32(1))
            expected = _0 - np.uint64(wanted[percept])
            for word in range(width):
                value = rows.values[literal >> np.uint32(1), word] ^ flip
                rows.over[word] &= ~(value ^ expected)
    for word in range(width):
        for bit in range(64):
            if count < len(found.states) and (rows.over[word] >> np.uint64(bit)) & _1:
                take_lane(game, rows, before, source[64 * word + bit], word, np.uint64(bit), found, count)
                count += 1
    return count


@kernel
def lane_holds(rows: Any, literal: Any, word: int, bit: Any) -> Any:
    """Whether a literal holds in a lane."""
    value = (rows.values[literal >> np.uint32(1), word] >> bit) & _1
    return np.uint8(value) ^ np.uint8(literal & np.uint32(1))


@kernel
def take_lane(game: Any, rows: Any, before: Any, parent: int, word: int, bit: Any, found: Any, place: int) -> None:
    """Write a lane's next state, its moves and what every role has seen to a place of a sample."""
    circuit = game.circuit
    found.parent[place] = parent
    for fluent in range(len(circuit.next)):
        found.states[place, fluent] = lane_holds(rows, circuit.next[fluent], word, bit)
    for role in range(len(circuit.move_start) - 1):
        for move in range(circuit.move_start[role], circuit.move_start[role + 1]):
            if (rows.values[circuit.first_move + move, word] >> bit) & _1:
                found.moves[place, role] = move
        found.keys[place, role] = mix(before.keys[parent, role], np.uint64(found.moves[place, role] + 1))
    for percept in range(len(circuit.sees)):
        if lane_holds(rows, circuit.sees[percept], word, bit):
            found.keys[place, game.percept_role[percept]] += game.words[percept]
