"""Sheets with lists: relations that make terms are followed as questions ask, as Prolog would."""

from __future__ import annotations

import pytest

from fogplay.errors import FogplayError
from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.joins import Table
from fogplay.gdl.machines import machine_for
from fogplay.gdl.resolution import EndlessError, Resolution, TooLongError
from fogplay.gdl.rules import Relation, Rule, Term
from tests.helpers import refusal

from .sheets import COUNT, sheet

LISTS = """
(member ?x (cons ?x ?rest))
(<= (member ?x (cons ?y ?rest)) (member ?x ?rest))
(append nil ?list ?list)
(<= (append (cons ?x ?rest) ?list (cons ?x ?new)) (append ?rest ?list ?new))
(<= (without ?x (cons ?x ?rest) ?rest))
(<= (without ?x (cons ?y ?rest) (cons ?y ?new)) (distinct ?x ?y) (without ?x ?rest ?new))
(<= (same ?x ?x))
"""
HAND = (
    """
(role ann) (role bob)
(init (hand ann (cons a (cons b (cons c nil))))) (init (hand bob (cons d (cons a nil))))
(<= (legal ?r (play ?x)) (true (hand ?r ?l)) (member ?x ?l))
(<= (legal ?r pass) (true (hand ?r nil)))
(<= (next (hand ?r ?l)) (true (hand ?r ?k)) (does ?r (play ?x)) (without ?x ?k ?l))
(<= (next (hand ?r nil)) (true (hand ?r nil)))
(<= terminal (true (hand ann nil)))
(<= (goal ?r 100) (role ?r) (true (hand ?r nil)))
(<= (goal ?r 50) (true (hand ?r ?l)) (not (same ?l nil)) (not (member a ?l)))
(<= (goal ?r 0) (true (hand ?r ?l)) (member a ?l))
"""
    + LISTS
)


def written(terms: list[str]) -> Term:
    """A list as a sheet writes it."""
    return ("cons", terms[0], written(terms[1:])) if terms else "nil"


def resolution(text: str, asked: str) -> set[tuple[Term, ...]]:
    """The rows of a relation ``answer`` whose rule has these conditions."""
    read = sheet(COUNT + LISTS + text + f"(<= (answer ?a ?b) {asked})(<= (next (found ?a ?b)) (answer ?a ?b))")
    rules: dict[Relation, list[Rule]] = {each: read.dependencies.heads[each] for each in read.resolved}
    tables = {relation: Table({each.head[1:] for each in own}) for relation, own in read.dependencies.heads.items()}
    return Resolution(rules, tables).rows(("answer", 2))


def test_the_ways_to_divide_a_list() -> None:
    abc = ["a", "b", "c"]
    found = resolution("", f"(append ?a ?b {unparsed(abc)})")
    assert found == {(written(abc[:cut]), written(abc[cut:])) for cut in range(4)}


def test_lists_put_together() -> None:
    assert resolution("", f"(append {unparsed(['a'])} {unparsed(['b'])} ?a) (same ?b x)") == {
        (written(["a", "b"]), "x")
    }


def test_members_and_what_is_no_member() -> None:
    some = unparsed(["c", "a", "c"])
    assert resolution("(letter a) (letter b)", f"(member ?a {some}) (same ?b 1)") == {("a", "1"), ("c", "1")}
    assert resolution(
        "(letter a) (letter b)", f"(letter ?a) (not (member ?a {some})) (letter ?b) (distinct ?a ?b)"
    ) == {("b", "a")}


def unparsed(words: list[str]) -> str:
    return f"(cons {words[0]} {unparsed(words[1:])})" if words else "nil"


def test_a_game_of_lists_is_played() -> None:
    read = sheet(HAND)
    assert ("member", 2) in read.resolved
    assert ("legal", 2) in read.resolved
    assert ("role", 1) not in read.resolved
    machine = machine_for(read)
    assert isinstance(machine, Interpreter)
    state = machine.initial()
    assert machine.legal(state) == ((("play", "a"), ("play", "b"), ("play", "c")), (("play", "a"), ("play", "d")))
    assert machine.goals(state) == (0, 0)
    state = machine.next(state, [("play", "a"), ("play", "a")])
    assert state == {("hand", "ann", written(["b", "c"])), ("hand", "bob", written(["d"]))}
    assert machine.goals(state) == (50, 50)
    state = machine.next(state, [("play", "c"), ("play", "d")])
    assert machine.legal(state) == ((("play", "b"),), ("pass",))
    assert machine.goals(state) == (50, 100)
    assert not machine.is_terminal(state)
    state = machine.next(state, [("play", "b"), "pass"])
    assert machine.is_terminal(state)
    assert machine.goals(state) == (100, 100)


def test_a_warning_says_why_it_is_slow() -> None:
    assert any("member makes ever larger terms" in each for each in sheet(HAND).warnings)


def test_lists_that_nobody_asks_for_do_no_harm() -> None:
    read = sheet(COUNT + LISTS)
    assert machine_for(read).legal(machine_for(read).initial()) == Interpreter(sheet(COUNT)).legal(
        Interpreter(sheet(COUNT)).initial()
    )


def test_terms_without_end_are_refused() -> None:
    told = refusal(sheet, COUNT + "(number 0)(<= (number (s ?n)) (number ?n))(<= (next (big ?n)) (number ?n))")
    assert "number depends on itself and makes a larger term each time, (s ?n): it never ends" in told


@pytest.mark.parametrize(
    ("steps", "choices", "error"), [(10**6, 100, EndlessError), (100, 10**6, TooLongError)], ids=["choices", "steps"]
)
def test_limits(steps: int, choices: int, error: type[FogplayError]) -> None:
    number: Relation = ("number", 1)
    rules = {number: sheet(COUNT + "(number 0)(<= (number (s ?n)) (number ?n))").dependencies.heads[number]}
    with pytest.raises(error, match="what number depends on"):
        Resolution(rules, {}, steps, choices).rows(number)


def test_an_answer_with_a_variable_is_refused() -> None:
    told = refusal(resolution, "", "(append ?a ?b ?c)")
    assert "has an answer in which nothing says what" in told


def test_an_error_names_the_sheet_and_what_to_add() -> None:
    told = refusal(sheet, HAND.replace("(true (hand ?r ?l)) (member ?x ?l))", "(true (hand ?r ?l)) (member ?x ?k))", 1))
    assert told == "test.kif: legal has an answer in which nothing says what ?x is; add a condition with ?x"
