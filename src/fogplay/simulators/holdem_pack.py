"""Complete boards as the programs of ``holdem_river.py`` read them: a row of 64-bit words per board."""

from __future__ import annotations

import numpy as np

from fogplay.jit import kernel
from fogplay.simulators.holdem_river import HIGH, LOW, OWN, THEIRS

NONE = np.uint64((1 << 64) - 1)
_LOW, _HIGH, _THEIRS, _OWN = (np.uint64(each) for each in (LOW, HIGH, THEIRS, OWN))
_HAND, _BUCKET = np.uint64((1 << LOW) - 1), np.uint64((1 << OWN - THEIRS) - 1)


@kernel
def pack(board, on_board, turn, weight, images, ends_at, places_at, cards):
    """Fill ``cards``: a row per board, then a row per image.

    A board's row has the hands in order of strength, with their cards numbered without those of
    ``on_board[boards, cards]``; where each strength ends; the place of every hand, or NONE; the number of its turn, and
    its weight. Equal hands are in order of buckets, so that a thread rarely meets another bucket.
    """
    boards, hands = board.hand.shape
    everything = images.shape[1]
    for number in range(boards):
        row = cards[number]
        row[:places_at] = 0
        row[places_at:] = NONE
        first, group = 0, 0
        while first < hands:
            end = int(board.ends[number, group])
            row[ends_at + group] = end
            for place in range(first, end):
                theirs = np.uint64(board.theirs[number, place])
                to = place
                while to > first and row[to - 1] >> _THEIRS & _BUCKET > theirs:
                    row[to] = row[to - 1]
                    to -= 1
                low, high = np.uint64(board.low[number, place]), np.uint64(board.high[number, place])
                low, high = low - below(low, on_board[number]), high - below(high, on_board[number])
                row[to] = np.uint64(board.hand[number, place]) | low << _LOW | high << _HIGH
                row[to] |= theirs << _THEIRS | np.uint64(board.own[number, place]) << _OWN
            first, group = end, group + 1
        for place in range(hands):
            row[places_at + int(row[place] & _HAND)] = place
        row[places_at + everything] = turn[number]
        row[places_at + everything + 1] = int(weight[number])
    for image in range(images.shape[0]):
        for hand in range(everything):
            cards[boards + image, hand] = images[image, hand]


@kernel
def below(card, on_board):
    """How many cards of the board are below a card."""
    found = np.uint64(0)
    for each in range(len(on_board)):
        found += np.uint64(on_board[each] < card)
    return found
