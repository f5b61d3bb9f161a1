"""Relations that hold for whatever they are asked about: rules that do not bind the variables of their heads.

``(<= (other_cell ?x ?y ?m ?n) (distinct ?x ?m))`` has an instance for any four constants of the sheet, though every
rule that uses it knows the four. The conditions of such a relation are put where it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

from fogplay.gdl.dependencies import Dependencies
from fogplay.gdl.rules import (
    ARITIES,
    DISTINCT,
    Literal,
    Relation,
    Rule,
    Term,
    is_variable,
    replaced,
    solved,
    variables,
    variables_of,
)

MOST = 64  # rules that one rule may become
FEWEST = 3  # arguments of a relation that is worth taking apart
Alternatives = list[tuple[Literal, ...]]


def unfolded(rules: Sequence[Rule]) -> list[Rule]:
    """The same rules, with the conditions of relations that bind too little instead of their names."""
    return _without(rules, lambda _, own: any(map(binds_too_little, own)))


def cases_apart(rules: Sequence[Rule]) -> list[Rule]:
    """The same rules, with what relations such as "another square" or "four of a kind" say instead of their names.

    Two squares differ if their rows do, or their columns: a rule for each case can be split where one for both cannot.
    Pieces are of a kind if they share a feature: their number can be reduced to features before they are combined.
    """
    parts = Dependencies(rules)
    dynamic = parts.state | parts.moves
    return _without(
        rules,
        lambda relation, own: relation not in dynamic and (all(map(_only_tells_apart, own)) or all(map(_is_star, own))),
    )


def _without(rules: Sequence[Rule], chosen: Callable[[Relation, list[Rule]], bool]) -> list[Rule]:
    """The same rules, with the conditions of the relations chosen by their own rules instead of their names."""
    parts = Dependencies(rules)
    gone: dict[Relation, list[Rule]] = {}
    made: dict[int, list[Rule]] = {}
    for group in parts.groups:
        for relation in group:
            own = []
            for rule in parts.heads[relation]:
                made[id(rule)] = _expanded(rule, gone)
                own += made[id(rule)]
            if relation[0] not in ARITIES and not parts.is_recursive(relation) and chosen(relation, own):
                gone[relation] = own
    return [each for rule in rules for each in made[id(rule)]]


def _is_star(rule: Rule) -> bool:
    """Whether a rule connects three or more arguments by other variables only, each in a condition of its own."""
    names = {*variables(rule.head)}
    inside = [names & {*variables(each.atom)} for each in rule.body]
    return (
        len(names) >= FEWEST
        and len(names) == len(rule.head) - 1
        and all(len(own) <= 1 for own in inside)
        and all(each.positive and each.relation != DISTINCT for each in rule.body)
        and all({*variables(each.atom)} > own for each, own in zip(rule.body, inside, strict=True) if own)
    )


def _only_tells_apart(rule: Rule) -> bool:
    """Whether a rule says that some of its arguments are distinct, and nothing else that connects them."""
    names = {*variables(rule.head)}
    return (
        any(each.relation == DISTINCT for each in rule.body)
        and all({*variables(each.atom)} <= names for each in rule.body)
        and all(len({*variables(each.atom)}) < 2 for each in rule.body if each.relation != DISTINCT)
    )


def binds_too_little(rule: Rule) -> bool:
    """Whether no condition says what some variable of the head may be."""
    bound = variables_of(each for each in rule.body if each.positive and each.relation != DISTINCT)
    return not {*variables(rule.head)} <= bound


def _expanded(rule: Rule, loose: dict[Relation, list[Rule]]) -> list[Rule]:
    """A rule as it is, or the rules that say the same without loose relations; itself again if they are too many."""
    choices: list[Alternatives] = []
    for place, literal in enumerate(rule.body):
        own = loose.get(literal.relation)
        choices.append([(literal,)] if own is None else _instead(literal, own, place))
    if all(each.relation not in loose for each in rule.body) or math.prod(map(len, choices)) > MOST:
        return [rule]
    found = (solved(rule.head, tuple(each for part in chosen for each in part)) for chosen in product(*choices))
    return [Rule(*each, rule.at) for each in found if each is not None]


def _instead(literal: Literal, own: list[Rule], place: int) -> Alternatives:
    """What a condition says, by the rules of its relation."""
    bodies = [_body_for(literal, rule, place) for rule in own]
    if literal.positive:
        return bodies
    known = {*variables(literal.atom)}
    never = [[Literal(not each.positive, each.atom) for each in body] for body in bodies]
    if not variables_of(each for body in bodies for each in body) <= known or math.prod(map(len, never)) > MOST:
        return [(literal,)]  # it says that there is nothing of a kind, or too much
    return [*product(*never)]


def _body_for(literal: Literal, rule: Rule, place: int) -> tuple[Literal, ...]:
    """The conditions under which a rule concludes an atom; other variables get names that occur nowhere else."""
    by: dict[str, Term] = {}
    equal = []
    for given, wanted in zip(literal.atom[1:], rule.head[1:], strict=True):
        if is_variable(wanted) and wanted not in by:
            by[wanted] = given
        else:
            equal.append((given, wanted))
    for atom in (rule.head, *(each.atom for each in rule.body)):
        by |= {name: f"{name} {place}" for name in variables(atom) if name not in by}
    return (
        *(Literal(False, ("distinct", given, replaced(wanted, by))) for given, wanted in equal),
        *(Literal(each.positive, replaced(each.atom, by)) for each in rule.body),
    )
