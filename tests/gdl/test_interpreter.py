"""The interpreter on rules whose meaning is known."""

from __future__ import annotations

import pytest

from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.rules import Term

from .sheets import COUNT, capitals, names, own, random_play, renamed, sheet


def holds(rules: str, *questions: str) -> list[bool]:
    """Whether propositions hold at the start: each is made a fluent of the next state."""
    asked = "".join(f"\n(<= (next (holds {number})) {question})" for number, question in enumerate(questions))
    machine = Interpreter(sheet(COUNT + rules + asked))
    found = machine.fluents(machine.next(machine.initial(), ("up", "wait")))
    return [("holds", str(number)) in found for number in range(len(questions))]


def test_counting() -> None:
    machine = Interpreter(sheet(COUNT))
    state = machine.initial()
    assert (machine.roles, state) == (("ann", "bob"), {("count", "0")})
    for number in ("1", "2", "3"):
        assert machine.legal(state) == (("up", "wait"), ("up", "wait"))
        assert not machine.is_terminal(state)
        assert machine.goals(state) == (0, 50)
        assert machine.next(state, ("wait", "up")) == state
        state = machine.next(state, ("up", "wait"))
        assert state == {("count", number)}
    assert machine.is_terminal(state)
    assert machine.goals(state) == (100, 50)
    assert machine.legal(state) == (("wait",), ("wait",))


def test_conditions() -> None:
    rules = "(p a) (p b) (q b) (q (f a b)) (r a a) (r a b) (s (f a a)) (s (f a b c))"
    assert holds(rules, "(p a)", "(p c)", "(not (p c))") == [True, False, True]
    assert holds(rules, "(or (p c) (q b))", "(or (p c) (and (p a) (q a)))") == [True, False]
    assert holds(rules, "(not (or (p c) (q a)))", "(not (and (p a) (q b)))") == [True, False]
    assert holds(rules, "(p ?x) (q ?x)", "(p ?x) (q ?x) (distinct ?x b)") == [True, False]
    assert holds(rules, "(p ?x) (q ?y) (not (distinct ?x ?y))", "(r ?x ?x)", "(r ?x ?y) (distinct ?x ?y)") == [True] * 3
    assert holds(rules, "(p ?x) (p ?y) (q (f ?x ?y))", "(q (f ?x ?x))", "(s (f ?x ?x))") == [True, False, True]
    assert holds(rules, "(does ann up)", "(does bob ?m) (distinct ?m wait)", "(does ?p wait)") == [True, False, True]


def test_recursion_to_a_fixpoint() -> None:
    rules = "(edge a b) (edge b c) (edge c d) (edge d b) (edge x y)"
    rules += "(<= (path ?x ?y) (edge ?x ?y)) (<= (path ?x ?z) (path ?x ?y) (path ?y ?z))"
    rules += "(<= (even z)) (<= (even ?x) (odd ?y) (edge ?y ?x)) (<= (odd ?x) (even ?y) (edge ?y ?x)) (edge z a)"
    asked = ["(path a d)", "(path b b)", "(path a a)", "(path x b)", "(odd a)", "(even a)", "(even c)", "(odd y)"]
    assert holds(rules, *asked) == [True, True, False, False, True, False, True, False]


def test_unsafe_rules_mean_what_they_say() -> None:
    rules = (
        "(p a) (<= none-q (not (q ?x))) (<= none-p (not (p ?x))) (<= (same ?x ?x)) (<= (other ?p) (not (same ?p ann)))"
    )
    asked = ["none-q", "none-p", "(same bob bob)", "(same ann bob)", "(other bob)", "(other ann)"]
    assert holds(rules, *asked) == [True, False, True, False, True, False]


def test_variables_for_whole_fluents() -> None:
    machine = Interpreter(
        sheet(COUNT + "(init (flag (on red)))(<= (next ?f) (true ?f) (kept ?f)) (kept (flag (on red)))")
    )
    after = machine.next(machine.initial(), ("up", "up"))
    assert after == {("count", "1"), ("flag", ("on", "red"))}


def shape(term: Term) -> object:
    """A term without its names."""
    return "" if isinstance(term, str) else tuple(shape(part) for part in term[1:])


@pytest.mark.parametrize("name", names())
def test_capitals_change_nothing_and_names_have_no_meaning(name: str) -> None:
    plain, loud = Interpreter(sheet(own(name))), Interpreter(sheet(capitals(own(name))))
    path = random_play(plain, 3, 20)
    assert random_play(loud, 3, 20) == path
    other = Interpreter(sheet(renamed(own(name))))
    for state, _ in random_play(other, 3, 20)[:2]:
        assert len(state) == len(path[0][0]) or state != other.initial()
    assert sorted(map(len, other.legal(other.initial()))) == sorted(map(len, plain.legal(plain.initial())))
