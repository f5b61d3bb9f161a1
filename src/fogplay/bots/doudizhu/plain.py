"""Two plain bots: ``greedy`` and ``rhcp``.

``greedy`` leads the move with the most cards, the lowest of these, and beats an enemy with the lowest move that does;
it bombs only an enemy that has at most five cards left, and never beats its partner.

``rhcp`` (recursive hand-card partition) gives every group of cards a value by its kind and rank and splits its hand so
that the sum of the values, less seven per group, is the highest: few groups, and strong ones. It leads the group of the
lowest value. It beats a move if the hand is then worth at least as much as before, and its partner's only if that one
is low and no bomb is needed.
"""

from __future__ import annotations

import numpy as np

from fogplay.bots.doudizhu.partition import Memo, best, memo, split
from fogplay.bots.doudizhu.position import are_enemies, enemy_left
from fogplay.games.doudizhu_cards import num_cards
from fogplay.games.doudizhu_heads import CATEGORIES, HEAD_CATEGORY, HEAD_RANK, LEAD, NUM_HEADS, is_bomb, rank_of
from fogplay.games.doudizhu_moves import list_moves
from fogplay.jit import kernel

TURN = 7.0  # what a group costs
_LOW = 7  # the partner's moves up to this rank, a ten, may be beaten
_NEAR = 5  # cards


def rhcp_memo() -> Memo:
    """A memo of hands with the values of ``rhcp``."""
    worth = np.array([_value(head) - TURN for head in range(NUM_HEADS)])
    kicker = np.zeros((3, 15))
    for copies in (1, 2):
        kicker[copies] = -0.1 * copies * np.arange(15)  # low kickers first
    return memo(worth, kicker)


def _value(head: int) -> float:
    """The value of a group: 10 is the middle, an ace 14, a two 15, jokers 16 and 17."""
    category, rank = CATEGORIES[HEAD_CATEGORY[head]], int(HEAD_RANK[head])
    top: float = rank + category.length - 1 + 3
    if category.name == "rocket":
        return 20.0
    if category.name == "bomb":
        return top + 4.0
    if category.copies == 4 or (category.copies == 3 and category.length > 1):
        return (top - 3) / 2
    return top - 10.0


@kernel
def greedy(sight, moves):
    """The head and the cards of the greedy move."""
    count = list_moves(sight.hand, sight.to_beat, moves.heads, moves.cards)
    chosen, size = 0, 0
    if sight.to_beat == LEAD:
        for place in range(count):
            here = num_cards(moves.cards[place]) - 20 * is_bomb(moves.heads[place])
            if place == 0 or here > size or moves.cards[place] == sight.hand:
                chosen, size = place, here
        return moves.heads[chosen], moves.cards[chosen]
    for place in range(1, count):
        if moves.cards[place] == sight.hand:
            return moves.heads[place], moves.cards[place]
    cheap = count > 1 and (not is_bomb(moves.heads[1]) or enemy_left(sight) <= _NEAR)
    if cheap and are_enemies(sight.seat, sight.leader):
        chosen = 1
    return moves.heads[chosen], moves.cards[chosen]


@kernel
def rhcp(sight, memo, groups, moves):
    """The head and the cards of the move of ``rhcp``."""
    if sight.to_beat == LEAD:
        count = split(sight.hand, memo, groups)
        chosen = 0
        for place in range(1, count):
            if memo.worth[groups.heads[place]] < memo.worth[groups.heads[chosen]]:
                chosen = place
        return groups.heads[chosen], groups.cards[chosen]
    count = list_moves(sight.hand, sight.to_beat, moves.heads, moves.cards)
    chosen, top = 0, best(sight.hand, 0, memo)[0]
    partner = not are_enemies(sight.seat, sight.leader)
    for place in range(1, count):
        if moves.cards[place] == sight.hand:
            return moves.heads[place], moves.cards[place]
        if partner and (is_bomb(moves.heads[place]) or rank_of(sight.to_beat) > _LOW):
            continue
        here = best(sight.hand - moves.cards[place], 0, memo)[0]
        if here >= top:
            chosen, top = place, here
    return moves.heads[chosen], moves.cards[chosen]
