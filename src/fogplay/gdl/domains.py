"""Which constants may stand at a place: rules restricted to those that can occur there and that are asked for.

A sheet that says "any coordinate" where a column is meant, and has letters and digits as coordinates, has instances
for all of them. What can stand at each place of a relation is found as types are inferred, from what the relation is
asked for and from its rules, both at once. Rules then say ``domain …`` where they said ``coordinate``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from fogplay.gdl.dependencies import Dependencies
from fogplay.gdl.joins import Row, Table, make_plan, run
from fogplay.gdl.rules import ARITIES, DISTINCT, Atom, Literal, Relation, Rule, Term, is_variable

DOMAIN = "domain"  # names with a space cannot be in a text
DEEPEST = 4  # functions within each other that are looked into
MOST_PAIRS = 50_000  # of a relation with two arguments that is looked at pair by pair
SAME = {"init": "true", "next": "true", "does": "legal"}
ANYTHING = -1
Place = tuple[object, ...]  # a relation's name and arity, then arguments and functions on the way down
Known = dict[str, int]  # constants that a variable may be, as bits


class _Prepared(NamedTuple):
    """A rule with conditions, and where its variables stand."""

    rule: Rule
    order: list[tuple[Literal, list[tuple[Place, str]]]]  # conditions, and the variables that each binds
    head: list[tuple[Place, Term]]
    places: dict[str, list[Place]]  # of each variable in the conditions


class _Values:
    """What may stand at a place: constants, as bits, and functions."""

    __slots__ = ("functions", "words")

    def __init__(self) -> None:
        self.words = 0
        self.functions: set[tuple[str, int]] = set()


class _TooManyError(Exception):
    """A relation has too many rows to be looked at pair by pair."""


def restricted(rules: Sequence[Rule]) -> list[Rule]:
    """The rules with ``domain`` conditions, and the facts that say what these mean; as they are if terms are deep."""
    domains = _Domains(rules)
    return list(rules) if domains.too_deep else domains.restricted()


class _Domains:
    """The constants at each place of a sheet's relations."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules, self.parts = rules, Dependencies(rules)
        self.bits: dict[str, int] = {}
        self.values: dict[Place, _Values] = {}
        self.asked: dict[Relation, list[int]] = {}  # what each argument is asked for
        self.too_deep = False  # whether places are missing because of functions within each other
        self.pairs = self._pairs()
        self.unary = {
            relation: sum({self._bit(row[0]) for row in rows})
            for relation, rows in self._listed(1).items()
            if all(isinstance(row[0], str) for row in rows)
        }
        self.prepared = [self._prepared(rule) for rule in rules]
        for each in self.prepared:
            if not each.rule.body:
                self._conclude(each, {})
        with_bodies = [each for each in self.prepared if each.rule.body]
        self._changed = True
        while self._changed:
            self._changed = False
            for each in with_bodies:
                known = self._known(each, ask=True)
                if known is not None:
                    self._conclude(each, known)

    def restricted(self) -> list[Rule]:
        used: dict[int, str] = {}
        made = [each for each in (self._narrow(each, used) for each in self.prepared) if each is not None]
        words = {bit: word for word, bit in self.bits.items()}
        for domain, name in used.items():
            made += [Rule((name, words[bit])) for bit in words if domain & bit]
        return made

    # ---- Relations whose rows are known

    def _listed(self, arity: int) -> dict[Relation, set[Row]]:
        """The rows of relations that facts alone define."""
        return {
            relation: {rule.head[1:] for rule in own}
            for relation, own in self.parts.heads.items()
            if relation[1] == arity and relation[0] not in ARITIES and all(not rule.body for rule in own)
        }

    def _pairs(self) -> dict[Relation, tuple[dict[int, int], dict[int, int]]]:
        """For relations with two arguments that do not depend on the state: which go with each, in both directions."""
        tables = {relation: Table(rows) for arity in (1, 2) for relation, rows in self._listed(arity).items()}
        for group in self.parts.groups:
            relation = group[0]
            if relation in tables or relation[1] != 2 or relation[0] in ARITIES or self.parts.is_recursive(relation):
                continue
            own = self.parts.heads[relation]
            if all(each.relation in tables or each.relation == DISTINCT for rule in own for each in rule.body):
                rows: set[Row] = set()
                with contextlib.suppress(_TooManyError):
                    for rule in own:
                        run(make_plan(rule, {}), tables, None, _adder(rows))
                    tables[relation] = Table(rows)
        found = {}
        for relation, table in tables.items():
            if relation[1] != 2 or not all(isinstance(term, str) for row in table.rows for term in row):
                continue
            after: dict[int, int] = {}
            before: dict[int, int] = {}
            for one, other in table.rows:
                a, b = self._bit(one), self._bit(other)
                after[a] = after.get(a, 0) | b
                before[b] = before.get(b, 0) | a
            found[relation] = after, before
        return found

    # ---- One rule

    def _prepared(self, rule: Rule) -> _Prepared:
        """A rule with its conditions in order: those known beforehand, the others as written, negated ones last."""
        positive = [each for each in rule.body if each.positive and each.relation != DISTINCT]
        first = [each for each in positive if each.relation[0] in ARITIES or each.relation in self.pairs]
        last = [each for each in rule.body if not each.positive]
        order = []
        places: dict[str, list[Place]] = {}
        for literal in [*first, *(each for each in positive if each not in first), *last]:
            bound = [each for each in _arguments(literal.atom) if is_variable(each[1])] if literal.positive else []
            order.append((literal, bound))
            for place, name in bound:
                places.setdefault(name, []).append(place)
        return _Prepared(rule, order, [*_arguments(rule.head)], places)

    def _known(self, prepared: _Prepared, ask: bool) -> Known | None:
        """The constants that variables of a rule may be, those that may be anything missing; None if it never holds."""
        known: Known = {}
        rule = prepared.rule
        if rule.relation[0] not in ARITIES:
            asked = self.asked.get(rule.relation)
            if asked is None or not _meet(known, rule.head, asked, self._bit):
                return None
        pairs: list[Literal] = []
        for literal, bound in prepared.order:
            if ask and literal.relation[0] not in ARITIES:
                self._ask(literal, known)
            for place, name in bound:
                values = self.values.get(place)
                if values is None:
                    return None
                if not values.functions:
                    known[name] = known.get(name, ANYTHING) & values.words
            if literal.positive and literal.relation in self.pairs:
                pairs.append(literal)
            if pairs:
                self._propagate(pairs, known)
            if not all(known.values()):
                return None
        return known

    def _propagate(self, pairs: Sequence[Literal], known: Known) -> None:
        """Remove constants without a partner in one of the relations with two arguments."""
        changed = True
        while changed:
            changed = False
            for literal in pairs:
                terms = literal.atom[1:]
                for table, one, other in zip(self.pairs[literal.relation], terms, terms[::-1], strict=True):
                    if not is_variable(other):
                        continue
                    given = known.get(one, ANYTHING) if is_variable(one) else self._bit(one)
                    partners = 0
                    for bit, mask in table.items():
                        if given & bit:
                            partners |= mask
                    before = known.get(other, ANYTHING)
                    if before & partners != before:
                        known[other] = before & partners
                        changed = True

    def _ask(self, literal: Literal, known: Known) -> None:
        asked = self.asked.get(literal.relation)
        if asked is None:
            asked = self.asked[literal.relation] = [0] * literal.relation[1]
            self._changed = True
        for place, term in enumerate(literal.atom[1:]):
            constant = isinstance(term, str)
            domain = (known.get(term, ANYTHING) if is_variable(term) else self._bit(term)) if constant else ANYTHING
            if domain & ~asked[place]:
                asked[place] |= domain
                self._changed = True

    # ---- What a rule concludes

    def _conclude(self, prepared: _Prepared, known: Known) -> None:
        for place, term in prepared.head:
            if not isinstance(term, str):
                self._function(place, (term[0], len(term) - 1))
            elif not is_variable(term):
                self._put(place, self._bit(term))
            elif term in known and known[term] != ANYTHING:
                self._put(place, known[term])
            else:
                self._add(place, prepared.places[term], DEEPEST)

    def _add(self, place: Place, sources: Sequence[Place], depth: int) -> None:
        """Put what may stand at all of some places at another."""
        given = [values for source in sources if (values := self.values.get(source)) is not None]
        if len(given) < len(sources):
            return
        words, functions = ANYTHING, set(given[0].functions)
        for each in given:
            words &= each.words
            functions &= each.functions
        self._put(place, words)
        for name, arity in functions:
            self._function(place, (name, arity))
            if not depth:
                self.too_deep = True
            else:
                for at in range(arity):
                    below = (name, arity, at)
                    self._add((*place, *below), [(*source, *below) for source in sources], depth - 1)

    def _put(self, place: Place, words: int) -> None:
        values = self.values.setdefault(place, _Values())
        if words & ~values.words:
            values.words |= words
            self._changed = True

    def _function(self, place: Place, function: tuple[str, int]) -> None:
        values = self.values.setdefault(place, _Values())
        if function not in values.functions:
            values.functions.add(function)
            self._changed = True

    def _bit(self, word: str) -> int:
        return self.bits.setdefault(word, 1 << len(self.bits))

    # ---- Rules

    def _narrow(self, prepared: _Prepared, used: dict[int, str]) -> Rule | None:
        """A rule that concludes only what is asked for; None if that is nothing."""
        rule = prepared.rule
        if not rule.body:
            return rule
        known = self._known(prepared, ask=False)
        if known is None:
            return None
        asked: Known = {}
        if rule.relation[0] not in ARITIES:
            _meet(asked, rule.head, self.asked[rule.relation], self._bit)
        body = list(rule.body)
        for name, domain in known.items():
            own = [each for each in body if each.positive and each.atom[1:] == (name,) and each.relation in self.unary]
            if domain == ANYTHING or any(self.unary[each.relation] == domain for each in own):
                continue
            if own or asked.get(name, ANYTHING) != ANYTHING:
                body = [each for each in body if each not in own]
                body.append(Literal(True, (used.setdefault(domain, f"{DOMAIN} {len(used)}"), name)))
        return Rule(rule.head, tuple(body), rule.at)


def _adder(rows: set[Row]) -> Callable[[Row], None]:
    def add(row: Row) -> None:
        rows.add(row)
        if len(rows) > MOST_PAIRS:
            raise _TooManyError

    return add


def _meet(known: Known, head: Atom, asked: Sequence[int], bit: Callable[[str], int]) -> bool:
    """Restrict the variables of a head to what is asked for; whether anything is left."""
    for term, domain in zip(head[1:], asked, strict=True):
        if is_variable(term):
            if domain != ANYTHING:
                known[term] = known.get(term, ANYTHING) & domain
        elif isinstance(term, str) and not domain & bit(term):
            return False
    return all(known.values())


def _arguments(atom: Atom) -> Iterator[tuple[Place, Term]]:
    """The terms in an atom and the places where they stand."""
    top: Place = (SAME.get(atom[0], atom[0]), len(atom) - 1)
    todo: list[tuple[Place, Term]] = [((*top, place), term) for place, term in enumerate(atom[1:])]
    while todo:
        place, term = todo.pop()
        yield place, term
        if not isinstance(term, str):
            todo += [((*place, term[0], len(term) - 1, at), part) for at, part in enumerate(term[1:])]
