"""Cards as whole numbers, their names, and the numbering of sets of cards.

A card is ``4 * rank + suit``, ranks from the deuce (0) to the ace (12), suits clubs, diamonds, hearts, spades.

Sets are numbered in colexicographic order: the set a < b < c < ... has the number C(a, 1) + C(b, 2) + C(c, 3) + ...,
whatever the size of the deck.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.jit import piece

RANKS = "23456789TJQKA"
SUITS = "cdhs"
CARDS = 52
HOLES = math.comb(CARDS, 2)  # sets of two: a player's hole cards
FLOPS, TURNS, RIVERS = (math.comb(CARDS, size) for size in (3, 4, 5))

# [1326, 2] all hole cards, in the order of their first cards
HANDS = np.array(list(itertools.combinations(range(CARDS), 2)), np.uint8)

_1 = np.uint64(1)
# C(card, k) at 64 k + card: a kilobyte compiled into the kernels, twice as fast as computing the products.
_CHOOSE = np.array([math.comb(card, size) if card < CARDS else 0 for size in range(6) for card in range(64)], np.uint32)
_2, _3, _4, _5 = (np.uint64(64 * size) for size in (2, 3, 4, 5))


def card_name(card: int) -> str:
    """A card as players write it: ``As`` is the ace of spades."""
    if not 0 <= card < CARDS:
        raise FogplayError(f"there is no card number {card}; cards are numbered from 0 (2c) to 51 (As)")
    return RANKS[card // 4] + SUITS[card % 4]


def cards_name(cards: Iterable[int]) -> str:
    """Several cards, in the order given: ``AsKd``."""
    return "".join(card_name(int(card)) for card in cards)


def parse_card(text: str) -> int:
    """The card of a name such as ``As`` or ``td``; case does not matter."""
    rank, suit = (RANKS.find(text[0].upper()), SUITS.find(text[1].lower())) if len(text) == 2 else (-1, -1)
    if rank < 0 or suit < 0:
        raise FogplayError(
            f"'{text}' is not a card; write a rank of {RANKS} and a suit of {SUITS}, such as As for the ace of spades"
        )
    return 4 * rank + suit


def parse_cards(text: str) -> tuple[int, ...]:
    """The cards of ``AsKd``, ``As Kd`` or ``As,Kd``, in the order given, all different."""
    joined = re.sub(r"[\s,]+", "", text)
    cards = tuple(parse_card(joined[at : at + 2]) for at in range(0, len(joined), 2))
    twice = next((card for card in cards if cards.count(card) > 1), None)
    if twice is not None:
        raise FogplayError(f"'{text}' has {card_name(twice)} twice; a deck has one of each card")
    return cards


def new_deck() -> NDArray[np.uint8]:
    """[52] all cards, for ``draw_cards``."""
    return np.arange(CARDS, dtype=np.uint8)


@piece
def draw_cards(deck, at, count, chance):
    """Move ``count`` cards, drawn from ``deck[at:]``, to ``deck[at : at + count]``; ``deck[52]`` stays a permutation.

    One uniform number ``chance`` from [0, 1) decides all of them: multiplied by the number of cards left, its integer
    part is the draw and its fraction decides the next card. Every card uses 6 of its 53 bits, so up to four cards are
    uniform to within 2^-29. No card is drawn twice, and the deck need not be reset between deals.
    """
    for place in range(at, at + count):
        chance *= CARDS - place
        ahead = np.int64(chance)
        chance -= ahead
        drawn = deck[np.uint64(place + ahead)]
        deck[np.uint64(place + ahead)] = deck[np.uint64(place)]
        deck[np.uint64(place)] = drawn


@piece
def sort3(a, b, c):
    """Three numbers in ascending order, without branches."""
    a, b = min(a, b), max(a, b)
    b, c = min(b, c), max(b, c)
    a, b = min(a, b), max(a, b)
    return a, b, c


@piece
def sort4(a, b, c, d):
    """Four numbers in ascending order."""
    a, b = min(a, b), max(a, b)
    c, d = min(c, d), max(c, d)
    a, c = min(a, c), max(a, c)
    b, d = min(b, d), max(b, d)
    b, c = min(b, c), max(b, c)
    return a, b, c, d


@piece
def sort5(a, b, c, d, e):
    """Five numbers in ascending order: a sorting network of nine comparisons."""
    a, b = min(a, b), max(a, b)
    d, e = min(d, e), max(d, e)
    c, e = min(c, e), max(c, e)
    c, d = min(c, d), max(c, d)
    a, d = min(a, d), max(a, d)
    a, c = min(a, c), max(a, c)
    b, e = min(b, e), max(b, e)
    b, d = min(b, d), max(b, d)
    b, c = min(b, c), max(b, c)
    return a, b, c, d, e


@piece
def pair_number(a, b):
    """The number of the set {a, b}, in either order: below 1,326."""
    a, b = np.uint64(a), np.uint64(b)
    low, high = min(a, b), max(a, b)
    return ((high * (high - _1)) >> _1) + low


@piece
def flop_number(a, b, c):
    """The number of a set of three, in any order: below 22,100."""
    a, b, c = sort3(np.uint64(a), np.uint64(b), np.uint64(c))
    return np.uint64(a + _CHOOSE[_2 + b] + _CHOOSE[_3 + c])


@piece
def turn_number(a, b, c, d):
    """The number of a set of four, in any order: below 270,725."""
    a, b, c, d = sort4(np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(d))
    return np.uint64(a + _CHOOSE[_2 + b] + _CHOOSE[_3 + c] + _CHOOSE[_4 + d])


@piece
def river_number(a, b, c, d, e):
    """The number of a set of five, in any order: below 2,598,960."""
    a, b, c, d, e = sort5(np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(d), np.uint64(e))
    return np.uint64(a + _CHOOSE[_2 + b] + _CHOOSE[_3 + c] + _CHOOSE[_4 + d] + _CHOOSE[_5 + e])
