"""Rules as data: from lists in KIF to heads and bodies without ``or`` and without nested ``not``.

A term is a word or a tuple of a function's name and its arguments; a variable is a word that begins with ``?``. An
atom is a tuple of a relation's name and its arguments, so ``terminal`` is ``("terminal",)``. A relation is a name with
a number of arguments: the same name with other numbers is another relation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fogplay.gdl.kif import Form, Source, unparse

Term = Any  # str | tuple[Term, ...]
Atom = tuple[Any, ...]
Relation = tuple[str, int]

ARITIES = {
    "role": 1,
    "init": 1,
    "true": 1,
    "next": 1,
    "legal": 2,
    "does": 2,
    "goal": 2,
    "terminal": 0,
    "sees": 2,
    "distinct": 2,
}
CONNECTIVES = ("<=", "not", "or", "and")
DISTINCT: Relation = ("distinct", 2)
NEVER_HEADS = {
    "true": "states come from init and next",
    "does": "moves come from the players",
    "distinct": "it is built in",
    "not": "only bodies may say not",
    "or": "write one rule per alternative",
    "and": "write one rule per conclusion",
}
MOST_ALTERNATIVES = 256  # of one rule whose body has or
EITHER = "either"
_EXAMPLES = {"legal": "(legal ROLE MOVE)", "does": "(does ROLE MOVE)", "goal": "(goal ROLE VALUE)"}
_EXAMPLES |= {"sees": "(sees ROLE PERCEPT)", "terminal": "terminal", "distinct": "(distinct A B)"}


class Literal(NamedTuple):
    """An atom or its negation."""

    positive: bool
    atom: Atom

    @property
    def relation(self) -> Relation:
        return self.atom[0], len(self.atom) - 1


@dataclass(frozen=True)
class Rule:
    """A head that holds where the whole body does; ``at`` is its place in the text."""

    head: Atom
    body: tuple[Literal, ...] = ()
    at: int = field(default=0, compare=False)

    @property
    def relation(self) -> Relation:
        return self.head[0], len(self.head) - 1


def is_variable(term: Term) -> bool:
    return isinstance(term, str) and term.startswith("?")


def variables(term: Term) -> Iterator[str]:
    """The variables of a term or an atom, in order, with repetitions."""
    if isinstance(term, str):
        if term.startswith("?"):
            yield term
        return
    for part in term:
        yield from variables(part)


def variables_of(literals: Iterable[Literal]) -> set[str]:
    return {name for literal in literals for name in variables(literal.atom)}


def replaced(term: Term, by: dict[str, Term]) -> Term:
    """A term in which variables are replaced."""
    if isinstance(term, str):
        return by.get(term, term)
    return tuple(replaced(part, by) for part in term)


def read_rules(forms: Sequence[tuple[Any, int]], source: Source) -> list[Rule]:
    """The rules of a text; a mistake in their form is an error with its place."""
    return [rule for form, at in forms for rule in _Reader(source, at).rules(form)]


class _TooManyError(Exception):
    """A rule has too many alternatives to be written out."""


class _Reader:
    """Reads one rule or fact."""

    def __init__(self, source: Source, at: int) -> None:
        self.source, self.at = source, at
        self.whole: Counter[str] | None = None  # variables of a rule with too many alternatives
        self.helpers: list[Rule] = []  # what or says in such a rule, as relations
        self.helped = 0  # how many relations these are

    def rules(self, form: Any) -> list[Rule]:
        try:
            return self._rules(form)
        except _TooManyError:
            self.whole = Counter(variables(form))
            return [*self._rules(form), *self.helpers]

    def _rules(self, form: Any) -> list[Rule]:
        if isinstance(form, str) or not form or form[0] != "<=":
            return [Rule(self._head(form), (), self.at)]
        if len(form) == 1:
            raise self.source.error(self.at, "this rule has no head; write (<= HEAD CONDITION …)")
        head = self._head(form[1])
        made = []
        for body in self._every(form[2:], self._condition):
            found = solved(head, body)
            if found is not None:
                made.append(Rule(*found, self.at))
        return made

    def _head(self, form: Any) -> Atom:
        head = self._atom(form)
        if head[0] in NEVER_HEADS:
            raise self.source.error(
                self._place(form), f"a rule or fact cannot conclude {head[0]}: {NEVER_HEADS[head[0]]}"
            )
        return head

    def _place(self, form: Any) -> int:
        return form.at if isinstance(form, Form) else self.at

    def _atom(self, form: Any) -> Atom:
        """An atom; a word alone is a relation without arguments."""
        if isinstance(form, str):
            if form.startswith("?"):
                raise self.source.error(self.at, f"the variable {form} stands where a relation is expected")
            form = Form((form,), self.at)
        if not form:
            raise self.source.error(self._place(form), "this list is empty; a relation's name is expected in it")
        name = form[0]
        if not isinstance(name, str):
            raise self.source.error(
                self._place(form), f"a list begins with {unparse(name)}; a relation's name is expected there"
            )
        if name.startswith("?"):
            raise self.source.error(
                self._place(form), f"the variable {name} stands where a relation's name is expected"
            )
        if name == "<=":
            raise self.source.error(self._place(form), "a rule stands inside another; is a ) missing before it?")
        wanted = ARITIES.get(name)
        if wanted is not None and len(form) - 1 != wanted:
            raise self.source.error(self._place(form), _arity(name, wanted, len(form) - 1))
        return (name, *(self._term(part) for part in form[1:]))

    def _term(self, form: Any) -> Term:
        if isinstance(form, str):
            return form
        if not form:
            raise self.source.error(self._place(form), "this list is empty; a term is a word or (FUNCTION TERM …)")
        if not isinstance(form[0], str):
            raise self.source.error(
                self._place(form), f"a term begins with {unparse(form[0])}; a function's name is expected there"
            )
        if form[0].startswith("?"):
            raise self.source.error(
                self._place(form), f"the variable {form[0]} stands where a function's name is expected"
            )
        return tuple(self._term(part) for part in form) if len(form) > 1 else form[0]

    def _condition(self, form: Any, positive: bool = True) -> list[tuple[Literal, ...]]:
        """A condition, or its negation, as alternatives of literals."""
        name = form[0] if isinstance(form, tuple) and form else None
        if name == "not":
            if len(form) != 2:
                raise self.source.error(self._place(form), f"not takes one condition, not {len(form) - 1}")
            return self._condition(form[1], not positive)
        if name in ("or", "and"):
            if len(form) == 1:
                raise self.source.error(self._place(form), f"{name} has nothing in it; write ({name} CONDITION …)")
            if (name == "and") == positive:
                return self._every(form[1:], lambda part: self._condition(part, positive))
            found = [each for part in form[1:] for each in self._condition(part, positive)]
            return found if self.whole is None or len(found) == 1 else [(self._helper(form, found),)]
        return [(Literal(positive, self._atom(form)),)]

    def _helper(self, form: Any, alternatives: list[tuple[Literal, ...]]) -> Literal:
        """A relation that holds where one of several alternatives does; names with a space cannot be in a text."""
        assert self.whole is not None
        inside = Counter(variables(form))
        shared = sorted(name for name, count in inside.items() if self.whole[name] > count)
        head = (f"{EITHER} {self.at} {self.helped}", *shared)
        self.helped += 1
        for body in alternatives:
            found = solved(head, body)
            if found is not None:
                self.helpers.append(Rule(*found, self.at))
        return Literal(True, head)

    def _every(self, forms: Sequence[Any], read: Any) -> list[tuple[Literal, ...]]:
        """The alternatives in which all of several conditions hold."""
        found: list[tuple[Literal, ...]] = [()]
        for form in forms:
            found = [(*before, *after) for after in read(form) for before in found]
            if len(found) > MOST_ALTERNATIVES:
                raise _TooManyError
        return found


def _arity(name: str, wanted: int, given: int) -> str:
    count = {0: "no arguments", 1: "one argument"}.get(wanted, f"{wanted} arguments")
    return f"{name} takes {count}, not {given}; write {_EXAMPLES.get(name, f'({name} TERM)')}"


def solved(head: Atom, body: tuple[Literal, ...]) -> tuple[Atom, tuple[Literal, ...]] | None:
    """A rule with ``(not (distinct a b))`` carried out and ground ``distinct`` decided; None if it never holds."""
    kept: list[Literal] = []
    todo = list(dict.fromkeys(body))
    while todo:
        literal = todo.pop(0)
        if literal.relation != DISTINCT:
            kept.append(literal)
            continue
        one, other = literal.atom[1:]
        if literal.positive:
            if one == other:
                return None
            if not any(variables((one, other))):
                continue
            kept.append(literal)
            continue
        by = _unified(one, other)
        if by is None:
            return None
        head = replaced(head, by)
        todo = [Literal(each.positive, replaced(each.atom, by)) for each in todo]
        kept, done = [], [Literal(each.positive, replaced(each.atom, by)) for each in kept]
        todo = [*done, *todo]
    return head, tuple(dict.fromkeys(kept))


def _unified(one: Term, other: Term) -> dict[str, Term] | None:
    """What to replace so that two terms are equal; None if nothing makes them so."""
    by: dict[str, Term] = {}
    todo = [(one, other)]
    while todo:
        left, right = (replaced(term, by) for term in todo.pop())
        if left == right:
            continue
        if is_variable(right):
            left, right = right, left
        if is_variable(left):
            if left in variables(right):
                return None
            by = {name: replaced(term, {left: right}) for name, term in by.items()} | {left: right}
        elif isinstance(left, str) or isinstance(right, str) or len(left) != len(right):
            return None
        else:
            todo += zip(left, right, strict=True)
    return by
