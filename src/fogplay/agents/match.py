"""Duplicate matches of hold'em: every deal is played once for every seating of the players.

Winnings are in milli-big-blinds a hand (mb/h), standard errors those of the means of deals. Deals come in blocks, each
with random numbers of its own: a seed and a number name a deal, whoever plays it, and however the work is cut.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.agents.agent import Agent
from fogplay.agents.table import play_hand
from fogplay.cards.deals import Deals, deals_buffer, look_up_deals
from fogplay.cards.deck import new_deck
from fogplay.cards.evaluator import evaluator
from fogplay.errors import FogplayError
from fogplay.games.holdem import Holdem
from fogplay.kernels.duplicate import SIXTHS, Player, deal_block, play_block
from fogplay.strategies.betting import betting_of
from fogplay.strategies.policy import BLIND, BettingPolicy, node_after, signals_of
from fogplay.trees.betting import Betting

BLOCK = 1024  # deals that are drawn and told together
MOST_HANDS = 10**12
MOST_KEPT = 10**8  # hands whose ends are kept
NORMAL_95 = 1.959964
# A tree needs some grid; its nodes are the same for all.
SMALLEST_GRID = "ehs:1/1/1/1"


@dataclass(frozen=True, eq=False)
class DuplicateMatch:
    """What every player won, and how sure that is."""

    rules: Holdem
    hands: int
    deals: int
    seed: int
    seconds: float
    interrupted: bool
    means: tuple[float, ...]  # [players] milli-big-blinds a hand
    standard_errors: tuple[float, ...]  # [players] nan after a single deal
    chips: tuple[float, ...]  # [players] won altogether
    betting: Betting
    ends: NDArray[np.int32] | None  # [deals, seatings] the terminal node of each hand, if they were to be kept

    def interval(self, player: int) -> tuple[float, float]:
        """Where a player's true mean lies, with 95 % confidence."""
        reach = NORMAL_95 * self.standard_errors[player]
        return self.means[player] - reach, self.means[player] + reach


def seatings(players: int) -> NDArray[np.int64]:
    """[seatings, seats] all the ways to sit: which player is at each seat."""
    return np.array(list(itertools.permutations(range(players))), np.int64)


def play_duplicate(
    rules: Holdem,
    players: Sequence[BettingPolicy | Agent],
    hands: int,
    *,
    seed: int = 0,
    keep: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> DuplicateMatch:
    """Play at least ``hands`` hands, a whole number of deals in every seating; compiled if all players are policies.

    ``keep`` keeps where each hand ended, for histories. Ctrl-C ends it early, with what was played so far.
    """
    _check(rules, players, hands, seed, keep)
    betting = next((player.betting for player in players if isinstance(player, BettingPolicy)), None)
    if betting is None:
        betting = betting_of(str(with_grid(rules, SMALLEST_GRID)))
    ways = seatings(rules.players)
    deals = -(-hands // len(ways))
    compiled = all(isinstance(player, BettingPolicy) for player in players)
    block = _Compiled(rules, players, betting) if compiled else _Plain(rules, players, betting)  # type: ignore[arg-type]
    ends = np.zeros((deals if keep else 0, len(ways)), np.int32)
    won, squares, played, interrupted = [0] * rules.players, [0] * rules.players, 0, False

    def report(first: int, done: int) -> None:
        if progress is not None:
            progress((first + done) * len(ways), deals * len(ways))

    report(0, 0)
    began = time.perf_counter()
    for number, first in enumerate(range(0, deals, BLOCK)):
        asked = min(BLOCK, deals - first)
        count, interrupted = block.play(seed, number, asked, functools.partial(report, first))
        if keep:
            ends[first : first + count] = block.ends[:count]
        for player in range(rules.players):
            mine = block.won[:count, player]
            won[player] += int(mine.sum())
            squares[player] += int((mine**2).sum())
        played = first + count
        if interrupted:
            break
    if played == 0:
        raise KeyboardInterrupt
    seconds = time.perf_counter() - began
    unit = 1000 / (SIXTHS * len(ways) * max(rules.blinds))  # what the sum over a deal's hands is in mb/h
    errors = tuple(_error(total, square, played) * unit for total, square in zip(won, squares, strict=True))
    return DuplicateMatch(
        rules=rules,
        hands=played * len(ways),
        deals=played,
        seed=seed,
        seconds=seconds,
        interrupted=interrupted,
        means=tuple(total * unit / played for total in won),
        standard_errors=errors,
        chips=tuple(total / SIXTHS for total in won),
        betting=betting,
        ends=ends[:played] if keep else None,
    )


def _check(rules: Holdem, players: Sequence[Any], hands: int, seed: int, keep: bool) -> None:
    if not rules.is_full():
        raise FogplayError(f"{rules} has not the cards of Texas hold'em; its matches are those of its tree")
    if len(players) != rules.players:
        raise FogplayError(f"{rules} is for {rules.players} players, not for {len(players)}")
    if isinstance(hands, bool) or not isinstance(hands, int) or not 1 <= hands <= MOST_HANDS:
        raise FogplayError(f"hands must be a whole number from 1 to {MOST_HANDS:,}, not {hands!r}")
    if keep and hands > MOST_KEPT:
        raise FogplayError(f"histories are kept of {MOST_KEPT:,} hands at most, not of {hands:,}: ask for fewer hands")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise FogplayError(f"seed must be a whole number from 0, not {seed!r}")


def _error(total: int, squares: int, deals: int) -> float:
    """The standard error of a mean, out of exact sums."""
    if deals < 2:
        return math.nan
    return math.sqrt((squares * deals - total**2) / (deals**2 * (deals - 1)))


def with_grid(rules: Holdem, grid: str) -> Holdem:
    """The same game, its cards seen by another grid."""
    return dataclasses.replace(rules, grid=grid)


class Dealer:
    """Blocks of deals, by seed and number."""

    def __init__(self, rules: Holdem) -> None:
        self.deck = new_deck()
        self.cards = np.zeros((BLOCK, 5 + 2 * rules.players), np.uint8)
        self.chance = np.zeros((BLOCK, rules.most_actions()))

    def deal(self, seed: int, number: int) -> None:
        """Fill ``cards[deals, 5 + 2 * seats]``, the board first, and ``chance[deals, decisions]``."""
        mixed = np.random.SeedSequence(seed, spawn_key=(number,))
        deal_block(self.deck, mixed.generate_state(2, np.uint64), self.cards, self.chance)


class _Compiled:
    """Blocks played by policies."""

    def __init__(self, rules: Holdem, policies: Sequence[BettingPolicy], betting: Betting) -> None:
        self.nodes, self.ways, self.dealer = betting.nodes, seatings(rules.players), Dealer(rules)
        self.won = np.zeros((BLOCK, rules.players), np.int64)
        self.ends = np.zeros((BLOCK, len(self.ways)), np.int32)
        grids = list(dict.fromkeys(policy.grid for policy in policies if policy.grid != BLIND)) or [SMALLEST_GRID]
        self.told: dict[str, Deals] = {}
        for grid in grids:  # the same cards and strengths, other buckets
            own = deals_buffer(BLOCK, rules.players)
            self.told[grid] = own._replace(cards=self.dealer.cards)
        self.strength = self.told[grids[0]].strength
        unseen = np.zeros_like(self.told[grids[0]].bucket)
        self.players = tuple(
            Player(
                _fixed(policy.slot),
                _fixed(policy.stride),
                _fixed(policy.share),
                unseen if policy.grid == BLIND else self.told[policy.grid].bucket,
            )
            for policy in policies
        )

    def play(self, seed: int, number: int, count: int, report: Callable[[int], None]) -> tuple[int, bool]:
        """Play the first deals of a block; how many were played, and whether Ctrl-C came."""
        played = 0
        try:
            self.dealer.deal(seed, number)
            for grid, told in self.told.items():
                look_up_deals(signals_of(grid), evaluator(), told)
            chance = self.dealer.chance
            play_block(self.nodes, self.players, self.ways, self.strength, chance, count, self.won, self.ends)
            played = count
            report(count)
        except KeyboardInterrupt:
            return played, True
        return played, False


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    """The array as one that cannot be written, so that compiled code takes all of them for the same type."""
    view = array.view()
    view.flags.writeable = False
    return view


class _Plain:
    """The same with any agents, by the rules in plain Python."""

    def __init__(self, rules: Holdem, agents: Sequence[Agent], betting: Betting) -> None:
        self.rules, self.agents, self.betting = rules, agents, betting
        self.ways, self.dealer = seatings(rules.players), Dealer(rules)
        self.won = np.zeros((BLOCK, rules.players), np.int64)
        self.ends = np.zeros((BLOCK, len(self.ways)), np.int32)

    def play(self, seed: int, number: int, count: int, report: Callable[[int], None]) -> tuple[int, bool]:
        """Play the first deals of a block; how many were played, and whether Ctrl-C came."""
        self.dealer.deal(seed, number)
        played = 0
        try:
            for deal in range(count):
                self._play_deal(deal)
                played = deal + 1
                report(played)
        except KeyboardInterrupt:
            return played, True
        return played, False

    def _play_deal(self, deal: int) -> None:
        cards, chances = self.dealer.cards[deal].tolist(), self.dealer.chance[deal].tolist()
        self.won[deal] = 0
        for turn, seating in enumerate(self.ways):
            end = play_hand(self.rules, cards, [self.agents[player] for player in seating], chances)
            self.ends[deal, turn] = node_after(self.betting, end.betting)
            for player, value in zip(seating, end.returns(), strict=True):
                self.won[deal, player] += round(SIXTHS * value)


def deals_of(match: DuplicateMatch) -> Iterator[NDArray[np.uint8]]:
    """The cards of every deal of a match, ``[5 + 2 * seats]``, the board first."""
    dealer = Dealer(match.rules)
    for number, first in enumerate(range(0, match.deals, BLOCK)):
        dealer.deal(match.seed, number)
        yield from dealer.cards[: min(BLOCK, match.deals - first)].copy()
