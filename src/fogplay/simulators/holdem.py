"""Limit hold'em as a simulator: the betting tree times each player's knowledge of the cards.

A node is a node of the betting tree, and signals are the number of a deal. A player's knowledge on a round is one
number (``holdem_cards.py``).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards import buckets, tables
from fogplay.cards.buckets import Grid, signals
from fogplay.cards.deals import BOARD
from fogplay.cards.deck import CARDS
from fogplay.cards.evaluator import evaluator
from fogplay.errors import FogplayError
from fogplay.games import limit
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import EXACT, Holdem
from fogplay.games.registry import load
from fogplay.simulators import questions
from fogplay.simulators.holdem_cards import Batch, Bucketed, Known, deal_anew, exact_cards, new_batch
from fogplay.simulators.holdem_learning import learn_earlier
from fogplay.simulators.holdem_public import public_game
from fogplay.simulators.interface import BATCH, Learned, Simulator
from fogplay.simulators.policies import calling_action, explore
from fogplay.strategies.betting import BettingStrategy, joined_levels
from fogplay.strategies.packing import WHOLE
from fogplay.strategies.strategy import Situation
from fogplay.trees.betting import betting_tree, claim, node_after, owners, paid_by

ROOT = 0


class HoldemGame(NamedTuple):
    """The arrays that an episode of hold'em reads."""

    players: int
    nodes: NDArray[Any]  # [nodes] betting.NODE
    cards: Any  # Bucketed, Exact or Known
    batch: Batch
    root: int  # the node at which episodes begin


class ByOutlook(NamedTuple):
    """Exploration that follows the pot."""

    nodes: NDArray[Any]  # [nodes] betting.NODE
    c: NDArray[np.float64]  # [outlooks]


class CallByNode(NamedTuple):
    """The action that checks or calls."""

    nodes: NDArray[Any]  # [nodes] betting.NODE


class HoldemSimulator(Simulator):
    """Hold'em as the betting tree times each player's knowledge of the cards."""

    public_kernels = (learn_earlier,)

    def __init__(self, rules: Holdem) -> None:
        self.rules = rules
        self.name = self.game = str(rules)
        self.digest = hashlib.sha256(f"{self.name} {tables.VERSION}".encode()).hexdigest()[:16]
        exact = rules.grid == EXACT
        self.cards: Any = exact_cards(rules) if exact else Bucketed(signals(Grid.parse(rules.grid)), evaluator())
        self.betting = betting_tree(rules)
        self.num_players, self.num_slots = rules.players, self.betting.num_slots
        self.widest, self.deepest, self.decisions = (
            self.betting.widest, self.betting.deepest, self.betting.num_decisions,
        )  # fmt: skip
        self.payoff_range = float(rules.players * rules.most_paid())
        self.defaults = {"k": 0.5, "cap": self.payoff_range / 2, "d": 1 / 20_000}  # 2015, section 4.3

    @staticmethod
    def of(game: Holdem | str) -> HoldemSimulator:
        """The simulator of a game of hold'em, or of its spec."""
        rules = load(game) if isinstance(game, str) else game
        if not isinstance(rules, Holdem):
            raise FogplayError(f"{game} is not a game of hold'em; its simulator takes holdem(…)")
        return HoldemSimulator(rules)

    def worker(self, batch: int = BATCH) -> HoldemGame:
        return HoldemGame(self.num_players, self.betting.nodes, self.cards, new_batch(self.rules, batch), ROOT)

    def rooted(self, view: Situation, rng: np.random.Generator, doubt: bool = False) -> HoldemGame:
        seen, game = view.observation, self.worker()
        dealt = game.batch.deals.cards
        place = BOARD + 2 * view.seat
        dealt[:, : len(seen.board)] = seen.board
        dealt[:, place : place + 2] = seen.hole
        filled = {*range(len(seen.board)), place, place + 1}
        unseen = [card for card in range(CARDS) if card not in (*seen.board, *seen.hole)]
        unknown = [each for each in range(dealt.shape[1]) if each not in filled]
        own, hole = ([place, place + 1], list(seen.hole)) if doubt else ([], [])
        places, in_doubt = np.array(unknown, np.int64), np.array([*unknown, *own], np.int64)
        known = Known(self.cards, places, in_doubt, np.array([*unseen, *hole], np.uint8))
        batch = game.batch._replace(deck=np.array(unseen, np.uint8))
        return game._replace(cards=known, batch=batch, root=node_after(self.betting, seen.betting))

    def in_progress(self, workers: Sequence[HoldemGame]) -> dict[str, NDArray[Any]]:
        kept: dict[str, NDArray[Any]] = {}
        for worker, each in enumerate(workers):
            kept |= {f"deck {worker}": each.batch.deck, f"next {worker}": each.batch.next}
            kept |= {f"{name} {worker}": array for name, array in each.batch.deals._asdict().items()}
        return kept

    def exploration(self, k: float, cap: float) -> ByOutlook:
        pot, to_come = self.betting.outlook.T
        return ByOutlook(self.betting.nodes, np.minimum(cap, pot + k * to_come))

    def public_game(self, opponent: str | None, threads: int, device: str = "cpu") -> Any:
        if self.rules.grid == EXACT or self.rules.players != 2 or not self.rules.is_full():
            return None
        grid = None if opponent is None else self.rules.grid if opponent == self.name else opponent
        return public_game(self.rules, self.betting, grid, threads, device)

    def calls(self) -> CallByNode:
        return CallByNode(self.betting.nodes)

    def strategy(self, learned: Learned, method: str, greedy: bool, **about: Any) -> BettingStrategy:
        made: Any = {**learned, **about}
        return BettingStrategy.of(self.rules, self.betting, greedy=greedy, method=method, **made)

    def model(self, to: Any) -> NDArray[np.float64]:
        if not isinstance(to, BettingStrategy):
            raise FogplayError(f"a model of players of {self.name} must be a strategy of that game, not of {to.game}")
        to.require(self.rules)
        fixed: NDArray[np.float64] = to.share / WHOLE
        return fixed

    def joined(self, strategies: Sequence[BettingStrategy], method: str, **about: Any) -> BettingStrategy:
        owner = owners(self.betting, np.array(self.rules.buckets(), np.int64))
        share = strategies[0].share.copy()
        for seat, each in enumerate(strategies[1:], start=1):
            np.copyto(share, each.share, where=owner == seat)
        levels = joined_levels(strategies)
        return replace(strategies[0], share=share, method=method, levels=levels, **about)


def simulator(game: Holdem, progress: Callable[[str, int, int], None] | None = None) -> HoldemSimulator | None:
    """The simulator that this game should be learned through; None if its tree is small enough."""
    if game.grid == EXACT:
        return None
    if progress is not None:
        buckets.prepare(Grid.parse(game.grid), progress)
    return HoldemSimulator(game)


def num_slots(game: Holdem) -> int | None:
    """The slots of the game's simulator, counted without building it; None if its tree is small enough."""
    if game.grid == EXACT:
        return None
    return sum(map(math.prod, zip(limit.actions(game), game.buckets(), strict=True)))


def prepare(game: Holdem, progress: Callable[[str, int, int], None] | None = None) -> None:
    """Build the tables of hand strength that players need, if they do not exist yet."""
    if game.is_full() and not any(tables.folder().glob("strength-river*")):
        tables.load("ehs2", None if progress is None else lambda done, total: progress(tables.WHAT, done, total))


def option_results(game: Holdem, reference: Any, view: Any, rng: np.random.Generator, doubt: float) -> Any:
    """What each option earns in many worlds (``holdem_rollouts``); None if the reference is not a betting policy."""
    from fogplay.simulators import holdem_rollouts

    return holdem_rollouts.option_results(game, reference, view, rng, doubt)


def draw_chart(game: Holdem, reference: Any, betting: str | None, board: str, rng: np.random.Generator) -> Any:
    """The chart of all starting hands with what each earns (``charts.plotted``); None if the reference has none."""
    from fogplay.simulators import holdem_rollouts
    from fogplay.strategies.charts import plotted, spot

    policy = holdem_rollouts.policy_behind(reference, game)
    if policy is None:
        return None
    at = spot(reference, betting, board)
    return plotted(reference, at, holdem_rollouts.hand_values(game, policy, at, rng))


def chart_shares(game: Holdem, reference: Any, betting: str | None, board: str) -> dict[str, dict[str, float]]:
    """By starting hand: the probability of each action at the spot of a chart; impossible hands are left out."""
    from fogplay.strategies.charts import chart, spot

    at = spot(reference, betting, board)
    plays = [play for line in chart(reference, at) for play in line if play.combinations]
    return {play.hand: dict(zip(at.actions, play.probabilities, strict=True)) for play in plays}


def match_deals(game: Holdem) -> Any:
    """Deals for duplicate matches, which need the whole deck; None if matches rotate the seats instead."""
    from fogplay.simulators.holdem_duplicate import HoldemDeals

    return HoldemDeals(game) if game.is_full() else None


def full_game(game: Holdem, theirs: Any, own: Any = None, **settings: Any) -> Any:
    """What measures strategies on every hand and board, without abstraction; ``own`` responds, else a best response."""
    from fogplay.simulators import holdem_full

    return holdem_full.full_game(game, theirs, own, **settings)


def local_game(game: Holdem, theirs: Any) -> Any:
    """What plays a local best response, whose winnings are a lower bound of exploitability."""
    from fogplay.simulators import holdem_local

    return holdem_local.local_game(game, theirs)


# ---- Play


@questions.deal.register(HoldemGame)
def _deal(game, rng):
    batch = game.batch
    number = batch.next[0]
    if number == len(batch.deals.strength):
        deal_anew(game.cards, batch, rng)
        number = 0
    batch.next[0] = number + 1
    return number


@questions.start.register(HoldemGame)
def _start(game, signals, rng):
    return np.int64(game.root)


@questions.is_terminal.register(HoldemGame)
def _is_terminal(game, node):
    return game.nodes[np.uint64(node)].player == TERMINAL


@questions.player_of.register(HoldemGame)
def _player_of(game, node):
    return np.int64(game.nodes[np.uint64(node)].player)


@questions.num_actions.register(HoldemGame)
def _num_actions(game, node):
    return np.int64(game.nodes[np.uint64(node)].count)


@questions.slot_to_read.register(HoldemGame)
@questions.slot_of.register(HoldemGame)
def _slot_of(game, node, signals):
    here = game.nodes[np.uint64(node)]
    bucket = game.batch.deals.bucket[np.uint64(signals), np.uint64(here.player), np.uint64(here.street)]
    return np.int64(here.slot + np.int64(bucket) * here.stride)


@questions.key_of.register(HoldemGame)
def _key_of(game, node, signals):
    return np.uint64(questions.slot_of(game, node, signals) + 1)


@questions.name_infoset.register(HoldemGame)
def _name_infoset(game, node, signals):
    return


@questions.advance.register(HoldemGame)
def _advance(game, node, action, signals, rng):
    return np.int64(game.nodes[np.uint64(node)].first_child + action)


@questions.payoff.register(HoldemGame)
def _payoff(game, node, signals, player):
    """The pot, or an equal share of it, less what was paid."""
    end = game.nodes[np.uint64(node)]
    mine = paid_by(end.slot, player)
    if not end.in_hand >> player & 1:
        return -np.float64(mine)
    pot, winners = claim(end, game.batch.deals.strength, signals, player)
    return -np.float64(mine) if winners == 0 else pot / winners - mine


@explore.register(ByOutlook)
def _explore_by_outlook(exploration, node, player, slot):
    return exploration.c[np.uint64(exploration.nodes[np.uint64(node)].outlook)]


@calling_action.register(CallByNode)
def _call_by_node(calls, node, slot):
    return np.int64(calls.nodes[np.uint64(node)].calling)
