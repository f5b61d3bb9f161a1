"""Best responses and values in hold'em by vectors of hands: the opponent's reach goes down, values come up.

Buffers hold a row of ``WIDTH`` lanes (``holdem_lines.py``) per hand. Hands are those that the board allows; on the last
round they are in order of strength, so that a showdown is one pass from the weakest hand to the strongest: a hand beats
all that came before, less those that share a card with it, which are counted for each card (Johanson et al. 2011). The
same counts after the last hand tell how many hands an opponent that folds may have had.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel, piece
from fogplay.simulators.holdem_lines import DEEPER, ENDS, Round
from fogplay.vectors import WIDTH, larger, load, store

SUM, LARGEST, MIXED, LEARNED, CHOSEN = range(5)  # how the values after a player's actions are joined
# LEARNED is MIXED, with the worth of every action added up in ``Own.worth``; CHOSEN is LARGEST, with marks for what was
# chosen (``holdem_river.py`` alone).

_0, _1 = np.uint64(0), np.uint64(1)


class Board(NamedTuple):
    """The hands that boards of one round allow: in order of strength on the last round, else by number."""

    hand: NDArray[np.uint16]  # [boards, hands] the hand's number
    low: NDArray[np.uint8]  # [boards, hands] its cards
    high: NDArray[np.uint8]
    theirs: NDArray[np.uint16]  # [boards, hands] its bucket for the opponent
    own: NDArray[np.uint16]  # [boards, hands] its bucket for a responder that follows a strategy
    ends: NDArray[np.uint16]  # [boards, strengths] where the hands of each strength end; 0: no more


class Buffers(NamedTuple):
    """Scratch of one thread, in the precision of the walk."""

    reach: NDArray[np.float64]  # [reaches * hands, WIDTH]
    value: NDArray[np.float64]  # [values * hands, WIDTH]
    played: NDArray[np.float64]  # [hands, WIDTH] the reach after an action
    beaten: NDArray[np.float64]  # [hands, WIDTH] the reach of weaker hands
    held: NDArray[np.float64]  # [2 * (cards + 1), WIDTH] the reach by card, and of all hands; the same so far
    lanes: NDArray[np.uint64]  # [3, WIDTH] lanes that go on, with their rows and places in the next round


def new_buffers(round_: Round, hands: int, cards: int, kind: Any) -> Buffers:
    """Scratch for the walk of a round."""
    return Buffers(
        np.zeros((round_.reaches * hands, WIDTH), kind),
        np.zeros((round_.values * hands, WIDTH), kind),
        np.zeros((hands, WIDTH), kind),
        np.zeros((hands, WIDTH), kind),
        np.zeros((2 * (cards + 1), WIDTH), kind),
        np.zeros((3, WIDTH), np.uint64),
    )


class Own(NamedTuple):
    """A responder's probabilities, if it follows a strategy, and room for what its actions are worth, if it learns."""

    share: NDArray[np.float64]  # [slots * buckets, WIDTH]
    worth: NDArray[np.float64]  # the same: sums over hands; left alone unless it learns


@piece
def descend(spots, actions, responder, bucket, share, buckets, buffers):
    """Fill ``buffers.reach`` of every decision, from that of the first."""
    hands = np.uint64(len(bucket))
    for place in range(len(spots)):
        spot = spots[place]
        if spot.player == responder:
            continue
        begin = np.uint64(spot.reach) * hands
        for number in range(spot.first, spot.first + spot.count):
            action = actions[number]
            if action.kind == DEEPER:
                to = np.uint64(spots[action.to].reach) * hands
                play(
                    bucket, share, np.uint64(action.slot) * np.uint64(buckets), buffers.reach, begin, buffers.reach, to
                )


@kernel
def play(bucket, share, first, reach, begin, played, to):
    """Write the reach after an action whose probabilities begin at row ``first`` of ``share``."""
    for hand in range(np.uint64(len(bucket))):
        row = load(reach, begin + hand) * load(share, first + np.uint64(bucket[hand]))
        store(played, to + hand, row)


@piece
def clear(held, first, cards):
    """Set one part of ``held`` to zero; a row of zeros is returned."""
    for card in range(cards):
        for lane in range(WIDTH):
            held[first + card, lane] = 0.0
    return load(held, first)


@piece
def add(held, first, low, high, row):
    """Add one hand's reach to its cards."""
    store(held, first + low, load(held, first + low) + row)
    store(held, first + high, load(held, first + high) + row)


@piece
def apart(held, first, total, low, high):
    """The reach of hands that hold neither card; a hand of both is subtracted twice."""
    return total - load(held, first + low) - load(held, first + high)


@kernel
def count_cards(reach, begin, low, high, held, first, cards):
    """Fill the part of ``held`` from row ``first`` with the reach by card."""
    total = clear(held, first, cards)
    for hand in range(np.uint64(len(low))):
        row = load(reach, begin + hand)
        total = total + row
        add(held, first, np.uint64(low[hand]), np.uint64(high[hand]), row)
    store(held, first + cards - _1, total)


@kernel
def play_and_count(bucket, share, first, reach, begin, played, low, high, held, part, cards):
    """``play`` and ``count_cards`` in one pass."""
    total = clear(held, part, cards)
    for hand in range(np.uint64(len(low))):
        row = load(reach, begin + hand) * load(share, first + np.uint64(bucket[hand]))
        store(played, hand, row)
        total = total + row
        add(held, part, np.uint64(low[hand]), np.uint64(high[hand]), row)
    store(held, part + cards - _1, total)


@piece
def join(how, begun, value, row, worth, own, at):
    """Take the ``worth`` of one action into a row of ``value``; row ``at`` of ``own`` has its probabilities."""
    if how == LEARNED:
        store(own.worth, at, load(own.worth, at) + worth)
    if how in (MIXED, LEARNED):
        worth = worth * load(own.share, at)
    if not begun:
        store(value, row, worth)
    elif how == LARGEST:
        store(value, row, larger(load(value, row), worth))
    else:
        store(value, row, load(value, row) + worth)


@kernel
def join_fold(how, begun, reach, begin, low, high, stake, held, first, cards, value, to, own, mine, bucket):
    """Take what a fold is worth: row 0 of ``stake`` times the hands that the opponent may hold."""
    total, staked = load(held, first + cards - _1), load(stake, _0)
    for hand in range(np.uint64(len(low))):
        possible = apart(held, first, total, np.uint64(low[hand]), np.uint64(high[hand])) + load(reach, begin + hand)
        join(how, begun, value, to + hand, staked * possible, own, mine + np.uint64(bucket[hand]))


@kernel
def join_showdown(
    how, begun, reach, begin, low, high, ends, stake, beaten, held, first, passing, cards, value, to, own, mine, bucket
):
    """Take what a showdown is worth: the stake times hands beaten less hands that win.

    ``held`` has the reach by card from row ``first``, and from row ``passing`` that of the hands passed so far, going
    up by strength. ``beaten`` is scratch for the hands of one strength.
    """
    all_hands, staked = load(held, first + cards - _1), load(stake, _0)
    total = clear(held, passing, cards)
    start = _0
    for strength in range(np.uint64(len(ends))):
        end = np.uint64(ends[strength])
        if end == start:
            break
        for hand in range(start, end):
            store(beaten, hand - start, apart(held, passing, total, np.uint64(low[hand]), np.uint64(high[hand])))
        for hand in range(start, end):
            row = load(reach, begin + hand)
            total = total + row
            add(held, passing, np.uint64(low[hand]), np.uint64(high[hand]), row)
        for hand in range(start, end):
            a, b = np.uint64(low[hand]), np.uint64(high[hand])
            above = apart(held, first, all_hands, a, b) - apart(held, passing, total, a, b)
            worth = staked * (load(beaten, hand - start) - above)
            join(how, begun, value, to + hand, worth, own, mine + np.uint64(bucket[hand]))
        start = end


@kernel
def join_rows(how, begun, rows, begin, value, to, own, first, bucket):
    """Take values that are already known."""
    for hand in range(np.uint64(len(bucket))):
        at = first + np.uint64(bucket[hand])
        join(how, begun, value, to + hand, load(rows, begin + hand), own, at)


@kernel
def ascend(spots, actions, responder, how, board, number, share, buckets, own, own_buckets, stake, ahead, buffers):
    """Fill ``buffers.value`` from the last decision to the first, whose values end in its buffer.

    ``ahead[ends * hands, WIDTH]`` has the values after each end of the round; empty on the last round, where ends are
    showdowns.
    """
    low, high, bucket, mine = board.low[number], board.high[number], board.theirs[number], board.own[number]
    value, held = buffers.value, buffers.held
    hands, cards = np.uint64(len(low)), np.uint64(len(held)) // np.uint64(2)
    for place in range(len(spots) - 1, -1, -1):
        spot = spots[place]
        to, begin = np.uint64(spot.value) * hands, np.uint64(spot.reach) * hands
        answers = spot.player == responder
        joining, begun, counted = how if answers else SUM, False, False
        for at in range(spot.first + spot.count - 1, spot.first - 1, -1):  # raises first: their values are in place
            action = actions[at]
            slot = np.uint64(action.slot)
            row = slot * np.uint64(own_buckets) if joining >= MIXED else _0
            if action.kind == DEEPER:
                deeper = np.uint64(spots[action.to].value) * hands
                if deeper != to or joining >= MIXED:
                    join_rows(joining, begun, value, deeper, value, to, own, row, mine)
            elif action.kind == ENDS and len(ahead) > 0:
                join_rows(joining, begun, ahead, np.uint64(action.to) * hands, value, to, own, row, mine)
            else:
                reach, first = buffers.reach, begin
                if not answers:
                    reach, first = buffers.played, _0
                    play_and_count(
                        bucket,
                        share,
                        slot * np.uint64(buckets),
                        buffers.reach,
                        begin,
                        reach,
                        low,
                        high,
                        held,
                        _0,
                        cards,
                    )
                elif not counted:
                    count_cards(reach, first, low, high, held, _0, cards)
                counted = True
                staked = stake[at : at + 1]
                if action.kind == ENDS:
                    join_showdown(
                        joining, begun, reach, first, low, high, board.ends[number], staked, buffers.beaten, held, _0,
                        cards, cards, value, to, own, row, mine,
                    )  # fmt: skip
                else:
                    join_fold(
                        joining, begun, reach, first, low, high, staked, held, _0, cards, value, to, own, row, mine
                    )
            begun = True


@kernel
def walk_last(
    spots, actions, responder, how, board, weight, reach, share, buckets, own, own_buckets, stake, ahead, buffers, sums
):
    """Add to ``sums[hands, WIDTH]`` the values of all boards of the last round, times ``weight[boards]``.

    ``reach[hands, WIDTH]`` is the opponent's at the start of the round, by the hand's number.
    """
    hands = np.uint64(board.hand.shape[1])
    for number in range(board.hand.shape[0]):
        for place in range(hands):
            store(buffers.reach, place, load(reach, board.hand[number, place]))
        descend(spots, actions, responder, board.theirs[number], share, buckets, buffers)
        ascend(spots, actions, responder, how, board, number, share, buckets, own, own_buckets, stake, ahead, buffers)
        begin = np.uint64(spots[0].value) * hands
        for place in range(hands):
            hand = np.uint64(board.hand[number, place])
            row = begin + place
            for lane in range(WIDTH):
                sums[hand, lane] += weight[number] * buffers.value[row, lane]


@kernel
def average_over(images, scale, sums, scratch):
    """Replace ``sums[chunks, hands, WIDTH]`` by its sum over ``images[permutations, hands]``, times ``scale``.

    ``scale[1, WIDTH]`` is read, ``scratch[hands, WIDTH]`` overwritten.
    """
    factor = load(scale, np.uint64(0))
    for chunk in range(sums.shape[0]):
        part = sums[chunk]
        for hand in range(np.uint64(part.shape[0])):
            store(scratch, hand, load(part, hand) * factor)
        for hand in range(np.uint64(part.shape[0])):
            total = load(scratch, images[0, hand])
            for image in range(1, images.shape[0]):
                total = total + load(scratch, images[image, hand])
            store(part, hand, total)


@kernel
def sort_hands(strength, pairs, cards, board, counts):
    """Fill ``board`` with the hands that ``cards[boards, cards]`` allow, in order of ``strength[boards, hands]``.

    ``pairs[hands, 2]`` has their cards; ``counts[strengths + 1]`` is scratch.
    """
    for number in range(strength.shape[0]):
        dealt = np.uint64(0)
        for place in range(cards.shape[1]):
            dealt |= _1 << np.uint64(cards[number, place])
        for value in range(len(counts)):
            counts[value] = 0
        for hand in range(strength.shape[1]):
            if allows(dealt, pairs, hand):
                counts[np.uint64(strength[number, hand]) + _1] += 1
        groups = 0
        for value in range(1, len(counts)):
            if counts[value] > 0:
                board.ends[number, groups] = counts[value] + counts[value - 1]
                groups += 1
            counts[value] += counts[value - 1]
        if groups < board.ends.shape[1]:
            board.ends[number, groups] = board.ends[number, groups - 1]
        for hand in range(strength.shape[1]):
            if allows(dealt, pairs, hand):
                place = counts[np.uint64(strength[number, hand])]
                counts[np.uint64(strength[number, hand])] = place + 1
                board.hand[number, place] = hand
                board.low[number, place], board.high[number, place] = pairs[hand, 0], pairs[hand, 1]


@piece
def allows(dealt, pairs, hand):
    """Whether none of a hand's cards was dealt."""
    return (dealt >> np.uint64(pairs[hand, 0]) | dealt >> np.uint64(pairs[hand, 1])) & _1 == 0
