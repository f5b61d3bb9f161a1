"""What hands are compared by when they are put into clusters: vectors of whole numbers from 0 to 255.

- On the flop and on the turn, the strengths that the next card may lead to, sorted. The sum of differences between two
  such vectors is the earth mover's distance between the two distributions, which tells hands of the same average
  strength apart: a draw wins or loses much on the next card, a pair of nines little (Gilpin, Sandholm & Sørensen 2007).
- On the river, the strength against eight groups of opponents' hands, from the weakest starting hands to the strongest
  (*opponent cluster hand strength*, Johanson, Burch, Valenzano & Bowling 2013).
"""

from __future__ import annotations

import numpy as np

from fogplay.cards.deck import CARDS, pair_number
from fogplay.cards.evaluator import evaluate7
from fogplay.cards.index import board_number, canonical_board, preflop_class, replace_suit
from fogplay.cards.strength import FULL_SCORE
from fogplay.jit import kernel

GROUPS = 8  # of opponents' hands
LENGTH = {3: 47, 4: 46, 5: GROUPS}  # of the vector, by the number of cards on the board


@kernel
def next_strengths(entries, table, half_wins, board, cards, replaced, vectors, counts):
    """Fill ``vectors[1326, length]`` with the strengths after every next card, sorted, for hands on ``board[3 or 4]``.

    ``entries`` and ``table`` belong to boards with one card more; ``table`` has half-wins or 65536ths. Hands that hold
    a card of the board are left alone. ``cards[5]``, ``replaced[52]`` and ``counts[1326]`` are scratch.
    """
    size = len(board)
    on_board = 0
    for place in range(size):
        cards[place] = board[place]
        on_board |= 1 << int(board[place])
    counts[:] = 0
    for card in range(CARDS):
        if on_board >> card & 1:
            continue
        cards[size] = card
        entry = np.uint64(entries[board_number(cards, size + 1)])
        row = canonical_board(entry)
        for each in range(CARDS):
            replaced[each] = replace_suit(entry, each)
        gone = on_board | 1 << card
        for high in range(1, CARDS):
            for low in range(high):
                if (gone >> low | gone >> high) & 1:
                    continue
                value = np.int64(table[row, pair_number(replaced[low], replaced[high])])
                value = value * 255 // FULL_SCORE if half_wins else value >> 8
                hole = pair_number(low, high)
                at = counts[hole]
                while at > 0 and vectors[hole, at - 1] > value:  # sorted as they come
                    vectors[hole, at] = vectors[hole, at - 1]
                    at -= 1
                vectors[hole, at] = value
                counts[hole] += 1


@kernel
def strengths_by_group(tables, group, board, vectors, strength, order, ends, below, passed):
    """Fill ``vectors[1326, 8]`` with the strength of hands on ``board[5]`` against each group of opponents' hands.

    ``group[169]`` is the group of each class of hole cards. Hands are sorted by strength; going up, ``below[53, 8]``
    counts the hands passed by card and in all, and ``passed`` what it was before the hands of the same strength.
    ``strength[1326]``, ``order[1326]`` and ``ends[7463]`` are scratch too.
    """
    on_board = 0
    for place in range(5):
        on_board |= 1 << int(board[place])
    count = sort_by_strength(tables, board, on_board, strength, order, ends)
    below[:], passed[:] = 0, 0
    for number in range(count):
        _pass(order[number], group, below, 1)  # all hands, to know how many there are
    for card in range(CARDS + 1):
        for each in range(GROUPS):
            passed[card, each], below[card, each] = below[card, each], 0
    begin = 0
    while begin < count:
        end = begin
        while end < count and strength[order[end]] == strength[order[begin]]:
            end += 1
        for twice in range(2):
            for number in range(begin, end):
                _pass(order[number], group, below, 1)
            if twice == 0:
                for number in range(begin, end):
                    _compare(order[number], group, below, passed, vectors)
        begin = end


@kernel
def _pass(hole, group, below, amount):
    """Count a hand."""
    low, high = cards_of(hole)
    which = group[preflop_class(low, high)]
    below[low, which] += amount
    below[high, which] += amount
    below[CARDS, which] += amount


@kernel
def _compare(hole, group, below, passed, vectors):
    """Fill one hand's vector: half-wins out of twice the hands that share no card with it.

    Weaker hands were counted twice, equal ones once; the hand itself is subtracted twice, as it shares both cards.
    """
    low, high = cards_of(hole)
    which = group[preflop_class(low, high)]
    for each in range(GROUPS):
        own = 1 if each == which else 0
        won = below[CARDS, each] - below[low, each] - below[high, each] + own
        every = passed[CARDS, each] - passed[low, each] - passed[high, each] + own
        vectors[hole, each] = won * 255 // (2 * every) if every > 0 else 0


@kernel
def cards_of(hole):
    """The two cards of a hole number, the lower first."""
    high = 1
    while (high + 1) * high // 2 <= hole:
        high += 1
    return hole - high * (high - 1) // 2, high


@kernel
def sort_by_strength(tables, board, on_board, strength, order, ends):
    """Fill ``order`` with the hands that a complete board allows, from the weakest; return how many there are."""
    ends[:] = 0
    for high in range(1, CARDS):
        for low in range(high):
            if (on_board >> low | on_board >> high) & 1 == 0:
                value = np.int64(
                    evaluate7(tables, board[0], board[1], board[2], board[3], board[4], np.int64(low), np.int64(high))
                )
                strength[pair_number(low, high)] = value
                ends[value + 1] += 1
    for number in range(1, len(ends)):
        ends[number] += ends[number - 1]
    for high in range(1, CARDS):
        for low in range(high):
            if (on_board >> low | on_board >> high) & 1 == 0:
                hole = pair_number(low, high)
                order[ends[strength[hole]]] = hole
                ends[strength[hole]] += 1
    return ends[len(ends) - 1]
