"""Kernels of counterfactual regret minimisation in hold'em, on one board with all hands of both players at once.

A row is a vector of ``WIDTH`` lanes (``holdem_lines.py``). A *side* is one player in one round. A board meets few of a
grid's buckets; they are numbered anew, so that what a player does with them, and what that is worth, takes little room.
Regrets lie bucket after bucket, so that a bucket reads one stretch of memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel, piece
from fogplay.simulators.holdem_rounds import walk_chunk_down, walk_chunk_up
from fogplay.simulators.holdem_vectors import LEARNED, Own
from fogplay.vectors import WIDTH, larger, load, store

ZERO, LEAST, WEIGHT = np.uint64(0), np.uint64(1), np.uint64(2)  # rows of the constants: see ``new_constants``
SLOT, COUNT, BEFORE = 0, 1, 2
FIRST = np.uint64(1 << 32)  # instead of the slot before, at a player's first decision


class Side(NamedTuple):
    """One player in one round; all numbers are float32 unless said otherwise."""

    spots: NDArray[Any]  # [decisions] SPOT, of this player as the responder
    decisions: NDArray[np.uint64]  # [own decisions, 3] the first slot, the actions, the player's slot before or FIRST
    answers: bool  # it has no regrets in this round but the best response to what the other player does now
    slots: np.uint64
    regret: NDArray[np.float32]  # [chunks, buckets * slots, WIDTH]
    average: NDArray[np.float32]  # the same: the sum of strategies, by weight and reach; [0, 0, WIDTH]: not kept
    stake: NDArray[np.float32]  # [chunks, actions, WIDTH]
    bucket: NDArray[np.uint16]  # [hands] numbered anew
    met: NDArray[np.uint64]  # [met] the number in the grid of each bucket on this board
    steps: tuple[np.uint64, np.uint64]  # from a bucket's row to the next one's, and from a slot's, in what follows
    reach: NDArray[np.float32]  # [chunks, hands, WIDTH] with which the player reaches the round
    value: NDArray[np.float32]  # [chunks, hands, WIDTH] of the round's first decision, times the other's reach
    share: NDArray[np.float32]  # [met * slots, WIDTH] scratch: probabilities
    played: NDArray[np.float32]  # [met * slots, WIDTH] scratch: their products from the start of the round
    worth: NDArray[np.float32]  # [met * slots, WIDTH] scratch: the sums over hands of what actions are worth


def new_constants(weight: float) -> NDArray[np.float32]:
    """Rows of zeros, of a number that is next to nothing, and of the weight of an iteration."""
    return np.repeat(np.array([0.0, 1e-30, weight], np.float32), WIDTH).reshape(3, WIDTH)


@kernel
def match_regrets(side, chunk, constants):
    """Fill ``side.share`` and ``side.played``: in proportion to positive regrets, and even where there are none.

    ``side.worth`` is cleared.
    """
    if side.answers:
        return
    zero, least = load(constants, ZERO), load(constants, LEAST)
    regret, by_bucket, by_slot = side.regret[chunk], side.steps[0], side.steps[1]
    for bucket in range(np.uint64(len(side.met))):
        first, row = side.met[bucket] * side.slots, bucket * by_bucket
        for place in range(len(side.decisions)):
            slot, count, before = (
                side.decisions[place, SLOT], side.decisions[place, COUNT], side.decisions[place, BEFORE],
            )  # fmt: skip
            total = zero
            for action in range(slot, slot + count):
                total = total + larger(load(regret, first + action), zero) + least
            for action in range(slot, slot + count):
                share = (larger(load(regret, first + action), zero) + least) / total
                at = row + action * by_slot
                store(side.share, at, share)
                if before != FIRST:
                    share = share * load(side.played, row + before * by_slot)
                store(side.played, at, share)
                store(side.worth, at, zero)


@kernel
def add_average(side, chunk, constants):
    """Add what the player does to its average, by its reach and the iteration's weight; ``side.share`` is overwritten.

    The reach of a bucket is the sum over its hands.
    """
    if len(side.average) == 0 or side.answers:
        return
    zero, weight = load(constants, ZERO), load(constants, WEIGHT)
    average, reach, by_bucket, by_slot = side.average[chunk], side.reach[chunk], side.steps[0], side.steps[1]
    for bucket in range(np.uint64(len(side.met))):
        store(side.share, bucket, zero)
    for hand in range(np.uint64(len(side.bucket))):
        of_hand = np.uint64(side.bucket[hand])
        store(side.share, of_hand, load(side.share, of_hand) + load(reach, hand))
    for bucket in range(np.uint64(len(side.met))):
        first, row = side.met[bucket] * side.slots, bucket * by_bucket
        reached = weight * load(side.share, bucket)
        for slot in range(side.slots):
            added = reached * load(side.played, row + slot * by_slot)
            store(average, first + slot, load(average, first + slot) + added)


@kernel
def add_regrets(side, chunk, constants):
    """Add the regrets of every bucket: what each action was worth, less what the player's strategy was."""
    if side.answers:
        return
    zero, weight = load(constants, ZERO), load(constants, WEIGHT)
    regret, by_bucket, by_slot = side.regret[chunk], side.steps[0], side.steps[1]
    for bucket in range(np.uint64(len(side.met))):
        first, row = side.met[bucket] * side.slots, bucket * by_bucket
        for place in range(len(side.decisions)):
            slot, count = side.decisions[place, SLOT], side.decisions[place, COUNT]
            mean = zero
            for action in range(slot, slot + count):
                at = row + action * by_slot
                mean = mean + load(side.share, at) * load(side.worth, at)
            for action in range(slot, slot + count):
                gain = weight * (load(side.worth, row + action * by_slot) - mean)
                store(regret, first + action, load(regret, first + action) + gain)


@kernel
def reach_next(actions, board, seat, own, theirs, chunks, ahead, constants, buffers, onward):
    """Fill ``onward[chunks * hands, WIDTH]``, with which ``theirs`` reaches the next round from ``chunks[2]``."""
    for chunk in range(chunks[0], chunks[1]):
        match_regrets(theirs, chunk, constants)
        lanes = ahead[chunk * WIDTH : (chunk + 1) * WIDTH]
        met = np.int64(len(theirs.met))
        walk_chunk_down(own.spots, actions, seat, board, theirs.reach[chunk], theirs.share, met, lanes, buffers, onward)


@piece
def _return(actions, board, seat, own, theirs, chunk, ahead, onward, known, buffers):
    """Walk one chunk of an earlier round for the values of ``own``, from ``onward``, those of the next round."""
    own.value[chunk, :, :] = 0.0
    walk_chunk_up(
        own.spots, actions, seat, LEARNED, board, theirs.reach[chunk], theirs.share, np.int64(len(theirs.met)),
        Own(own.share, own.worth), np.int64(len(own.met)), own.stake[chunk], ahead, onward, known, buffers,
        own.value[chunk], 1.0,
    )  # fmt: skip


@kernel
def learn_earlier(
    actions, boards, first, second, chunks, ahead, onward_first, onward_second, constants, known, buffers
):
    """Learn from a round before the last on ``chunks[2]``, the first and the one after the last.

    ``boards[seats]`` has the hands as each responder meets them; ``onward_*[chunks * hands, WIDTH]`` are the values of
    the next round.
    """
    for chunk in range(chunks[0], chunks[1]):
        lanes = ahead[chunk * WIDTH : (chunk + 1) * WIDTH]
        match_regrets(first, chunk, constants)
        match_regrets(second, chunk, constants)
        _return(actions, boards[0], 0, first, second, chunk, lanes, onward_first, known, buffers)
        _return(actions, boards[1], 1, second, first, chunk, lanes, onward_second, known, buffers)
        add_regrets(first, chunk, constants)
        add_regrets(second, chunk, constants)
        add_average(first, chunk, constants)
        add_average(second, chunk, constants)
