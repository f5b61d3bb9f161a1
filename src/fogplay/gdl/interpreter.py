"""The interpreter: a sheet played by following its rules as they are written.

It computes whole relations from the bottom up, in the order of their dependencies. It is slow and obvious, needs no
preparation, and is what the network is compared with. States are frozen sets of terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from fogplay.errors import FogplayError
from fogplay.gdl.checks import is_whole
from fogplay.gdl.dependencies import DOES, TRUE
from fogplay.gdl.joins import Plan, Row, Table, make_plan, run
from fogplay.gdl.kif import unparse
from fogplay.gdl.resolution import CHOICES, STEPS, EndlessError, Resolution, TooLongError
from fogplay.gdl.rules import Relation, Term
from fogplay.gdl.sheet import Sheet

INIT, NEXT, LEGAL, TERMINAL = ("init", 1), ("next", 1), ("legal", 2), ("terminal", 0)
GOAL, SEES, ROLE = ("goal", 2), ("sees", 2), ("role", 1)
REMEMBERED = 64  # states whose relations are kept
MOST_ROWS = 3_000_000  # of all relations together
TRIED = 50_000, 5_000  # steps and choices when a sheet is read
ANSWERS = {INIT, NEXT, LEGAL, TERMINAL, GOAL, SEES, ROLE}
Tables = dict[Relation, Table]
Fluents = frozenset[Term]


class Interpreter:
    """A machine that follows the rules."""

    kind = "interpreter"

    def __init__(self, sheet: Sheet, limits: tuple[int, int] = (STEPS, CHOICES)) -> None:
        self.sheet, self.parts, self.limits = sheet, sheet.dependencies, limits
        self._resolved = {relation: self.parts.heads[relation] for relation in sheet.resolved}
        self._plans: dict[tuple[Relation, ...], list[tuple[Plan, list[Plan]]]] = {}
        self._orders: dict[tuple[Relation, ...], list[tuple[Relation, ...]]] = {}
        dynamic = self.parts.state | self.parts.moves
        needed = self.parts.needed_for([NEXT, SEES]) & self.parts.heads.keys()
        self._before_moves = tuple(needed - self.parts.moves)
        self._static: Tables = {}
        asked = self.parts.needed_for([ROLE, INIT, NEXT, LEGAL, TERMINAL, GOAL, SEES]) & self.parts.heads.keys()
        self._compute(self._static, sorted(asked - dynamic))
        self.roles = tuple(dict.fromkeys(rule.head[1] for rule in self.parts.heads[ROLE] if not rule.body))
        derived = sorted(row[0] for row in self._rows(self._static, ROLE) if row[0] not in self.roles)
        self.roles = (*self.roles, *derived)
        self._initial = frozenset(row[0] for row in self._rows(self._static, INIT))
        self._known: dict[Fluents, Tables] = {}
        self._after: tuple[object, Tables] = (None, {})

    # ---- The questions of a machine

    def initial(self) -> Fluents:
        return self._initial

    def is_terminal(self, state: Fluents) -> bool:
        return bool(self._rows(self._at(state, TERMINAL), TERMINAL))

    def legal(self, state: Fluents) -> tuple[tuple[Term, ...], ...]:
        return self._by_role(self._rows(self._at(state, LEGAL), LEGAL))

    def goals(self, state: Fluents) -> tuple[int, ...]:
        found = self._by_role(self._rows(self._at(state, GOAL), GOAL))
        return tuple(max((int(value) for value in values if is_whole(value)), default=0) for values in found)

    def next(self, state: Fluents, moves: Sequence[Term]) -> Fluents:
        return frozenset(row[0] for row in self._rows(self._by(state, moves, NEXT), NEXT))

    def percepts(self, state: Fluents, moves: Sequence[Term]) -> tuple[tuple[Term, ...], ...]:
        return self._by_role(self._rows(self._by(state, moves, SEES), SEES))

    def fluents(self, state: Fluents) -> Fluents:
        return state

    # ---- Relations

    def _by_role(self, rows: Iterable[Row]) -> tuple[tuple[Term, ...], ...]:
        found: dict[Term, list[Term]] = {role: [] for role in self.roles}
        for role, term in rows:
            if role in found:
                found[role].append(term)
        return tuple(tuple(sorted(terms, key=unparse)) for terms in found.values())

    def _rows(self, tables: Mapping[Relation, Table], relation: Relation) -> set[Row]:
        table = tables.get(relation)
        return table.rows if table is not None else set()

    def _at(self, state: Fluents, wanted: Relation) -> Tables:
        """The tables of a state, with one relation among them."""
        tables = self._known.get(state)
        if tables is None:
            if len(self._known) >= REMEMBERED:
                self._known.pop(next(iter(self._known)))
            tables = self._known[state] = {**self._static, TRUE: Table({(fluent,) for fluent in state})}
        self._compute(tables, [wanted])
        return tables

    def _by(self, state: Fluents, moves: Sequence[Term], wanted: Relation) -> Tables:
        """The tables of a state and the moves made in it."""
        key = (state, tuple(moves))
        if self._after[0] != key:
            tables = self._at(state, TERMINAL)
            self._compute(tables, self._before_moves)
            self._after = key, {**tables, DOES: Table(set(zip(self.roles, moves, strict=True)))}
        self._compute(self._after[1], [wanted])
        return self._after[1]

    def _compute(self, tables: Tables, wanted: Iterable[Relation]) -> None:
        """Fill the tables of some relations and of all that they depend on."""
        for group in self._order(tuple(relation for relation in wanted if relation not in tables)):
            if group[0] not in tables:
                try:
                    self._compute_group(tables, group)
                except BaseException:  # half a relation must not be taken for the whole
                    for relation in group:
                        tables.pop(relation, None)
                    raise

    def _order(self, wanted: tuple[Relation, ...]) -> list[tuple[Relation, ...]]:
        """The groups of relations that some depend on, in order."""
        order = self._orders.get(wanted)
        if order is None:
            needed = self.parts.needed_for(wanted)
            numbers = {self.parts.group_of[each] for each in needed if each in self.parts.heads}
            order = self._orders[wanted] = [self.parts.groups[number] for number in sorted(numbers)]
        return order

    def _compute_group(self, tables: Tables, group: tuple[Relation, ...]) -> None:
        if group[0] in self.sheet.resolved:
            for relation in ANSWERS & {*group}:
                tables[relation] = Table(self._resolve(relation, tables))
            return
        made = {relation: Table() for relation in group}
        tables.update(made)
        new: list[tuple[Relation, Row]] = []
        if group not in self._plans:
            self._plans[group] = self._make_plans(tables, group)
        plans = self._plans[group]
        for plan, _ in plans:
            run(plan, tables, None, self._adder(made[plan.relation].rows, plan.relation))
        for table in made.values():
            table.indexes.clear()
        fresh = {relation: Table(set(table.rows)) for relation, table in made.items()}
        while any(plans_again for _, plans_again in plans) and any(table.rows for table in fresh.values()):
            new.clear()
            for _, again in plans:
                for plan in again:
                    target = plan.relation
                    run(plan, tables, fresh[plan.steps[0].relation], lambda row, t=target: new.append((t, row)))  # type: ignore[misc]
            fresh = {relation: Table() for relation in group}
            for relation, row in new:
                if row not in made[relation].rows:
                    made[relation].add(row)
                    fresh[relation].rows.add(row)
            if sum(len(table.rows) for table in made.values()) > MOST_ROWS:
                raise self._too_many(group[0])

    def _resolve(self, relation: Relation, tables: Tables) -> set[Row]:
        try:
            return Resolution(self._resolved, tables, *self.limits).rows(relation)
        except FogplayError as error:
            raise type(error)(f"{self.sheet.name}: {error}") from None

    def _adder(self, rows: set[Row], relation: Relation) -> Callable[[Row], None]:
        """Adds rows to a set as long as they are not too many for memory."""

        def add(row: Row) -> None:
            rows.add(row)
            if len(rows) > MOST_ROWS:
                raise self._too_many(relation)

        return add

    def _too_many(self, relation: Relation) -> FogplayError:
        return FogplayError(
            f"{self.sheet.name}: {relation[0]} has over {MOST_ROWS:,} instances, too many to play by the interpreter; "
            "bind its variables by more conditions, or split the rule"
        )

    def _make_plans(self, tables: Tables, group: tuple[Relation, ...]) -> list[tuple[Plan, list[Plan]]]:
        """For each rule, its plan, and one for every condition of the same group, for the rounds after the first."""
        sizes = {relation: float(len(table.rows)) for relation, table in self._static.items()}
        found = []
        for relation in group:
            for rule in self.parts.heads[relation]:
                inside = [place for place, each in enumerate(rule.body) if each.positive and each.relation in group]
                again = [make_plan(rule, sizes, place) for place in inside]
                found.append((make_plan(rule, sizes), again))
        return found


def try_out(sheet: Sheet, problems: Mapping[Relation, FogplayError]) -> None:
    """Raise the first problem if because of it there is no end to what a player must know at the start."""
    machine = Interpreter(sheet, TRIED)
    state = machine.initial()
    for ask in (machine.is_terminal, machine.goals, machine.legal, lambda at: _first_step(machine, at)):
        try:
            ask(state)
        except EndlessError:
            raise next(iter(problems.values())) from None
        except TooLongError:  # it may end all the same
            continue


def _first_step(machine: Interpreter, state: Fluents) -> None:
    legal = machine.legal(state)
    if all(legal):
        moves = [own[0] for own in legal]
        machine.next(state, moves)
        machine.percepts(state, moves)
