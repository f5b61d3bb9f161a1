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
from fogplay.games.doudizhu_cards import has_rocket, having_4, num_cards, num_in
from fogplay.games.doudizhu_heads import LEAD, is_bomb
from fogplay.games.doudizhu_moves import WIDEST, follow, legal_moves, list_moves
from fogplay.jit import kernel, piece, record
from fogplay.simulators.streams import mix

TABLE_BITS = 16
MOST_CARDS = 30  # of all hands together
_DEPTH = 3 * MOST_CARDS + 2
NODES, LIMIT = range(2)
REST = 3  # of a key, after the three hands
_SHIFT = np.uint64(64 - TABLE_BITS)
_1, _4, _5 = np.uint64(1), np.uint64(4), np.uint64(5)
FRAME = record(
    [
        *[(name, "i8") for name in ("seat", "to_beat", "passes", "count", "tried", "head")],
        *[(name, "u8") for name in ("rest", "place", "cards")],
        *[(name, "f8") for name in ("low", "high", "floor", "ceiling", "alpha", "beta", "best", "factor")],
    ]
)


class Search(NamedTuple):
    """What a solver works on."""

    doubling: bool  # whether bombs count
    keys: NDArray[np.uint64]  # [2^16, 4] the hands, and the rest of a position; 0 if there is none
    bounds: NDArray[np.float64]  # [2^16, 2] the value is between these
    heads: NDArray[np.int64]  # [depth, 1024] scratch: the moves on the way
    cards: NDArray[np.uint64]  # [depth, 1024]
    frames: NDArray[np.void]  # [depth] scratch: the positions on the way
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
        np.zeros(_DEPTH, FRAME),
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
        raise FogplayError(
            f"an ending has three hands and at most {MOST_CARDS} cards, not {', '.join(map(str, cards))}"
        )
    if seat not in range(3) or passes not in range(2):
        raise FogplayError(f"the seat must be 0, 1 or 2 and passes 0 or 1, not {seat} and {passes}")
    scratch, words = search(doubling), np.array(hands, np.uint64)
    heads, moves = legal_moves(int(hands[seat]), to_beat)
    values = [
        value_of_move(words, seat, to_beat, passes, head, move, scratch)
        for head, move in zip(heads, moves, strict=False)
    ]
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
    value = factor * alpha_beta(hands, (seat + 1) % 3, to_beat, passes, -np.inf, np.inf, search)
    hands[seat] += cards
    return value


@kernel
def alpha_beta(hands, seat, to_beat, passes, low, high, search):
    """The value of a position if it is between ``low`` and ``high``; else a bound on that side.

    ``hands[3]`` is as before in the end. After more than ``search.nodes[LIMIT]`` positions, the value is 0. A loop over
    a stack of positions: descend into a move, or give a value back to the position above.
    """
    frames, depth = search.frames, 0
    enter(frames[0], seat, to_beat, passes, low, high)
    found, value = look_up(frames[0], hands, search)
    if found:
        return value
    expand(frames[0], hands, 0, search)
    while True:
        frame = frames[depth]
        if frame.tried < frame.count and frame.alpha < frame.beta:
            descend(frame, depth, hands, search)
            if hands[frame.seat] == 0:
                value = 1.0 if frame.seat == 0 else -1.0
            else:
                depth += 1
                below = frames[depth]
                to_beat, passes = follow(frame.to_beat, frame.passes, frame.head)
                scale = frame.factor
                enter(below, (frame.seat + 1) % 3, to_beat, passes, frame.alpha / scale, frame.beta / scale)
                found, value = look_up(below, hands, search)
                if search.nodes[NODES] > search.nodes[LIMIT]:
                    return undo_all(depth, hands, search)
                if not found:
                    expand(below, hands, depth, search)
                    continue
                depth -= 1
        else:
            remember(frame, hands, search)
            value = frame.best
            if depth == 0:
                return value
            depth -= 1
        take_back(frames[depth], value, hands)


@piece
def enter(frame, seat, to_beat, passes, low, high):
    """Begin with a position."""
    frame.seat, frame.to_beat, frame.passes, frame.low, frame.high = seat, to_beat, passes, low, high


@piece
def look_up(frame, hands, search):
    """Whether the table decides a position, and its value then; else the frame gets the bounds that it knows."""
    search.nodes[NODES] += 1
    frame.rest = _1 | np.uint64(frame.seat) << _1 | np.uint64(frame.passes) << _4 | np.uint64(frame.to_beat) << _5
    frame.place = mix(mix(mix(mix(np.uint64(0), hands[0]), hands[1]), hands[2]), frame.rest) >> _SHIFT
    keys, place = search.keys, frame.place
    most = most_doubled(hands) if search.doubling else 1.0
    frame.floor, frame.ceiling = -most, most
    same = keys[place, 0] == hands[0] and keys[place, 1] == hands[1] and keys[place, 2] == hands[2]
    if same and keys[place, REST] == frame.rest:
        frame.floor, frame.ceiling = search.bounds[place, 0], search.bounds[place, 1]
    if frame.floor >= frame.high or frame.floor == frame.ceiling:
        return True, frame.floor
    if frame.ceiling <= frame.low:
        return True, frame.ceiling
    return False, 0.0


@piece
def most_doubled(hands):
    """The highest score that the bombs and the rocket in these hands allow."""
    bombs = np.int64(0)
    for seat in range(3):
        bombs += num_in(having_4(hands[seat])) + np.int64(has_rocket(hands[seat]))
    return np.float64(np.int64(1) << bombs)


@piece
def expand(frame, hands, depth, search):
    """List the moves of a position."""
    frame.count = list_moves(hands[frame.seat], frame.to_beat, search.heads[depth], search.cards[depth])
    frame.tried = 0
    frame.best = -np.inf if frame.seat == 0 else np.inf
    frame.alpha, frame.beta = max(frame.low, frame.floor), min(frame.high, frame.ceiling)


@piece
def descend(frame, depth, hands, search):
    """Make the next move of a position."""
    where = order(frame.tried, frame.count, frame.to_beat, frame.passes, frame.seat)
    frame.tried += 1
    frame.head, frame.cards = search.heads[depth, where], search.cards[depth, where]
    frame.factor = 2.0 if search.doubling and is_bomb(frame.head) else 1.0
    hands[frame.seat] -= frame.cards


@piece
def take_back(frame, value, hands):
    """Take a move back, with the value of what came after it."""
    hands[frame.seat] += frame.cards
    value *= frame.factor
    if frame.seat == 0:
        frame.best = max(frame.best, value)
        frame.alpha = max(frame.alpha, value)
    else:
        frame.best = min(frame.best, value)
        frame.beta = min(frame.beta, value)


@piece
def undo_all(depth, hands, search):
    """Take all moves back and give up."""
    for above in range(depth):
        hands[search.frames[above].seat] += search.frames[above].cards
    return 0.0


@piece
def order(number, count, to_beat, passes, seat):
    """The place in the list of the move to try as number ``number``.

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
def remember(frame, hands, search):
    """Write what is now known of a position to the table."""
    place = frame.place
    for seat in range(3):
        search.keys[place, seat] = hands[seat]
    search.keys[place, REST] = frame.rest
    search.bounds[place, 0] = frame.best if frame.best > frame.low else frame.floor
    search.bounds[place, 1] = frame.best if frame.best < frame.high else frame.ceiling
