"""Boards of hold'em as they are dealt, round by round, up to suit isomorphism.

Two deals of the board are equal up to suits if one permutation of suits turns every round's cards of the first into
those of the second. With 52 cards there are 1,755 flops, 63,193 turns and 2,554,656 rivers; ``cards/index.py`` has
fewer, since it forgets in which order cards came. A suit's *holding* is the ranks of that suit in each round; suits
with equal holdings can be exchanged, and these exchanges are the stabiliser of the board.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Dealt = tuple[tuple[int, ...], ...]  # the cards of each round so far


class Deck(NamedTuple):
    """A deck whose cards are numbered ``suits * rank + suit``; without symmetry, all suits are told apart."""

    ranks: int
    suits: int
    symmetric: bool = True

    @property
    def cards(self) -> int:
        return self.ranks * self.suits

    @property
    def hands(self) -> int:
        return math.comb(self.cards, 2)


class Next(NamedTuple):
    """Cards dealt next, for all that are equal up to suits."""

    cards: tuple[int, ...]
    weight: int  # how many they are


@functools.cache
def pairs(deck: Deck) -> NDArray[np.uint8]:
    """[hands, 2] the two cards of every hand, the lower first, in the order of ``deck.pair_number``."""
    return np.array([(low, high) for high in range(1, deck.cards) for low in range(high)], np.uint8)


def holdings(deck: Deck, dealt: Dealt) -> list[tuple[int, ...]]:
    """[suits] the ranks of each suit in each round, as bits; without symmetry, the suit itself comes first."""
    found = []
    for suit in range(deck.suits):
        ranks = [sum(1 << card // deck.suits for card in cards if card % deck.suits == suit) for cards in dealt]
        found.append(tuple(ranks) if deck.symmetric else (suit, *ranks))
    return found


def alike(deck: Deck, dealt: Dealt) -> list[list[int]]:
    """The suits in groups that can be exchanged without changing what was dealt."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for suit, holding in enumerate(holdings(deck, dealt)):
        groups.setdefault(holding, []).append(suit)
    return list(groups.values())


def next_boards(deck: Deck, dealt: Dealt, size: int) -> list[Next]:
    """One of each kind of ``size`` cards that can be dealt next, in the order of their numbers."""
    groups = alike(deck, dealt)
    if size == 1:
        return sorted(_next_cards(deck, dealt, groups))
    seen = set(itertools.chain(*dealt))
    left = [card for card in range(deck.cards) if card not in seen]
    found = []
    for cards in itertools.combinations(left, size):
        ranks = [0] * deck.suits
        for card in cards:
            ranks[card % deck.suits] |= 1 << card // deck.suits
        held = [[ranks[suit] for suit in group] for group in groups]
        if all(each == sorted(each, reverse=True) for each in held):
            found.append(Next(cards, math.prod(len(set(itertools.permutations(each))) for each in held)))
    return found


def _next_cards(deck: Deck, dealt: Dealt, groups: list[list[int]]) -> Iterator[Next]:
    seen = set(itertools.chain(*dealt))
    for group in groups:
        for rank in range(deck.ranks):
            card = deck.suits * rank + group[0]
            if card not in seen:
                yield Next((card,), len(group))


def stabiliser(deck: Deck, dealt: Dealt) -> NDArray[np.int64]:
    """[permutations, hands] where each permutation of suits that keeps the board takes every hand."""
    return _exchanges(deck, tuple(map(tuple, alike(deck, dealt))))


@functools.cache
def _exchanges(deck: Deck, groups: tuple[tuple[int, ...], ...]) -> NDArray[np.int64]:
    """The same for the suits in groups that can be exchanged."""
    holes = pairs(deck).astype(np.int64)
    images = []
    for chosen in itertools.product(*(itertools.permutations(group) for group in groups)):
        to = np.zeros(deck.suits, np.int64)
        for group, image in zip(groups, chosen, strict=True):
            to[list(group)] = image
        moved = holes - holes % deck.suits + to[holes % deck.suits]
        low, high = moved.min(axis=1), moved.max(axis=1)
        images.append(high * (high - 1) // 2 + low)
    return np.array(images)


def hand_classes(deck: Deck) -> NDArray[np.int64]:
    """[hands] the class of each hand up to suits before any board, numbered from 0."""
    lowest = stabiliser(deck, ()).min(axis=0)
    classes: NDArray[np.int64] = np.unique(lowest, return_inverse=True)[1]
    return classes
