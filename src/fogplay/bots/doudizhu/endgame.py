"""The exact value of an ending of Doudizhu with all hands open: alpha-beta with a transposition table.

Values are the landlord's, counted from now on: 1 if it wins, -1 if it loses, doubled by every bomb and rocket still to
come (or not, where only winning counts). The landlord maximises, both peasants minimise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.doudizhu_cards import num_cards
from fogplay.games.doudizhu_heads import LEAD, PASS, is_bomb
from fogplay.games.doudizhu_moves import WIDEST, follow, legal_moves, list_moves
from fogplay.jit import kernel, piece
from fogplay.simulators.doudizhu_random import mix

TABLE_BITS = 16
MOST_CARDS = 30  # of all hands together
_DEPTH = 3 * MOST_CARDS + 2
NODES, LIMIT = range(2)
_SHIFT = np.uint64(64 - TABLE_BITS)
_4, _5, _11 = np.uint64(4), np.uint64(5), np.uint64(11)


class Search(NamedTuple):
    """What a solver works on."""

    doubling: bool  # whether bombs count
    keys: NDArray[np.uint64]  # [2^16, 4] the hands, and the rest of a position; 0 if there is none
    bounds: NDArray[np.float64]  # [2^16, 2] the value is between these
    heads: NDArray[np.int64]  # [depth, 1024] scratch: the moves on the way
    cards: NDArray[np.uint64]  # [depth, 1024]
    nodes: NDArray[np.int64]  # [2] positions visited, and how many may be; beyond, values are worthless


def search(doubling: bool = False) -> Search:
    """An empty table and scratch."""
    size = 1 << TABLE_BITS
    return Search(
        doubling,
        np.zeros((size, 4), np.uint64),
        np.zeros((size, 2)),
        np.zeros((_DEPTH, WIDEST), np.int64),
        np.zeros((_DEPTH, WIDEST), np.uint64),
        np.array([0, np.iinfo(np.int64).max]),
    )


def solve(
    hands: Sequence[int], seat: int, to_beat: int = LEAD, passes: int = 0, doubling: bool = True
) -> tuple[float, int]:
    """The landlord's value of an open ending where ``seat`` is to move, and the cards of a move that reaches it.

    The move to beat has head ``to_beat``, and ``passes`` seats have passed since. Seat 0 is the landlord. The score so
    far is not in the value: 1 or -1, doubled for every bomb from now on if ``doubling``.
    """
    cards = [int(num_cards(np.uint64(hand))) for hand in hands]
    if len(cards) != 3 or min(cards) == 0 or sum(cards) > MOST_CARDS:
        raise FogplayError(f"an ending has three hands and at most {MOST_CARDS} cards, not {', '.join(map(str, cards))}")
    if seat not in range(3) or passes not in range(2):
        raise FogplayError(f"the seat must be 0, 1 or 2 and passes 0 or 1, not {seat} and {passes}")
    scratch, words = search(doubling), np.array(hands, np.uint64)
    heads, moves = legal_moves(int(hands[seat]), to_beat)
    values = [value_of_move(words, seat, to_beat, passes, head, move, scratch) for head, move in zip(heads, moves)]
    pick = int(np.argmax(values) if seat == 0 else np.argmin(values))
    return values[pick], int(moves[pick])


@kernel
def value_of_move(hands, seat, to_beat, passes, head, cards, search):
    """The exact value after a move; ``hands[3]`` is as before in the end."""
    factor = 2.0 if search.doubling and is_bomb(head) else 1.0
    if hands[seat] == cards:
        return factor if seat == 0 else -factor
    hands[seat] -= cards
    to_beat, passes = follow(to_beat, passes, head)
    value = factor * alpha_beta(hands, (seat + 1) % 3, to_beat, passes, -np.inf, np.inf, 0, search)
    hands[seat] += cards
    return value


@kernel
def alpha_beta(hands, seat, to_beat, passes, low, high, depth, search):
    """The value of a position if it is between ``low`` and ``high``; else a bound on that side.

    ``hands[3]`` is as before in the end. After more than ``search.nodes[LIMIT]`` positions, the value is 0.
    """
    search.nodes[NODES] += 1
    if search.nodes[NODES] > search.nodes[LIMIT]:
        return 0.0
    rest = np.uint64(1) | np.uint64(seat) << np.uint64(1) | np.uint64(passes) << _4 | np.uint64(to_beat) << _5
    place = mix(mix(mix(mix(np.uint64(0), hands[0]), hands[1]), hands[2]), rest) >> _SHIFT
    key = search.keys[place]
    known = key[0] == hands[0] and key[1] == hands[1] and key[2] == hands[2] and key[3] == rest
    floor, ceiling = -np.inf, np.inf
    if known:
        floor, ceiling = search.bounds[place, 0], search.bounds[place, 1]
        if floor >= high or floor == ceiling:
            return floor
        if ceiling <= low:
            return ceiling
    count = list_moves(hands[seat], to_beat, search.heads[depth], search.cards[depth])
    best, alpha, beta = -np.inf if seat == 0 else np.inf, max(low, floor), min(high, ceiling)
    for number in range(count):
        where = order(number, count, hands[seat], to_beat, passes, seat, search.cards[depth])
        head, cards = search.heads[depth, where], search.cards[depth, where]
        factor = 2.0 if search.doubling and is_bomb(head) else 1.0
        if hands[seat] == cards:
            value = factor if seat == 0 else -factor
        else:
            hands[seat] -= cards
            next_to_beat, next_passes = follow(to_beat, passes, head)
            value = factor * alpha_beta(
                hands, (seat + 1) % 3, next_to_beat, next_passes, alpha / factor, beta / factor, depth + 1, search
            )
            hands[seat] += cards
            if search.nodes[NODES] > search.nodes[LIMIT]:
                return 0.0
        if seat == 0:
            best = max(best, value)
            alpha = max(alpha, best)
        else:
            best = min(best, value)
            beta = min(beta, best)
        if alpha >= beta or (not search.doubling and best == (1.0 if seat == 0 else -1.0)):
            break
    remember(search, place, hands, rest, best, low, high, floor, ceiling)
    return best


@piece
def order(number, count, hand, to_beat, passes, seat, cards):
    """The place of the move to try as number ``number``: a move that ends the game is exchanged with the first.

    A leader tries the moves of many cards first, which are last in the list. A peasant who may beat its partner tries
    to pass first, all others to pass last.
    """
    if to_beat == LEAD:
        return count - 1 - number
    leader = (seat + 2 - passes) % 3
    if seat != 0 and leader != 0:
        return number
    return (number + 1) % count


@piece
def remember(search, place, hands, rest, value, low, high, floor, ceiling):
    """Write what is now known of a position to the table."""
    key = search.keys[place]
    key[0], key[1], key[2], key[3] = hands[0], hands[1], hands[2], rest
    search.bounds[place, 0] = value if value > low else floor
    search.bounds[place, 1] = value if value < high else ceiling
