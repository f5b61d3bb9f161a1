"""Rules with many variables as several with fewer: what keeps the number of ground instances small.

Two ways. ``apart`` finds conditions that are connected only through variables of the head: what they say is a relation
of its own. A frame axiom "a piece stays where no move touches it" thus has (pieces × squares + squares × moves)
instances instead of (pieces × squares × moves). ``eliminated`` goes on within such a relation: it removes one variable
after the other, as in the evaluation of a conjunctive query, and pays off where many conditions are chained. Rules that
differ in one condition are made one first (``merged``), so that their instances are not multiplied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fogplay.gdl.rules import DISTINCT, Atom, Literal, Rule, variables, variables_of

FEW = 3  # variables that no rule has to be split for
PART, EITHER, LATER = "part", "one of", "one of parts"
Known = dict[tuple[frozenset[Literal], frozenset[str]], Atom]


def split(rules: Sequence[Rule], eliminate: bool) -> list[Rule]:
    """The same rules with helping relations; ``eliminate`` also removes variables one by one."""
    known: Known = {}
    if not eliminate:
        return [part for rule in rules for part in apart(rule, known)]
    made: list[Rule] = []
    for rule in merged(rules):
        for part in apart(rule, known):
            made += eliminated(part, known)
    return merged(made, LATER)


def merged(rules: Sequence[Rule], kind: str = EITHER) -> list[Rule]:
    """The same rules; those that differ in one condition become one, with a relation that holds where either does.

    A condition with fewer variables than the other gets theirs from conditions on single variables.
    """
    left: dict[tuple[Atom, frozenset[Literal]], list[tuple[int, Literal]]] = {}
    for number, rule in enumerate(rules):
        if len(rule.body) > 1 and len(variables_of(rule.body)) > FEW:
            for literal in filter(_binds, rule.body):
                left.setdefault((rule.head, frozenset(rule.body) - {literal}), []).append((number, literal))
    gone: set[int] = set()
    instead: dict[int, Rule] = {}
    helpers: dict[tuple[Atom, ...], Atom] = {}
    made: list[Rule] = []
    for (_, rest), found in left.items():
        free = [each for each in found if each[0] not in gone and each[0] not in instead]
        free.sort(key=lambda each: -len({*variables(each[1].atom)}))
        while len(free) > 1:
            number, literal = free[0]
            names = {*variables(literal.atom)}
            more = {name: each for each in rest if _binds(each) for name in names if each.atom[1:] == (name,)}
            same = [each for each in free if {*variables(each[1].atom)} <= names]
            same = [each for each in same if names - {*variables(each[1].atom)} <= more.keys()]
            free = [each for each in free if each not in same]
            if len(same) < 2:
                continue
            atoms = tuple(each.atom for _, each in same)
            if atoms not in helpers:
                helpers[atoms] = (f"{kind} {len(helpers)}", *sorted(names))
                for other, each in same:
                    missing = sorted(names - {*variables(each.atom)})
                    made.append(Rule(helpers[atoms], (each, *(more[name] for name in missing)), rules[other].at))
            first = rules[number]
            body = (Literal(True, helpers[atoms]) if each == literal else each for each in first.body)
            instead[number] = Rule(first.head, tuple(body), first.at)
            gone.update(other for other, _ in same if other != number)
    return [*made, *(instead.get(number, rule) for number, rule in enumerate(rules) if number not in gone)]


def apart(rule: Rule, known: Known) -> list[Rule]:
    """A rule and the relations of its parts that share only variables of the head.

    ``known`` are the helping relations so far, by what they say: where two rules need the same one, it is made once.
    """
    head = {*variables(rule.head)}
    groups = _connected(rule.body, head)
    if len(groups) < 1 or (len(groups) == 1 and len(groups[0]) == len(rule.body)):
        return [rule]
    body = [each for each in rule.body if not {*variables(each.atom)} - head]
    made: list[Rule] = []
    for group in groups:
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
        names = variables_of([*group, *more]) & head
        if len(groups) == 1 and names == head:
            return [rule]  # the relation would say the same as the rule
        body.append(Literal(True, _helper([*more, *group], names, known, made)))
    return [*made, Rule(rule.head, tuple(body), rule.at)]


def eliminated(rule: Rule, known: Known) -> list[Rule]:
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
        body = [each for each in body if name not in variables(each.atom)]
        local = variables_of(group) - head - variables_of(each for each in body if len({*variables(each.atom)}) > 1)
        alone = [each for each in body if {*variables(each.atom)} & local]
        body = [each for each in body if each not in alone]
        group += [each for each in alone if each not in group]
        kept = variables_of(group) & (head | variables_of(body))
        helper = _helper(group, kept, known, made)
        body.append(Literal(True, helper))
    return [*made, Rule(rule.head, tuple(body), rule.at)]


def _helper(group: Sequence[Literal], kept: set[str], known: Known, made: list[Rule]) -> Atom:
    """A relation that holds where a group of conditions does; ``made`` gets its rule if it is new."""
    key = frozenset(group), frozenset(kept)
    if key not in known:
        known[key] = (f"{PART} of {len(known)}", *sorted(kept))
        made.append(Rule(known[key], tuple(group)))
    return known[key]


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
    while missing := variables_of(found) - _bound(found):
        known = variables_of(found)
        more = [each for each in body if _binds(each) and {*variables(each.atom)} & missing]
        if not more:
            return None
        found.append(min(more, key=lambda each: len({*variables(each.atom)} - known)))
    return found
