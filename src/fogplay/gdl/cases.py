"""Relations told apart by constants: ``(<= (goal ann 100) (not (goal ann 0)))`` is no circle.

Where a relation seems to depend on its own negation, and all its heads have constants at some places, every
combination of these constants becomes a relation of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from fogplay.gdl.dependencies import Dependencies
from fogplay.gdl.kif import unparse
from fogplay.gdl.rules import Atom, Literal, Relation, Rule, variables


def told_apart(rules: Sequence[Rule]) -> list[Rule]:
    """The same rules if none is in a circle through ``not``, or if other relations do not help."""
    parts = Dependencies(rules)
    places = {relation: _constant_places(parts.heads[relation]) for relation in in_circles(parts)}
    if not any(places.values()):
        return list(rules)
    made: dict[Rule, None] = {}
    for rule in rules:
        body = tuple(Literal(each.positive, _named(each.atom, places)) for each in rule.body)
        made[Rule(_named(rule.head, places), body, rule.at)] = None
        known = places.get(rule.relation)
        if known:  # for those that do not say which case they mean
            terms = [term if place in known else f"?{place}" for place, term in enumerate(rule.head[1:])]
            whole = (rule.head[0], *terms)
            made[Rule(whole, (Literal(True, _named(whole, places)),), rule.at)] = None
    return list(rules) if in_circles(Dependencies(list(made))) else list(made)


def in_circles(parts: Dependencies) -> set[Relation]:
    """The relations of groups in which one depends on the negation of another."""
    return {
        each
        for relation, used in parts.uses.items()
        for other, negated in used.items()
        if negated and parts.group_of.get(other) == parts.group_of[relation]
        for each in parts.groups[parts.group_of[relation]]
    }


def _constant_places(own: Sequence[Rule]) -> tuple[int, ...]:
    """The places at which no head of a relation has a variable."""
    arity = own[0].relation[1]
    return tuple(place for place in range(arity) if not any(any(variables(rule.head[1 + place])) for rule in own))


def _named(atom: Atom, places: dict[Relation, tuple[int, ...]]) -> Atom:
    """An atom with the name of its case, if it says which it is; names with a space cannot be in a text."""
    case = tuple(atom[1 + place] for place in places.get((atom[0], len(atom) - 1), ()))
    if not case or any(variables(case)):
        return atom
    return (f"{atom[0]} case {' '.join(map(unparse, case))}", *atom[1:])
