"""The hands that a board of hold'em allows, their order at showdown and their buckets, for many boards at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.buckets import board_entry, bucket_on, preflop_bucket
from fogplay.cards.evaluator import STRENGTHS, evaluate7, evaluator
from fogplay.games.holdem import Holdem, hand_strength
from fogplay.jit import kernel
from fogplay.simulators.holdem_boards import Deck, pairs
from fogplay.simulators.holdem_vectors import Board, sort_hands
from fogplay.strategies.policy import BLIND, signals_of

Boards = NDArray[np.uint8]  # [boards, cards], in the order they were dealt
Buckets = Callable[[int, Boards], NDArray[np.uint16]]  # of a round and its boards: [boards, hands]


class Lookups(NamedTuple):
    """What a walk asks about boards."""

    deck: Deck
    pairs: NDArray[np.uint8]  # [hands, 2]
    strength: Callable[[Boards], NDArray[np.uint16]]  # [boards, hands] where the board is complete
    strengths: int  # all are below this number
    theirs: Buckets
    own: Buckets

    def board(self, street: int, cards: Sequence[Sequence[int]], last: bool) -> Board:
        """The hands on boards of one round."""
        boards = np.array(cards, np.uint8).reshape(len(cards), -1)
        count = math.comb(self.deck.cards - boards.shape[1], 2)
        strength = self.strength(boards) if last else np.zeros((len(boards), len(self.pairs)), np.uint16)
        shape, groups = (len(boards), count), (min(count, self.strengths) if last else 1) + 1
        hand, theirs, own = (np.empty(shape, np.uint16) for _ in range(3))
        low, high = (np.empty(shape, np.uint8) for _ in range(2))
        made = Board(hand, low, high, theirs, own, np.zeros((len(boards), groups), np.uint16))
        sort_hands(strength, self.pairs, boards, made, np.zeros(self.strengths + 1, np.int64))
        _take(self.theirs(street, boards), made.hand, made.theirs)
        if self.own is self.theirs:
            return made._replace(own=made.theirs)
        _take(self.own(street, boards), made.hand, made.own)
        return made


def lookups(rules: Holdem, theirs: Buckets, own: Buckets, symmetric: bool = True) -> Lookups:
    """The lookups of a game whose players see cards by these buckets."""
    deck = Deck(rules.ranks, rules.suits, symmetric)
    if rules.is_full():
        return Lookups(deck, pairs(deck), _full_strength, STRENGTHS, theirs, own)
    strength = _SmallDeck(rules, deck)
    return Lookups(deck, pairs(deck), strength, strength.count, theirs, own)


def buckets_of(grid: str) -> Buckets:
    """The buckets of a grid; a player that does not look at its cards has one."""
    holes = pairs(Deck(13, 4))

    def find(street: int, boards: Boards) -> NDArray[np.uint16]:
        found = np.zeros((len(boards), len(holes)), np.uint16)
        if grid != BLIND:
            _fill_buckets(signals_of(grid), street, boards, holes, found)
        return found

    return find


def _full_strength(boards: Boards) -> NDArray[np.uint16]:
    holes = pairs(Deck(13, 4))
    found = np.zeros((len(boards), len(holes)), np.uint16)
    _fill_strength(evaluator(), boards, holes, found)
    return found


class _SmallDeck:
    """Strengths in a small deck, by the rules."""

    def __init__(self, rules: Holdem, deck: Deck) -> None:
        self.rules, self.pairs = rules, pairs(deck)
        self.known: dict[tuple[int, ...], tuple[int, ...]] = {}
        self.count = 1 << 12
        self.order: dict[tuple[int, ...], int] = {}

    def __call__(self, boards: Boards) -> NDArray[np.uint16]:
        found = np.zeros((len(boards), len(self.pairs)), np.uint16)
        for number, board in enumerate(boards.tolist()):
            values = {}
            for hand, pair in enumerate(self.pairs.tolist()):
                if not set(pair) & set(board):
                    values[hand] = hand_strength(self.rules, (*pair, *board))
            order = {value: place for place, value in enumerate(sorted(set(values.values())))}
            for hand, value in values.items():
                found[number, hand] = order[value]
        return found


@kernel
def _take(by_hand, hand, found):
    """Fill ``found[boards, places]`` with what ``by_hand[boards, hands]`` has for ``hand[boards, places]``."""
    for number in range(hand.shape[0]):
        for place in range(hand.shape[1]):
            found[number, place] = by_hand[number, hand[number, place]]


@kernel
def _fill_strength(tables, boards, holes, strength):
    """Fill ``strength[boards, hands]`` on complete boards; 0 where a hand holds a card of the board."""
    for number in range(len(boards)):
        a, b, c = int(boards[number, 0]), int(boards[number, 1]), int(boards[number, 2])
        d, e = int(boards[number, 3]), int(boards[number, 4])
        on_board = 1 << a | 1 << b | 1 << c | 1 << d | 1 << e
        for hand in range(len(holes)):
            low, high = int(holes[hand, 0]), int(holes[hand, 1])
            if (on_board >> low | on_board >> high) & 1 == 0:
                strength[number, hand] = evaluate7(tables, a, b, c, d, e, low, high)


@kernel
def _fill_buckets(signals, street, boards, holes, bucket):
    """Fill ``bucket[boards, hands]`` on boards of one round; 0 where a hand holds a card of the board."""
    for number in range(len(boards)):
        on_board = 0
        for place in range(boards.shape[1]):
            on_board |= 1 << int(boards[number, place])
        entry = np.uint64(0)
        if street > 0:
            entry = board_entry(signals, street, boards[number])
        for hand in range(len(holes)):
            low, high = int(holes[hand, 0]), int(holes[hand, 1])
            if (on_board >> low | on_board >> high) & 1 == 0:
                if street == 0:
                    bucket[number, hand] = preflop_bucket(signals, low, high)
                else:
                    bucket[number, hand] = bucket_on(signals, street, entry, low, high)
