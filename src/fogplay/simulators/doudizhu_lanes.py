"""Many games of Doudizhu at once, one per lane, in step with each other: the playground of networks that learn.

Lanes come in three groups. In step t the lanes of group g are at the move of seat (t + g) mod 3, so every seat's
network sees a third of all lanes in each step. A lane whose game has ended waits for its group's next turn of the
landlord. The functions that work on one lane serve CPU and GPU; here is the CPU's loop over them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fogplay.games.doudizhu_heads import NUM_KICKERS, category_of, is_bomb, rank_of
from fogplay.games.doudizhu_moves import follow
from fogplay.jit import kernel, piece
from fogplay.simulators.doudizhu_features import (
    BOMBS,
    FACTS,
    HANDS,
    HEAD_WORDS,
    LAST,
    LAST_MOVES,
    MOVES,
    OPEN,
    OVER,
    PASSES,
    PLAYED,
    SEAT,
    SHOWN,
    TO_BEAT,
    WORDS,
    look,
    look_open,
)
from fogplay.simulators.doudizhu_policy import (
    KICKER_KIND,
    OUTPUTS,
    cards_of_move,
    draw_move,
    kicker_pool,
    ways_buffer,
)
from fogplay.simulators.doudizhu_random import deal_cards
from fogplay.simulators.streams import many_streams

GROUPS = 3
# What is kept of a move: its head, the kind of its kickers (-1: none) and their number.
HEAD, KIND, NUMBER, CHOICES = range(4)
POOL, TAKEN, SETS = range(3)  # the words of the kickers that could be taken, and that were
MOST_DOUBLINGS = 4  # that count in the points


@piece
def begin(words, facts, first, second, third, shown):
    """Begin a game on a lane, with the landlord's 17 cards first."""
    for place in range(WORDS):
        words[place] = 0
    words[HANDS], words[HANDS + 1], words[HANDS + 2], words[SHOWN] = first + shown, second, third, shown
    for place in range(FACTS):
        facts[place] = 0


@kernel
def make(words, facts, head, cards):
    """Make a move on a lane; if it is the last of the game, OVER is set and SEAT stays with the winner."""
    seat = facts[SEAT]
    words[HANDS + seat] -= cards
    words[PLAYED + seat] += cards
    for place in range(LAST_MOVES - 1, 0, -1):
        words[LAST + place] = words[LAST + place - 1]
    words[LAST] = cards
    facts[BOMBS] += is_bomb(head)
    facts[MOVES] += 1
    if words[HANDS + seat] == 0:
        facts[OVER] = 1
        return
    facts[TO_BEAT], facts[PASSES] = follow(facts[TO_BEAT], facts[PASSES], head)
    facts[SEAT] = (seat + 1) % 3


@kernel
def observe_lane(words, facts, seat, seen, legal, rng):
    """Begin a game if the lane waits for the landlord, then fill what the seat sees; return whether the lane plays.

    ``seen[44]`` has the open hands at its end; a lane that waits sees nothing and may only pass.
    """
    if facts[OVER] != 0 and seat == 0:
        first, second, third, shown = deal_cards(rng)
        begin(words, facts, first, second, third, shown)
    if facts[OVER] != 0:
        for place in range(OPEN):
            seen[place] = 0
        for place in range(HEAD_WORDS):
            legal[place] = np.int64(place == 0)
        return False
    look(words, facts, seat, seen, legal)
    look_open(words, seat, seen)
    return True


@kernel
def move_lane(words, facts, outputs, legal, heat, choice, sets, results, ways, rng):
    """Draw a move from a network's outputs and make it; return the logarithm of its probability.

    ``choice[3]`` and ``sets[2]`` become the move, ``results[3]`` what the game gave the landlord: won or lost (0 while
    it goes on), the points, and whether it is over.
    """
    results[0] = results[1] = results[2] = 0.0
    choice[HEAD], choice[KIND], choice[NUMBER], sets[POOL], sets[TAKEN] = 0, -1, 0, 0, 0
    if facts[OVER] != 0:
        return 0.0
    hand = words[HANDS + facts[SEAT]]
    head, kickers, logarithm = draw_move(outputs, legal, hand, heat, ways, rng)
    category = category_of(head)
    choice[HEAD] = head
    if KICKER_KIND[np.uint64(category)] >= 0:
        choice[KIND], choice[NUMBER] = KICKER_KIND[np.uint64(category)], NUM_KICKERS[np.uint64(category)]
        sets[POOL], sets[TAKEN] = np.int64(kicker_pool(hand, category, rank_of(head))), np.int64(kickers)
    make(words, facts, head, cards_of_move(head, kickers))
    if facts[OVER] != 0:
        sign = 1.0 if facts[SEAT] == 0 else -1.0
        results[0], results[1] = sign, sign * math.pow(2.0, min(facts[BOMBS], MOST_DOUBLINGS))
        results[2] = 1.0
    return logarithm


@kernel
def observe_all(step, words, facts, seen, legal, playing, rng):
    """``observe_lane`` for all lanes ``[3 groups, size]``; seat by seat in ``seen[3, size, 44]`` and its like."""
    for group in range(GROUPS):
        seat = (step + group) % 3
        for lane in range(words.shape[1]):
            playing[seat, lane] = observe_lane(
                words[group, lane], facts[group, lane], seat, seen[seat, lane], legal[seat, lane], rng[group, lane]
            )


@kernel
def move_all(step, words, facts, outputs, legal, heat, choice, sets, results, logarithms, ways, rng):
    """``move_lane`` for all lanes; outputs and results are seat by seat."""
    for group in range(GROUPS):
        seat = (step + group) % 3
        for lane in range(words.shape[1]):
            logarithms[seat, lane] = move_lane(
                words[group, lane], facts[group, lane], outputs[seat, lane], legal[seat, lane], heat,
                choice[seat, lane], sets[seat, lane], results[seat, lane], ways, rng[group, lane],
            )  # fmt: skip


class Lanes:
    """Lanes in the memory of the CPU: ``3 * size`` games.

    The arrays that are passed in are seat by seat: ``seen[3, size, 44]``, ``legal[3, size, 5]``, ``sets[3, size, 2]``
    of int64, ``playing[3, size]`` of bool, ``outputs[3, size, 476]``, ``logarithms[3, size]``, ``results[3, size, 3]``
    of float32, and ``choice[3, size, 3]`` of int32.
    """

    seen_words, open_words, legal_words, num_outputs = OPEN - 12, OPEN, HEAD_WORDS, OUTPUTS

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.words = np.zeros((GROUPS, size, WORDS), np.uint64)
        self.facts = np.zeros((GROUPS, size, FACTS), np.int32)
        self.facts[:, :, OVER] = 1
        self.rng: NDArray[np.uint64] = many_streams(seed, GROUPS * size).reshape(GROUPS, size, 2)
        self._ways = ways_buffer()

    def observe(self, step: int, seen, legal, playing) -> None:
        """Begin new games where it is their turn, and fill what the seats see."""
        observe_all(step, self.words, self.facts, seen, legal, playing, self.rng)

    def move(self, step: int, outputs, legal, heat: float, choice, sets, results, logarithms) -> None:
        """Draw a move on every lane from the networks' outputs and make it."""
        move_all(
            step, self.words, self.facts, outputs, legal, heat, choice, sets, results, logarithms, self._ways, self.rng
        )
