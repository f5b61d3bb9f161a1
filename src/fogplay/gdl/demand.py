"""Relations computed on demand: rules that find only what some other rule asks for (magic sets).

From the bottom up, a relation such as "a king on X Y is in check if U V is ignored" has instances for all squares. Only
those matter that a rule asks for. For every wide relation that depends on the state, ``asked …`` holds the arguments
that are known where it is used, and its own rules get the condition that they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fogplay.gdl.cases import in_circles
from fogplay.gdl.dependencies import TRUE, Dependencies
from fogplay.gdl.rules import ARITIES, DISTINCT, Atom, Literal, Relation, Rule, variables, variables_of
from fogplay.gdl.sheet import Sheet

WIDE = 3  # arguments from which a relation is computed on demand
ASKED = "asked"  # names with a space cannot be in a text


def on_demand(sheet: Sheet) -> Sheet:
    """A sheet with the same meaning whose wide relations are computed where they are asked for."""
    if sheet.resolved:  # the rules of these must stay as they are
        return sheet
    parts = sheet.dependencies
    chosen = {
        relation
        for relation in parts.state | parts.moves
        if relation in parts.heads and relation[0] not in ARITIES and relation[1] >= WIDE
    }
    while True:
        rules = _restricted(sheet.rules, parts, _known_places(sheet.rules, parts, chosen))
        made = Dependencies(rules)
        circular = in_circles(made) & chosen
        if not circular:
            return replace(sheet, rules=tuple(rules), dependencies=made)
        chosen -= circular


def _known_places(rules: Sequence[Rule], parts: Dependencies, chosen: set[Relation]) -> dict[Relation, tuple[int, ...]]:
    """For each chosen relation, the places whose values are known wherever it is used; without it if there are none."""
    places = {relation: set(range(relation[1])) for relation in chosen}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            for use, binding in _uses(rule, parts, {each: tuple(sorted(found)) for each, found in places.items()}):
                names = variables_of(binding)
                known = {place for place, term in enumerate(use.atom[1:]) if {*variables(term)} <= names}
                if not places[use.relation] <= known:
                    places[use.relation] &= known
                    changed = True
        for relation in [each for each, found in places.items() if not found]:
            del places[relation]
            changed = True
    return {relation: tuple(sorted(found)) for relation, found in places.items()}


def _guard(relation: Relation, arguments: Sequence[object], places: Sequence[int]) -> Literal:
    return Literal(True, (f"{ASKED} {relation[0]} {relation[1]}", *(arguments[place] for place in places)))


def _uses(
    rule: Rule, parts: Dependencies, places: dict[Relation, tuple[int, ...]]
) -> Iterator[tuple[Literal, list[Literal]]]:
    """The restricted conditions of a rule, and for each the conditions that may say what is asked.

    Restricted conditions bind those after them only, so that none waits for another.
    """
    first = [_guard(rule.relation, rule.head[1:], places[rule.relation])] if rule.relation in places else []
    positive = [each for each in rule.body if each.positive and each.relation != DISTINCT]
    ready = [*first, *(each for each in positive if each.relation not in places)]
    waiting = [each for each in positive if each.relation in places]
    negated = [each for each in rule.body if not each.positive and each.relation in places]
    for place, use in enumerate([*waiting, *negated]):
        binding = [*ready, *waiting[:place]]
        if use.relation not in parts.moves:  # it is computed before anybody moves
            binding = [each for each in binding if each.relation not in parts.moves]
            if rule.relation in parts.moves:
                binding = [each for each in binding if each not in first]
        yield use, _connected(binding, {*variables(use.atom)}, use.positive)


def _connected(binding: list[Literal], wanted: set[str], positive: bool) -> list[Literal]:
    """Conditions that share variables with each other and know most of what is wanted; without variables, all.

    What is connected through the wanted relation only would be combined in all ways. So would, for a positive
    condition, what is connected through the player in control only: a variable with a fluent of its own.
    """
    names_of = {literal: {*variables(literal.atom)} for literal in binding}
    alone: set[str] = set()
    if positive:
        alone = alone.union(*(own for each, own in names_of.items() if each.relation == TRUE and len(own) == 1))
    if all(own <= alone for own in names_of.values()):
        alone = set()
    groups: list[set[str]] = []
    for own in names_of.values():
        names = own - alone
        groups = [each for each in groups if not each & names] + [names.union(*(e for e in groups if e & names))]
    best = max(groups, key=lambda names: len(names & wanted), default=set())
    known = {name for own in names_of.values() if own - alone and own - alone <= best for name in own}
    return [each for each in binding if names_of[each] <= known]


def _restricted(rules: Sequence[Rule], parts: Dependencies, places: dict[Relation, tuple[int, ...]]) -> list[Rule]:
    """The rules with guards, and the rules that say what is asked."""
    made: list[Rule] = []
    asking: dict[Atom, list[Rule]] = {}
    for rule in rules:
        body = rule.body
        if rule.relation in places:
            body = (_guard(rule.relation, rule.head[1:], places[rule.relation]), *body)
        for use, binding in _uses(rule, parts, places):
            guard = _guard(use.relation, use.atom[1:], places[use.relation])
            if guard not in binding:
                asking.setdefault(guard.atom, []).append(Rule(guard.atom, tuple(binding), rule.at))
            if not use.positive and guard not in body:
                body = (*body, guard)  # true wherever the others are; it has no other variables
        made.append(Rule(rule.head, body, rule.at))
    return [*dict.fromkeys([*made, *(each for own in asking.values() for each in _weakest(own))])]


def _weakest(rules: Sequence[Rule]) -> list[Rule]:
    """Rules with the same head, without those whose conditions include all of another's."""
    bodies = [frozenset(rule.body) for rule in rules]
    return [
        rule
        for place, rule in enumerate(rules)
        if not any(other < bodies[place] or (other == bodies[place] and at < place) for at, other in enumerate(bodies))
    ]
