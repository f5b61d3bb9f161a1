"""``Sheet``: a rule sheet that was read and checked, with its rules made safe and put in order.

A rule is safe if each of its variables occurs in a condition that is not negated. A sheet in which one is not safe can
still be played if it is clear what is meant; ``made_safe`` writes it out and a warning says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fogplay.errors import FogplayError
from fogplay.gdl.cases import told_apart
from fogplay.gdl.dependencies import Dependencies
from fogplay.gdl.kif import Source, parse
from fogplay.gdl.parameters import with_settings
from fogplay.gdl.rules import ARITIES, DISTINCT, Atom, Literal, Relation, Rule, Term, is_variable, read_rules, variables
from fogplay.gdl.unfolding import binds_too_little, unfolded

ANY = "any constant"  # names with a space cannot be in a text
SOME = "some"
RANDOM = "random"
LARGEST = 20_000_000  # characters
_OF_A_ROLE = ("legal", "does", "goal", "sees")


@dataclass(frozen=True)
class Sheet:
    """A rule sheet.

    ``resolved`` are relations that cannot be tables, since they make terms without end, and all that depend on them:
    their rules are as they were written, and are followed as questions ask (``resolution.py``).
    """

    name: str
    rules: tuple[Rule, ...] = field(repr=False)
    warnings: tuple[str, ...] = field(compare=False)
    dependencies: Dependencies = field(repr=False, compare=False)
    source: Source = field(repr=False, compare=False)
    resolved: frozenset[Relation] = frozenset()

    @property
    def has_percepts(self) -> bool:
        """Whether roles see only what ``sees`` says; otherwise every role sees all moves."""
        return ("sees", 2) in self.dependencies.heads


def read_sheet(text: str, name: str = "the rules") -> Sheet:
    """A sheet from its text; what makes it unplayable is an error, what is only doubtful is a warning."""
    from fogplay.gdl.checks import check, endless
    from fogplay.gdl.interpreter import try_out

    if len(text) > LARGEST:
        raise FogplayError(f"{name} has {len(text):,} characters; at most {LARGEST:,} are read")
    source = Source(text, name)
    rules = told_apart(read_rules(parse(text, name), source))
    warnings = check(rules, source)
    problems = endless(rules, source)
    resolved = _resolved(rules, problems) if problems else frozenset()
    raw = [rule for rule in rules if rule.relation in resolved and rule.relation[0] not in ARITIES]
    safe, doubts = made_safe(unfolded([rule for rule in rules if rule not in raw]), source)
    safe += raw
    told = (*warnings, *doubts, *map(_slow, problems))
    sheet = Sheet(name, tuple(dict.fromkeys(safe)), told, Dependencies(safe), source, resolved)
    if problems:
        try_out(sheet, problems)
    return sheet


def _resolved(rules: Sequence[Rule], problems: Iterable[Relation]) -> frozenset[Relation]:
    """Relations that need other arguments to be given: where some make terms, so do those that bind too little."""
    loose = {rule.relation for rule in rules if rule.relation[0] not in ARITIES and binds_too_little(rule)}
    return Dependencies(rules).depending_on({*problems, *loose})


def _slow(relation: Relation) -> str:
    return (
        f"{relation[0]} makes ever larger terms, so it is not a table: its rules are followed as they are asked about, "
        "in the order of the text and slowly"
    )


def load_sheet(file: str | Path, settings: Sequence[str] = ()) -> Sheet:
    """The sheet in a file, with other values of its parameters if there are settings such as ``cards=7``."""
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise FogplayError(f"cannot read {file}: {error.strerror or error}") from error
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = data.decode("utf-16" if wide else "utf-8-sig", errors="replace")
    return read_sheet(with_settings(text, list(settings), Path(file).name) if settings else text, str(file))


def made_safe(rules: Sequence[Rule], source: Source) -> tuple[list[Rule], list[str]]:
    """The rules with every variable bound by a condition, and what had to be assumed."""
    made: list[Rule] = []
    warnings: list[str] = []
    for rule in rules:
        bound = {name for each in rule.body if _binds(each) for name in variables(each.atom)}
        if {*variables(rule.head)} <= bound and all({*variables(each.atom)} <= bound for each in rule.body):
            made.append(rule)
            continue
        safe, helpers, told = _mended(rule, bound, len(made))
        made += [*helpers, safe]
        warnings += [f"{source.place(rule.at)}: {each}" for each in told]
    if any(each.relation == (ANY, 1) for rule in made for each in rule.body):
        made += [Rule((ANY, word)) for word in sorted(_constants(rules))]
    return made, warnings


def _binds(literal: Literal) -> bool:
    return literal.positive and literal.relation != DISTINCT


def _mended(rule: Rule, bound: set[str], number: int) -> tuple[Rule, list[Rule], list[str]]:
    """A safe rule that says the same, helping rules, and what was assumed."""
    body, helpers, told = list(rule.body), [], []
    uses = Counter(name for atom in (rule.head, *(each.atom for each in body)) for name in {*variables(atom)})
    for place, literal in enumerate(rule.body):
        free = [name for name in dict.fromkeys(variables(literal.atom)) if name not in bound and uses[name] == 1]
        if not free or _binds(literal):
            continue
        names = " and ".join(free)
        if literal.relation == DISTINCT:
            told.append(f"{names} in distinct occurs nowhere else, so this distinct is always true")
            body[place] = Literal(True, ("distinct", "true", "false"))
            continue
        told.append(f"{names} occurs only under not, which is read as: for no {names} at all")
        kept = [name for name in dict.fromkeys(variables(literal.atom)) if name not in free]
        helper: Atom = (f"{SOME} {number} {place}", *kept)
        more = [_any(name, [literal.atom]) for name in kept if name not in bound]
        helpers.append(Rule(helper, (Literal(True, literal.atom), *more), rule.at))
        body[place] = Literal(False, helper)
    body = [each for each in body if each.atom[1:] != ("true", "false") or each.relation != DISTINCT]
    atoms = [rule.head, *(each.atom for each in body)]
    unbound = [name for name in dict.fromkeys(name for atom in atoms for name in variables(atom)) if name not in bound]
    if unbound:
        names = " and ".join(unbound)
        told.append(
            f"no condition without not says what {names} may be; add one, such as (role {unbound[0]}): "
            f"{'it' if len(unbound) == 1 else 'they'} may be anything for now"
        )
        body = [*(_any(name, atoms) for name in unbound), *body]
    return Rule(rule.head, tuple(body), rule.at), helpers, told


def _any(name: str, atoms: Sequence[Atom]) -> Literal:
    """A condition for a variable that has none: a role where roles stand, else any constant of the sheet."""
    role = any(atom[0] in _OF_A_ROLE and len(atom) == 3 and atom[1] == name for atom in atoms)
    return Literal(True, ("role", name) if role else (ANY, name))


def _constants(rules: Iterable[Rule]) -> set[str]:
    found: set[str] = set()

    def collect(term: Term) -> None:
        if isinstance(term, str):
            if not is_variable(term):
                found.add(term)
        else:
            for part in term[1:]:
                collect(part)

    for rule in rules:
        for atom in (rule.head, *(each.atom for each in rule.body)):
            for part in atom[1:]:
                collect(part)
    return found


def relations_of(rules: Iterable[Rule]) -> set[Relation]:
    """All relations that rules conclude."""
    return {rule.relation for rule in rules}
