"""Kernels of counterfactual regret minimisation in hold'em, on one board with all hands of both players at once.

A row is a vector of ``WIDTH`` lanes (``holdem_lines.py``). A *side* is one player in one round. Its regrets lie bucket
after bucket, so that a hand reads one stretch of memory. Before a walk the probabilities of every hand are written to
``share``, action after action; walks then take a hand's place in the order of hands for its bucket.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel, piece
from fogplay.simulators.holdem_rounds import walk_chunk_down, walk_chunk_up
from fogplay.simulators.holdem_vectors import CHOSEN, LEARNED, Own, walk_last
from fogplay.vectors import WIDTH, equal, larger, load, store

ZERO, LEAST, WEIGHT = np.uint64(0), np.uint64(1), np.uint64(2)  # rows of the constants: see ``new_constants``
SLOT, COUNT, REACH = 0, 1, 2
ONE = np.uint64(1)


class Side(NamedTuple):
    """One player in one round; all numbers are float32 unless said otherwise."""

    spots: NDArray[Any]  # [decisions] SPOT, of this player as the responder
    decisions: NDArray[np.uint64]  # [own decisions, 3] the first slot, the actions, the buffer of this player's reach
    answers: bool  # it has no regrets in this round but the best response to what the other player does now
    slots: np.uint64
    regret: NDArray[np.float32]  # [chunks, buckets * slots, WIDTH]
    average: NDArray[np.float32]  # the same: the sum of strategies, by weight and reach; [0, 0, WIDTH]: not kept
    stake: NDArray[np.float32]  # [chunks, actions, WIDTH]
    bucket: NDArray[np.uint16]  # [hands]
    reach: NDArray[np.float32]  # [chunks, hands, WIDTH] with which the player reaches the round
    value: NDArray[np.float32]  # [chunks, hands, WIDTH] of the round's first decision, times the other's reach
    share: NDArray[np.float32]  # [slots * hands, WIDTH] scratch
    worth: NDArray[np.float32]  # [slots * hands, WIDTH] scratch


def new_constants(weight: float) -> NDArray[np.float32]:
    """Rows of zeros, of a number that is next to nothing, and of the weight of an iteration."""
    return np.repeat(np.array([0.0, 1e-30, weight], np.float32), WIDTH).reshape(3, WIDTH)


@kernel
def match_regrets(side, chunk, constants):
    """Fill ``side.share``: probabilities in proportion to positive regrets, and even where there are none."""
    if side.answers:
        return
    zero, least = load(constants, ZERO), load(constants, LEAST)
    regret, hands = side.regret[chunk], np.uint64(len(side.bucket))
    for hand in range(hands):
        first = np.uint64(side.bucket[hand]) * side.slots
        for place in range(len(side.decisions)):
            slot, count = side.decisions[place, SLOT], side.decisions[place, COUNT]
            total = zero
            for action in range(slot, slot + count):
                total = total + larger(load(regret, first + action), zero) + least
            for action in range(slot, slot + count):
                positive = larger(load(regret, first + action), zero) + least
                store(side.share, action * hands + hand, positive / total)


@kernel
def add_average(side, chunk, reach, constants):
    """Add what the player does to its average, by its ``reach[buffers * hands, WIDTH]`` and the iteration's weight."""
    if len(side.average) == 0 or side.answers:
        return
    weight = load(constants, WEIGHT)
    average, hands = side.average[chunk], np.uint64(len(side.bucket))
    for hand in range(hands):
        first = np.uint64(side.bucket[hand]) * side.slots
        for place in range(len(side.decisions)):
            slot, count = side.decisions[place, SLOT], side.decisions[place, COUNT]
            reached = weight * load(reach, side.decisions[place, REACH] * hands + hand)
            for action in range(slot, slot + count):
                added = reached * load(side.share, action * hands + hand)
                store(average, first + action, load(average, first + action) + added)


@kernel
def add_regrets(side, chunk, constants):
    """Add the regrets of every hand: what each action was worth, less what the player's strategy was."""
    if side.answers:
        return
    zero, weight = load(constants, ZERO), load(constants, WEIGHT)
    regret, hands = side.regret[chunk], np.uint64(len(side.bucket))
    for hand in range(hands):
        first = np.uint64(side.bucket[hand]) * side.slots
        for place in range(len(side.decisions)):
            slot, count = side.decisions[place, SLOT], side.decisions[place, COUNT]
            mean = zero
            for action in range(slot, slot + count):
                row = action * hands + hand
                mean = mean + load(side.share, row) * load(side.worth, row)
            for action in range(slot, slot + count):
                gain = weight * (load(side.worth, action * hands + hand) - mean)
                store(regret, first + action, load(regret, first + action) + gain)


@kernel
def choose(side):
    """Fill ``side.share`` with the best response: the first of the actions that are worth most."""
    hands = np.uint64(len(side.bucket))
    for place in range(len(side.decisions)):
        slot, count = side.decisions[place, SLOT], side.decisions[place, COUNT]
        for hand in range(hands):
            best = load(side.worth, slot * hands + hand)
            for action in range(slot + ONE, slot + count):
                best = larger(best, load(side.worth, action * hands + hand))
            left = equal(best, best)
            for action in range(slot, slot + count):
                chosen = left * equal(load(side.worth, action * hands + hand), best)
                store(side.share, action * hands + hand, chosen)
                left = left - chosen


@piece
def _meet(actions, board, seat, own, theirs, chunk, constants, one, nothing, buffers):
    """Walk one chunk of the last round for the values of ``own``; ``one[1]`` is 1."""
    hands = np.int64(len(own.bucket))
    own.value[chunk, :, :] = 0.0
    walk_last(
        own.spots, actions, seat, CHOSEN if own.answers else LEARNED, board, one, theirs.reach[chunk], theirs.share,
        hands, Own(own.share, own.worth), hands, own.stake[chunk], nothing, buffers, own.value[chunk],
    )  # fmt: skip
    add_average(theirs, chunk, buffers.reach, constants)


@kernel
def learn_last(actions, board, first, second, chunks, constants, one, nothing, buffers):
    """Learn from the last round on ``chunks[2]``, the first and the one after the last; an answer comes first."""
    for chunk in range(chunks[0], chunks[1]):
        match_regrets(first, chunk, constants)
        match_regrets(second, chunk, constants)
        if first.answers:
            _meet(actions, board, 0, first, second, chunk, constants, one, nothing, buffers)
            choose(first)
        _meet(actions, board, 1, second, first, chunk, constants, one, nothing, buffers)
        if second.answers:
            choose(second)
        if not first.answers:
            _meet(actions, board, 0, first, second, chunk, constants, one, nothing, buffers)
        add_regrets(first, chunk, constants)
        add_regrets(second, chunk, constants)


@kernel
def reach_next(actions, board, seat, own, theirs, chunks, ahead, constants, buffers, onward):
    """Fill ``onward[chunks * hands * WIDTH]``, with which ``theirs`` reaches the next round from ``chunks[2]``."""
    hands = np.int64(len(own.bucket))
    for chunk in range(chunks[0], chunks[1]):
        match_regrets(theirs, chunk, constants)
        lanes = ahead[chunk * WIDTH : (chunk + 1) * WIDTH]
        walk_chunk_down(
            own.spots, actions, seat, board, theirs.reach[chunk], theirs.share, hands, lanes, buffers, onward
        )


@piece
def _return(actions, board, seat, own, theirs, chunk, ahead, onward, constants, known, buffers):
    """Walk one chunk of an earlier round for the values of ``own``, from ``onward``, those of the next round."""
    hands = np.int64(len(own.bucket))
    own.value[chunk, :, :] = 0.0
    walk_chunk_up(
        own.spots, actions, seat, LEARNED, board, theirs.reach[chunk], theirs.share, hands,
        Own(own.share, own.worth), hands, own.stake[chunk], ahead, onward, known, buffers, own.value[chunk], 1.0,
    )  # fmt: skip
    add_average(theirs, chunk, buffers.reach, constants)


@kernel
def learn_earlier(actions, board, first, second, chunks, ahead, onward_first, onward_second, constants, known, buffers):
    """The same for a round before the last; ``onward_*[chunks * hands * WIDTH]`` are the values of the next round."""
    for chunk in range(chunks[0], chunks[1]):
        lanes = ahead[chunk * WIDTH : (chunk + 1) * WIDTH]
        match_regrets(first, chunk, constants)
        match_regrets(second, chunk, constants)
        _return(actions, board, 0, first, second, chunk, lanes, onward_first, constants, known, buffers)
        _return(actions, board, 1, second, first, chunk, lanes, onward_second, constants, known, buffers)
        add_regrets(first, chunk, constants)
        add_regrets(second, chunk, constants)
