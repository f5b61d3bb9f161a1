"""A betting strategy by cards: what it does with two cards on a board, and the chart of all 169 starting hands.

A situation is written as cards, a colon, and the betting: ``AsAd``, ``AKs:r``, ``QhJh:crc/r``; without cards, ``:r`` is
the whole chart. A hand such as ``AKs`` stands for all its combinations of suits that the board leaves.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.buckets import buckets_of_hands
from fogplay.cards.deck import CARDS, HANDS, RANKS, cards_name, parse_cards
from fogplay.errors import FogplayError
from fogplay.games.limit import CALL, STEPS, WORDS
from fogplay.pictures.grid import Cell, draw_grid
from fogplay.pictures.svg import Picture
from fogplay.strategies.betting import BettingStrategy, decision_after
from fogplay.strategies.packing import WHOLE
from fogplay.strategies.policy import BLIND, BettingPolicy, signals_of
from fogplay.trees.betting import child_after

Charted: TypeAlias = BettingStrategy | BettingPolicy

ROUND_OF_BOARD = {0: 0, 3: 1, 4: 2, 5: 3}
HAND_NAME = re.compile(r"([2-9TJQKA])([2-9TJQKA])([so]?)", re.IGNORECASE)


@dataclass(frozen=True)
class Spot:
    """A decision as everybody at the table sees it."""

    node: int  # of the betting tree
    board: tuple[int, ...]
    betting: str
    seat: int  # to act
    round: int
    actions: tuple[str, ...]


@dataclass(frozen=True)
class Play:
    """What a strategy does with a hand, averaged over its combinations of suits."""

    hand: str
    combinations: int  # that the board leaves; 0: none, and the hand is impossible
    buckets: tuple[int, ...]  # different ones, in ascending order
    probabilities: tuple[float, ...]  # of the spot's actions
    visits: int | None  # about how often the buckets were met while learning, the rarest of them; None: not recorded


@dataclass(frozen=True)
class Worth:
    """What the actions earn with a hand if everybody follows the strategy from there, in chips."""

    values: tuple[float, ...]  # [actions]
    errors: tuple[float, ...]  # [actions] standard errors; 0: exact

    def words(self, actions: Sequence[str]) -> str:
        """``fold earns -5.0, call +3.2 ± 0.4``."""
        told = []
        for place, (action, value, error) in enumerate(zip(actions, self.values, self.errors, strict=True)):
            about = f" ± {error:.1f}" if error >= 0.05 else ""
            told.append(f"{action}{'' if place else ' earns'} {value:+.1f}{about}")
        return ", ".join(told)


def spot(strategy: Charted, betting: str | None = None, board: str = "") -> Spot:
    """The decision after some betting with a board; without betting, after everybody checked and called so far."""
    cards = parse_cards(board)
    if len(cards) not in ROUND_OF_BOARD:
        raise FogplayError(f"a board has 0, 3, 4 or 5 cards, not {len(cards)}: {board!r}")
    round_ = ROUND_OF_BOARD[len(cards)]
    nodes = strategy.betting.nodes
    if betting is None:
        betting, node = "", 0
        while nodes[node].street < round_:
            after = int(nodes[node].first_child + nodes[node].calling)
            betting += "c" + "/" * int(nodes[after].street - nodes[node].street)
            node = after
    node = decision_after(strategy.betting, betting)
    here = nodes[node]
    if here.street != round_:
        wanted = {round_: count for count, round_ in ROUND_OF_BOARD.items()}[int(here.street)]
        raise FogplayError(f"after {betting!r} the board has {wanted} cards, not {len(cards)}; give them with --board")
    actions = WORDS[CALL - int(here.calling) :][: int(here.count)]
    return Spot(node, cards, betting, int(here.player), round_, tuple(actions))


def play_of(strategy: Charted, at: Spot, hand: str) -> Play:
    """What the strategy does with ``AsAd``, or with ``AKs``, ``AKo``, ``TT`` in all suits that the board leaves."""
    named = HAND_NAME.fullmatch(hand)
    if named is None:
        hole = parse_cards(hand)
        if len(hole) != 2:
            raise FogplayError(f"a hand is two cards, such as AsAd, or a name, such as AKs or TT, not {hand!r}")
        taken = [card for card in hole if card in at.board]
        if taken:
            raise FogplayError(f"{cards_name(taken)} cannot be both in the hand and on the board")
        return _averaged(strategy, at, cards_name(hole), [hole], buckets_at(strategy, at))
    first, second, suits = (part.upper() for part in named.groups())
    if (first == second) == bool(suits):
        raise FogplayError(f"write {first}{second}s or {first}{second}o, suited or offsuit, and pairs as TT: {hand!r}")
    high, low = sorted((RANKS.index(first), RANKS.index(second)), reverse=True)
    name = f"{RANKS[high]}{RANKS[low]}{suits.lower()}"
    return _averaged(strategy, at, name, _combinations(high, low, suits == "S", at.board), buckets_at(strategy, at))


def chart(strategy: Charted, at: Spot) -> list[list[Play]]:
    """[13][13] all starting hands from the ace down: suited hands above the diagonal, offsuit ones below it."""
    buckets = buckets_at(strategy, at)
    return [[_averaged(strategy, at, name, holes, buckets) for name, holes in line] for line in squares(at.board)]


def squares(board: Sequence[int] = ()) -> list[list[tuple[str, list[tuple[int, int]]]]]:
    """[13][13] the names of all starting hands, and the holdings that a board leaves of each."""
    rows = []
    for row in range(12, -1, -1):
        line = []
        for column in range(12, -1, -1):
            high, low, suited = max(row, column), min(row, column), column < row
            name = RANKS[high] + RANKS[low] + ("" if row == column else "s" if suited else "o")
            line.append((name, _combinations(high, low, suited, board)))
        rows.append(line)
    return rows


def plotted(strategy: Charted, at: Spot, worth: Mapping[str, Worth] | None = None) -> Picture:
    """The chart as a picture, with what hands earn if that is known."""
    where = f"after {at.betting or 'no betting'}{f' on {cards_name(at.board)}' if at.board else ''}"
    return Picture(draw_grid(cells_of(strategy, at, worth or {}), f"Seat {at.seat} {where}"))


def cells_of(strategy: Charted, at: Spot, worth: Mapping[str, Worth]) -> list[list[Cell]]:
    """[13][13] the chart as a picture takes it; a hand is as wide as it often comes this far."""
    reach = _reaches(strategy, at)
    rows = []
    for line in chart(strategy, at):
        row = []
        for play in line:
            shares = dict(zip(at.actions, play.probabilities, strict=True)) if play.combinations else {}
            arrives = reach[play.hand] if play.combinations else 0.0
            known = f"{worth[play.hand].words(at.actions)}; " if play.combinations and play.hand in worth else ""
            row.append(Cell(play.hand, shares, arrives, f"{known}{100 * arrives:.0f} % come this far"))
        rows.append(row)
    return rows


def _reaches(strategy: Charted, at: Spot) -> dict[str, float]:
    """By hand: the probability that the player to act did what it did before, with the cards that it had then."""
    nodes = strategy.betting.nodes
    buckets = buckets_at(strategy, at)
    mine = [(node, place) for node, place in _path_to(strategy, at.betting) if int(nodes[node].player) == at.seat]
    reach = {}
    for name, holes in itertools.chain.from_iterable(squares(at.board)):
        arrives = 1.0
        for node, place in mine:
            earlier = Spot(node, at.board, "", at.seat, int(nodes[node].street), ())
            held = _averaged(strategy, earlier, name, holes, buckets)
            arrives *= held.probabilities[place] if held.combinations else 0.0
        reach[name] = arrives
    return reach


def buckets_at(strategy: Charted, at: Spot) -> NDArray[np.uint16]:
    """``bucket[52, 52, rounds]`` of all holdings up to the spot's round, as the strategy sees them."""
    by_cards = np.zeros((CARDS, CARDS, 4), np.uint16)
    grid = _policy(strategy).grid
    if grid != BLIND:
        found = buckets_of_hands(signals_of(grid), at.board)
        by_cards[HANDS[:, 0], HANDS[:, 1]] = by_cards[HANDS[:, 1], HANDS[:, 0]] = found
    return by_cards


def _path_to(strategy: Charted, betting: str) -> list[tuple[int, int]]:
    """The decisions on the way: nodes, and the place of the action that was taken there."""
    nodes = strategy.betting.nodes
    path, node = [], 0
    for letter in betting.replace("/", ""):
        path.append((node, int(nodes[node].calling) + STEPS[letter]))
        node = child_after(strategy.betting, node, letter)
    return path


def _combinations(high: int, low: int, suited: bool, board: Sequence[int]) -> list[tuple[int, int]]:
    """The holdings of two ranks that the board leaves."""
    if high == low:
        pairs = list(itertools.combinations(range(4 * high, 4 * high + 4), 2))
    else:
        both = itertools.product(range(4), range(4))
        pairs = [(4 * high + one, 4 * low + other) for one, other in both if (one == other) == suited]
    return [pair for pair in pairs if not set(pair) & set(board)]


def _averaged(
    strategy: Charted, at: Spot, name: str, holes: Sequence[tuple[int, ...]], buckets: NDArray[np.uint16]
) -> Play:
    if not holes:
        return Play(name, 0, (), (), None)
    found = [int(buckets[hole[0], hole[1], at.round]) for hole in holes]
    different = sorted(set(found))
    parts = np.array([found.count(bucket) for bucket in different]) / len(found)
    policy, here = _policy(strategy), strategy.betting.nodes[at.node]
    first = policy.slot.item(at.node) + np.array(different)[:, None] * policy.stride.item(at.node)
    shares = policy.share[first + np.arange(int(here.count))] / WHOLE
    mean = (shares * parts[:, None]).sum(axis=0)
    visits = None
    if isinstance(strategy, BettingStrategy) and strategy.levels is not None:
        visits = min(strategy.visits_at(at.node, bucket) or 0 for bucket in different)
    return Play(name, len(holes), tuple(different), tuple(mean.tolist()), visits)


def _policy(strategy: Charted) -> BettingPolicy:
    return strategy.policy if isinstance(strategy, BettingStrategy) else strategy
