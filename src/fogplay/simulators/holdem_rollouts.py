"""What each option of a hold'em decision earns if everybody follows a policy from there.

With two players, everything unknown on the turn and on the river is tried: what an option earns is then exact.
Elsewhere worlds are drawn (``holdem_worlds``). All options are played in the same worlds with the same random numbers,
so that their differences are less noisy than they are themselves.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.deals import BOARD, deals_buffer
from fogplay.cards.deck import CARDS, HANDS
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import Holdem
from fogplay.jit import num_cores
from fogplay.simulators.holdem_worlds import (
    DEEPEST,
    deal_worlds,
    expect_worlds,
    look_up,
    play_worlds,
    ranges,
    way_to,
)
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.charts import Spot, Worth, squares
from fogplay.strategies.policy import BettingPolicy

WORLDS, AT_ONCE, MOST_TURNS = 1 << 13, 2, 12  # of a block; blocks played side by side; times that they are
BY_HAND = 1536  # worlds of a chart for each starting hand, divided by the players
ERROR = 0.04  # big blinds: the standard error that suffices
DOUBT = 0.05  # in charts: the part of every earlier move that was made at random
MOST_NODES = 400  # of a subtree whose moves are all tried in every world: a turn's and a river's with two players


class Results(NamedTuple):
    """What options earn in worlds, in chips."""

    weights: NDArray[np.float64]  # [worlds]
    results: NDArray[np.float64]  # [worlds, options]
    exact: bool  # whether these are all worlds, and the results expectations


@dataclass(frozen=True)
class _Start:
    """A decision from which worlds are played."""

    policy: BettingPolicy
    node: int
    seat: int
    board: tuple[int, ...]
    options: int
    expected: bool  # whether all moves are tried, instead of drawn ones

    @staticmethod
    def at(policy: BettingPolicy, node: int, board: tuple[int, ...]) -> _Start:
        here = policy.betting.nodes[node]
        few = _nodes_below(policy, node) <= MOST_NODES
        return _Start(policy, node, int(here.player), board, int(here.count), few)

    def played(self, cards: NDArray[np.uint8], chance: NDArray[np.float64]) -> NDArray[np.float64]:
        """``results[worlds, options]`` with these cards."""
        policy = self.policy
        deals = deals_buffer(len(cards), (cards.shape[1] - BOARD) // 2)
        deals.cards[:] = cards
        bucket = look_up(policy, deals)
        results = np.empty((len(cards), self.options))
        about = (policy.betting.nodes, policy.slot, policy.stride, policy.share, bucket, deals.strength)
        if self.expected:
            scratch = np.empty(DEEPEST, np.int64), np.empty(DEEPEST)
            expect_worlds(*about, self.node, self.seat, *scratch, results)
        else:
            play_worlds(*about, chance, self.node, self.seat, results)
        return results


def policy_behind(reference: Any, rules: Holdem) -> BettingPolicy | None:
    """The policy that a strategy or a bot plays; None if it is none, or if the game has not the whole deck."""
    policy = reference.policy if isinstance(reference, BettingStrategy) else reference
    return policy if isinstance(policy, BettingPolicy) and rules.is_full() else None


def option_results(rules: Holdem, reference: Any, view: Any, rng: np.random.Generator, doubt: float) -> Results | None:
    """What the options of a view earn; None if the reference is not a betting policy.

    A hand of the others weighs as much as the policy is likely to have made their moves with it, with some doubt.
    Blocks of worlds are played until the standard errors of all differences are small, or there are enough of them.
    """
    policy = policy_behind(reference, rules)
    if policy is None:
        return None
    seen = view.observation
    hole, board = tuple(seen.hole), tuple(seen.board)
    way, node = way_to(policy.betting, seen.betting, view.seat)
    start = _Start.at(policy, node, board)
    weights = ranges(policy, way, rules.players, (*hole, *board), board, doubt)
    if rules.players == 2 and len(board) >= BOARD - 1:
        return _all_worlds(start, hole, weights[1 - view.seat])
    holes, sums, found = np.array([hole], np.uint8), np.cumsum(weights, axis=1), np.empty((0, start.options))
    for _ in range(MOST_TURNS):
        more = _blocks(rules, start, holes, sums, WORLDS, rng)
        found = np.concatenate([found, *more])
        if _largest_error(found) <= ERROR * max(rules.blinds):
            break
    return Results(np.ones(len(found)), found, False)


def hand_values(rules: Holdem, policy: BettingPolicy, at: Spot, rng: np.random.Generator) -> dict[str, Worth]:
    """What each action at a spot earns with each of the 169 starting hands.

    The same number of worlds is dealt for every hand that the board leaves, over all of its suits.
    """
    way, node = way_to(policy.betting, tuple(at.betting.split("/")), at.seat)
    start = _Start.at(policy, node, at.board)
    sums = np.cumsum(ranges(policy, way, rules.players, at.board, at.board, DOUBT), axis=1)
    each = [(name, holes) for line in squares(at.board) for name, holes in line if holes]
    count = BY_HAND // rules.players // AT_ONCE
    holes = np.array([held[number % len(held)] for number in range(count) for _, held in each], np.uint8)
    found = np.stack(_blocks(rules, start, holes, sums, len(holes), rng))
    by_hand = found.reshape(-1, len(each), start.options)
    values, errors = by_hand.mean(axis=0), by_hand.std(axis=0) / np.sqrt(len(by_hand))
    return {
        name: Worth(tuple(values[place].tolist()), tuple(errors[place].tolist()))
        for place, (name, _) in enumerate(each)
    }


def _all_worlds(start: _Start, hole: tuple[int, ...], weights: NDArray[np.float64]) -> Results:
    """All hands of the only opponent, and all cards that may still come."""
    held = np.flatnonzero(weights)
    known = (*hole, *start.board)
    rows, which = [], []
    rivers = [()] if len(start.board) == BOARD else [(card,) for card in range(CARDS) if card not in known]
    for river in rivers:
        free = held[~np.isin(HANDS[held], river).any(axis=1)]
        own, common = np.tile(np.array(hole, np.uint8), (len(free), 1)), np.array((*start.board, *river), np.uint8)
        both = [own, HANDS[free]] if start.seat == 0 else [HANDS[free], own]
        rows.append(np.hstack([np.tile(common, (len(free), 1)), *both]))
        which.append(free)
    cards = np.concatenate(rows)
    parts = np.array_split(cards, AT_ONCE)
    found = _side_by_side(lambda part: start.played(part, np.empty((0, 0))), parts)
    return Results(weights[np.concatenate(which)], np.concatenate(found), True)


def _blocks(
    rules: Holdem,
    start: _Start,
    holes: NDArray[np.uint8],
    sums: NDArray[np.float64],
    size: int,
    rng: np.random.Generator,
) -> list[NDArray[np.float64]]:
    """``results[size, options]`` of a few blocks of worlds."""
    board = np.array(start.board, np.uint8)

    def play(stream: NDArray[np.uint64]) -> NDArray[np.float64]:
        cards = np.empty((size, BOARD + 2 * rules.players), np.uint8)
        chance = np.empty((size, 0 if start.expected else rules.most_actions()))
        deal_worlds(holes, board, start.seat, HANDS, sums, stream, cards, chance)
        return start.played(cards, chance)

    return _side_by_side(play, [np.frombuffer(rng.bytes(16), np.uint64).copy() for _ in range(AT_ONCE)])


def _side_by_side(deed: Any, parts: Any) -> list[Any]:
    """A deed for each of a few parts, on threads if there are cores for them."""
    if num_cores() < 2:
        return [deed(part) for part in parts]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(deed, parts))


def _largest_error(results: NDArray[np.float64]) -> float:
    """The largest standard error of what an option earns less than the best one."""
    less = results - results[:, [int(np.argmax(results.mean(axis=0)))]]
    return float(less.std(axis=0).max() / np.sqrt(len(less)))


def _nodes_below(policy: BettingPolicy, node: int) -> int:
    """The nodes of a subtree, counted no further than is of interest."""
    nodes, waiting, count = policy.betting.nodes, [node], 0
    while waiting and count <= MOST_NODES:
        here = nodes[waiting.pop()]
        count += 1
        if here.player != TERMINAL:
            waiting.extend(range(int(here.first_child), int(here.first_child) + int(here.count)))
    return count
