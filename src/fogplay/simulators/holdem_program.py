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
from typing import NamedTuple

from fogplay.simulators.holdem_river import Branch, name_of
from fogplay.simulators.holdem_vectors import CHOSEN, LEARNED


def source(branch: Branch, name: str, ahead: int, marked: bool = False) -> str:
    """The program of a branch, as the function ``name``; ``constants`` has the names in capital letters.

    ``load``, ``store`` and ``larger`` are those of rows of lanes (``vectors.py``).
    So many hands are loaded ``ahead``, and ``small`` makes a number of 32 bits; with 0, only the next hand is loaded.
    The opponent plays by ``product``, or does with every hand what was ``marked`` for it.
    """
    shown, folded = ([name_of(path) for path in some] for some in (branch.shown, branch.folded))
    both = [each for each in folded if each in shown]
    met = {name_of(path): f"here * reach_{name_of(path)}" for path in branch.vectors}
    if marked:
        met = {name_of(path): f"only(here, done, mark_{path[-1]})" for path in branch.vectors}
    counted = [_Row(each, "shown", met[each], "-") for each in shown]
    counted += [_Row(each, "folded", met[each]) for each in folded if each not in both]
    added = [_Row(each, "shown", met[each]) for each in shown]
    read = [_Row(each, "folded", met[each]) for each in folded]
    passes = _Passes(branch, ahead, marked)
    nowhere = ["top = small(NOWHERE + thread)"]  # no card
    learns = ", marks, bits, worth" * (branch.how in (LEARNED, CHOSEN))
    text = "\n".join(
        [
            f"def {name}(cards, reach, product, own, stake, held, zero, thread, lane, value, column{learns}):",
            *_indented(1, [f"stake_{each} = load(stake, STAKE_{each} + lane)" for each in branch.stakes]),
            *_indented(1, [f"{each.kind}_{each.name} = top_{each.kind}_{each.name} = zero" for each in counted + read]),
            *_indented(1, [f"reach_{name_of(path)} = zero" for path in branch.vectors]),
            *_indented(1, passes.marks() + _begin_own(branch)),
            "    before = first = ZERO_PLACE",
            "    known, group, last = small(NONE), ENDS_AT, HANDS",
            "    for card in range(CARDS):",
            *_indented(2, [f"store(held, card * ROWS + thread + {each.offset}, zero)" for each in counted]),
            *_indented(1, passes.begin() + nowhere),
            *_indented(1, passes.over("first", _add(counted), "next_last", "first") + _flush(counted)),
            "    for card in range(CARDS):",
            "        at = card * ROWS + thread",
            *_indented(2, [f"store(held, at + FOLDED_{each}, zero - load(held, at + SHOWN_{each}))" for each in both]),
            *_indented(1, [f"folded_{each} = zero - shown_{each}" for each in both]),
            "    while first < HANDS:",
            *_indented(2, passes.next_group()),
            *_indented(2, nowhere + passes.over("before", _add(added), "last", "first") + _flush(added)),
            *_indented(
                2, nowhere + passes.over("first", _read(added + read) + _value(branch, read), "next_last", "last")
            ),
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
    marked: bool = False

    def marks(self) -> list[str]:
        """The marks of actions: the responder's if it chooses, or the opponent's."""
        if self.branch.how == CHOSEN:
            known = [f"mark_{slot} = load(bits, BIT_{slot} + lane)" for slot in self.branch.chosen]
            return [*known, "nobody = load(bits, BIT_NOBODY + lane)"]
        slots = dict.fromkeys(path[-1] for path in self.branch.vectors)
        return [f"mark_{slot} = load(bits, BIT_{slot} + lane)" for slot in slots] * self.marked

    def over(self, begin: str, lines: list[str], end: str, then: str) -> list[str]:
        """Do something with the hands from a place to ``last``.

        A pass from ``first`` to ``end`` follows, and after it one that begins with ``then``.
        """
        return self._ahead(begin, lines, end, then) if self.ahead else self._plain(begin, lines)

    def _plain(self, begin: str, lines: list[str]) -> list[str]:
        """One hand after the other; the next one's reach is loaded meanwhile."""
        return [
            f"word_0 = cards[{begin}]",
            "here_0 = load(reach, (word_0 & HAND_MASK) * LANES + lane)",
            f"word_1 = cards[{begin} + ONE]",
            f"place = {begin}",
            "while place < last:",
            "    word, here = word_0, here_0",
            "    word_0 = word_1",
            "    here_0 = load(reach, (word_0 & HAND_MASK) * LANES + lane)",
            "    word_1 = cards[place + TWO]",
            *_indented(1, self._decoded("word", "") + self._bucket() + lines),
            "    place += ONE",
        ]

    def _ahead(self, begin: str, lines: list[str], end: str, then: str) -> list[str]:
        """Batch after batch. Slots have the first hands, and words those that follow; ``after`` these come others."""
        names = ["a", "b", "here", *(["mine"] if self.branch.own else [])]
        found = [
            f"start = {begin}",
            "while start < last:",
            "    after = start + AHEAD + AHEAD",
            "    if after >= last:",
            "        after = first",
            "        if start + AHEAD >= last:",
            "            after += AHEAD",
            f"            if after >= {end}:",
            f"                after = {then}",
            *_indented(1, [f"more_{slot} = start + PLACE_{slot} < last" for slot in range(1, self.ahead)]),
            *_indented(1, self._loads("next_")),
            *_indented(1, [f"next_word_{slot} = cards[after + PLACE_{slot}]" for slot in range(self.ahead)]),
        ]
        for slot in range(self.ahead):
            hand = [f"place = start + PLACE_{slot}", *(f"{each} = {each}_{slot}" for each in names)]
            hand += self._known(slot) + lines
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
        found += [f"product_{slot}_{name} = zero" for slot in slots for name in self._names()]
        found += [line for slot in slots for line in self._decoded(f"word_{slot}", f"_{slot}")]
        found += self._loads("")
        found += [f"next_product_{slot}_{name} = product_{slot}_{name}" for slot in slots for name in self._names()]
        return [*found, *(f"word_{slot} = cards[AHEAD + PLACE_{slot}]" for slot in slots)]

    def _names(self) -> list[str]:
        return [name_of(path) for path in self.branch.vectors]

    def _loads(self, to: str) -> list[str]:
        """Load what the hands of the words need: their reach and, where the bucket changes, products."""
        found = []
        for slot in range(self.ahead):
            found += [
                f"{to}here_{slot} = load(reach, small((word_{slot} & HAND_MASK) * LANES + lane))",
                f"{to}bucket_{slot} = small(word_{slot} >> THEIRS & BUCKET_MASK)",
            ]
        for slot in range(self.ahead):
            names = self._names()
            loads = [f"row = {to}bucket_{slot} * PRODUCTS + lane"]
            loads += [f"{to}product_{slot}_{name} = load(product, row + PRODUCT_{name})" for name in names]
            found += loads
            if slot:
                found[-len(loads) :] = [f"if {to}bucket_{slot} != {to}bucket_{slot - 1}:", *_indented(1, loads)]
        return found

    def _known(self, slot: int) -> list[str]:
        """Take the products of a slot, unless they are those of the slot before."""
        lines = [f"reach_{name} = product_{slot}_{name}" for name in self._names()]
        return [f"if bucket_{slot} != bucket_{slot - 1}:", *_indented(1, lines)] if slot else lines

    def _moved(self, slot: int) -> list[str]:
        """What was loaded for the next batch becomes that of this one."""
        names = [
            *(f"{each}_{slot}" for each in ("here", "word")),
            *(f"product_{slot}_{each}" for each in self._names()),
        ]
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

    def _bucket(self) -> list[str]:
        """Load the products of probabilities if the bucket is another one, or the marks of the hand."""
        if self.marked:
            return ["done = load(marks, word & HAND_MASK)"]
        names = map(name_of, self.branch.vectors)
        return [
            "if bucket != known:",
            "    known = bucket",
            "    row = bucket * PRODUCTS + lane",
            *(f"    reach_{name} = load(product, row + PRODUCT_{name})" for name in names),
        ]


class _Row(NamedTuple):
    """A number per card in shared memory, and its sum over all hands in a variable."""

    name: str  # of the vector
    kind: str  # shown or folded
    met: str  # the reach of a hand
    sign: str = "+"  # whether hands are added or subtracted

    @property
    def offset(self) -> str:
        return f"{self.kind.upper()}_{self.name}"


def _add(rows: list[_Row]) -> list[str]:
    """Add the hand to its cards.

    All numbers are loaded before the first is stored, since the compiler cannot know that they differ. Those of the
    higher card are kept in variables while it stays the same.
    """
    return [
        "if b != top:",
        *_indented(1, _flush(rows)),
        *_indented(1, ["top = b", *(f"top_{each.kind}_{each.name} = load(held, b + {each.offset})" for each in rows)]),
        *(f"low_{each.kind}_{each.name} = load(held, a + {each.offset})" for each in rows),
        *(
            line
            for name, kind, met, sign in rows
            for line in (
                f"more = {met}",
                f"store(held, a + {kind.upper()}_{name}, low_{kind}_{name} {sign} more)",
                f"top_{kind}_{name} = top_{kind}_{name} {sign} more",
                f"{kind}_{name} = {kind}_{name} {sign} more",
            )
        ),
    ]


def _flush(rows: list[_Row]) -> list[str]:
    """Store what is kept of the higher card."""
    return [f"store(held, top + {each.offset}, top_{each.kind}_{each.name})" for each in rows]


def _read(rows: list[_Row]) -> list[str]:
    """Load what the hand's value is computed from."""
    return [
        "if b != top:",
        "    top = b",
        *(f"    top_{each.kind}_{each.name} = load(held, b + {each.offset})" for each in rows),
        *(f"low_{each.kind}_{each.name} = load(held, a + {each.offset})" for each in rows),
    ]


def _value(branch: Branch, folded: list[_Row]) -> list[str]:
    """Compute the hand's value."""
    own = _load_own(branch)
    if branch.how == LEARNED:
        own = ["if mine != owner:", *_indented(1, [*_add_worth(branch), "owner = mine", *own, *_no_worth(branch)])]
    met = [f"met_{each.name} = {each.met}" for each in folded]
    marks = ["store(marks, small(place), marks_0)"] * (branch.how == CHOSEN)
    return [*own, *met, *branch.lines, "store(value, small(place * COLUMNS + column), found)", *marks]


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
