"""Reading KIF: what a text says, whatever its style, and where a mistake is."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from fogplay.gdl.kif import DEEPEST, parse, unparse
from tests.helpers import refusal

WORDS = st.text("abcxyz019+-?_*", min_size=1, max_size=4)
TERMS = st.recursive(WORDS, lambda inside: st.lists(inside, max_size=4).map(tuple), max_leaves=12)


def test_words_lists_comments_and_case() -> None:
    text = "(ROLE Red);(role blue)\r\n  (<= terminal\t(not open))open ; the end"
    assert [form for form, _ in parse(text)] == [("role", "red"), ("<=", "terminal", ("not", "open")), "open"]
    assert [at for _, at in parse(text)] == [0, 26, 50]


def test_comments_of_several_lines() -> None:
    assert [form for form, _ in parse("(a #| b\n (c) ; |# d)#||#e|#")] == [("a", "d"), "e|#"]
    assert "line 2, column 1: this comment is never closed" in refusal(parse, "(a)\n#| (b) " + "#| " * 100_000)


@given(st.lists(TERMS, max_size=5))
def test_printing_and_parsing_are_inverse(terms: list[object]) -> None:
    text = "\n".join(map(unparse, terms))
    assert [form for form, _ in parse(text)] == terms


def test_mistakes_have_a_place() -> None:
    assert refusal(parse, "(a b)\n (c (d e)\n", "x.kif") == (
        "x.kif, line 2, column 2: this ( is never closed; a ) is missing by the end of the text"
    )
    assert refusal(parse, "(a b)\n c))", "x.kif").startswith("x.kif, line 2, column 3: this ) closes nothing")
    deep = refusal(parse, "(" * (DEEPEST + 1))
    assert f"line 1, column {DEEPEST + 1}: lists are nested deeper than {DEEPEST}" in deep


def test_large_texts_take_time_in_proportion() -> None:
    fact, seconds = "(succ 1234 1235) ; a comment\n", []
    for count in (5_000, 50_000):
        began = time.process_time()
        assert len(parse(fact * count)) == count
        seconds.append(time.process_time() - began)
    assert seconds[1] < 40 * seconds[0] + 0.1
