"""Relations on demand: the same plays, and far fewer instances."""

from __future__ import annotations

import time

import psutil
import pytest

from fogplay.gdl import demand, interpreter, network
from fogplay.gdl.demand import on_demand
from fogplay.gdl.grounding import ground
from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.machines import machine_for
from fogplay.gdl.network import from_ground
from fogplay.gdl.networked import NetworkMachine
from tests.helpers import refusal

from .sheets import COUNT, random_play, sheet
from .test_machines import SHEETS, agree

# Stones are counted one cell after the other. From the bottom up, a count may begin with any number of stones.
STONES = """
(role red) (role blue) (init (control red)) (init (mark 0 none)) (succ 0 1)
(<= (init (mark ?x none)) (succ ?w ?x) (cell ?x))
(<= (cell ?x) (succ ?w ?x) (below ?x 10)) (cell 0)
(<= (below ?x ?y) (succ ?x ?y)) (<= (below ?x ?z) (succ ?x ?y) (below ?y ?z))
(<= (legal ?r (put ?x)) (true (control ?r)) (true (mark ?x none)))
(<= (legal ?r (flip ?x ?y)) (true (control ?r)) (true (mark ?x ?s)) (role ?s) (distinct ?s ?r) (succ ?x ?y)
    (true (mark ?y ?r)) (not (guarded ?x ?s 2 ?r)))
(<= (guarded ?x ?s ?n ?r) (role ?r) (true (mark ?x ?s)) (count 0 0 0 ?red ?blue) (below ?blue ?red) (number ?n))
(<= (legal ?r wait) (role ?r) (not (true (control ?r))))
(<= (next (control red)) (true (control blue))) (<= (next (control blue)) (true (control red)))
(<= (next (mark ?x ?r)) (does ?r (put ?x))) (<= (next (mark ?x ?r)) (does ?r (flip ?x ?y)))
(<= (touched ?x) (does ?r (put ?x))) (<= (touched ?x) (does ?r (flip ?x ?y)))
(<= (next (mark ?x ?s)) (true (mark ?x ?s)) (not (touched ?x)))
(<= (one ?x ?a ?b ?c ?b) (true (mark ?x red)) (succ ?a ?c) (number ?b))
(<= (one ?x ?a ?b ?a ?c) (true (mark ?x blue)) (succ ?b ?c) (number ?a))
(<= (one ?x ?a ?b ?a ?b) (true (mark ?x none)) (number ?a) (number ?b))
(<= (count 9 ?a ?b ?c ?d) (one 9 ?a ?b ?c ?d))
(<= (count ?x ?a ?b ?e ?f) (cell ?x) (succ ?x ?y) (cell ?y) (one ?x ?a ?b ?c ?d) (count ?y ?c ?d ?e ?f))
(number 0) (<= (number ?n) (succ ?m ?n))
(<= open (true (mark ?x none))) (<= terminal (not open))
(<= (goal red 100) (count 0 0 0 ?r ?b) (below ?b ?r)) (<= (goal red 0) (count 0 0 0 ?r ?b) (not (below ?b ?r)))
(<= (goal blue 50) (role blue))
""" + " ".join(f"(succ {number} {number + 1})" for number in range(1, 20))


def test_stones_are_counted_from_where_the_count_begins() -> None:
    read = sheet(STONES)
    narrow = on_demand(read)
    fast = ground(narrow, True)
    assert len(ground(read, True).program) > 4 * len(fast.program)
    slow, machine = Interpreter(narrow), NetworkMachine(from_ground(narrow, fast))
    for seed in range(3):
        agree(slow, machine, seed)
    state = random_play(machine, 1)[-1][0]
    marks = [fluent[2] for fluent in machine.fluents(state) if fluent[0] == "mark"]
    assert machine.goals(state)[0] == (100 if marks.count("red") > marks.count("blue") else 0)


def test_what_cannot_be_grounded_is_interpreted_on_demand() -> None:
    machine = machine_for(sheet(STONES), seconds=0.01)
    assert machine.kind == "interpreter"
    assert len(random_play(machine, 2)) > 10


def test_two_ways_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever way is done first gives a network that plays by the rules; nothing goes on after the time is over."""
    monkeypatch.setattr(network, "HEAD_START", 0.0)
    read = sheet(STONES)
    agree(Interpreter(on_demand(read)), NetworkMachine(network.make_network(read)), seed=4)
    began = time.monotonic()
    assert "too many instances for 0." in refusal(network.make_network, read, 0.01)
    assert time.monotonic() - began < 5.0
    assert not [child for child in psutil.Process().children() if "grounder.py" in " ".join(child.cmdline())]


@pytest.mark.parametrize("name", SHEETS)
def test_all_relations_on_demand(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demand, "WIDE", 1)
    read = sheet(SHEETS[name])
    narrow = on_demand(read)
    agree(Interpreter(read), Interpreter(narrow), seed=5)
    agree(Interpreter(narrow), NetworkMachine(from_ground(narrow, ground(narrow, eliminate=True))), seed=6)


def test_conditions_do_not_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two relations that could each say what is asked of the other, recursion, and negation."""
    monkeypatch.setattr(demand, "WIDE", 1)
    rules = """
    (<= (p ?x ?y) (true (count ?x)) (succ ?x ?y)) (<= (q ?y ?x) (true (count ?x)) (succ ?x ?y))
    (<= (next both) (p ?x ?y) (q ?y ?x)) (<= (next odd) (p ?x ?y) (not (q ?x ?y)))
    (<= (path ?x ?y) (p ?x ?y)) (<= (path ?x ?z) (path ?x ?y) (path ?y ?z)) (<= (next far) (path 0 ?z))
    (<= (made ?r ?m) (does ?r ?m) (path ?x ?y)) (<= (next did) (made ann up) (p ?x ?y)) (<= (next loose) (q ?a ?b))
    """
    read = sheet(COUNT + rules)
    narrow = on_demand(read)
    assert len(narrow.rules) > len(read.rules)
    for seed in range(4):
        agree(Interpreter(read), Interpreter(narrow), seed)


def test_relations_that_do_not_fit_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    read = sheet(
        COUNT + "(<= (next (pair ?a ?b ?c)) (number ?a) (number ?b) (number ?c)) (<= (number ?x) (succ ?x ?y))"
    )
    machine = Interpreter(read)
    monkeypatch.setattr(interpreter, "MOST_ROWS", 20)
    told = refusal(machine.next, machine.initial(), ("up", "up"))
    assert told.startswith("test.kif: next has over 20 instances, too many to play by the interpreter; bind its")
    monkeypatch.undo()
    assert len(machine.next(machine.initial(), ("up", "up"))) == 28


def test_the_interpreter_looks_at_what_is_asked_first() -> None:
    """A relation of many arguments with few values each: all combinations of them would take for ever."""
    names = [f"?b{place}" for place in range(40)]
    bits = " ".join(f"(bit {name})" for name in names)
    rules = f"(bit 0) (bit 1) (<= (deep {' '.join(names)}) {bits} (true (count 1)))"
    narrow = on_demand(sheet(f"{COUNT} {rules} (<= (goal ann 7) (deep {'0 ' * 40}))"))
    machine = Interpreter(narrow)
    assert machine.goals(machine.initial())[0] < 100
    plans = [plan for group in machine._plans.values() for plan, _ in group if plan.relation == ("deep", 40)]
    found = [next(step.relation for step in plan.steps if step.kind == "each") for plan in plans]
    assert found == [(f"{demand.ASKED} deep 40", 40)]
