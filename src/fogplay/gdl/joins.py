"""Tables of facts, and plans that join them: how the interpreter finds all instances of a rule.

A row of a table holds the arguments of one fact. A plan puts the conditions of a rule in an order in which each one
finds its rows by what is known by then: an index of the table, built when it is first asked for, maps the values at
some places of a row to the rows that have them. A place is a path, since arguments may be terms with functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from fogplay.gdl.demand import ASKED
from fogplay.gdl.rules import DISTINCT, Literal, Relation, Rule, Term, is_variable, variables

Path = tuple[int, ...]
Row = tuple[Any, ...]
Values = list[Any]  # of a rule's variables
GUESSED = {("does", 2): 2.0, ("true", 1): 30.0}  # rows, for the order of conditions
OTHERWISE = 60.0


class Shape(NamedTuple):
    """What an index looks at: lists of a length at some paths, and the values at others."""

    lengths: tuple[tuple[Path, int], ...]
    key: tuple[Path, ...]


class Table:
    """The rows of one relation."""

    __slots__ = ("indexes", "rows")

    def __init__(self, rows: set[Row] | None = None) -> None:
        self.rows: set[Row] = set() if rows is None else rows
        self.indexes: dict[Shape, dict[Any, list[Row]]] = {}

    def add(self, row: Row) -> None:
        self.rows.add(row)
        for shape, index in self.indexes.items():
            _put(index, shape, row)

    def index(self, shape: Shape) -> dict[Any, list[Row]]:
        index = self.indexes.get(shape)
        if index is None:
            index = self.indexes[shape] = {}
            for row in self.rows:
                _put(index, shape, row)
        return index


def _put(index: dict[Any, list[Row]], shape: Shape, row: Row) -> None:
    for path, length in shape.lengths:
        value = _at(row, path)
        if isinstance(value, str) or len(value) != length:
            return
    key = tuple([_at(row, path) for path in shape.key])
    index.setdefault(key, []).append(row)


def _at(row: Any, path: Path) -> Any:
    for step in path:
        row = row[step]
    return row


Make = Callable[[Values], Any]


def _maker(term: Term, slots: Mapping[str, int]) -> Make:
    """A function from the variables' values to a term."""
    if is_variable(term):
        return itemgetter(slots[term])
    if isinstance(term, str) or not any(variables(term)):
        return lambda values: term
    return _rows([_maker(part, slots) for part in term])


def _rows(parts: Sequence[Make]) -> Make:
    return lambda values: tuple([part(values) for part in parts])


class Step(NamedTuple):
    """One condition: what to look up, and which variables each row found gives values to."""

    kind: str  # each: rows by an index; holds, fails: whether a row is there; differ: whether two terms do
    relation: Relation
    make: Make  # the key, the row, or the two terms
    shape: Shape | None = None
    binds: tuple[tuple[Path, int], ...] = ()
    equal: tuple[tuple[Path, int], ...] = ()  # places that repeat a variable bound by this step
    fresh: bool = False  # look only at the rows that were new in the last round


class Plan(NamedTuple):
    """A rule as steps."""

    relation: Relation
    steps: tuple[Step, ...]
    make: Make  # the row of the head
    size: int  # number of variables


def make_plan(rule: Rule, sizes: Mapping[Relation, float], first: int | None = None) -> Plan:
    """Steps in an order that keeps intermediate results small; condition ``first`` comes first, with new rows only."""
    slots = {name: place for place, name in enumerate(dict.fromkeys(_variables(rule)))}
    bound: set[str] = set()
    left = list(enumerate(rule.body))
    steps: list[Step] = []

    def take(place: int, literal: Literal) -> None:
        left.remove((place, literal))
        steps.append(_step(literal, slots, bound, fresh=place == first))
        if literal.positive and literal.relation != DISTINCT:
            bound.update(variables(literal.atom))

    if first is not None:
        take(first, rule.body[first])
    while left:
        for place, literal in list(left):
            if {*variables(literal.atom)} <= bound:
                take(place, literal)
        joins = [each for each in left if each[1].positive and each[1].relation != DISTINCT]
        if joins:
            take(*min(joins, key=lambda each: _expected(each[1], bound, sizes)))
        elif left:
            raise AssertionError(f"not safe: {rule}")
    return Plan(rule.relation, tuple(steps), _rows([_maker(part, slots) for part in rule.head[1:]]), len(slots))


def _variables(rule: Rule) -> list[str]:
    return [name for atom in (rule.head, *(each.atom for each in rule.body)) for name in variables(atom)]


def _expected(literal: Literal, bound: set[str], sizes: Mapping[Relation, float]) -> float:
    """About how many rows a condition finds; what is asked comes first, since all else is restricted by it."""
    if literal.atom[0].startswith(f"{ASKED} "):
        return 0.0
    size = max(1.0, sizes.get(literal.relation, GUESSED.get(literal.relation, OTHERWISE)))
    known, places = 0, 0
    for leaf in _leaves(literal.atom[1:]):
        places += 1
        known += not is_variable(leaf) or leaf in bound
    return float(size ** (1 - known / places)) if places else 1.0


def _leaves(terms: Sequence[Term]) -> list[Term]:
    return [leaf for term in terms for leaf in ([term] if isinstance(term, str) else _leaves(term[1:]))]


def _step(literal: Literal, slots: Mapping[str, int], bound: set[str], fresh: bool) -> Step:
    atom, relation = literal.atom, literal.relation
    if not fresh and {*variables(atom)} <= bound:
        kind = "differ" if relation == DISTINCT else "holds" if literal.positive else "fails"
        return Step(kind, relation, _rows([_maker(part, slots) for part in atom[1:]]))
    lengths: list[tuple[Path, int]] = []
    key: list[tuple[Path, Make]] = []
    binds: dict[str, Path] = {}
    equal: list[tuple[Path, int]] = []

    def visit(term: Term, path: Path) -> None:
        if is_variable(term) and term not in bound:
            if term in binds:
                equal.append((path, slots[term]))
            else:
                binds[term] = path
        elif isinstance(term, str) or {*variables(term)} <= bound:
            key.append((path, _maker(term, slots)))
        else:
            lengths.append((path, len(term)))
            for place, part in enumerate(term):
                visit(part, (*path, place))

    for place, part in enumerate(atom[1:]):
        visit(part, (place,))
    shape = Shape(tuple(lengths), tuple(path for path, _ in key))
    found = tuple((path, slots[name]) for name, path in binds.items())
    return Step("each", relation, _rows([make for _, make in key]), shape, found, tuple(equal), fresh)


EMPTY = Table()


def run(plan: Plan, tables: Mapping[Relation, Table], fresh: Table | None, found: Callable[[Row], None]) -> None:
    """Call ``found`` with the head's row of every instance of a rule."""
    values: Values = [None] * plan.size
    steps, last = plan.steps, len(plan.steps)
    row_of = plan.make
    sources = [fresh if step.fresh and fresh is not None else tables.get(step.relation, EMPTY) for step in steps]

    def go(number: int) -> None:
        while number < last:
            step = steps[number]
            key = step.make(values)
            if step.kind == "each":
                assert step.shape is not None
                for row in sources[number].index(step.shape).get(key, ()):
                    for path, slot in step.binds:
                        values[slot] = _at(row, path)
                    if all(_at(row, path) == values[slot] for path, slot in step.equal):
                        go(number + 1)
                return
            if step.kind == "differ":
                if key[0] == key[1]:
                    return
            elif (key in sources[number].rows) != (step.kind == "holds"):
                return
            number += 1
        found(row_of(values))

    go(0)
