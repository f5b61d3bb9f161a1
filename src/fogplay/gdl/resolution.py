"""Relations that build terms, such as lists: followed from the conclusion to the conditions, as Prolog does.

``append`` has instances without end, so no table can hold it; asked about given lists, it has an answer. Rules are
tried in the order of the text, and so are the conditions of a rule. Relations that are tables are looked up there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fogplay.errors import FogplayError
from fogplay.gdl.joins import EMPTY, Row, Shape, Table
from fogplay.gdl.rules import DISTINCT, Atom, Literal, Relation, Rule, Term, is_variable, replaced, variables

STEPS, CHOICES = 20_000_000, 200_000  # for one relation: conditions looked at, and choices that wait for another try
Goals = tuple[Any, ...]  # a condition, or the number of choices to keep; and the goals after it. Empty: nothing is left
DONE: Goals = ()
Alternative = tuple[Atom, Sequence[Literal], dict[str, Term]]  # a head, a body, and the names of variables in this copy


class EndlessError(FogplayError):
    """A relation has ever more answers, or one that depends on ever more conditions."""


class TooLongError(FogplayError):
    """A relation takes too many steps."""


class Choice:
    """A condition, what else it may follow from, the goals after it, and how many variables had values before it."""

    __slots__ = ("alternatives", "atom", "mark", "rest")

    def __init__(self, atom: Atom, alternatives: Iterator[Alternative], rest: Goals, mark: int):
        self.atom, self.alternatives, self.rest, self.mark = atom, alternatives, rest, mark


class Resolution:
    """The facts of relations that rules conclude one by one; everything else stands in tables."""

    def __init__(
        self,
        rules: Mapping[Relation, Sequence[Rule]],
        tables: Mapping[Relation, Table],
        steps: int = STEPS,
        choices: int = CHOICES,
    ) -> None:
        self.rules, self.tables = rules, tables
        self._names = {id(rule): _names(rule) for own in rules.values() for rule in own}
        self.steps, self.choices = steps, choices
        self._taken = 0  # steps so far; they also number the copies of rules
        self._bound: dict[str, Term] = {}
        self._trail: list[str] = []  # variables with values, in the order in which they got them
        self._fixed: dict[int, Term] = {}  # terms without variables, by their addresses: long lists are shared

    def rows(self, relation: Relation) -> set[Row]:
        """The arguments of all facts of a relation."""
        asked = (relation[0], *(f"?{place}" for place in range(relation[1])))
        found: set[Row] = set()
        try:
            for _ in self._solutions(Literal(True, asked)):
                fact = self._value(asked)
                if not self._is_fixed(fact):
                    free = next(variables(fact)).partition(" ")[0]
                    raise FogplayError(
                        f"{relation[0]} has an answer in which nothing says what {free} is; add a condition with {free}"
                    )
                found.add(fact[1:])
        except RecursionError as error:
            raise EndlessError(f"{relation[0]} makes terms that are too deep") from error
        return found

    def _solutions(self, asked: Literal) -> Iterator[None]:
        """One after the other, the ways in which a condition holds; variables have their values meanwhile."""
        goals: Goals | None = (asked, DONE)
        waiting: list[Choice] = []
        before = len(self._trail)
        while goals is not None:
            if not goals:
                yield
                goals = self._another(waiting)
                continue
            self._taken += 1
            if len(waiting) > self.choices:
                raise EndlessError(f"what {asked.atom[0]} depends on has no end")
            if self._taken > self.steps:
                raise TooLongError(f"what {asked.atom[0]} depends on takes over {self.steps:,} steps")
            goal, rest = goals
            if isinstance(goal, int):  # a condition without variables holds: how else it might does not matter
                del waiting[goal:]
                goals = rest
            elif goal.positive and goal.relation != DISTINCT:
                atom = self._value(goal.atom)
                if self._is_fixed(atom):
                    rest = (len(waiting), rest)
                waiting.append(Choice(atom, self._alternatives(atom), rest, len(self._trail)))
                goals = self._another(waiting)
            else:
                goals = rest if self._passes(goal) else self._another(waiting)
        self._undo(before)

    def _another(self, waiting: list[Choice]) -> Goals | None:
        """Go back to the last choice that has another alternative; the goals from there on, None if there is none."""
        while waiting:
            last = waiting[-1]
            self._undo(last.mark)
            for head, body, by in last.alternatives:
                if self._unified(last.atom, head):
                    goals = last.rest
                    for each in reversed(body):
                        goals = (Literal(each.positive, replaced(each.atom, by)), goals)
                    return goals
                self._undo(last.mark)
            waiting.pop()
        return None

    def _passes(self, goal: Literal) -> bool:
        """Whether two terms are distinct, or a negated condition has no solution."""
        atom = self._value(goal.atom)
        if goal.relation == DISTINCT:
            return bool(atom[1] != atom[2])
        mark = len(self._trail)
        holds = any(True for _ in self._solutions(Literal(True, atom)))
        self._undo(mark)
        return not holds

    def _alternatives(self, atom: Atom) -> Iterator[Alternative]:
        """What an atom may follow from: rules, or the rows of a table."""
        relation = atom[0], len(atom) - 1
        if relation not in self.rules:
            table = self.tables.get(relation, EMPTY)
            known = [place for place, term in enumerate(atom[1:]) if self._is_fixed(term)]
            shape = Shape((), tuple((place,) for place in known))
            for row in table.index(shape).get(tuple([atom[1 + place] for place in known]), ()):
                yield (atom[0], *row), (), {}
            return
        for rule in self.rules[relation]:
            if all(map(_may_match, rule.head, atom)):
                by: dict[str, Term] = {name: f"{name} {self._taken}" for name in self._names[id(rule)]}
                yield replaced(rule.head, by), rule.body, by

    # ---- Variables

    def _value(self, term: Term) -> Any:
        """A term with the values of its variables, as far as they have some."""
        while isinstance(term, str) and term in self._bound:
            term = self._bound[term]
        if isinstance(term, str) or id(term) in self._fixed:
            return term
        made = tuple([self._value(part) for part in term])
        if all(map(self._is_fixed, made)):
            self._fixed[id(made)] = made
        return made

    def _is_fixed(self, term: Term) -> bool:
        """Whether a term that ``_value`` gave has no variables."""
        return not term.startswith("?") if isinstance(term, str) else id(term) in self._fixed

    def _unified(self, one: Term, other: Term) -> bool:
        """Whether two terms are equal once variables have got values."""
        bound, todo = self._bound, [(one, other)]
        while todo:
            left, right = todo.pop()
            while isinstance(left, str) and left in bound:
                left = bound[left]
            while isinstance(right, str) and right in bound:
                right = bound[right]
            if left == right:
                continue
            if is_variable(right):
                left, right = right, left
            if is_variable(left):
                bound[left] = right
                self._trail.append(left)
            elif isinstance(left, str) or isinstance(right, str) or len(left) != len(right):
                return False
            else:
                todo += zip(left, right, strict=True)
        return True

    def _undo(self, mark: int) -> None:
        """Take values away from all variables that have got them since."""
        while len(self._trail) > mark:
            del self._bound[self._trail.pop()]


def _names(rule: Rule) -> tuple[str, ...]:
    """The variables of a rule."""
    return tuple({*variables(rule.head)}.union(*(variables(each.atom) for each in rule.body)))


def _may_match(one: Term, other: Term) -> bool:
    """Whether two terms might be equal, at first sight."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other or is_variable(one) or is_variable(other)
    if isinstance(one, str) or isinstance(other, str):
        return is_variable(one) or is_variable(other)
    return len(one) == len(other) and bool(one[0] == other[0])
