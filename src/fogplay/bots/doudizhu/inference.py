"""What the two others may hold: worlds that agree with what a player saw, weighted by what the others did.

Worlds are proposed rank by rank from the belief of the player's own network, which learned the hands of others in
self-play. Each is then weighted by Bayes' rule: how likely it was before any move, and how likely the networks would
have made the others' moves with these hands (DeltaDou, section 4.3).
"""

from __future__ import annotations

import math
import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu.asking import NOBODY, Asking
from fogplay.bots.doudizhu.worlds import draw_evenly, propose
from fogplay.games.doudizhu_cards import NUM_RANKS, num_cards
from fogplay.games.doudizhu_heads import category_of
from fogplay.games.doudizhu_worlds import HAND, ways_buffer
from fogplay.jit import kernel, piece
from fogplay.simulators.doudizhu_features import (
    FACTS,
    HANDS,
    HEAD_WORDS,
    MOVES,
    PLAYED,
    SEAT,
    SEEN,
    SHOWN,
    TO_BEAT,
    WORDS,
    can_answer,
    look,
)
from fogplay.simulators.doudizhu_lanes import begin, make
from fogplay.simulators.doudizhu_policy import (
    BELIEF,
    COUNTS,
    KICKER_KIND,
    OUTPUTS,
    move_probability,
    next_head,
)
from fogplay.simulators.doudizhu_policy import ways_buffer as kicker_buffer
from fogplay.simulators.streams import uniform

LONGEST = 192  # moves of a game, at most
_ROWS = 1 << 14  # rows that networks are asked about at a time
_own = threading.local()  # every thread's rows, which are too large to come and go with every decision


class Situations(NamedTuple):
    """Positions as one player sees them; nothing in them depends on hidden hands."""

    words: NDArray[np.uint64]  # [roots, WORDS] lanes in which the others' hands are empty
    facts: NDArray[np.int32]  # [roots, FACTS]
    heads: NDArray[np.int16]  # [roots, LONGEST] all moves so far
    cards: NDArray[np.uint64]  # [roots, LONGEST]


class Thinking(NamedTuple):
    """How worlds are drawn and weighted."""

    below: int  # infer where a player has fewer cards than this; otherwise draw evenly
    worlds: int  # that are handed to the search
    proposals: int  # drawn at most, to find so many different worlds:
    different: int
    trust: float  # in the belief, from 0 (worlds are proposed evenly) to 1
    belief: float  # how far the belief replaces Bayes' rule, from 0 to 1
    moves: int  # of the others' last moves that count; 0: none
    heat: float  # the temperature of their moves
    floor: float  # the least probability of a move


class Worlds(NamedTuple):
    """Different worlds of every root, with weights that add up to 1."""

    number: NDArray[np.int64]  # [roots] how many there are
    hands: NDArray[np.uint64]  # [roots, different, 3]
    weights: NDArray[np.float64]  # [roots, different]


def some_of(own: Situations, roots: NDArray[np.int64]) -> Situations:
    """Some of the situations, copied."""
    return Situations(own.words[roots], own.facts[roots], own.heads[roots], own.cards[roots])


def situations(roots: int) -> Situations:
    """Memory for positions."""
    return Situations(
        np.zeros((roots, WORDS), np.uint64),
        np.zeros((roots, FACTS), np.int32),
        np.zeros((roots, LONGEST), np.int16),
        np.zeros((roots, LONGEST), np.uint64),
    )


# ---- Bayes


class Rows(NamedTuple):
    """Questions to networks about the others' moves in some worlds."""

    asks: NDArray[np.int8]  # [roots, worlds, moves] the seat that moved, or NOBODY
    place: NDArray[np.int16]  # [roots, worlds, moves] of the move in the game
    held: NDArray[np.uint64]  # [roots, worlds, moves] what its player held
    seen: NDArray[np.int64]  # [roots, worlds, moves, 32]
    legal: NDArray[np.int64]  # [roots, worlds, moves, 5]
    outputs: NDArray[np.float32]  # [roots, worlds, moves, 476]


def rows(roots: int, worlds: int, moves: int) -> Rows:
    """Memory for questions."""
    size = (roots, worlds, moves)
    return Rows(
        np.full(size, NOBODY, np.int8),
        np.zeros(size, np.int16),
        np.zeros(size, np.uint64),
        np.zeros((*size, SEEN), np.int64),
        np.zeros((*size, HEAD_WORDS), np.int64),
        np.zeros((*size, OUTPUTS), np.float32),
    )


def _own_rows(roots: int, worlds: int, moves: int) -> Rows:
    """``rows`` of the calling thread, which its next call reuses."""
    kept: Rows | None = getattr(_own, "kept", None)
    needed = roots * worlds * moves
    if kept is None or kept.asks.size < needed:
        kept = _own.kept = rows(needed, 1, 1)
    return Rows._make(
        array.reshape(kept.asks.size, *array.shape[3:])[:needed].reshape(roots, worlds, moves, *array.shape[3:])
        for array in kept
    )


@kernel
def replay(root, own, hands, lane, lane_facts, rows, at, world):
    """Play a game again with the hands of a world, and note what the others saw before each of their last moves.

    Moves without a choice are left out. ``own`` are situations; ``lane`` and ``lane_facts`` are scratch; ``at`` is the
    place of the root in ``rows``.
    """
    words, facts = own.words[root], own.facts[root]
    first = hands[0] + words[PLAYED] - words[SHOWN]
    begin(lane, lane_facts, first, hands[1] + words[PLAYED + 1], hands[2] + words[PLAYED + 2], words[SHOWN])
    seat, count, most = np.int64(facts[SEAT]), np.int64(facts[MOVES]), rows.asks.shape[2]
    row = most - (count - (count + 2 - seat) // 3)  # the first row, or one before it: the earliest are left out
    for move in range(count):
        mover = np.int64(lane_facts[SEAT])
        if mover != seat:
            if row >= 0 and can_answer(lane[HANDS + mover], np.int64(lane_facts[TO_BEAT])):
                legal = rows.legal[at, world, row]
                look(lane, lane_facts, mover, rows.seen[at, world, row], legal)
                if has_choice(legal):
                    rows.asks[at, world, row] = mover
                    rows.place[at, world, row], rows.held[at, world, row] = move, lane[HANDS + mover]
            row += 1
        make(lane, lane_facts, np.int64(own.heads[root, move]), own.cards[root, move])


@piece
def has_choice(legal):
    """Whether there is more than one legal head, or the only one takes kickers."""
    head = next_head(legal, -1)
    return next_head(legal, head) >= 0 or KICKER_KIND[np.uint64(category_of(head))] >= 0


@kernel
def replay_all(first, last, own, worlds, lane, lane_facts, rows):
    """``replay`` for all worlds of the roots from ``first`` to ``last``."""
    for root in range(first, last):
        for world in range(worlds.number[root]):
            for row in range(rows.asks.shape[2]):
                rows.asks[root - first, world, row] = NOBODY
            replay(root, own, worlds.hands[root, world], lane, lane_facts, rows, root - first, world)
        for world in range(worlds.number[root], rows.asks.shape[1]):
            for row in range(rows.asks.shape[2]):
                rows.asks[root - first, world, row] = NOBODY


@kernel
def weigh_all(first, last, own, worlds, rows, heat, floor, power, ways):
    """Add the logarithms of the probabilities of the others' moves, times ``power``, to those in ``worlds.weights``."""
    for root in range(first, last):
        at = root - first
        for world in range(worlds.number[root]):
            for row in range(rows.asks.shape[2]):
                if rows.asks[at, world, row] == NOBODY:
                    continue
                move = rows.place[at, world, row]
                found = move_probability(
                    rows.outputs[at, world, row], rows.legal[at, world, row], rows.held[at, world, row],
                    np.int64(own.heads[root, move]), own.cards[root, move], heat, ways,
                )  # fmt: skip
                worlds.weights[root, world] += power * max(found, math.log(floor))


@kernel
def normalise(worlds):
    """Turn the logarithms in ``worlds.weights`` into weights that add up to 1."""
    for root in range(len(worlds.number)):
        top, total = -np.inf, 0.0
        for world in range(worlds.number[root]):
            top = max(top, worlds.weights[root, world])
        for world in range(worlds.number[root]):
            total += math.exp(worlds.weights[root, world] - top)
        for world in range(worlds.weights.shape[1]):
            if world < worlds.number[root]:
                worlds.weights[root, world] = math.exp(worlds.weights[root, world] - top) / total
            else:
                worlds.weights[root, world] = 0.0


@kernel
def propose_all(own, inferring, outputs, trust, belief, proposals, worlds, weights, ways, rng):
    """Propose worlds for every root; those that do not infer have as many as fit, drawn evenly, and equal weights."""
    for root in range(len(worlds.number)):
        words, seat, hands = own.words[root], np.int64(own.facts[root, SEAT]), worlds.hands[root]
        if inferring[root]:
            scores = outputs[root, BELIEF : BELIEF + NUM_RANKS * COUNTS]
            worlds.number[root] = propose(
                words, seat, scores, trust, belief, proposals, hands, worlds.weights[root], weights, ways, rng[root]
            )
        else:
            worlds.number[root] = len(hands)
            draw_evenly(words, seat, hands, len(hands), weights, ways, rng[root])
            worlds.weights[root, :] = 0.0


@kernel
def resample(worlds, hands, order, rng):
    """Fill ``hands[roots, wanted, 3]`` with worlds in random order, each as often as its weight says."""
    wanted = hands.shape[1]
    for root in range(len(worlds.number)):
        for place in range(wanted):
            other = np.int64(uniform(rng[root]) * (place + 1))
            order[place] = order[other]
            order[other] = place
        world, left = 0, worlds.weights[root, 0]
        start = uniform(rng[root])
        for place in range(wanted):
            while left * wanted <= place + start and world < worlds.number[root] - 1:
                world += 1
                left += worlds.weights[root, world]
            for seat in range(3):
                hands[root, order[place], seat] = worlds.hands[root, world, seat]


def infer(
    own: Situations, outputs: NDArray[np.float32], asking: Asking, thinking: Thinking, rng: NDArray[np.uint64]
) -> Worlds:
    """Worlds for every situation; ``outputs[roots, 476]`` are those of the networks of the players to move.

    ``rng[roots, 2]`` is mutated.
    """
    roots = len(own.words)
    inferring = fewest_cards(own) < thinking.below
    most = max(thinking.different, 1)
    worlds = Worlds(np.zeros(roots, np.int64), np.zeros((roots, most, 3), np.uint64), np.zeros((roots, most)))
    scratch = np.zeros((NUM_RANKS, COUNTS)), ways_buffer()
    propose_all(own, inferring, outputs, thinking.trust, thinking.belief, thinking.proposals, worlds, *scratch, rng)
    if thinking.moves > 0 and thinking.belief < 1.0:
        _judge(own, worlds, np.flatnonzero(inferring), asking, thinking)
    normalise(worlds)
    return worlds


def _judge(own: Situations, worlds: Worlds, roots: NDArray[np.int64], asking: Asking, thinking: Thinking) -> None:
    """Add to ``worlds.weights`` what the others' moves say, for some roots."""
    moves = int(min(thinking.moves, own.facts[roots, MOVES].max(initial=0)))
    if moves == 0 or len(roots) == 0:
        return
    most = worlds.hands.shape[1]
    chunk = max(_ROWS // (most * moves), 1)
    room = _own_rows(min(chunk, len(roots)), most, moves)
    lane, lane_facts = np.zeros(WORDS, np.uint64), np.zeros(FACTS, np.int32)
    for first in range(0, len(roots), chunk):
        some = roots[first : first + chunk]
        own_part = some_of(own, some)
        part = Worlds(worlds.number[some], worlds.hands[some], worlds.weights[some])
        replay_all(0, len(some), own_part, part, lane, lane_facts, room)
        asks = room.asks[: len(some)].reshape(-1)
        seen, answers = room.seen.reshape(-1, SEEN), room.outputs.reshape(-1, OUTPUTS)
        asking.fill(asks, seen, answers)
        power = 1.0 - thinking.belief
        weigh_all(0, len(some), own_part, part, room, thinking.heat, thinking.floor, power, kicker_buffer())
        worlds.weights[some] = part.weights


def fewest_cards(own: Situations) -> NDArray[np.int64]:
    """[roots] the smallest number of cards that a player holds."""
    found = np.zeros(len(own.words), np.int64)
    count_fewest(own, found)
    return found


@kernel
def count_fewest(own, found):
    """Fill ``found[roots]`` with the smallest number of cards that a player holds."""
    for root in range(len(found)):
        least = HAND + 3
        for seat in range(3):
            dealt = HAND + 3 if seat == 0 else HAND
            least = min(least, dealt - num_cards(own.words[root, PLAYED + seat]))
        found[root] = least
