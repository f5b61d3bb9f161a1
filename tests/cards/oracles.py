"""Slow, obvious twins: hands compared as the rules say, strength by going through every opponent and every board."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

import phevaluator

DECK = range(52)


def best_five(cards: Sequence[int]) -> tuple[int, ...]:
    """What the best five cards are worth, as a tuple that compares as hands do."""
    return max(_worth(five) for five in itertools.combinations(cards, 5))


def _worth(five: Iterable[int]) -> tuple[int, ...]:
    five = list(five)
    ranks = sorted((card // 4 for card in five), reverse=True)
    counts = sorted(((count, rank) for rank, count in Counter(ranks).items()), reverse=True)
    shape, order = tuple(count for count, _ in counts), tuple(rank for _, rank in counts)
    flush = len({card % 4 for card in five}) == 1
    straight = len(order) == 5 and ranks[0] - ranks[4] == 4
    if ranks == [12, 3, 2, 1, 0]:
        straight, order = True, (3,)
    if straight and flush:
        return (8, order[0])
    if shape == (4, 1):
        return (7, *order)
    if shape == (3, 2):
        return (6, *order)
    if flush:
        return (5, *order)
    if straight:
        return (4, order[0])
    return ({(3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1, (1, 1, 1, 1, 1): 0}[shape], *order)


def value(cards: Iterable[int]) -> int:
    """The strength by phevaluator, higher is better."""
    return -int(phevaluator.evaluate_cards(*cards))


def half_wins(hole: Sequence[int], board: Sequence[int]) -> int:
    """Two for every opponent's hand that is beaten, one for every tie."""
    ours = value([*hole, *board])
    rest = [card for card in DECK if card not in hole and card not in board]
    theirs = (value([*other, *board]) for other in itertools.combinations(rest, 2))
    return sum(2 * (ours > each) + (ours == each) for each in theirs)


def expected(hole: Sequence[int], board: Sequence[int], power: int) -> float:
    """E[HS^power] over all cards to come."""
    rest = [card for card in DECK if card not in hole and card not in board]
    boards = list(itertools.combinations(rest, 5 - len(board)))
    return sum((half_wins(hole, [*board, *more]) / 1980) ** power for more in boards) / len(boards)


def billings(hole: Sequence[int], board: Sequence[int]) -> tuple[float, float, float]:
    """HS, Ppot and Npot, by the program in Billings's work: what is ahead, tied and behind now, and in the end."""
    ahead, tied, behind = range(3)

    def compare(ours: int, theirs: int) -> int:
        return ahead if ours > theirs else tied if ours == theirs else behind

    became = [[0] * 3 for _ in range(3)]
    now = [0] * 3
    rest = [card for card in DECK if card not in hole and card not in board]
    runs = [[*board, *more] for more in itertools.combinations(rest, 5 - len(board))]
    ours_now = value([*hole, *board])
    ours = [value([*hole, *run]) for run in runs]
    for other in itertools.combinations(rest, 2):
        before = compare(ours_now, value([*other, *board]))
        for run, mine in zip(runs, ours, strict=True):
            if other[0] not in run and other[1] not in run:
                now[before] += 1
                became[before][compare(mine, value([*other, *run]))] += 1
    strength = (now[ahead] + now[tied] / 2) / sum(now)
    positive = became[behind][ahead] + became[behind][tied] / 2 + became[tied][ahead] / 2
    negative = became[ahead][behind] + became[tied][behind] / 2 + became[ahead][tied] / 2
    weak, strong = now[behind] + now[tied] / 2, now[ahead] + now[tied] / 2
    return strength, positive / weak if weak else 0.0, negative / strong if strong else 0.0
