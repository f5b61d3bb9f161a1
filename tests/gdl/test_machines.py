"""Interpreter, network, differences and lanes: four ways to play a sheet, and the same plays."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import clingo
import numpy as np
import pytest
from numba import cuda

from fogplay.gdl import differences, lanes
from fogplay.gdl.circuit import holds
from fogplay.gdl.grounder import shown_plainly, shown_quickly
from fogplay.gdl.grounding import NotGroundedError, _flat_terms, _terms, ground
from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.machine import Machine
from fogplay.gdl.machines import machine_for
from fogplay.gdl.network import from_ground, make_network
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.saved import load_network, save_network
from tests.helpers import ROOT, refusal

from .sheets import COUNT, capitals, names, own, random_play, renamed, sheet

# Paths in a graph that grows and shrinks: relations that depend on themselves, some of them on moves as well, atoms
# that support each other, and one that nothing supports.
PATHS = """
(role ann) (role bob)
(pair 1 2) (pair 2 3) (pair 3 4) (pair 4 5) (pair 5 1) (pair 2 5)
(init (turn ann))
(<= (legal ?r (link ?x ?y)) (true (turn ?r)) (pair ?x ?y) (not (true (edge ?x ?y))))
(<= (legal ?r cut) (true (turn ?r)))
(<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
(<= cutting (does ?r cut))
(<= (next (edge ?x ?y)) (does ?r (link ?x ?y)))
(<= (next (edge ?x ?y)) (true (edge ?x ?y)) (not cutting))
(<= (next (edge ?x ?y)) (true (edge ?x ?y)) (succ ?x ?y))
(succ 1 2) (succ 3 4)
(<= (next (turn ann)) (true (turn bob)))
(<= (next (turn bob)) (true (turn ann)))
(<= (path ?x ?y) (true (edge ?x ?y)))
(<= (path ?x ?y) (path ?y ?x))
(<= (path ?x ?z) (path ?x ?y) (path ?y ?z))
(<= (soon ?x ?y) (does ?r (link ?x ?y)))
(<= (soon ?x ?y) (path ?x ?y))
(<= (soon ?x ?z) (soon ?x ?y) (soon ?y ?z))
(<= (next (joined ?x ?y)) (soon ?x ?y))
(<= (p 1) (q 1)) (<= (q 1) (p 1)) (<= (q 1) (s 1)) (<= (s 1) (true (turn ?x)))
(<= (u 1) (v 1)) (<= (v 1) (u 1))
(<= (next always) (p 1))
(<= (next never) (u 1))
(<= terminal (path 1 4) (path 2 5))
(<= (goal ann 100) (path 1 3)) (<= (goal ann 30) (path 1 2)) (<= (goal ann 0) (not (path 1 3)))
(<= (goal bob 100) (path 4 5)) (<= (goal bob 50) (not (path 4 5)))
"""
SHEETS = {**{name: own(name) for name in names()}, "paths": PATHS}


def agree(one: Machine, other: Machine, seed: int) -> None:
    """Play at random by one machine and compare every answer with the other's."""
    assert one.roles == other.roles
    theirs = other.initial()
    for state, moves in random_play(one, seed, 60):
        assert one.fluents(state) == other.fluents(theirs)
        assert one.legal(state) == other.legal(theirs)
        assert one.goals(state) == other.goals(theirs)
        assert one.is_terminal(state) == other.is_terminal(theirs)
        if moves:
            assert one.percepts(state, moves) == other.percepts(theirs, moves)
            theirs = other.next(theirs, moves)


@pytest.mark.parametrize("name", SHEETS)
def test_network_and_interpreter_agree(name: str) -> None:
    read = sheet(SHEETS[name])
    slow = Interpreter(read)
    for eliminate in (False, True):
        agree(slow, NetworkMachine(from_ground(read, ground(read, eliminate))), seed=1)


@pytest.mark.parametrize("name", SHEETS)
def test_in_capitals_and_with_other_names(name: str) -> None:
    for text in (capitals(SHEETS[name]), renamed(SHEETS[name])):
        read = sheet(text)
        agree(Interpreter(read), NetworkMachine(make_network(read)), seed=2)


@pytest.mark.parametrize("change", [str, capitals, renamed])
@pytest.mark.parametrize("name", SHEETS)
def test_differences_agree(name: str, change: Callable[[str], str]) -> None:
    """Every node that the state determines is the same by differences and from scratch."""
    machine = NetworkMachine(make_network(sheet(change(SHEETS[name]))))
    circuit = machine.circuit
    position, fresh = differences.make_position(circuit, 3), differences.make_position(circuit, 3)
    differences.place(circuit, position, np.frombuffer(machine.initial(), np.uint8))
    for seed in range(3):
        for state, moves in random_play(machine, seed, 40):
            differences.go_to_state(circuit, position, np.frombuffer(state, np.uint8))
            early = slice(circuit.first_gate, circuit.first_gate + circuit.split)
            differences.place(circuit, fresh, np.frombuffer(state, np.uint8))
            assert (position.values[early] == fresh.values[early]).all()
            if moves:
                numbers = np.array([machine.number[role][move] for role, move in enumerate(moves)], np.int32)
                differences.make_moves(circuit, position, numbers)
                assert position.values[1 : circuit.first_move].tobytes() == machine.next(state, moves)


@pytest.mark.parametrize("name", SHEETS)
def test_lanes_and_differences_have_the_same_results(name: str) -> None:
    """Goals of random plays, within four standard errors; and the moves in every lane are legal."""
    machine = NetworkMachine(make_network(sheet(SHEETS[name])))
    circuit, state = machine.circuit, machine.initial()
    found = lanes.simulate(circuit, lanes.make_rows(circuit, 5), state, 20_000)
    assert (found.plays, found.cut) == (20_000, 0)
    position, sums = differences.make_position(circuit, 6), np.zeros(len(machine.roles), np.int64)
    start = np.frombuffer(state, np.uint8)
    differences.place(circuit, position, start)
    plays = 2_000 if name == "breakthrough.kif" else 10_000
    differences.play_on(circuit, position, start, plays, sums)
    values, error = sums / plays, 4 * 50 * (1 / plays + 1 / 20_000) ** 0.5
    assert np.abs(values - found.means).max() < error


def held(values: Any, literals: Any) -> Any:
    """[literals, lanes] whether each holds, from ``values[nodes, 1]``."""
    words = values[np.asarray(literals) >> 1, 0]
    bits = (words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    return (bits ^ (np.asarray(literals, np.uint64) & np.uint64(1))[:, None]).astype(bool)


@pytest.mark.parametrize("change", [str, capitals, renamed])
@pytest.mark.parametrize("name", SHEETS)
def test_lanes_and_interpreter_agree(name: str, change: Callable[[str], str]) -> None:
    """Some lanes, state by state: fluents, legal moves, goals, the end, and the percepts of the moves they choose."""
    read = sheet(change(SHEETS[name]))
    slow, machine = Interpreter(read), NetworkMachine(make_network(read))
    circuit, roles = machine.circuit, range(len(machine.roles))
    rows = lanes.make_rows(circuit, 8, 1)
    lanes.play(circuit, rows, np.frombuffer(machine.initial(), np.uint8))  # no plays, only the state
    fluents = np.arange(1, circuit.first_move) * 2
    moves = np.arange(circuit.first_move, circuit.first_loop) * 2
    everything = [move for own_moves in machine.network.moves for move in own_moves]
    states = {lane: slow.initial() for lane in (0, 31, 63)[: 1 if name == "breakthrough.kif" else 3]}
    for _ in range(25):
        true, legal, goals, over = (
            held(rows.values, each) for each in (fluents, circuit.legal, circuit.goals, [circuit.terminal])
        )
        for lane, state in list(states.items()):
            assert {machine.network.fluents[place] for place in np.flatnonzero(true[:, lane])} == slow.fluents(state)
            assert bool(over[0, lane]) == slow.is_terminal(state)
            assert [everything[place] for place in np.flatnonzero(legal[:, lane])] == [
                move for own_moves in slow.legal(state) for move in own_moves
            ]
            best = [0 for _ in roles]
            for goal in np.flatnonzero(goals[:, lane]):
                best[circuit.goal_role[goal]] = int(circuit.goal_value[goal])
            assert tuple(best) == slow.goals(state)
            if over[0, lane] or not all(slow.legal(state)):
                del states[lane]
        if not states:
            break
        lanes.move_rows(circuit, rows)
        chosen, sees = held(rows.values, moves), held(rows.values, circuit.sees)
        for lane, state in states.items():
            made = [everything[place] for place in np.flatnonzero(chosen[:, lane])]
            seen = [machine.network.percepts[place] for place in np.flatnonzero(sees[:, lane])]
            percepts = slow.percepts(state, made)
            assert seen == [(role, term) for role in roles for term in percepts[role]]
            states[lane] = slow.next(state, made)
        lanes.follow_rows(circuit, rows)


@pytest.mark.parametrize("name", ["tictactoe.kif", "kuhn.kif", "connectfour-simultaneous.kif", "paths"])
def test_moves_in_lanes_are_chosen_evenly(name: str) -> None:
    """After one step, exactly one legal move per role and lane, each equally often."""
    machine = NetworkMachine(make_network(sheet(SHEETS[name])))
    circuit, width = machine.circuit, 64
    rows = lanes.make_rows(circuit, 7, width)
    lanes.play(circuit, rows, np.frombuffer(machine.initial(), np.uint8))  # no plays, only the state
    counts = np.zeros(int(circuit.move_start[-1]))
    for _ in range(10):
        for role in range(len(machine.roles)):
            lanes.choose_moves(circuit, rows, role)
            own_moves = slice(int(circuit.move_start[role]), int(circuit.move_start[role + 1]))
            chosen = rows.values[circuit.first_move : circuit.first_loop][own_moves]
            assert (np.bitwise_xor.reduce(chosen) == ~np.uint64(0)).all()
            counts[own_moves] += [int(np.bitwise_count(row).sum()) for row in chosen]
    for role, options in enumerate(machine.legal(machine.initial())):
        each = 10 * 64 * width / len(options)
        legal = [machine.number[role][move] for move in options]
        assert np.abs(counts[legal] - each).max() < 5 * each**0.5


def test_the_same_seed_plays_the_same() -> None:
    machine = NetworkMachine(make_network(sheet(own("leduc.kif"))))
    means = [
        lanes.simulate(machine.circuit, lanes.make_rows(machine.circuit, 1), machine.initial(), 999).means for _ in "ab"
    ]
    assert means[0] == means[1]


ON_A_GPU = """
import sys
from fogplay.gdl import lanes
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.saved import load_network, save_network
from tests.helpers import ROOT, refusal
from fogplay.gdl.saved import load_network
machine = NetworkMachine(load_network(sys.argv[1]))
many = lanes.make_lanes(machine.circuit, 4, "cuda", 2)
for plays in map(int, sys.argv[2:]):
    found = many.simulate(machine.initial(), plays)
    print(*found.counts.tolist(), found.plays, found.steps, found.cut)
"""


@pytest.mark.parametrize(("name", "most"), [("two-by-two.kif", 66), ("kuhn.kif", 66), ("paths", 1)])
def test_the_same_plays_on_a_gpu(name: str, most: int, tmp_path: Path) -> None:
    """In numba's simulator of one, from a file: every thread plays what a row of one word with its stream does."""
    network = make_network(sheet(SHEETS[name]))
    machine = NetworkMachine(network)
    save_network(network, tmp_path / "net")
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "FOGPLAY_CACHE": str(tmp_path)}
    shares = [(1, 1), (most, most - 1)][: min(most, 2)]
    asked = [str(sum(each)) for each in shares]
    command = [sys.executable, "-W", "ignore", "-c", ON_A_GPU, str(tmp_path / "net"), *asked]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    wide = lanes.make_rows(machine.circuit, 4, 2)
    alone = [lanes.make_rows(machine.circuit, 0, 1) for _ in range(2)]
    for word, rows in enumerate(alone):
        rows.random[:, 0] = wide.random[:, word]
    told = []
    for share in shares:
        found = [
            lanes.simulate(machine.circuit, rows, machine.initial(), each)
            for rows, each in zip(alone, share, strict=True)
        ]
        sums = [sum(getattr(each, what) for each in found) for what in ("plays", "steps", "cut")]
        told.append(" ".join(map(str, [*sum(each.counts for each in found).tolist(), *sums])))
    assert done.stdout.splitlines() == told


def test_networks_are_files(tmp_path: Path) -> None:
    for name in ("leduc.kif", "paths"):
        read = sheet(SHEETS[name])
        save_network(make_network(read), tmp_path / name)
        agree(Interpreter(read), NetworkMachine(load_network(tmp_path / name)), seed=4)
    other = tmp_path / "other"
    other.write_bytes(b"x" * 100)
    assert str(other) in refusal(load_network, other)


def test_devices() -> None:
    circuit = NetworkMachine(make_network(sheet(COUNT))).circuit
    assert refusal(lanes.make_lanes, circuit, 1, "gpu") == "device must be cpu or cuda, not 'gpu'"
    if not cuda.is_available():
        assert refusal(lanes.make_lanes, circuit, 1, "cuda").startswith("device cuda needs an NVIDIA GPU and ")


def test_few_plays_and_states_that_are_over() -> None:
    machine = NetworkMachine(make_network(sheet(COUNT)))
    rows = lanes.make_rows(machine.circuit, 1)
    assert lanes.simulate(machine.circuit, rows, machine.initial(), 1).plays == 1
    over = machine.state_of([("count", "3")])
    found = lanes.simulate(machine.circuit, rows, over, 5000)
    assert (found.plays, found.means, found.steps) == (5000, (100.0, 50.0), 0)


def test_plays_that_never_end_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = COUNT.replace("(<= terminal (true (count 3)))", "(<= terminal (true (count 9)))")
    machine = NetworkMachine(make_network(sheet(endless)))
    found = lanes.simulate(machine.circuit, lanes.make_rows(machine.circuit, 1, 1), machine.initial(), 64)
    assert (found.plays, found.cut) == (64, 64)


def test_rules_without_end_are_left_to_the_interpreter() -> None:
    growing = COUNT + "(<= (next (list (s ?x))) (true (list ?x)) (does ann up)) (init (list nil))"
    read = sheet(growing)
    with pytest.raises(NotGroundedError, match="instances"):
        make_network(read, seconds=1.0)
    machine = machine_for(read, seconds=1.0)
    assert machine.kind == "interpreter"
    state = machine.next(machine.initial(), ("up", "up"))
    assert ("list", ("s", "nil")) in machine.fluents(state)


def test_ground_rules_without_compiled_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the callback cannot be compiled, plain Python gives the same rules."""
    read = sheet(SHEETS["leduc.kif"])
    compiled = ground(read)
    (tmp_path / "llvmlite.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    plain = ground(read)
    assert (compiled.program == plain.program).all()
    assert compiled.shown == plain.shown


def test_atoms_without_the_c_interface() -> None:
    """Clingo's own wrappers show the same atoms, long names and facts among them."""
    control = clingo.Control(["-W", "none"])
    control.add("base", [], f"p(1). p({'x' * 9000}). {{ q(f(X,1)) }} :- p(X). p(2) :- q(f(1,1)).")
    control.ground([("base", [])])
    quickly, plainly = shown_quickly(control), shown_plainly(control)
    for name in ("p", "q", "r"):
        assert list(quickly(name, 1, None)) == list(plainly(name, 1, None))
    numbers = {number for number, _ in quickly("q", 1, None)}
    assert len(numbers) == 3
    assert [number for number, _ in quickly("q", 1, {max(numbers)})] == [max(numbers)]


def test_names_of_atoms_are_read_back() -> None:
    """Constants, functions at any place and within each other."""
    words = ["ann", "f", "b", "g"]
    for text in ("c0", "c0,c2", "f1(c2)", "c0,f1(c2,c0)", "f1(c2),c0", "c0,f1(f3(c2),c0)", "f1(c0),f3(c2)"):
        flat = _flat_terms(text, {f"c{number}": word for number, word in enumerate(words)})
        assert flat in ((), _terms(text, words))
        assert bool(flat) == (text in ("c0", "c0,c2", "f1(c2)", "c0,f1(c2,c0)"))


def test_most_moves_are_not_the_few_others() -> None:
    """A frame axiom over a hundred moves needs few gates."""
    numbers = " ".join(f"(n {number})" for number in range(100))
    text = f"""(role ann) {numbers} (init start) (<= (init (lit ?x)) (n ?x))
    (<= (legal ann (put ?x)) (n ?x)) (<= (next (lit ?x)) (true (lit ?x)) (does ann (put ?y)) (distinct ?x ?y))
    (<= terminal (not (true (lit 1)))) (goal ann 50)"""
    assert len(make_network(sheet(text)).left) <= 100


def test_literals() -> None:
    values = np.array([0, 1], np.uint8)
    assert [int(holds(values, np.uint32(literal))) for literal in range(4)] == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("name", "removed"),
    [("leduc.kif", "(role random)"), ("leduc.kif", "(role alice)"), ("goofspiel.kif", "(role row)")],
)
def test_conditions_that_never_come_about(name: str, removed: str) -> None:
    """Moves of somebody who is not a role, and fluents that nothing makes true, are not inputs of the network."""
    assert removed in own(name)
    read = sheet(own(name).replace(removed, "(<= (next odd) (true (never ?x)) (does nobody ?x))"))
    network = make_network(read)
    assert not {("never", "x"), "odd"} & {*network.fluents}
    slow, fast = Interpreter(read), NetworkMachine(network)
    for seed in range(3):
        state, other, rng = slow.initial(), fast.initial(), np.random.default_rng(seed)
        for _ in range(10):  # some of these games never end
            if slow.is_terminal(state) or not all(slow.legal(state)):
                break
            assert (slow.legal(state), slow.goals(state)) == (fast.legal(other), fast.goals(other))
            moves = [options[int(rng.integers(len(options)))] for options in slow.legal(state)]
            state, other = slow.next(state, moves), fast.next(other, moves)
            assert slow.fluents(state) == fast.fluents(other)
