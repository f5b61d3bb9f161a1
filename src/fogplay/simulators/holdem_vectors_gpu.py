"""The last round of a walk through hold'em on a GPU: one thread per board and lane, the other rounds stay on the CPU.

A thread goes through the hands from the weakest to the strongest as ``holdem_vectors.py`` does, with the reach by card
in shared memory. It meets every decision in two passes: one adds up the reach after the opponent's actions, by card;
the other passes the hands in order of strength and takes folds, showdowns and what lies deeper into the values. Threads
of a warp have the same board and adjacent lanes, so that they never diverge and read adjacent numbers.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from fogplay.jit import piece
from fogplay.simulators.holdem_lines import DEEPER, ENDS, FOLDS
from fogplay.simulators.holdem_vectors import LARGEST, MIXED, SUM
from fogplay.vectors import WIDTH

with warnings.catch_warnings():  # numba's built-in CUDA target warns that it is deprecated
    warnings.simplefilter("ignore")
    import numba.cuda

cuda: Any = numba.cuda
THREADS = 64  # per block
THREADS_IN_DOUBLE = 32  # since shared memory holds half as many numbers
CARDS = 53  # rows of the reach by card: one per card, and one for all hands
ALL = np.uint64(CARDS - 1)
CALLED, FOLDED, PASSED = (np.uint64(each * CARDS) for each in range(3))  # sets of such rows: after calls, folds; so far
ROWS = 3 * CARDS
NONE = -1

_1, _0 = np.uint64(1), np.uint64(0)


# ---- What one thread does


@piece
def clear(held, first, thread, zero):
    """Set one set of rows to zero."""
    for row in range(np.uint64(CARDS)):
        held[first + row, thread] = zero


@piece
def count(held, first, thread, a, b, reach):
    """Add the reach of one hand."""
    held[first + a, thread] += reach
    held[first + b, thread] += reach


@piece
def apart(held, first, thread, total, a, b):
    """The reach of the hands that do not hold ``a`` or ``b``; a hand of both is subtracted twice."""
    return total - held[first + a, thread] - held[first + b, thread]


@piece
def probability(share, slot, bucket, lane, unit):
    """The probability of an action, from 255ths."""
    return unit * share[slot + np.uint64(bucket), lane]


@piece
def arriving(reach, share, buckets, path, begin, end, hand, bucket, lane, unit):
    """The opponent's reach at a decision."""
    found = reach[np.uint64(hand), lane]
    for step in range(begin, end):
        found *= probability(share, np.uint64(path[step]) * buckets, bucket, lane, unit)
    return found


@piece
def add_up(spot, begin, end, called, folded, board, reach, share, buckets, path, arrived, held, thread, lane, unit):
    """Fill the sets CALLED and FOLDED, and ``arrived[hands, WIDTH]`` with the reach at the decision."""
    hand, low, high, bucket = board
    zero = unit - unit
    clear(held, CALLED, thread, zero)
    clear(held, FOLDED, thread, zero)
    call_total, fold_total = zero, zero
    for place in range(np.uint64(len(hand))):
        a, b, kind = np.uint64(low[place]), np.uint64(high[place]), bucket[place]
        here = arriving(reach, share, buckets, path, begin, end, hand[place], kind, lane, unit)
        arrived[place, lane] = here
        calls = here
        if called >= 0:
            calls = here * probability(share, np.uint64(called) * buckets, kind, lane, unit)
        count(held, CALLED, thread, a, b, calls)
        call_total += calls
        if folded >= 0:
            folds = here * probability(share, np.uint64(folded) * buckets, kind, lane, unit)
            count(held, FOLDED, thread, a, b, folds)
            fold_total += folds
    held[CALLED + ALL, thread] = call_total
    held[FOLDED + ALL, thread] = fold_total


@piece
def joined(how, begun, value, worth, weight):
    """A value with the worth of one more action."""
    if how == MIXED:
        worth = worth * weight
    if not begun:
        return worth
    if how == LARGEST:
        return max(value, worth)
    return value + worth


@piece
def own_share(how, own, own_buckets, actions, at, bucket, lane, unit):
    """The responder's probability of action ``at``, where it follows a strategy."""
    if how == MIXED and at >= 0:
        return probability(own, np.uint64(actions[at].slot) * own_buckets, bucket, lane, unit)
    return unit


@piece
def deeper_value(how, place, to, near, far, far_to, value, own, own_buckets, actions, bucket, lane, unit):
    """What lies deeper: after ``near``, whose values are in place, and ``far``, whose values are elsewhere."""
    found = unit - unit
    if near >= 0:
        weight = own_share(how, own, own_buckets, actions, near, bucket, lane, unit)
        found = joined(how, False, found, value[to + place, lane], weight)
    if far >= 0:
        weight = own_share(how, own, own_buckets, actions, far, bucket, lane, unit)
        found = joined(how, near >= 0, found, value[far_to + place, lane], weight)
    return found


@piece
def settle(
    how, answers, begun, moves, to, far_to, board, own_bucket, ends, share, buckets, own, own_buckets, actions, stake,
    arrived, beaten, value, held, thread, lane, unit,
):  # fmt: skip
    """Pass the hands in order of strength, and write the values of a decision with a call that ends the hand.

    ``beaten[hands, WIDTH]`` is scratch: the reach of weaker hands, for the hands of one strength.
    """
    near, far, called, folded = moves
    hand, low, high, bucket = board
    zero = unit - unit
    clear(held, PASSED, thread, zero)
    passed, first, group = zero, _0, _0
    all_called, all_folded = held[CALLED + ALL, thread], held[FOLDED + ALL, thread]
    call_stake = stake[called, lane]
    fold_stake = stake[folded, lane] if folded >= 0 else zero
    call_slot = np.uint64(actions[called].slot) * buckets
    fold_slot = np.uint64(actions[folded].slot) * buckets if folded >= 0 else _0
    count_of_hands = np.uint64(len(hand))
    while first < count_of_hands:
        last = np.uint64(ends[group])
        group += _1
        for place in range(first, last):
            beaten[place - first, lane] = apart(
                held, PASSED, thread, passed, np.uint64(low[place]), np.uint64(high[place])
            )
        for place in range(first, last):
            calls = arrived[place, lane]
            if not answers:
                calls *= probability(share, call_slot, bucket[place], lane, unit)
            count(held, PASSED, thread, np.uint64(low[place]), np.uint64(high[place]), calls)
            passed += calls
        for place in range(first, last):
            a, b, kind, mine = np.uint64(low[place]), np.uint64(high[place]), bucket[place], own_bucket[place]
            possible = apart(held, CALLED, thread, all_called, a, b)
            above = possible - apart(held, PASSED, thread, passed, a, b)
            found = deeper_value(how, place, to, near, far, far_to, value, own, own_buckets, actions, mine, lane, unit)
            weight = own_share(how, own, own_buckets, actions, called, mine, lane, unit)
            found = joined(how, begun, found, call_stake * (beaten[place - first, lane] - above), weight)
            if folded >= 0:
                here = arrived[place, lane]
                if answers:
                    possible += here
                else:
                    folds = here * probability(share, fold_slot, kind, lane, unit)
                    possible = apart(held, FOLDED, thread, all_folded, a, b) + folds
                weight = own_share(how, own, own_buckets, actions, folded, mine, lane, unit)
                found = joined(how, True, found, fold_stake * possible, weight)
            value[to + place, lane] = found
        first = last


@piece
def moves_of(spot, spots, actions):
    """The actions of a decision: raised in place, to another buffer, called to the end, folded; NONE if it has not."""
    near, far, called, folded = NONE, NONE, NONE, NONE
    for at in range(spot.first, spot.first + spot.count):
        if actions[at].kind == DEEPER:
            if spots[actions[at].to].value == spot.value:
                near = at
            else:
                far = at
        elif actions[at].kind == ENDS:
            called = at
        elif actions[at].kind == FOLDS:
            folded = at
    return near, far, called, folded


def _kernel(kind: Any, threads: int) -> Any:
    """The kernel for numbers of one type and blocks of one size, which shared memory must know beforehand."""
    chunks = threads // WIDTH

    @cuda.jit
    def walk_boards(
        spots, actions, path, path_end, responder, joining, hand, low, high, theirs, mine, ends, reach, share, buckets,
        own, own_buckets, stake, unit, arrived, beaten, value,
    ):  # fmt: skip
        """``holdem_vectors.walk_last`` up to the sum: fill ``value[boards, chunks, values * hands, WIDTH]``."""
        held = cuda.shared.array((ROWS, threads), kind)
        thread = cuda.threadIdx.x
        number, chunk = cuda.blockIdx.x, cuda.blockIdx.y * chunks + thread // WIDTH
        lane = np.uint64(thread % WIDTH)
        if chunk >= reach.shape[0]:
            return
        board = hand[number], low[number], high[number], theirs[number]
        hands = np.uint64(hand.shape[1])
        mine_here, ends_here = mine[number], ends[number]
        reach_here, share_here, own_here, stake_here = reach[chunk], share[chunk], own[chunk], stake[chunk]
        arrived_here, beaten_here, value_here = arrived[number, chunk], beaten[number, chunk], value[number, chunk]
        for place in range(len(spots) - 1, -1, -1):
            spot = spots[place]
            near, far, called, folded = moves_of(spot, spots, actions)
            answers = spot.player == responder
            how = joining if answers else SUM
            to = np.uint64(spot.value) * hands
            far_to = np.uint64(spots[actions[far].to].value) * hands if far >= 0 else to
            if called >= 0:
                call_slot = actions[called].slot if not answers else NONE
                fold_slot = actions[folded].slot if folded >= 0 and not answers else NONE
                begin, end = path_end[place], path_end[place + 1]
                add_up(
                    spot, begin, end, call_slot, fold_slot, board, reach_here, share_here, buckets, path, arrived_here,
                    held, thread, lane, unit,
                )  # fmt: skip
                begun = near >= 0 or far >= 0
                settle(
                    how, answers, begun, (near, far, called, folded), to, far_to, board, mine_here, ends_here,
                    share_here, buckets, own_here, own_buckets, actions, stake_here, arrived_here, beaten_here,
                    value_here, held, thread, lane, unit,
                )  # fmt: skip
            else:
                for each in range(hands):
                    value_here[to + each, lane] = deeper_value(
                        how, each, to, near, far, far_to, value_here, own_here, own_buckets, actions, mine_here[each],
                        lane, unit,
                    )  # fmt: skip

    return walk_boards


walk_single, walk_double = _kernel(np.float32, THREADS), _kernel(np.float64, THREADS_IN_DOUBLE)


@cuda.jit
def sum_boards(boards, place, weight, begin, value, sums):
    """Fill ``sums[chunks, hands, WIDTH]`` with the weighted sum over boards, in their order.

    ``place[boards, hands]`` says where a hand's values are; NONE if the board does not allow it.
    """
    at = cuda.grid(1)
    hands = place.shape[1]
    if at >= sums.shape[0] * hands * WIDTH:
        return
    lane, hand, chunk = at % WIDTH, at // WIDTH % hands, at // WIDTH // hands
    total = 0.0
    for board in range(boards):
        row = place[board, hand]
        if row >= 0:
            total += weight[board] * value[board, chunk, begin + row, lane]
    sums[chunk, hand, lane] = total


@cuda.jit
def sum_images(count, images, scale, sums, finished):
    """``holdem_vectors.average_over``, from ``sums[chunks, hands, WIDTH]`` to ``finished``."""
    at = cuda.grid(1)
    hands = images.shape[1]
    if at >= sums.shape[0] * hands * WIDTH:
        return
    lane, hand, chunk = at % WIDTH, at // WIDTH % hands, at // WIDTH // hands
    total = 0.0
    for image in range(count):
        total += sums[chunk, images[image, hand], lane]
    finished[chunk, hand, lane] = total * scale
