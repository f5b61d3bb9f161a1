"""Writes the program of ``holdem_river.py``: three passes over the hands of a complete board.

The first pass counts the reach by card. Then, strength by strength, the second adds the hands before and those of this
strength, and the third computes values. On a GPU a pass goes by *batches* of a few hands: before it computes one, it
begins all loads for the next, of hands, of their reach, and of products of probabilities where the bucket changes; a
batch takes as long as device memory needs to answer, and no other thread of the scheduler could fill the gap. Loads
begin together since a warp can tell few groups of loads apart: if each hand's began after the hand before it, a wait
for the oldest would be a wait for all.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from fogplay.simulators.holdem_river import PASSES, Branch, Sum, Term, name_of
from fogplay.simulators.holdem_vectors import CHOSEN, LEARNED

PREPARED, PLAYED, MARKED = range(3)  # where weights come from: see ``source``


def source(branch: Branch, name: str, ahead: int, by: int = PREPARED) -> str:
    """The program of a branch, as the function ``name``; ``constants`` has the names in capital letters.

    ``load``, ``store`` and ``larger`` are those of rows of lanes (``vectors.py``).
    So many hands are loaded ``ahead``, and ``small`` makes a number of 32 bits; with 0, only the next hand is loaded.
    What a hand's reach is multiplied by is found in ``weights``, PREPARED for every bucket; or ``by`` stakes and the
    ``product`` of probabilities with which the opponent PLAYED; or by stakes and what was MARKED for its hand.
    """
    rows = [f"form_{number}" for number in range(branch.rows)]
    counted, added, again = (_Pass(*each, by) for each in zip(PASSES, branch.sums, strict=True))
    moving = [row for row, terms in zip(rows, added.sums, strict=True) if terms]
    passes = _Passes(branch, ahead, by)
    nowhere = ["top = small(NOWHERE + thread)"]  # no card
    learns = ", marks, bits, worth" * (branch.how in (LEARNED, CHOSEN))
    table = "weights" if by == PREPARED else "product, stake"
    text = "\n".join(
        [
            f"def {name}(cards, reach, {table}, own, held, zero, thread, lane, value, column{learns}):",
            *_indented(1, [f"{row} = top_{row} = weight_{row} = zero" for row in rows]),
            *_indented(1, passes.stakes() + passes.marks() + _begin_own(branch)),
            "    before = first = ZERO_PLACE",
            "    group, last = ENDS_AT, HANDS",
            "    for card in range(CARDS):",
            *_indented(2, [f"store(held, card * ROWS + thread + {row.upper()}, zero)" for row in rows]),
            *_indented(1, passes.begin() + nowhere),
            *_indented(1, passes.over("first", counted, added, _add(rows), "next_last", "first") + _flush(rows)),
            "    while first < HANDS:",
            *_indented(2, passes.next_group()),
            *_indented(2, nowhere + passes.over("before", added, again, _add(moving), "last", "first")),
            *_indented(2, _flush(moving) + nowhere),
            *_indented(2, passes.over("first", again, added, _read(rows) + _value(branch), "next_last", "last")),
            "        before, first = first, last",
            *_indented(1, _add_worth(branch)),
            "",
        ]
    )
    return text if ahead else text.replace("small(", "(")


def _indented(depth: int, lines: list[str]) -> list[str]:
    return ["    " * depth + line for line in lines]


class _Passes(NamedTuple):
    """How the program goes over hands."""

    branch: Branch
    ahead: int
    by: int

    def stakes(self) -> list[str]:
        """The stakes of folds and showdowns, where they are not in the weights."""
        terms = [] if self.by == PREPARED else self.branch.terms
        return [f"stake_{term.action} = load(stake, STAKE_{term.action} + lane)" for term in terms]

    def marks(self) -> list[str]:
        """The marks of actions: the responder's if it chooses, or the opponent's."""
        if self.branch.how == CHOSEN:
            known = [f"mark_{slot} = load(bits, BIT_{slot} + lane)" for slot in self.branch.chosen]
            return [*known, "nobody = load(bits, BIT_NOBODY + lane)"]
        slots = dict.fromkeys(path[-1] for path in self.branch.vectors)
        return [f"mark_{slot} = load(bits, BIT_{slot} + lane)" for slot in slots] * (self.by == MARKED)

    def over(self, begin: str, now: _Pass, following: _Pass, lines: list[str], end: str, then: str) -> list[str]:
        """Do something with the hands from a place to ``last``, and what they weigh in every form.

        The ``following`` pass goes from ``first`` to ``end``, and the one after it begins with ``then``.
        """
        lines = now.of_hand() + lines
        return self._ahead(begin, now, following, lines, end, then) if self.ahead else self._plain(begin, now, lines)

    def _plain(self, begin: str, now: _Pass, lines: list[str]) -> list[str]:
        """One hand after the other; the next one's reach is loaded meanwhile."""
        return [
            *["known = NONE"] * (self.by != MARKED),
            f"word_0 = cards[{begin}]",
            "here_0 = load(reach, (word_0 & HAND_MASK) * LANES + lane)",
            f"word_1 = cards[{begin} + ONE]",
            f"place = {begin}",
            "while place < last:",
            "    word, here = word_0, here_0",
            "    word_0 = word_1",
            "    here_0 = load(reach, (word_0 & HAND_MASK) * LANES + lane)",
            "    word_1 = cards[place + TWO]",
            *_indented(1, self._decoded("word", "") + self._bucket(now) + lines),
            "    place += ONE",
        ]

    def _ahead(self, begin: str, now: _Pass, following: _Pass, lines: list[str], end: str, then: str) -> list[str]:
        """Batch after batch. Slots have the first hands, and words those that follow; ``after`` these come others."""
        names = ["a", "b", "here", *(["mine"] if self.branch.own else [])]
        found = [
            f"start = {begin}",
            "while start < last:",
            f"    after, begun = start + AHEAD + AHEAD, small({now.name})",
            "    if after >= last:",
            "        after = first",
            "        if start + AHEAD >= last:",
            "            after += AHEAD",
            f"            begun = small({following.name})",
            f"            if after >= {end}:",
            f"                after = {then}",
            *_indented(1, [f"more_{slot} = start + PLACE_{slot} < last" for slot in range(1, self.ahead)]),
            *_indented(1, self._loads("next_")),
            *_indented(1, [f"next_word_{slot} = cards[after + PLACE_{slot}]" for slot in range(self.ahead)]),
        ]
        for slot in range(self.ahead):
            hand = [f"place = start + PLACE_{slot}", *(f"{each} = {each}_{slot}" for each in names)]
            hand += self._known(slot, now) + lines
            found += _indented(1, [f"if more_{slot}:", *_indented(1, hand)] if slot else hand)
        for slot in range(self.ahead):
            found += _indented(1, [*self._decoded(f"word_{slot}", f"_{slot}"), *self._moved(slot)])
        return [*found, "    start += AHEAD"]

    def begin(self) -> list[str]:
        """Fill the slots before the first pass."""
        if not self.ahead:
            return []
        slots = range(self.ahead)
        found = ["next_last = cards[group]", *(f"word_{slot} = cards[PLACE_{slot}]" for slot in slots)]
        found += [f"weight_{each} = zero" for each in self._weights()]
        found += [f"begun = small({PASSES[0]})"]
        found += [line for slot in slots for line in self._decoded(f"word_{slot}", f"_{slot}")]
        found += self._loads("")
        found += [f"next_weight_{each} = weight_{each}" for each in self._weights()]
        return [*found, *(f"word_{slot} = cards[AHEAD + PLACE_{slot}]" for slot in slots)]

    def _weights(self) -> list[str]:
        return [f"{slot}_{row}" for slot in range(self.ahead) for row in range(self.branch.rows)]

    def _loads(self, to: str) -> list[str]:
        """Load what the hands of the words need: their reach and, where the bucket changes, weights."""
        found = []
        for slot in range(self.ahead):
            found += [
                f"{to}here_{slot} = load(reach, small((word_{slot} & HAND_MASK) * LANES + lane))",
                f"{to}bucket_{slot} = small(word_{slot} >> THEIRS & BUCKET_MASK)",
            ]
        for slot in range(self.ahead):
            loads = [f"row = {to}bucket_{slot} * WEIGHTS + begun + lane"]
            loads += [
                f"{to}weight_{slot}_{row} = load(weights, row + FORM_{row}_AT)" for row in range(self.branch.rows)
            ]
            found += [f"if {to}bucket_{slot} != {to}bucket_{slot - 1}:", *_indented(1, loads)] if slot else loads
        return found

    def _known(self, slot: int, now: _Pass) -> list[str]:
        """Take the weights of a slot, unless they are those of the slot before."""
        lines = [f"weight_form_{row} = weight_{slot}_{row}" for row in now.forms]
        return [f"if bucket_{slot} != bucket_{slot - 1}:", *_indented(1, lines)] if slot and lines else lines

    def _moved(self, slot: int) -> list[str]:
        """What was loaded for the next batch becomes that of this one."""
        names = [f"{each}_{slot}" for each in ("here", "word")]
        names += [f"weight_{slot}_{row}" for row in range(self.branch.rows)]
        return [f"{name} = next_{name}" for name in names]

    def next_group(self) -> list[str]:
        """Find where the hands of the next strength end."""
        if not self.ahead:
            return ["last = cards[group]", "group += ONE"]
        return ["last = next_last", "group += ONE", "next_last = cards[group]"]

    def _decoded(self, word: str, end: str) -> list[str]:
        """What a hand's word says: where its cards' numbers begin, and its buckets."""
        return [
            f"bucket{end} = small({word} >> THEIRS & BUCKET_MASK)",
            f"a{end} = small(({word} >> LOW & CARD_MASK) * ROWS + thread)",
            f"b{end} = small(({word} >> HIGH & CARD_MASK) * ROWS + thread)",
            *([f"mine{end} = small({word} >> OWN)"] if self.branch.own else []),
        ]

    def _bucket(self, now: _Pass) -> list[str]:
        """Find the weights of a bucket if it is another one, or the marks of the hand."""
        if self.by == MARKED:
            return ["done = load(marks, word & HAND_MASK)"]
        return ["if bucket != known:", "    known = bucket", *_indented(1, now.of_bucket())]


class _Pass(NamedTuple):
    """One way of going over hands, by what their reach is multiplied by in every form."""

    name: str
    sums: list[Sum]  # by form
    by: int

    @property
    def forms(self) -> list[int]:
        """The numbers of the forms that have a weight."""
        return [form for form, terms in enumerate(self.sums) if terms]

    def of_bucket(self) -> list[str]:
        """Find the weights of a bucket."""
        if self.by == PREPARED:
            row = f"row = bucket * WEIGHTS + {self.name} + lane"
            return [row, *(f"weight_form_{form} = load(weights, row + FORM_{form}_AT)" for form in self.forms)]
        paths = dict.fromkeys(term.path for terms in self.sums for term, _ in terms)
        return [
            "row = bucket * PRODUCTS + lane",
            *(f"reach_{name_of(path)} = load(product, row + PRODUCT_{name_of(path)})" for path in paths),
            *self._sums("weight", lambda term: f"reach_{name_of(term.path)}"),
        ]

    def of_hand(self) -> list[str]:
        """What one hand adds to each form."""
        if self.by != MARKED:
            return [f"more_form_{form} = here * weight_form_{form}" for form in self.forms]
        return self._sums("more", lambda term: f"only(here, done, mark_{term.path[-1]})")

    def _sums(self, name: str, text: Callable[[Term], str]) -> list[str]:
        """Sums of stakes times numbers, in the order of their terms: the compiler finds what sums have in common."""
        found = []
        for form in self.forms:
            line = f"{name}_form_{form} ="
            for place, (term, added) in enumerate(self.sums[form]):
                sign = ("" if added else " zero -") if place == 0 else (" +" if added else " -")
                line += f"{sign} stake_{term.action} * {text(term)}"
            found.append(line)
        return found


def _add(rows: list[str]) -> list[str]:
    """Add the hand to its cards.

    All numbers are loaded before the first is stored, since the compiler cannot know that they differ. Those of the
    higher card are kept in variables while it stays the same.
    """
    return [
        "if b != top:",
        *_indented(1, _flush(rows)),
        *_indented(1, ["top = b", *(f"top_{row} = load(held, b + {row.upper()})" for row in rows)]),
        *(f"low_{row} = load(held, a + {row.upper()})" for row in rows),
        *(
            line
            for row in rows
            for line in (
                f"store(held, a + {row.upper()}, low_{row} + more_{row})",
                f"top_{row} = top_{row} + more_{row}",
                f"{row} = {row} + more_{row}",
            )
        ),
    ]


def _flush(rows: list[str]) -> list[str]:
    """Store what is kept of the higher card."""
    return [f"store(held, top + {row.upper()}, top_{row})" for row in rows]


def _read(rows: list[str]) -> list[str]:
    """Load what the hand's value is computed from."""
    return [
        "if b != top:",
        "    top = b",
        *(f"    top_{row} = load(held, b + {row.upper()})" for row in rows),
        *(f"low_{row} = load(held, a + {row.upper()})" for row in rows),
    ]


def _value(branch: Branch) -> list[str]:
    """Compute the hand's value."""
    own = _load_own(branch)
    if branch.how == LEARNED:
        own = ["if mine != owner:", *_indented(1, [*_add_worth(branch), "owner = mine", *own, *_no_worth(branch)])]
    marks = ["store(marks, small(place), marks_0)"] * (branch.how == CHOSEN)
    return [*own, *branch.lines, "store(value, small(place * COLUMNS + column), found)", *marks]


def _load_own(branch: Branch) -> list[str]:
    """Load the responder's probabilities."""
    return [f"own_{slot} = load(own, small(mine * OWNS + lane + OWN_{slot}))" for slot in dict.fromkeys(branch.own)]


def _begin_own(branch: Branch) -> list[str]:
    """Begin with the responder's first bucket, if it learns."""
    if branch.how != LEARNED:
        return []
    return ["owner = mine = ZERO_PLACE", *_load_own(branch), *_no_worth(branch)]


def _no_worth(branch: Branch) -> list[str]:
    return [f"sum_{slot} = zero" for slot in branch.own]


def _add_worth(branch: Branch) -> list[str]:
    """Add what actions were worth with the hands of a bucket, if the responder learns."""
    if branch.how != LEARNED:
        return []
    return [
        line
        for slot in branch.own
        for line in (
            f"at = owner * OWNS + lane + OWN_{slot}",
            f"store(worth, at, load(worth, at) + sum_{slot})",
        )
    ]


def for_a_thread(text: str) -> str:
    """The same program where numbers are those of one lane, with which arrays begin: elements instead of calls.

    Numba would inline the calls, but takes a minute for that.
    """
    return ast.unparse(ast.fix_missing_locations(_Elements().visit(ast.parse(text))))


class _Elements(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return node.left if isinstance(node.right, ast.Name) and node.right.id == "lane" else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        assert isinstance(node.func, ast.Name)
        if node.func.id == "load":
            return ast.Subscript(node.args[0], node.args[1], ast.Load())
        if node.func.id == "larger":
            node.func.id = "max"
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)
        assert isinstance(node.value, ast.Call)
        array, at, number = node.value.args
        return ast.Assign([ast.Subscript(array, at, ast.Store())], number)
