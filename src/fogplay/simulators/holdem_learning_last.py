"""The last round of hold'em for learners, as programs of ``holdem_program.py`` where a number is a row of lanes.

A program goes over the hands of a board in order of strength and keeps its numbers per card, not per hand and action,
so that they stay in the first-level cache. What a learner's actions are worth is added up per bucket. An opponent that
answers best leaves a mark for every action of every hand, one bit each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.generated import module_from
from fogplay.simulators.holdem_lines import Round
from fogplay.simulators.holdem_pack import pack
from fogplay.simulators.holdem_program import MARKED, PLAYED, source
from fogplay.simulators.holdem_river import Layout, branches, constants, name_of
from fogplay.simulators.holdem_vectors import CHOSEN, LEARNED, Board
from fogplay.vectors import WIDTH

NOBODY = 31  # the row of bits without one; a player has fewer actions in a round
HEAD = """\
import numpy as np
from fogplay.jit import kernel, piece
from fogplay.simulators.holdem_learning import add_average, add_regrets, match_regrets
from fogplay.vectors import WIDTH, larger, load, only, prefer, store

"""
LEARN = """
@kernel
def learn_last(first, second, chunks, constants, row, bits, held, value, marks):
    nothing = np.uint64(0)
    zero = load(constants, nothing)
    for chunk in range(chunks[0], chunks[1]):
        match_regrets(first, chunk, constants)
        match_regrets(second, chunk, constants)
{walks}\
        add_regrets(first, chunk, constants)
        add_regrets(second, chunk, constants)
        add_average(first, chunk, constants)
        add_average(second, chunk, constants)
"""
CALL = """\
        {name}(
            row, {them}.reach[chunk], {them}.played, {me}.stake[chunk], {me}.share, held, zero, nothing, nothing,
            {value}, nothing, marks[{marks}], bits, {me}.worth,
        )
"""
JOIN = """\
        for place in range(np.uint64(len({me}.bucket))):
            one, other = load({me}.value[chunk], place), load(value, place)
{lines}\
            store({me}.value[chunk], place, {joined})
"""
MARKS = "            store(marks[0], place, {joined})\n"


class Scratch(NamedTuple):
    """What a program overwrites."""

    held: NDArray[np.float32]  # [rows, WIDTH] numbers per card
    value: NDArray[np.float32]  # [hands, WIDTH] of a branch
    marks: NDArray[np.int32]  # [2, hands, WIDTH] what an opponent does that answers best


class Last:
    """The program of the last round for a pair of players, of whom one may answer best."""

    def __init__(self, round_: Round, answers: tuple[bool, bool], hands: int, cards: int) -> None:
        self.layout = Layout(hands, hands, cards, 1, np.float32, 1, 0)
        self.rows, text, walks = 0, HEAD, ""
        for seat in sorted(range(2), key=lambda each: not answers[each]):  # an answer comes first
            for name, part, rows in _programs(round_, seat, answers, self.layout):
                text, self.rows = text + part, max(self.rows, rows)
                walks += _call(name, seat, answers[seat])
            walks += _join(round_, seat, answers[seat])
        self.learn: Any = module_from("learning", text + LEARN.format(walks=walks)).learn_last
        self.bits = np.zeros((NOBODY + 1, WIDTH), np.int32)
        self.bits[:NOBODY] = (1 << np.arange(NOBODY))[:, None]

    def scratch(self) -> Scratch:
        hands, rows = self.layout.hands, self.rows * (self.layout.cards + 1)
        value, marks = np.zeros((hands, WIDTH), np.float32), np.zeros((2, hands, WIDTH), np.int32)
        return Scratch(np.zeros((rows, WIDTH), np.float32), value, marks)

    def pack(self, board: Board, dealt: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """The hands of one board as a program reads them."""
        layout = self.layout
        cards, none = np.empty((1, layout.columns), np.uint64), np.zeros((0, layout.everything), np.int64)
        pack(board, dealt[None], np.zeros(1, np.int64), np.ones(1), none, layout.ends_at, layout.places_at, cards)
        packed: NDArray[np.uint64] = cards[0]
        return packed


def _programs(round_: Round, seat: int, answers: tuple[bool, bool], layout: Layout) -> list[tuple[str, str, int]]:
    """The programs of a responder's branches: their names, their text, and the rows they need per card."""
    found = []
    slots, theirs = round_.slots[seat], round_.slots[1 - seat]
    for number, branch in enumerate(branches(round_, seat, CHOSEN if answers[seat] else LEARNED)):
        name = f"branch_{seat}_{number}"
        known = constants(branch, layout, 0, theirs, slots, columns=1)
        known |= {f"PRODUCT_{name_of(path)}": path[-1] for path in branch.vectors}
        known |= {f"BIT_{slot}": slot for slot in range(max(slots, theirs))} | {"BIT_NOBODY": NOBODY}
        head, body = source(branch, name, layout.ahead, MARKED if answers[1 - seat] else PLAYED).split("\n", 1)
        values = "".join(f"    {each} = np.uint64({int(value)})\n" for each, value in known.items())
        found.append((name, f"@piece\n{head}\n{values}{body}\n\n", branch.rows))
    return found


def _call(name: str, seat: int, answers: bool) -> str:
    number = int(name.rpartition("_")[2])
    me, them = ("first", "second") if seat == 0 else ("second", "first")
    value = "value" if number else f"{me}.value[chunk]"
    return CALL.format(name=name, me=me, them=them, value=value, marks=number if answers else 0)


def _join(round_: Round, seat: int, answers: bool) -> str:
    """Join the second branch, if there is one, with the first."""
    if len(branches(round_, seat, LEARNED)) == 1:
        return ""
    chooses = answers and round_.spots[seat][0]["player"] == seat
    lines, joined = "", "larger(one, other)" if chooses else "one + other"
    if answers:
        marks = "load(marks[0], place)", "load(marks[1], place)"
        lines = MARKS.format(joined=f"prefer(other, one, {marks[1]}, {marks[0]})" if chooses else " | ".join(marks))
    return JOIN.format(me=("first", "second")[seat], lines=lines, joined=joined)
