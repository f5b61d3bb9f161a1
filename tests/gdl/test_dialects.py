"""Ways to write rules that other programs accept: each is played, by a network, and both machines agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from fogplay.gdl.cases import told_apart
from fogplay.gdl.grounding import ground
from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.network import make_network
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.sheet import load_sheet
from fogplay.gdl.unfolding import MOST, unfolded
from tests.helpers import refusal

from .sheets import COUNT, sheet
from .test_machines import agree

NUMBERS = " ".join(f"(number {number})" for number in range(100))
WAYS = {  # rules, and what is true after the first step
    "a goal by not another": ("(<= (goal bob 10) (not (goal bob 0)))", set()),
    "a goal by not the best": (
        "(<= (goal ?r 100) (role ?r) (won ?r)) (<= (goal ?r 1) (role ?r) (not (goal ?r 100)))",
        set(),
    ),
    "recursion that ends": (
        "(r 0 0) (q 0) (<= (r ?v (f ?v)) (r ?w ?v) (q ?w)) (<= (next deep) (r (f 0) (f (f 0))))",
        {"deep"},
    ),
    "any four": (
        NUMBERS + "(<= (other ?x ?y ?m ?n) (distinct ?x ?m)) (<= (other ?x ?y ?m ?n) (distinct ?y ?n))"
        "(<= (next far) (true (count ?n)) (other ?n 7 0 7)) (<= (next near) (true (count ?n)) (not (other ?n 7 0 7)))",
        {"near"},
    ),
    "any two that are equal": (
        NUMBERS + "(same ?x ?x) (same 1 ?y) (<= (next zero) (true (count ?n)) (same ?n 0))"
        "(<= (next other) (true (count ?n)) (not (same ?n 0)))",
        {"zero"},
    ),
    "anything through another": (
        "(<= (differ ?x ?y) (distinct ?x ?y)) (<= (both ?x ?y) (differ ?x ?y) (differ ?x 1))"
        "(<= (next two) (true (count ?n)) (both ?n 3))",
        {"two"},
    ),
    "many alternatives": (
        "(<= (next many) (true (count ?n)) " + "(or (true (count 3)) (succ ?n ?m) (distinct ?n 1))" * 9 + ")"
        "(<= (next odd) (true (count ?n)) " + "(not (and (succ ?n ?m) (or (true lost) (distinct ?n 0))))" * 9 + ")",
        {"many", "odd"},
    ),
    "nothing of a kind": (
        "(<= (above ?x ?y) (succ ?x ?z) (distinct ?z ?y)) (<= (next none) (true (count ?n)) (not (above ?n 1)))",
        {"none"},
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_write_rules(way: str) -> None:
    rules, then = WAYS[way]
    read = sheet(COUNT + rules)
    slow, machine = Interpreter(read), NetworkMachine(make_network(read))
    for seed in range(3):
        agree(slow, machine, seed)
    after = slow.next(slow.initial(), ("wait", "wait"))
    assert {fluent for fluent in after if isinstance(fluent, str)} == then


def test_goals_told_apart() -> None:
    machine = Interpreter(sheet(COUNT + "(<= (goal bob 80) (not (goal ann 100)))"))
    state = machine.initial()
    assert machine.goals(state) == (0, 80)
    for _ in range(3):
        state = machine.next(state, ("up", "up"))
    assert machine.goals(state) == (100, 50)


def test_circles_that_constants_do_not_break() -> None:
    rules = "(<= (p 1) (not (p 2))) (<= (p 2) (not (p 1)))"
    assert "p depends on not p, which depends on p again" in refusal(sheet, COUNT + rules)
    assert told_apart(sheet(COUNT).rules) == list(sheet(COUNT).rules)


def test_loose_relations_take_few_instances() -> None:
    rules = "(<= (other ?x ?y ?m ?n) (distinct ?x ?m)) (<= (next far) (true (count ?n)) (other ?n 7 0 7))"
    assert len(ground(sheet(COUNT + NUMBERS + rules)).program) < 200
    many = "".join(f"(<= (loose ?x ?y) (distinct ?x {number}))" for number in range(MOST + 1))
    read = sheet(COUNT + many)
    assert unfolded(read.rules) == list(read.rules)


def test_conditions_that_share_nothing_are_not_combined() -> None:
    """A line is full if each of ten cells has any of eight colours: not eight to the power of ten instances."""
    colours = " ".join(f"(init (cell {x} {y} c{x}))" for x in range(10) for y in range(8))
    stay = "(<= (next (cell ?x ?y ?c)) (true (cell ?x ?z ?c)) (true (cell ?x ?y ?d)))"
    line = "(<= (next (line ?y)) " + " ".join(f"(true (cell {x} ?y ?c{x}))" for x in range(10)) + ")"
    others = " ".join(f"(<= (next (cell {x} {y} c{y})) (does bob up))" for x in range(10) for y in range(8))
    read = sheet(COUNT + colours + stay + others + line)
    assert len(ground(read, seconds=2.0).program) < 100_000


ENCODINGS = {
    "lines of Windows": COUNT.replace("\n", "\r\n").encode(),
    "lines of old": COUNT.replace("\n", "\r").encode(),
    "a mark of the encoding": b"\xef\xbb\xbf" + COUNT.encode(),
    "two bytes per letter": COUNT.encode("utf-16"),
    "another encoding": b"; caf\xe9 \xff\n" + COUNT.encode(),
    "capitals and tabs": COUNT.upper().replace(" ", "\t").encode(),
    "a comment of Lisp": b"#| (role zoe)\n(role |#" + COUNT.encode(),
}


@pytest.mark.parametrize("kind", ENCODINGS)
def test_files_as_others_write_them(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.kif"
    file.write_bytes(ENCODINGS[kind])
    read = load_sheet(file)
    assert read.rules == sheet(COUNT).rules
    assert Interpreter(read).roles == ("ann", "bob")
