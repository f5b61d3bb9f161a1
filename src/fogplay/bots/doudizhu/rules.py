"""Rules of thumb: a fast policy that plays the playouts of ``strong`` and puts its candidates in order.

It plans with the best partition of its hand (``partition.py``). Leading, it plays one of the groups: those that do not
come back by themselves first, and what an enemy with one or two cards left cannot use. Following, it compares the worth
of the hand before and after each move, with a bonus or a malus for taking the trick from an enemy or from its partner.
The numbers were tuned by self-play (benchmarks/doudizhu_tune.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu.partition import Memo, best, memo, split
from fogplay.bots.doudizhu.position import BEFORE, LANDLORD, are_enemies, enemy_left, is_top, partner_left
from fogplay.games.doudizhu_cards import num_cards
from fogplay.games.doudizhu_heads import (
    BOMB,
    CATEGORIES,
    COPIES,
    HEAD_CATEGORY,
    HEAD_RANK,
    LEAD,
    LENGTH,
    NUM_HEADS,
    PAIR,
    PASS,
    ROCKET,
    SIZE,
    SOLO,
    category_of,
    is_bomb,
    rank_of,
)
from fogplay.games.doudizhu_moves import list_moves
from fogplay.jit import kernel, piece

# Kinds of groups that share numbers.
SOLO_KIND, PAIR_KIND, TRIO_KIND, CHAIN_KIND, PAIRS_KIND, PLANE_KIND, FOUR_KIND, BOMB_KIND, KINDS = range(9)


def _kind(number: int) -> int:
    category = CATEGORIES[number]
    if number in (BOMB, ROCKET):
        return BOMB_KIND
    if category.copies == 4:
        return FOUR_KIND
    if category.copies == 3:
        return TRIO_KIND if category.length == 1 else PLANE_KIND
    if category.copies == 2:
        return PAIR_KIND if category.length == 1 else PAIRS_KIND
    return SOLO_KIND if category.length == 1 else CHAIN_KIND


KIND = np.array([_kind(number) for number in range(len(CATEGORIES))], np.int64)

# Places in the array of numbers.
WORTH = 0  # [kinds, 2] base and slope of a group's worth
TURN = WORTH + 2 * KINDS  # what a turn costs
HIGH_SOLO = TURN + 1  # [4] extra worth of a solo ace, two, black joker, red joker
HIGH_PAIR = HIGH_SOLO + 4  # [2] extra worth of a pair of aces, of twos
LONGER = HIGH_PAIR + 2  # worth of each rank more in a chain
ROCKET_WORTH = LONGER + 1
SPARE = ROCKET_WORTH + 1  # [2] base and slope of a kicker's worth
LEADING = SPARE + 2  # [kinds, 2] base and slope of the wish to lead a group
LEAD_SIZE = LEADING + 2 * KINDS  # wish to lead for each card of the group
LEAD_TOP = LEAD_SIZE + 1  # wish to lead a group that nobody can beat
DANGER = LEAD_TOP + 1  # [2] wish not to lead what an enemy with one or two cards could beat; per rank the contrary
FEED = DANGER + 2  # wish to lead a low solo or pair for a partner with one or two cards left
TAKE = FEED + 1  # [3 seats] bonus for beating an enemy
OVERTAKE = TAKE + 3  # [3 seats] bonus for beating the partner (negative)
OVERTAKE_RANK = OVERTAKE + 3  # and for each rank of the partner's move
URGENT = OVERTAKE_RANK + 1  # bonus for beating an enemy, divided by the cards that it has left
BOMBING = URGENT + 1  # bonus for beating with a bomb (negative)
BOMBING_URGENT = BOMBING + 1  # divided by the cards that the enemy has left
TAKE_TOP = BOMBING_URGENT + 1  # bonus for a move that nobody can beat
PASS_TO_PARTNER = TAKE_TOP + 1  # bonus for passing where the partner can still answer the enemy
PARTNER_NEAR = PASS_TO_PARTNER + 1  # bonus for beating the partner, divided by the cards that it has left
OWN_NEAR = PARTNER_NEAR + 1  # bonus for beating an enemy, divided by the own cards left
NUMBERS = OWN_NEAR + 1
SURE_CARDS = 12  # a sure win is looked for where at most so many cards would be left


TUNED: dict[int, tuple[float, ...]] = {
    WORTH: (-10.17, 1.0, -7.0, 1.0, -1.95, 1.0, -6.0, 0.75, -5.67, -0.02, -1.4, 0.5, -2.35, 0.5, 9.85, 0.89),
    TURN: (7.56,),
    HIGH_SOLO: (-0.26, 0.0, -0.17, 0.11),
    HIGH_PAIR: (0.16, 0.34),
    LONGER: (0.36,),
    ROCKET_WORTH: (21.0,),
    SPARE: (-0.05, -0.3),
    LEADING: (4.48, -1.0, 3.78, -1.0, 6.0, -1.0, 3.56, -0.8, 2.5, -0.11, 5.44, -2.18, 1.45, -0.46, -11.74, -0.64),
    LEAD_SIZE: (0.3,),
    LEAD_TOP: (0.41,),
    DANGER: (20.0, 1.69),
    FEED: (9.62,),
    TAKE: (0.22, 1.95, 6.48),
    OVERTAKE: (-0.81, -0.23, -1.21),
    OVERTAKE_RANK: (-0.39,),
    URGENT: (49.4,),
    BOMBING: (-2.53,),
    BOMBING_URGENT: (21.34,),
    TAKE_TOP: (2.0,),
    PASS_TO_PARTNER: (-0.21,),
    PARTNER_NEAR: (-7.39,),
    OWN_NEAR: (1.44,),
}


def numbers() -> NDArray[np.float64]:
    """[NUMBERS] the tuned numbers."""
    found = np.zeros(NUMBERS)
    for place, values in TUNED.items():
        found[place : place + len(values)] = values
    return found


def memo_of(numbers: NDArray[np.float64]) -> Memo:
    """A memo of hands with the worths that these numbers give."""
    kind, rank = KIND[HEAD_CATEGORY], HEAD_RANK
    worth = numbers[WORTH + 2 * kind] + numbers[WORTH + 2 * kind + 1] * rank - numbers[TURN]
    category = HEAD_CATEGORY
    longer = LENGTH[category] - np.select([COPIES[category] == 1, COPIES[category] == 2], [5, 3], 2)
    worth += numbers[LONGER] * np.where(LENGTH[category] > 1, longer, 0)
    for place in range(4):
        worth[(category == SOLO) & (rank == 11 + place)] += numbers[HIGH_SOLO + place]
    for place in range(2):
        worth[(category == PAIR) & (rank == 11 + place)] += numbers[HIGH_PAIR + place]
    worth[NUM_HEADS - 1] = numbers[ROCKET_WORTH] - numbers[TURN]
    kicker = np.zeros((3, 15))
    for copies in (1, 2):
        kicker[copies] = numbers[SPARE] + numbers[SPARE + 1] * copies * np.arange(15)
    return memo(worth, kicker)


@kernel
def choose(sight, numbers, memo, groups, moves):
    """The head and the cards of the move that the rules make."""
    if sight.to_beat == LEAD:
        count = split(sight.hand, memo, groups)
        place = choose_group(sight, count, numbers, groups)
        return groups.heads[place], groups.cards[place]
    return answer(sight, numbers, memo, groups, moves)


@kernel
def choose_group(sight, count, numbers, groups):
    """The place of the group to lead among ``count``."""
    if count == 1:
        return 0
    most = max(sight.left, sight.left_before)
    top = sure_win(sight, count, groups)
    if top >= 0:
        return top
    chosen, wish = 0, -np.inf
    for place in range(count):
        here = lead_wish(sight, groups.heads[place], most, numbers)
        if here > wish:
            chosen, wish = place, here
    return chosen


@kernel
def sure_win(sight, count, groups):
    """The place of a group to lead if nobody can beat any of ``count`` groups but one; else -1."""
    most = max(sight.left, sight.left_before)
    tops, top = 0, -1
    for place in range(count):
        if is_top(groups.heads[place], sight.unseen, most):
            if tops == 0 or not is_bomb(groups.heads[place]):
                top = place
            tops += 1
    if count == 1:
        return 0
    return top if tops >= count - 1 else -1


@piece
def lead_wish(sight, head, most, numbers):
    """How much the rules wish to lead a group."""
    category, rank = category_of(head), rank_of(head)
    kind, size = KIND[np.uint64(category)], SIZE[np.uint64(category)]
    wish = numbers[LEADING + 2 * kind] + numbers[LEADING + 2 * kind + 1] * rank + numbers[LEAD_SIZE] * size
    if is_top(head, sight.unseen, most):
        wish += numbers[LEAD_TOP]
    enemy, partner = enemy_left(sight), partner_left(sight)
    if enemy <= 2 and size == enemy and kind <= PAIR_KIND:
        wish -= numbers[DANGER] - numbers[DANGER + 1] * rank
    elif partner <= 2 and size == partner and kind <= PAIR_KIND:
        wish += numbers[FEED] - numbers[DANGER + 1] * rank
    return wish


@kernel
def answer(sight, numbers, memo, groups, moves):
    """The head and the cards of the move that the rules make where there is a move to beat."""
    count = list_moves(sight.hand, sight.to_beat, moves.heads, moves.cards)
    if count == 1:
        return moves.heads[0], moves.cards[0]
    now = best(sight.hand, 0, memo)[0]
    chosen, wish = 0, pass_wish(sight, numbers)
    for place in range(1, count):
        if moves.cards[place] == sight.hand:
            return moves.heads[place], moves.cards[place]
        head, rest = moves.heads[place], sight.hand - moves.cards[place]
        near = num_cards(rest) <= SURE_CARDS and is_top(head, sight.unseen, max(sight.left, sight.left_before))
        if near and sure_win(sight, split(rest, memo, groups), groups) >= 0:
            return head, moves.cards[place]
        here = best(rest, 0, memo)[0] - now + take_wish(sight, head, num_cards(rest), numbers)
        if here > wish:
            chosen, wish = place, here
    return moves.heads[chosen], moves.cards[chosen]


@piece
def pass_wish(sight, numbers):
    """How much the rules wish to pass."""
    if sight.seat == BEFORE or sight.seat == LANDLORD or sight.leader != LANDLORD:
        return 0.0
    return numbers[PASS_TO_PARTNER]


@piece
def take_wish(sight, head, rest, numbers):
    """How much the rules wish to beat the move on the table, apart from the hand; ``rest`` cards are left then."""
    enemy = enemy_left(sight)
    if are_enemies(sight.seat, sight.leader):
        wish = numbers[TAKE + sight.seat] + numbers[URGENT] / enemy + numbers[OWN_NEAR] / rest
    else:
        wish = numbers[OVERTAKE + sight.seat] + numbers[OVERTAKE_RANK] * rank_of(sight.to_beat)
        wish += numbers[PARTNER_NEAR] / partner_left(sight)
    if is_bomb(head):
        wish += numbers[BOMBING] + numbers[BOMBING_URGENT] / enemy
    if is_top(head, sight.unseen, max(sight.left, sight.left_before)):
        wish += numbers[TAKE_TOP]
    return wish


@piece
def move_wish(sight, head, cards, now, most, numbers, memo):
    """How much the rules wish for a move; the hand is worth ``now``, and nobody else holds over ``most`` cards."""
    rest = sight.hand - cards
    if rest == 0:
        return 1e6
    if head == PASS:
        return pass_wish(sight, numbers)
    if sight.to_beat == LEAD:
        return best(rest, 0, memo)[0] + memo.worth[head] - now + lead_wish(sight, head, most, numbers)
    wish = best(rest, 0, memo)[0] - now
    wish += take_wish(sight, head, max(num_cards(rest), 1), numbers)
    return wish
