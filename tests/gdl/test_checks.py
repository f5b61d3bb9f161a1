"""Rule sheets broken in many ways: each gets its own message, with its place where it has one."""

from __future__ import annotations

import pytest

from tests.helpers import refusal

from .sheets import COUNT, names, own, sheet

BROKEN = {
    "a bracket too few": (COUNT[:-2], "line 15, column 1: this ( is never closed; a ) is missing"),
    "a bracket too many": (COUNT + ")", "line 16, column 1: this ) closes nothing; remove it"),
    "nothing": ("; only a comment", "test.kif: no role is declared; write (role NAME) for each player"),
    "no legal": (COUNT.replace("(legal", "(leagl"), "nobody may ever move; say which moves are legal, such as (legal"),
    "no terminal": (
        COUNT.replace("terminal", "the-end"),
        "the game never ends; say when it does, such as (<= terminal",
    ),
    "no goal": (COUNT.replace("(goal", "(gaol"), "nobody ever gets a goal; say what each role gets"),
    "a role with arguments": (
        COUNT + "(role (player 1))",
        "line 16, column 1: a role is a single name, not (player 1)",
    ),
    "roles that change": (
        COUNT + "(<= (role ?p) (true (player ?p)))",
        "the roles depend on true; roles are the same throughout a game",
    ),
    "an empty list": (COUNT + "(<= (next ()) terminal)", "line 16, column 11: this list is empty; a term is a word"),
    "an empty condition": (COUNT + "(<= a ())", "line 16, column 7: this list is empty; a relation's name is expected"),
    "a rule without a head": (COUNT + "(<=)", "this rule has no head; write (<= HEAD CONDITION …)"),
    "a rule within a rule": (
        COUNT + "(<= a (succ 0 1)\n(<= b (succ 1 2)))",
        "line 17, column 1: a rule stands inside another; is a ) missing before it?",
    ),
    "a variable as a relation": (COUNT + "(<= a (?p x))", "the variable ?p stands where a relation's name is expected"),
    "a variable as a head": (COUNT + "(<= ?p a)", "line 16, column 1: the variable ?p stands where a relation is"),
    "a variable as a function": (COUNT + "(p (?f x))", "the variable ?f stands where a function's name is expected"),
    "a list as a relation": (COUNT + "((p) x)", "a list begins with (p); a relation's name is expected there"),
    "legal without a role": (COUNT + "(legal up)", "legal takes 2 arguments, not 1; write (legal ROLE MOVE)"),
    "true with two": (
        COUNT + "(<= a (true count 1))",
        "line 16, column 7: true takes one argument, not 2; write (true",
    ),
    "terminal with one": (COUNT + "(terminal now)", "terminal takes no arguments, not 1; write terminal"),
    "true as a head": (COUNT + "(true (count 1))", "cannot conclude true: states come from init and next"),
    "does as a head": (COUNT + "(<= (does bob up) a)", "cannot conclude does: moves come from the players"),
    "not as a head": (COUNT + "(<= (not a) b)", "cannot conclude not: only bodies may say not"),
    "or as a head": (COUNT + "(<= (or a b) c)", "cannot conclude or: write one rule per alternative"),
    "not of two": (COUNT + "(<= a (not b c))", "line 16, column 7: not takes one condition, not 2"),
    "or of nothing": (COUNT + "(<= a (or))", "or has nothing in it; write (or CONDITION …)"),
    "a goal in words": (COUNT + "(goal ann much)", "a goal is a whole number from 0 to 100, not much"),
    "init by a state": (
        COUNT + "(<= (init a) (true b))",
        "init depends on true, directly or through other relations; before the first state nothing is true",
    ),
    "legal by moves": (
        COUNT + "(<= (legal bob x) busy)\n(<= busy (does ann up))",
        "line 6, column 1: legal depends on does, directly or through other relations; legal moves are known before",
    ),
    "a circle through not": (
        COUNT + "(<= a (not b))\n(<= b a)",
        "line 16, column 1: a depends on not b, which depends on a again; break the circle",
    ),
    "endless recursion": (
        COUNT + "(number 0)\n(<= (number (s ?n)) (number ?n))\n(<= (next (big ?n)) (number ?n))",
        "line 17, column 1: number depends on itself and makes a larger term each time, (s ?n): it never ends",
    ),
}
DOUBTFUL = {
    "a variable under not": (
        "(<= a (not (true (count ?n))))",
        "line 16, column 1: ?n occurs only under not, which is read as: for no ?n at all",
    ),
    "a variable in the head": (
        "(<= (p ?x) (true a))",
        "no condition without not says what ?x may be; add one, such as",
    ),
    "a variable in distinct": ("(<= a (distinct ?x 1))", "?x in distinct occurs nowhere else, so this distinct is"),
    "an unknown relation": ("(<= a (suc 0 1))", "nothing concludes suc with 2 arguments; did you mean 'succ'?"),
    "another number of arguments": ("(<= a (succ 0))", "nothing concludes succ with 1 arguments; it is defined with 2"),
    "two numbers of arguments": ("(succ 1)", "succ is concluded with 1 and 2 arguments: different relations"),
    "a stranger": ("(legal eve up)", "legal of eve, which is not a role; roles are ann, bob"),
    "a goal out of range": ("(goal bob 101)", "goals go from 0 to 100, and this one is 101"),
    "next as a condition": ("(<= a (next (count 1)))", "next is a condition of a; only heads should use it"),
    "a goal by moves": ("(<= (goal bob 1) (does bob up))", "goal depends on does, which is empty there"),
}


@pytest.mark.parametrize("way", BROKEN)
def test_broken_sheets(way: str) -> None:
    text, message = BROKEN[way]
    found = refusal(sheet, text)
    assert message in found
    assert found.startswith("test.kif")


def test_every_message_is_another() -> None:
    told = {refusal(sheet, text).partition(": ")[2] for text, _ in BROKEN.values()}
    assert len(told) == len(BROKEN)


@pytest.mark.parametrize("way", DOUBTFUL)
def test_doubtful_sheets_are_played_with_a_warning(way: str) -> None:
    text, message = DOUBTFUL[way]
    assert any(message in warning for warning in sheet(COUNT + text).warnings)


def test_missing_names_are_guessed() -> None:
    assert "(did you mean 'leagl'?)" in refusal(sheet, COUNT.replace("(legal", "(leagl"))


def test_correct_sheets_have_no_warnings() -> None:
    assert sheet(COUNT.replace("(true (stuck))", "(true (count 3))")).warnings == ()
    for name in names():
        assert sheet(own(name)).warnings == (), name
