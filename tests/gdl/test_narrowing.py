"""Rules with fewer ground instances: domains, cases, shared parts; and the same plays."""

from __future__ import annotations

import pytest

from fogplay.gdl.domains import restricted
from fogplay.gdl.grounding import ground
from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.kif import unparse
from fogplay.gdl.machines import machine_for
from fogplay.gdl.narrowing import narrowed
from fogplay.gdl.network import from_ground
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.rules import Rule, variables_of
from fogplay.gdl.splitting import merged, split
from fogplay.gdl.unfolding import cases_apart

from .sheets import COUNT, renamed, sheet
from .test_machines import SHEETS, agree

# A rook may go where no other piece is in the way, and nobody may be reached by another rook after the move: files and
# ranks are both called coordinates, and different squares are told apart by either.
ROOKS = """
(role white) (role black) (init (control white)) (opponent white black) (opponent black white) (init (step 0))
(init (cell a 1 white)) (init (cell b 1 white)) (init (cell d 4 black)) (init (cell c 4 black))
(next_file a b) (next_file b c) (next_file c d) (next_rank 1 2) (next_rank 2 3) (next_rank 3 4)
(coordinate a) (coordinate b) (coordinate c) (coordinate d) (coordinate 1) (coordinate 2) (coordinate 3) (coordinate 4)
(<= (different ?a ?b ?c ?d) (coordinate ?a) (coordinate ?b) (coordinate ?c) (coordinate ?d) (distinct ?a ?c))
(<= (different ?a ?b ?c ?d) (coordinate ?a) (coordinate ?b) (coordinate ?c) (coordinate ?d) (distinct ?b ?d))
(<= (next_to ?x ?y) (or (next_file ?x ?y) (next_file ?y ?x) (next_rank ?x ?y) (next_rank ?y ?x)))
(<= (full ?x ?y) (true (cell ?x ?y ?p)))
(<= (reach ?u ?v ?u ?y ?i ?j) (next_to ?v ?y) (coordinate ?u) (coordinate ?i) (coordinate ?j))
(<= (reach ?u ?v ?x ?v ?i ?j) (next_to ?u ?x) (coordinate ?v) (coordinate ?i) (coordinate ?j))
(<= (reach ?u ?v ?x ?v ?i ?j) (next_file ?u ?w) (next_file ?w ?x) (clear ?w ?v ?i ?j))
(<= (reach ?u ?v ?u ?y ?i ?j) (next_rank ?v ?w) (next_rank ?w ?y) (clear ?u ?w ?i ?j))
(<= (clear ?x ?y ?i ?j) (coordinate ?x) (coordinate ?y) (coordinate ?i) (coordinate ?j) (not (full ?x ?y)))
(<= (clear ?x ?y ?x ?y) (coordinate ?x) (coordinate ?y))
(<= (attacked ?r ?cx ?cy ?x ?y ?i ?j) (opponent ?r ?o) (true (cell ?u ?v ?o)) (different ?u ?v ?cx ?cy)
    (or (reach ?u ?v ?x ?y ?i ?j) (reach ?x ?y ?u ?v ?i ?j)))
(<= (legal ?r (move ?u ?v ?x ?y)) (true (control ?r)) (true (cell ?u ?v ?r)) (reach ?u ?v ?x ?y ?u ?v)
    (not (true (cell ?x ?y ?r))) (true (cell ?kx ?ky ?r)) (different ?kx ?ky ?u ?v)
    (not (attacked ?r ?x ?y ?kx ?ky ?u ?v)))
(<= (legal ?r wait) (role ?r))
(<= (next (cell ?x ?y ?r)) (does ?r (move ?u ?v ?x ?y)))
(<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)) (does ?r (move ?a ?b ?c ?d)) (different ?x ?y ?a ?b)
    (different ?x ?y ?c ?d))
(<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)) (does white wait) (does black wait))
(<= (next (control ?o)) (true (control ?r)) (opponent ?r ?o)) (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= terminal (true (step 12))) (<= (left ?r) (true (cell ?x ?y ?r)))
(<= (goal ?r 100) (opponent ?r ?o) (not (left ?o))) (<= (goal ?r 0) (role ?r) (not (left ?r)))
(<= (goal ?r 50) (role ?r) (left white) (left black))
""" + " ".join(f"(succ {number} {number + 1})" for number in range(12))
ALL = {**SHEETS, "rooks": ROOKS}


@pytest.mark.parametrize("name", ALL)
def test_narrowed_sheets_are_played_alike(name: str) -> None:
    for text in (ALL[name], renamed(ALL[name])):
        read = sheet(text)
        narrow = narrowed(read)
        machine = NetworkMachine(from_ground(narrow, ground(narrow, eliminate=True)))
        for seed in range(3):
            agree(Interpreter(read), machine, seed)


def test_far_fewer_instances() -> None:
    read = sheet(ROOKS)
    assert len(ground(read, True).program) > 10 * len(ground(narrowed(read), True).program)


def test_domains_say_what_a_coordinate_may_be() -> None:
    made = restricted(cases_apart(sheet(ROOKS).rules))
    facts: dict[str, set[str]] = {}
    for rule in made:
        if rule.head[0].startswith("domain "):
            facts.setdefault(rule.head[0], set()).add(rule.head[1])
    assert {frozenset(words) for words in facts.values()} >= {frozenset("abcd"), frozenset("1234")}
    assert not any("coordinate" in unparse(each.atom) for rule in made for each in rule.body)


def test_four_of_a_kind() -> None:
    """What pieces have in common is found piece by piece, not for all combinations of pieces."""
    pieces = " ".join(
        f"(piece p{number}) (has p{number} {bit} {number >> bit & 1})" for number in range(8) for bit in range(3)
    )
    rules = f"""{pieces} (bit 0) (bit 1) (value 0) (value 1)
    (<= (alike ?a ?b ?c ?d) (feature ?f) (has ?a ?f ?v) (has ?b ?f ?v) (has ?c ?f ?v) (has ?d ?f ?v))
    (<= (feature ?f) (has p0 ?f ?v)) (<= (init (pool ?p)) (piece ?p))
    (<= (legal ann (put ?p)) (true (count ?n)) (true (pool ?p)))
    (<= (next (at ?n ?p)) (does ann (put ?p)) (true (count ?n)))
    (<= (next (count ?m)) (does ann (put ?p)) (true (count ?n)) (succ ?n ?m)) (<= (next (at ?n ?p)) (true (at ?n ?p)))
    (<= (next (pool ?p)) (true (pool ?p)))
    (<= (goal bob 77) (true (at 0 ?a)) (true (at 1 ?b)) (true (at 2 ?c)) (true (at ?n ?d)) (alike ?a ?b ?c ?d))"""
    read = sheet(COUNT + rules)
    narrow = narrowed(read)
    few = ground(narrow, True)
    assert len(ground(read, False).program) > 10 * len(few.program)
    for seed in range(3):
        agree(Interpreter(read), NetworkMachine(from_ground(narrow, few)), seed)


def test_terms_in_terms() -> None:
    """Terms deeper than are looked into are no reason to drop a rule."""
    deep = "(f (f (f (f (f (f ?x))))))"
    rules = f"""(init (box {deep.replace("?x", "nut")})) (<= (next (box ?b)) (true (box ?b)))
    (<= (kept ?b) (true (box ?b))) (<= (lid ?b ?b) (kept ?b)) (<= (inside ?x) (lid {deep} ?b))
    (<= (legal ann (crack ?x)) (inside ?x))"""
    read = sheet(COUNT + rules)
    narrow = narrowed(read)
    machine = NetworkMachine(from_ground(narrow, ground(narrow, eliminate=True)))
    agree(Interpreter(read), machine, seed=1)
    assert ("crack", "nut") in machine.legal(machine.initial())[0]


def test_nothing_is_made_for_what_nobody_asks() -> None:
    """Every level has twice as many instances as the one before, but one in all is asked for."""
    levels = "(bit 0) (bit 1) (<= (legal bob jump) (level1 0))"
    for level in range(1, 30):
        names = [f"?b{place}" for place in range(level)]
        any_bits = " ".join(f"(bit {name})" for name in names)
        levels += f"(<= (level{level} {' '.join(names)}) {any_bits} (true (count 1)))"
        levels += f"(<= (level{level} {' '.join(names)}) {any_bits} (level{level + 1} {' '.join(names)} 0))"
    read = sheet(COUNT + levels)
    machine = machine_for(read)
    assert machine.kind == "network"
    states = [machine.initial()]
    assert "jump" not in machine.legal(states[0])[1]


def test_rules_that_differ_in_one_condition_become_one() -> None:
    rules = sheet(COUNT + "(<= (p ?x ?y) (succ ?x ?y) (succ ?y ?z) (succ ?z ?w) (or (q ?z ?w) (q ?w ?z) (s ?z)))").rules
    own = [rule for rule in merged(rules) if rule.head[0] == "p"]
    assert len([rule for rule in rules if rule.head[0] == "p"]) == 3
    assert len(own) == 2  # s says nothing about ?w, and no condition is about ?w alone
    both = next(rule for rule in merged(rules) if rule.head[0].startswith("one of"))
    assert variables_of(both.body) == {"?z", "?w"}


def test_parts_that_two_rules_need_are_made_once() -> None:
    long = "(succ ?x ?y) (succ ?y ?z) (succ ?z ?w) (succ ?w ?v)"
    rules: list[Rule] = list(sheet(COUNT + f"(<= (p ?x) {long}) (<= (q ?x) {long} (succ ?x 3))").rules)
    parts = [frozenset(rule.body) for rule in split(rules, True) if rule.head[0].startswith("part")]
    assert len(parts) == len({*parts}) > 0
