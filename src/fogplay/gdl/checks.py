"""Checks of a rule sheet: what makes it unplayable is an error, what is only doubtful a warning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fogplay.errors import FogplayError, did_you_mean
from fogplay.gdl.dependencies import DOES, TRUE, Dependencies
from fogplay.gdl.kif import Source, unparse
from fogplay.gdl.rules import ARITIES, DISTINCT, Relation, Rule, Term, is_variable, variables

GOAL, LEGAL, TERMINAL = ("goal", 2), ("legal", 2), ("terminal", 0)
_NEEDED = {
    ("role", 1): "no role is declared; write (role NAME) for each player",
    LEGAL: "nobody may ever move; say which moves are legal, such as (legal NAME wait)",
    TERMINAL: "the game never ends; say when it does, such as (<= terminal (true (step 10)))",
    GOAL: "nobody ever gets a goal; say what each role gets, such as (<= (goal NAME 100) CONDITION)",
}
_USUAL = {
    ("init", 1): "nothing is true at the start: there is no init",
    ("next", 1): "nothing is true after a move: there is no next",
}
_EXTRAS = {"base", "input", "goal_unit", "random"}  # names that tools read, or that need no use
HIGHEST = 100


def check(rules: Sequence[Rule], source: Source) -> list[str]:
    """Refuse rules that cannot be played; return warnings about the others."""
    parts = Dependencies(rules)
    for relation, missing in _NEEDED.items():
        if relation not in parts.heads:
            raise FogplayError(f"{source.name}: {missing}{_misspelled(relation, parts)}")
    _check_roles(rules, parts, source)
    _check_goals(parts, source)
    _check_inputs(parts, source)
    _check_stratified(parts, source)
    return [*_doubts(rules, parts, source)]


def _misspelled(keyword: Relation, parts: Dependencies) -> str:
    used = {relation for uses in parts.uses.values() for relation in uses}
    unused = [name for name, arity in parts.heads if arity == keyword[1] and (name, arity) not in used]
    return f" ({did_you_mean(keyword[0], unused).strip()})" if did_you_mean(keyword[0], unused) else ""


def _check_roles(rules: Sequence[Rule], parts: Dependencies, source: Source) -> None:
    rule = parts.heads["role", 1][0]
    for fluent in (TRUE, DOES):
        if ("role", 1) in (parts.state if fluent is TRUE else parts.moves):
            raise source.error(rule.at, f"the roles depend on {fluent[0]}; roles are the same throughout a game")
    for rule in parts.heads["role", 1]:
        name = rule.head[1]
        if not isinstance(name, str) or (is_variable(name) and not rule.body):
            raise source.error(rule.at, f"a role is a single name, not {unparse(name)}")


def _check_goals(parts: Dependencies, source: Source) -> None:
    for rule in parts.heads[GOAL]:
        value = rule.head[2]
        if not is_variable(value) and not is_whole(value):
            raise source.error(rule.at, f"a goal is a whole number from 0 to {HIGHEST}, not {unparse(value)}")


def is_whole(term: Term) -> bool:
    """Whether a term is a whole number of at most nine digits."""
    return isinstance(term, str) and len(term) <= 10 and term.removeprefix("-").isdecimal() and term.isascii()


def _check_inputs(parts: Dependencies, source: Source) -> None:
    for relation, fluent, dependents, why in (
        (("init", 1), "true", parts.state, "before the first state nothing is true"),
        (("init", 1), "does", parts.moves, "before the first state nobody has moved"),
        (LEGAL, "does", parts.moves, "legal moves are known before anybody moves"),
    ):
        if relation in dependents:
            at = parts.heads[relation][0].at
            raise source.error(at, f"{relation[0]} depends on {fluent}, directly or through other relations; {why}")


def _check_stratified(parts: Dependencies, source: Source) -> None:
    for relation, used in parts.uses.items():
        for other, negated in used.items():
            if negated and parts.group_of.get(other) == parts.group_of[relation]:
                at = next(
                    rule.at
                    for rule in parts.heads[relation]
                    if any(each.relation == other and not each.positive for each in rule.body)
                )
                raise source.error(
                    at,
                    f"{relation[0]} depends on not {other[0]}, which depends on {relation[0]} again; break the circle",
                )


def endless(rules: Sequence[Rule], source: Source) -> dict[Relation, FogplayError]:
    """Relations with recursion that makes ever larger terms, which the language does not allow, and what is wrong."""
    parts, found = Dependencies(rules), dict[Relation, FogplayError]()
    for rule in rules:
        group = parts.group_of[rule.relation]
        recursive = [each for each in rule.body if each.positive and parts.group_of.get(each.relation) == group]
        if not recursive:
            continue
        held = {
            name
            for each in rule.body
            if each.positive and each not in recursive and each.relation != DISTINCT
            for name in variables(each.atom)
        }
        if all(_is_kept(term, rule, held) for each in recursive for term in each.atom[1:]):
            continue
        for term in _compound(rule.head[1:]):
            growing = [name for name in variables(term) if name not in held]
            if growing and not any(term in list(_compound(each.atom[1:])) for each in recursive):
                problem = (
                    f"{rule.head[0]} depends on itself and makes a larger term each time, {unparse(term)}: "
                    f"it never ends; add a condition that says what {growing[0]} may be"
                )
                found.setdefault(rule.relation, source.error(rule.at, problem))
    return found


def _is_kept(term: Term, rule: Rule, held: set[str]) -> bool:
    """Whether an argument of recursion is also one of the head, or what it may be is said elsewhere."""
    return term in rule.head[1:] or {*variables(term)} <= held


def _compound(terms: Sequence[Term]) -> Iterator[Term]:
    """All terms with a function that occur in terms."""
    for term in terms:
        if not isinstance(term, str):
            yield term
            yield from _compound(term[1:])


def _doubts(rules: Sequence[Rule], parts: Dependencies, source: Source) -> Iterator[str]:
    for relation, missing in _USUAL.items():
        if relation not in parts.heads:
            yield missing + _misspelled(relation, parts)
    for relation in (TERMINAL, GOAL):
        if relation in parts.moves:
            yield f"{source.place(parts.heads[relation][0].at)}: {relation[0]} depends on does, which is empty there"
    yield from _doubtful_names(parts, source)
    roles = {rule.head[1] for rule in parts.heads["role", 1]}
    if not any(map(is_variable, roles)):
        for relation in (LEGAL, GOAL, ("sees", 2)):
            for rule in parts.heads.get(relation, ()):
                if not is_variable(rule.head[1]) and rule.head[1] not in roles:
                    yield (
                        f"{source.place(rule.at)}: {relation[0]} of {unparse(rule.head[1])}, which is not a role; "
                        f"roles are {', '.join(sorted(roles))}"
                    )
            named = {rule.head[1] for rule in parts.heads.get(relation, ())}
            if relation == LEGAL and not any(map(is_variable, named)):
                yield from (f"{role} never has a legal move" for role in sorted(roles - named))
    for rule in parts.heads[GOAL]:
        value = rule.head[2]
        if not is_variable(value) and not 0 <= int(value) <= HIGHEST:
            yield f"{source.place(rule.at)}: goals go from 0 to {HIGHEST}, and this one is {value}"


def _doubtful_names(parts: Dependencies, source: Source) -> Iterator[str]:
    reported: set[Relation] = set()
    arities: dict[str, set[int]] = {}
    for name, arity in parts.heads:
        arities.setdefault(name, set()).add(arity)
    for name, found in arities.items():
        if len(found) > 1 and name not in _EXTRAS:
            yield f"{name} is concluded with {' and '.join(map(str, sorted(found)))} arguments: different relations"
    for relation, own in parts.heads.items():
        for rule in own:
            for literal in rule.body:
                used = literal.relation
                if used in parts.heads or used in (TRUE, DOES, DISTINCT) or used in reported or used[0] in _EXTRAS:
                    continue
                reported.add(used)
                other = arities.get(used[0])
                if other:
                    hint = f"it is defined with {' and '.join(map(str, sorted(other)))}"
                else:
                    hint = did_you_mean(used[0], arities).strip() or "it is never true"
                yield f"{source.place(rule.at)}: nothing concludes {used[0]} with {used[1]} arguments; {hint}"
        if relation[0] in ARITIES and relation[0] in ("next", "sees", "init"):
            users = [user for user, used in parts.uses.items() if relation in used]
            if users:
                yield f"{relation[0]} is a condition of {users[0][0]}; only heads should use it"
