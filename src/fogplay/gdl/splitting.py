"""Rules with many variables as several with fewer: what keeps the number of ground instances small.

Two ways. ``apart`` finds conditions that are connected only through variables of the head: what they say is a relation
of its own. A frame axiom "a piece stays where no move touches it" thus has (pieces × squares + squares × moves)
instances instead of (pieces × squares × moves). ``eliminated`` goes on within such a relation: it removes one variable
after the other, as in the evaluation of a conjunctive query, and pays off where many conditions are chained.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fogplay.gdl.rules import DISTINCT, Literal, Rule, variables, variables_of

FEW = 3  # variables that no rule has to be split for
PART = "part"


def split(rules: Sequence[Rule], eliminate: bool) -> list[Rule]:
    """The same rules with helping relations; ``eliminate`` also removes variables one by one."""
    made: list[Rule] = []
    for rule in rules:
        parts = apart(rule, len(made))
        for part in parts:
            made += eliminated(part, len(made)) if eliminate else [part]
    return made


def apart(rule: Rule, number: int) -> list[Rule]:
    """A rule and the relations of its parts that share only variables of the head."""
    head = {*variables(rule.head)}
    groups = _connected(rule.body, head)
    if len(groups) < 1 or (len(groups) == 1 and len(groups[0]) == len(rule.body)):
        return [rule]
    body = [each for each in rule.body if not {*variables(each.atom)} - head]
    made = []
    for place, group in enumerate(groups):
        if len(group) == 1 and len(groups) == 1:
            body += group
            continue
        bound = _bound(group)
        binding = [each for each in rule.body if _binds(each) and not {*variables(each.atom)} - head]
        missing = [name for name in variables_of(group) if name not in bound]
        more = [each for each in binding if {*variables(each.atom)} & {*missing}]
        if {*missing} - _bound(more):
            body += group
            continue
        helper = (f"{PART} {number} {place}", *sorted(variables_of([*group, *more]) & head))
        made.append(Rule(helper, (*more, *group), rule.at))
        body.append(Literal(True, helper))
    return [*made, Rule(rule.head, tuple(body), rule.at)]


def eliminated(rule: Rule, number: int) -> list[Rule]:
    """A rule with fewer variables at a time: one that is not in the head goes, with all conditions that mention it."""
    made: list[Rule] = []
    body = list(rule.body)
    head = {*variables(rule.head)}
    while len(variables_of(body)) > FEW:
        best: tuple[int, str, list[Literal]] | None = None
        for name in sorted(variables_of(body) - head):
            group = _with_bindings([each for each in body if name in variables(each.atom)], body)
            if group is None or len(group) >= len(body):
                continue
            size = len(variables_of(group))
            if size < len(variables_of(body)) and (best is None or size < best[0]):
                best = size, name, group
        if best is None:
            break
        _, name, group = best
        gone = [each for each in group if name in variables(each.atom)]
        helper = (f"{PART} {number} {len(made)} of", *sorted(variables_of(group) - {name}))
        made.append(Rule(helper, tuple(group), rule.at))
        body = [each for each in body if each not in gone]
        body.append(Literal(True, helper))
    return [*made, Rule(rule.head, tuple(body), rule.at)]


def _connected(body: Sequence[Literal], head: set[str]) -> list[list[Literal]]:
    """Conditions with variables that are not in the head, in groups that share no such variable."""
    groups: list[tuple[set[str], list[Literal]]] = []
    for literal in body:
        own = {*variables(literal.atom)} - head
        if not own:
            continue
        names, members = own, [literal]
        rest = []
        for group in groups:
            if group[0] & names:
                names, members = names | group[0], [*group[1], *members]
            else:
                rest.append(group)
        groups = [*rest, (names, members)]
    return [members for _, members in groups]


def _binds(literal: Literal) -> bool:
    return literal.positive and literal.relation != DISTINCT


def _bound(literals: Iterable[Literal]) -> set[str]:
    return variables_of(each for each in literals if _binds(each))


def _with_bindings(group: list[Literal], body: Sequence[Literal]) -> list[Literal] | None:
    """A group with the conditions that it needs to be safe; None if it would be all of them."""
    found = list(group)
    for literal in body:
        missing = variables_of(found) - _bound(found)
        if not missing:
            break
        if literal not in found and _binds(literal) and {*variables(literal.atom)} & missing:
            found.append(literal)
    return found if not variables_of(found) - _bound(found) else None
