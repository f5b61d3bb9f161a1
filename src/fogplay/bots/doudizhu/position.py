"""A position of Doudizhu as compiled bots see it, and games between them.

Seat 0 is the landlord. A bot is asked with a ``Sight``: what its seat may know, and no more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.games.doudizhu_cards import has_rocket, having_4
from fogplay.games.doudizhu_heads import BOMB, ROCKET_HEAD, SIZE, category_of
from fogplay.games.doudizhu_moves import WIDEST, starts_above
from fogplay.jit import piece

LANDLORD, AFTER, BEFORE = range(3)  # the seats: the peasant after the landlord, and the one before


class Sight(NamedTuple):
    """What a seat knows when it has to move."""

    seat: int  # 0 for the landlord
    hand: np.uint64
    unseen: np.uint64  # what the two others hold together
    left: int  # cards of the next seat
    left_before: int  # cards of the seat before
    to_beat: int  # a head, LEAD if there is none
    leader: int  # the seat whose move is to beat


class Moves(NamedTuple):
    """A worker's scratch: legal moves."""

    heads: NDArray[np.int64]  # [1024]
    cards: NDArray[np.uint64]  # [1024]


def moves() -> Moves:
    """Scratch for the legal moves of a hand."""
    return Moves(np.zeros(WIDEST, np.int64), np.zeros(WIDEST, np.uint64))


@piece
def are_enemies(seat, other):
    """Whether two seats are on different sides."""
    return (seat == LANDLORD) != (other == LANDLORD)


@piece
def enemy_left(sight):
    """The smallest number of cards that an enemy holds."""
    if sight.seat == LANDLORD:
        return min(sight.left, sight.left_before)
    return sight.left if sight.seat == BEFORE else sight.left_before


@piece
def partner_left(sight):
    """How many cards the partner holds; for the landlord, 99."""
    if sight.seat == LANDLORD:
        return 99
    return sight.left if sight.seat == AFTER else sight.left_before


@piece
def is_top(head, unseen, most):
    """Whether no hand of at most ``most`` of the unseen cards can beat a move with this head."""
    if head == ROCKET_HEAD:
        return True
    if has_rocket(unseen) and most >= 2:
        return False
    category = category_of(head)
    if category != BOMB and having_4(unseen) != 0 and most >= 4:
        return False
    return SIZE[np.uint64(category)] > most or starts_above(unseen, head) == 0
