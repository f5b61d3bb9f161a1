"""The program of a GPU thread that takes one line of betting through a complete board of hold'em.

The opponent's reach before an action is its reach at the start of the round times a product of probabilities, which
depends on the bucket of its hand alone. So all vectors of reach of a round are known before the first hand, and one
pass over the hands in order of strength can compute all showdowns at once. Nothing but the result is kept per hand.

For each vector that meets a showdown, shared memory holds one number per card: the reach of hands with this card that
are weaker, less those that are stronger. It begins at minus all reach. The hands of one strength are added once; now
the number is right for them, since equal hands cancel; then they are added again. For each vector that meets a fold,
another number per card is the reach of all hands with this card. Threads of a block have the same board and adjacent
lanes, so that they never diverge, and their numbers are adjacent, so that there are no bank conflicts.

The decisions after each first action of the round are a *branch*; branches are walked by different blocks, since each
then needs half the shared memory. The program is generated, because the vectors of a branch are variables, which the
compiler keeps in registers; an array of them would be in slow local memory.

The work, for two seats with 567 lines each on 2,554,656 boards, is 1e11 times one hand and 32 lines. Two branches with
four raises take some 850 instructions for that, and read or write shared memory 130 times. A multiprocessor issues
four instructions per cycle and serves shared memory once, so 132 of them at 1.75 GHz need at least 90 s or 55 s. A
block of 32 lines fills 54 kB, so four fit on a multiprocessor, one per scheduler. Nothing hides latency but what a
thread does itself: it loads all numbers before it stores one, and brings the next hands' reach into the cache. A board
has some 85 strengths, 80 changes of buckets and 320 changes of the higher card, whose numbers stay in registers.
Device memory sees little but the results: 25 TB, or 6 s.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.simulators.holdem_lines import DEEPER, ENDS, Round, Table
from fogplay.simulators.holdem_vectors import LARGEST, MIXED
from fogplay.vectors import WIDTH

BATCH, LEAD = 8, 8  # so many hands are brought into the cache at once, so many or more before they are needed
PADDING = LEAD + 3 * BATCH
Path = tuple[int, ...]  # the opponent's actions within the round, as slots

# A hand in 64 bits: its number, its two cards, its bucket for the opponent and for the responder. Where each begins:
LOW, HIGH, THEIRS, OWN = 16, 24, 32, 48


class Branch(NamedTuple):
    """The decisions after some of the first actions of a round, for one responder."""

    first: tuple[int, ...]  # these actions
    shown: list[Path]  # vectors of reach that meet a showdown
    folded: list[Path]  # vectors of reach that meet a fold
    apart: list[Path]  # those that meet a fold only
    lines: list[str]  # how the value of a hand is computed: statements that end with ``found = ...``
    stakes: list[int]  # actions with stakes
    own: list[int]  # slots of the responder, if it follows a strategy

    @property
    def vectors(self) -> list[Path]:
        """All vectors, by number."""
        return self.shown + self.apart

    @property
    def rows(self) -> int:
        """Numbers per card and lane in shared memory."""
        return len(self.shown) + len(self.folded)


def branches(round_: Round, responder: int, how: int) -> list[Branch]:
    """The branches of the last round; ``holdem_vectors_gpu.sum_boards`` joins their values."""
    root = round_.spots[responder][0]
    first = range(int(root["first"]), int(root["first"] + root["count"]))
    alone = all(round_.actions[each]["kind"] == DEEPER for each in first)
    found = []
    for chosen in [(each,) for each in first] if alone else [tuple(first)]:
        writer = _Writer(round_, responder, how)
        value = writer.decision(0, (), chosen)
        shown = list(dict.fromkeys(writer.shown))
        folded = list(dict.fromkeys(writer.folded))
        apart = [path for path in folded if path not in shown]
        lines = [*writer.lines, f"found = {value}"]
        found.append(Branch(chosen, shown, folded, apart, lines, writer.stakes, writer.own))
    return found


class _Writer:
    """Writes how the value of one hand follows from shared memory, from the last decisions to the first."""

    def __init__(self, round_: Round, responder: int, how: int) -> None:
        self.round, self.responder, self.how = round_, responder, how
        self.lines: list[str] = []
        self.shown: list[Path] = []
        self.folded: list[Path] = []
        self.stakes: list[int] = []
        self.own: list[int] = []

    def decision(self, place: int, path: Path, only: tuple[int, ...] = ()) -> str:
        """Write the value of a decision; its name is returned."""
        spot = self.round.spots[self.responder][place]
        answers = spot["player"] == self.responder
        terms = []
        for number in only or range(int(spot["first"]), int(spot["first"] + spot["count"])):
            action = self.round.actions[number]
            slot = int(action["slot"])
            term = self._action(number, path if answers else (*path, slot))
            if answers and self.how == MIXED:
                self.own.append(slot)
                term = f"own_{slot} * {term}"
            terms.append(term)
        joined = terms[0]
        for term in terms[1:]:
            joined = f"larger({joined}, {term})" if answers and self.how == LARGEST else f"{joined} + {term}"
        self.lines.append(f"value_{place} = {joined}")
        return f"value_{place}"

    def _action(self, number: int, path: Path) -> str:
        action = self.round.actions[number]
        if action["kind"] == DEEPER:
            return self.decision(int(action["to"]), path)
        self.stakes.append(number)
        name = _name(path)
        if action["kind"] == ENDS:
            self.shown.append(path)
            return f"stake_{number} * (shown_{name} - low_shown_{name} - top_shown_{name})"
        self.folded.append(path)
        return f"stake_{number} * (folded_{name} - low_folded_{name} - top_folded_{name} + here * reach_{name})"


def _name(path: Path) -> str:
    """The name of a vector."""
    return "_".join(map(str, path)) or "all"


# ---- The program


def source(branch: Branch, name: str, touching: bool) -> str:
    """The program of a branch, as the function ``name``; ``constants`` has the names in capital letters.

    ``load``, ``store`` and ``larger`` are those of a thread's numbers on a GPU, or of rows of lanes (``vectors.py``).
    With ``touching``, hands are brought into the cache.
    """
    shown, folded = ([_name(path) for path in some] for some in (branch.shown, branch.folded))
    both = [each for each in folded if each in shown]
    counted = [_Row(each, "shown", "-") for each in shown] + [
        _Row(each, "folded") for each in folded if each not in both
    ]
    added, read = [_Row(each, "shown") for each in shown], [_Row(each, "folded") for each in folded]
    nowhere = ["top = NOWHERE + thread"]  # no card
    return "\n".join(
        [
            f"def {name}(cards, reach, product, own, stake, held, zero, thread, lane, value, column):",
            *_indented(1, [f"stake_{each} = load(stake, STAKE_{each} + lane)" for each in branch.stakes]),
            *_indented(1, [f"{each.kind}_{each.name} = top_{each.kind}_{each.name} = zero" for each in counted + read]),
            *_indented(1, [f"reach_{_name(path)} = zero" for path in branch.vectors]),
            "    before = first = ZERO_PLACE",
            "    known, group = NONE, ENDS_AT",
            *_indented(1, ["seen = zero", *(f"ahead_{each} = zero" for each in range(BATCH))] if touching else []),
            "    for card in range(CARDS):",
            *_indented(2, [f"store(held, card * ROWS + thread + {each.offset}, zero)" for each in counted]),
            *_indented(1, _start("first") + _touch_first(touching) + nowhere),
            "    while first < HANDS:",
            "        last = min(first + BATCH, HANDS)",
            *_indented(2, _touch(touching)),
            *_indented(2, _each("first", _bucket(branch) + _cards() + _add(counted))),
            "        first = last",
            *_indented(1, _flush(counted)),
            "    for card in range(CARDS):",
            "        at = card * ROWS + thread",
            *_indented(2, [f"store(held, at + FOLDED_{each}, zero - load(held, at + SHOWN_{each}))" for each in both]),
            *_indented(1, [f"folded_{each} = zero - shown_{each}" for each in both]),
            *_indented(1, ["first = ZERO_PLACE", *_touch_first(touching)]),
            "    while first < HANDS:",
            "        last = cards[group]",
            "        group += ONE",
            *_indented(2, _touch(touching) + _start("before") + nowhere),
            *_indented(2, _each("before", _bucket(branch) + _cards() + _add(added))),
            *_indented(2, _flush(added) + _start("first") + nowhere),
            *_indented(2, _each("first", _bucket(branch) + _cards() + _read(added + read) + _value(branch))),
            "        before, first = first, last",
            *_indented(1, ["if seen < zero:", "    store(value, column, seen)"] if touching else []),  # never
            "",
        ]
    )


def _indented(depth: int, lines: list[str]) -> list[str]:
    return ["    " * depth + line for line in lines]


def _start(first: str) -> list[str]:
    """Load the hand at a place, and the next one's number."""
    return [
        f"word_0 = cards[{first}]",
        "here_0 = load(reach, (word_0 & HAND_MASK) * LANES + lane)",
        f"word_1 = cards[{first} + ONE]",
    ]


def _each(first: str, lines: list[str]) -> list[str]:
    """For the hands from a place to ``last``: load the next one, then do something with this one."""
    return [
        f"place = {first}",
        "while place < last:",
        "    word, here = word_0, here_0",
        "    word_0 = word_1",
        "    here_0 = load(reach, (word_0 & HAND_MASK) * LANES + lane)",
        "    word_1 = cards[place + TWO]",
        *_indented(1, lines),
        "    place += ONE",
    ]


def _touch(touching: bool) -> list[str]:
    """Begin to bring hands beyond ``last`` into the cache.

    What was loaded by one call is taken into a sum by the next, so that nobody waits for it.
    """
    if not touching:
        return []
    batch = range(BATCH)
    return [
        "while touched < last + LEAD:",
        *(f"    seen += ahead_{each}" for each in batch),
        *(f"    ahead_{each} = load(reach, (touch_{each} & HAND_MASK) * LANES + lane)" for each in batch),
        *(f"    touch_{each} = cards[touched + BATCH + PLACE_{each}]" for each in batch),
        "    touched += BATCH",
    ]


def _touch_first(touching: bool) -> list[str]:
    if not touching:
        return []
    return ["touched = ZERO_PLACE", *(f"touch_{each} = cards[PLACE_{each}]" for each in range(BATCH))]


def _bucket(branch: Branch) -> list[str]:
    """Load the products of probabilities if the bucket is another one."""
    names = map(_name, branch.vectors)
    return [
        "bucket = word >> THEIRS & BUCKET_MASK",
        "if bucket != known:",
        "    known = bucket",
        *(f"    reach_{name} = load(product, bucket * PRODUCTS + lane + PRODUCT_{name})" for name in names),
    ]


def _cards() -> list[str]:
    return ["a = (word >> LOW & CARD_MASK) * ROWS + thread", "b = (word >> HIGH & CARD_MASK) * ROWS + thread"]


class _Row(NamedTuple):
    """A number per card in shared memory, and its sum over all hands in a variable."""

    name: str  # of the vector
    kind: str  # shown or folded
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
        *_indented(
            1, ["top = b", *(f"top_{kind}_{name} = load(held, b + {kind.upper()}_{name})" for name, kind, _ in rows)]
        ),
        *(f"low_{each.kind}_{each.name} = load(held, a + {each.offset})" for each in rows),
        *(
            line
            for name, kind, sign in rows
            for line in (
                f"more = here * reach_{name}",
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


def _value(branch: Branch) -> list[str]:
    """Compute the hand's value."""
    own = [f"own_{slot} = load(own, mine * OWNS + lane + OWN_{slot})" for slot in dict.fromkeys(branch.own)]
    return [
        *(["mine = word >> OWN", *own] if own else []),
        *branch.lines,
        "store(value, place * COLUMNS + column, found)",
    ]


class Layout(NamedTuple):
    """Sizes that the program knows as constants."""

    everything: int  # hands without a board
    hands: int  # that a board allows
    cards: int  # that are not on the board
    lines: int  # per block
    kind: Any  # of numbers
    width: int = WIDTH  # lanes that are told apart: 1 where a number is a row of them

    @property
    def ends_at(self) -> int:
        """Where the second part of a board's row begins; some hands are loaded ahead of the last."""
        return self.hands + PADDING

    @property
    def places_at(self) -> int:
        return self.ends_at + self.hands

    @property
    def hand_mask(self) -> int:
        """What a word tells of the number of its hand."""
        return (1 << LOW) - 1

    @property
    def turn_at(self) -> int:
        return self.places_at + self.everything

    @property
    def columns(self) -> int:
        return self.turn_at + 2

    def shared_bytes(self, branch: Branch) -> int:
        """What a block needs: a row more than there are cards."""
        return branch.rows * (self.cards + 1) * self.lines * int(np.dtype(self.kind).itemsize)


def constants(branch: Branch, layout: Layout, skip: int, vectors: int, slots: int, columns: int) -> dict[str, Any]:
    """The names in capital letters; they do not depend on strategies, so that programs are compiled once.

    The branch's vectors begin with number ``skip`` of all ``vectors``. The responder has so many ``slots``. A hand's
    value has so many ``columns``.
    """
    found = {
        "ZERO_PLACE": 0, "ONE": 1, "TWO": 2, "BATCH": BATCH, "LEAD": LEAD, "LANES": layout.width, "NONE": (1 << 64) - 1,
        "HANDS": layout.hands, "CARDS": layout.cards, "ROWS": branch.rows * layout.lines,
        "NOWHERE": layout.cards * branch.rows * layout.lines, "ENDS_AT": layout.ends_at,
        "HAND_MASK": (1 << LOW) - 1, "CARD_MASK": (1 << HIGH - LOW) - 1, "BUCKET_MASK": (1 << OWN - THEIRS) - 1,
        "LOW": LOW, "HIGH": HIGH, "THEIRS": THEIRS, "OWN": OWN, "COLUMNS": columns,
        "PRODUCTS": vectors * layout.width, "OWNS": slots * layout.width,
    }  # fmt: skip
    found |= {f"PLACE_{each}": each for each in range(BATCH)}
    found |= {f"SHOWN_{_name(path)}": row * layout.lines for row, path in enumerate(branch.shown)}
    folded = enumerate(branch.folded, len(branch.shown))
    found |= {f"FOLDED_{_name(path)}": row * layout.lines for row, path in folded}
    found |= {f"PRODUCT_{_name(path)}": (skip + at) * layout.width for at, path in enumerate(branch.vectors)}
    found |= {f"OWN_{slot}": slot * layout.width for slot in branch.own}
    found |= {f"STAKE_{each}": each * layout.width for each in branch.stakes}
    return {name: np.uint64(value) for name, value in found.items()}


def products(some: list[Branch], theirs: Table, kind: Any) -> NDArray[Any]:
    """[chunks, buckets * vectors * WIDTH] the products of probabilities of all branches' vectors."""
    share = _by_slot(theirs)
    made = []
    for branch in some:
        for path in branch.vectors:
            made.append(np.prod(share[:, list(path)], axis=1) if path else np.ones_like(share[:, 0]))
    return np.ascontiguousarray(np.stack(made, axis=2), kind).reshape(len(share), -1)


def own_shares(own: Table | None, kind: Any, chunks: int) -> tuple[NDArray[Any], int]:
    """[chunks, buckets * slots * WIDTH] the responder's probabilities, and the number of its slots."""
    if own is None:
        return np.zeros((chunks, WIDTH), kind), 1
    share = _by_slot(own)
    return np.ascontiguousarray(share.transpose(0, 2, 1, 3), kind).reshape(chunks, -1), share.shape[1]


def _by_slot(table: Table) -> NDArray[np.float64]:
    """[chunks, slots, buckets, WIDTH] a player's probabilities."""
    return table.share.reshape(len(table.share), -1, table.buckets, WIDTH)
