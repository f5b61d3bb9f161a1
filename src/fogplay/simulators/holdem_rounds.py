"""Kernels of the walk for rounds before the last: lanes of one round go to lanes of the next, and come back.

Buffers are those of ``holdem_vectors.py``.
"""

from __future__ import annotations

import numpy as np

from fogplay.jit import kernel
from fogplay.simulators.holdem_lines import ENDS
from fogplay.simulators.holdem_vectors import MIXED, Own, ascend, descend
from fogplay.vectors import WIDTH, load, store


@kernel
def walk_down(spots, actions, responder, board, reach, share, buckets, ahead, buffers, onward):
    """Fill ``onward[chunks * hands, WIDTH]``, the reach at the next round, from ``reach[chunks, hands, WIDTH]``.

    ``ahead[lanes, ends]`` are the lanes of the next round.
    """
    for chunk in range(reach.shape[0]):
        lanes = ahead[chunk * WIDTH : (chunk + 1) * WIDTH]
        walk_chunk_down(spots, actions, responder, board, reach[chunk], share[chunk], buckets, lanes, buffers, onward)


@kernel
def find_lanes(ahead, end, hands, lanes, rows, places):
    """Find the lanes that go on after an end, and where the next round has them in ``[chunks * hands, WIDTH]``.

    ``lanes[WIDTH]``, ``rows[WIDTH]`` and ``places[WIDTH]`` are filled; how many there are is returned.
    """
    count = 0
    for lane in range(WIDTH):
        there = ahead[lane, end]
        if there >= 0:
            lanes[count], rows[count], places[count] = lane, there // WIDTH * hands, there % WIDTH
            count += 1
    return count


@kernel
def is_whole(ahead, end):
    """Whether a chunk of lanes goes on as a chunk."""
    first = ahead[0, end]
    whole = first >= 0 and first % WIDTH == 0
    for lane in range(WIDTH):
        whole &= ahead[lane, end] == first + lane
    return whole


@kernel
def walk_chunk_down(spots, actions, responder, board, reach, share, buckets, ahead, buffers, onward):
    """The same for one chunk of lanes."""
    hands = np.uint64(board.hand.shape[1])
    bucket, row = board.theirs[0], buffers.played
    lanes, rows, places = buffers.lanes[0], buffers.lanes[1], buffers.lanes[2]
    for place in range(hands):
        store(buffers.reach, place, load(reach, board.hand[0, place]))
    descend(spots, actions, responder, bucket, share, buckets, buffers)
    for number in range(len(spots)):
        spot = spots[number]
        begin = np.uint64(spot.reach) * hands
        for at in range(spot.first, spot.first + spot.count):
            action = actions[at]
            if action.kind != ENDS:
                continue
            whole, count = is_whole(ahead, action.to), find_lanes(ahead, action.to, reach.shape[0], lanes, rows, places)
            first = np.uint64(action.slot) * np.uint64(buckets)
            for hand in range(hands):
                to = np.uint64(board.hand[0, hand])
                played = load(buffers.reach, begin + hand)
                if spot.player != responder:
                    played = played * load(share, first + np.uint64(bucket[hand]))
                if whole:
                    store(onward, rows[0] + to, played)
                else:
                    store(row, np.uint64(0), played)
                    for each in range(count):
                        onward[rows[each] + to, places[each]] = row[0, lanes[each]]


@kernel
def walk_up(
    spots, actions, responder, how, board, reach, share, buckets, own, own_buckets, stake, ahead, onward, known,
    buffers, sums, weight,
):  # fmt: skip
    """Add to ``sums[chunks, hands, WIDTH]`` the values of a round that is not the last, times ``weight``.

    ``onward[chunks * hands, WIDTH]`` has the values of the next round's lanes, and ``known[ends * hands, WIDTH]`` is
    scratch.
    """
    for chunk in range(reach.shape[0]):
        lanes = ahead[chunk * WIDTH : (chunk + 1) * WIDTH]
        mine = Own(own[chunk], own[chunk]) if how == MIXED else Own(own[0], own[0])
        walk_chunk_up(
            spots, actions, responder, how, board, reach[chunk], share[chunk], buckets, mine, own_buckets, stake[chunk],
            lanes, onward, known, buffers, sums[chunk], weight,
        )  # fmt: skip


@kernel
def walk_chunk_up(
    spots, actions, responder, how, board, reach, share, buckets, own, own_buckets, stake, ahead, onward, known,
    buffers, sums, weight,
):  # fmt: skip
    """The same for one chunk of lanes."""
    hands = np.uint64(board.hand.shape[1])
    for place in range(hands):
        store(buffers.reach, place, load(reach, board.hand[0, place]))
    descend(spots, actions, responder, board.theirs[0], share, buckets, buffers)
    lanes, rows, places = buffers.lanes[0], buffers.lanes[1], buffers.lanes[2]
    for end in range(ahead.shape[1]):
        whole, count = is_whole(ahead, end), find_lanes(ahead, end, reach.shape[0], lanes, rows, places)
        for place in range(hands):
            row, at = np.uint64(end) * hands + place, np.uint64(board.hand[0, place])
            if whole:
                store(known, row, load(onward, rows[0] + at))
                continue
            for lane in range(WIDTH):
                known[row, lane] = 0.0
            for each in range(count):
                known[row, lanes[each]] = onward[rows[each] + at, places[each]]
    ascend(spots, actions, responder, how, board, 0, share, buckets, own, own_buckets, stake, known, buffers)
    begin = np.uint64(spots[0].value) * hands
    for place in range(hands):
        for lane in range(WIDTH):
            sums[board.hand[0, place], lane] += weight * buffers.value[begin + place, lane]
