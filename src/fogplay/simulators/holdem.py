"""Limit hold'em as a simulator: the betting tree times what each player knows of the cards.

A node is a node of the betting tree, signals are the number of a deal. What a player knows on a round is one number:
the bucket of its hand, or with small decks its cards and the board themselves. Deals are told in batches
(``cards/deals.py``), because told together they wait for memory together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.buckets import Grid, Signals, signals
from fogplay.cards.deals import room, tell
from fogplay.cards.deck import draw_cards
from fogplay.cards.evaluator import Evaluator, evaluator
from fogplay.errors import FogplayError
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import EXACT, MOST_CARDS, Holdem, hand_strength
from fogplay.games.registry import load
from fogplay.jit import kernel, piece
from fogplay.simulators import waist
from fogplay.simulators.betting import Betting, betting_tree, child_after, paid_by
from fogplay.simulators.random import below, uniform
from fogplay.trees import FlatGame

BATCH = 64  # deals told at once
ROOT = 0
MOST_SITUATIONS = 50_000_000  # of exact cards


class Bucketed(NamedTuple):
    """Cards seen as buckets of hand strength."""

    signals: Signals
    evaluator: Evaluator


class Exact(NamedTuple):
    """Cards seen as they are: a situation is the set of hole cards and the set turned up before each round."""

    hole: int
    board: NDArray[np.int64]  # [rounds] cards turned up before each
    choose: NDArray[np.int64]  # [8, cards + 1] sets of so many of so many cards
    strength: NDArray[np.uint16]  # [situations of the last round] compares as hands do at showdown


class Told(NamedTuple):
    """What ``cards.deals.Deals`` is for buckets, for exact cards."""

    bucket: NDArray[np.uint32]  # [deals, players, rounds] the situation
    strength: NDArray[np.uint16]  # [deals, players] at showdown


class Batch(NamedTuple):
    """Deals waiting to be played: a worker's own, and with its random numbers all that a run must keep to go on."""

    next: NDArray[np.int64]  # [1] the first deal that was not handed out
    deck: NDArray[np.uint8]  # [cards] a permutation
    deals: Any  # cards.deals.Deals or Told


class HoldemGame(NamedTuple):
    """What an episode needs of hold'em."""

    players: int
    nodes: NDArray[Any]  # [nodes] betting.NODE
    exploration: NDArray[np.float64]  # [outlooks, players]
    cards: Any  # Bucketed or Exact
    batch: Batch


@dataclass(frozen=True, eq=False)
class SimulatedHoldem:
    """A game of hold'em ready to be sampled, and the sizes that learners need; names are those of ``FlatGame``."""

    name: str  # the spec of the game
    rules: Holdem
    betting: Betting
    exploration: NDArray[np.float64]  # [outlooks, players] the parameter c of UCB
    cards: Any  # Bucketed or Exact

    @property
    def num_players(self) -> int:
        return self.rules.players

    @property
    def num_slots(self) -> int:
        return self.betting.num_slots

    @property
    def num_decisions(self) -> int:
        """Decision nodes of the betting tree: the most that a traversal can meet in one deal."""
        return self.betting.num_decisions

    @property
    def deepest(self) -> int:
        return self.betting.deepest

    @property
    def widest(self) -> int:
        return self.betting.widest

    @property
    def payoff_range(self) -> float:
        """The largest difference that a player can see between two endings, in chips."""
        return float(self.rules.players * self.rules.most_paid())

    def worker(self, batch: int = BATCH) -> HoldemGame:
        """The game as one thread plays it; workers share everything but their deals."""
        return HoldemGame(
            self.num_players, self.betting.nodes, self.exploration, self.cards, _new_batch(self.rules, batch)
        )


def simulate_holdem(
    game: Holdem | str,
    *,
    c: float | Sequence[float] | None = None,
    k: float | None = None,
    cap: float | None = None,
) -> SimulatedHoldem:
    """The simulator of a game of hold'em.

    Exploration is ``c`` (one for all or one a player), or with ``k`` equation 3 of 2015, min(cap, pot + k * betting to
    come), both at the beginning of the betting round; without ``cap`` that is equation 5 of 2014. All in chips. By
    default, as in 2015, k is 0.5 and the cap half of the largest pot.
    """
    rules = load(game) if isinstance(game, str) else game
    if not isinstance(rules, Holdem):
        raise FogplayError(f"{game} is no game of hold'em; its simulator takes holdem(…)")
    if c is None and k is None and cap is None:
        k, cap = 0.5, rules.players * rules.most_paid() / 2
    if (c is None) == (k is None):
        raise FogplayError("exploration is c alone, or k with or without a cap")
    cards = _exact(rules) if rules.grid == EXACT else Bucketed(signals(Grid.parse(rules.grid)), evaluator())
    betting = betting_tree(rules)
    return SimulatedHoldem(str(rules), rules, betting, explored(rules, betting, c, k, cap), cards)


def explored(
    rules: Holdem, betting: Betting, c: float | Sequence[float] | None, k: float | None, cap: float | None
) -> NDArray[np.float64]:
    """[outlooks, players] the exploration parameter, as ``simulate_holdem`` describes it."""
    pot, to_come = betting.outlook.T
    if k is not None:
        by_outlook = np.minimum(np.inf if cap is None else cap, pot + k * to_come)
        return np.repeat(by_outlook[:, None], rules.players, axis=1)
    each = np.broadcast_to(np.asarray(c, np.float64), rules.players)
    return np.tile(each, (len(pot), 1))


def _new_batch(rules: Holdem, size: int) -> Batch:
    deals = (
        room(size, rules.players)
        if rules.grid != EXACT
        else Told(np.zeros((size, rules.players, rules.rounds), np.uint32), np.zeros((size, rules.players), np.uint16))
    )
    return Batch(np.full(1, size, np.int64), np.arange(rules.num_cards(), dtype=np.uint8), deals)


# ---- Deals


@waist.waist
def tell_batch(cards, batch, rng):  # type: ignore[no-untyped-def]
    """Deal and tell a whole batch; ``batch`` and ``rng`` are mutated."""


@tell_batch.register(Bucketed)
def _tell_buckets(cards, batch, rng):  # type: ignore[no-untyped-def]
    dealt = batch.deals.cards
    for deal in range(dealt.shape[0]):
        for first in range(0, dealt.shape[1], 3):
            draw_cards(batch.deck, first, 3, uniform(rng))
        for place in range(dealt.shape[1]):
            dealt[deal, place] = batch.deck[place]
    tell(cards.signals, cards.evaluator, batch.deals)


@tell_batch.register(Exact)
def _tell_situations(cards, batch, rng):  # type: ignore[no-untyped-def]
    deck, told = batch.deck, batch.deals
    players, rounds = told.bucket.shape[1], told.bucket.shape[2]
    needed = players * cards.hole
    for round_ in range(rounds):
        needed += cards.board[round_]
    for deal in range(told.bucket.shape[0]):
        for place in range(needed):
            other = place + below(rng, len(deck) - place)
            deck[place], deck[other] = deck[other], deck[place]
        tell_exact(cards, deck, told, deal)


@piece
def tell_exact(cards, deck, told, deal):  # type: ignore[no-untyped-def]
    """Tell deal number ``deal`` of what lies on top of the deck: hole cards by seat, then the board."""
    players, rounds = told.bucket.shape[1], told.bucket.shape[2]
    for player in range(players):
        situation = set_number(cards.choose, deck, player * cards.hole, cards.hole)
        begin = players * cards.hole
        for round_ in range(rounds):
            count = cards.board[round_]
            situation *= cards.choose[count, len(deck)]
            situation += set_number(cards.choose, deck, begin, count)
            begin += count
            told.bucket[deal, player, round_] = situation
        told.strength[deal, player] = cards.strength[situation]


@piece
def set_number(choose, cards, begin, count):  # type: ignore[no-untyped-def]
    """The number of the set ``cards[begin : begin + count]`` in colexicographic order, as in ``cards/deck.py``."""
    number = 0
    for place in range(begin, begin + count):
        not_above = 0
        for other in range(begin, begin + count):
            not_above += cards[other] <= cards[place]
        number += choose[not_above, cards[place]]
    return number


@kernel
def _refill(cards, batch, rng):  # type: ignore[no-untyped-def]
    """Called once in many deals, so that it is not merged into every kernel."""
    tell_batch(cards, batch, rng)


@waist.deal.register(HoldemGame)
def _deal(game, rng):  # type: ignore[no-untyped-def]
    batch = game.batch
    number = batch.next[0]
    if number == len(batch.deals.strength):
        _refill(game.cards, batch, rng)
        number = 0
    batch.next[0] = number + 1
    return number


# ---- Play


@waist.start.register(HoldemGame)
def _start(game, signals, rng):  # type: ignore[no-untyped-def]
    return np.int64(ROOT)


@waist.is_terminal.register(HoldemGame)
def _is_terminal(game, node):  # type: ignore[no-untyped-def]
    return game.nodes[np.uint64(node)].player == TERMINAL


@waist.player_of.register(HoldemGame)
def _player_of(game, node):  # type: ignore[no-untyped-def]
    return np.int64(game.nodes[np.uint64(node)].player)


@waist.num_actions.register(HoldemGame)
def _num_actions(game, node):  # type: ignore[no-untyped-def]
    return np.int64(game.nodes[np.uint64(node)].count)


@waist.slot_of.register(HoldemGame)
def _slot_of(game, node, signals):  # type: ignore[no-untyped-def]
    here = game.nodes[np.uint64(node)]
    bucket = game.batch.deals.bucket[np.uint64(signals), np.uint64(here.player), np.uint64(here.street)]
    return np.int64(here.slot + np.int64(bucket) * here.stride)


@waist.advance.register(HoldemGame)
def _advance(game, node, action, signals, rng):  # type: ignore[no-untyped-def]
    return np.int64(game.nodes[np.uint64(node)].first_child + action)


@waist.payoff.register(HoldemGame)
def _payoff(game, node, signals, player):  # type: ignore[no-untyped-def]
    """The pot, or an equal share of it, less what was paid."""
    end = game.nodes[np.uint64(node)]
    mine = paid_by(end.slot, player)
    if not end.in_hand >> player & 1:
        return -np.float64(mine)
    strength = game.batch.deals.strength
    own = strength[np.uint64(signals), np.uint64(player)]
    pot, winners, beaten = 0, 0, False
    for other in range(game.players):
        pot += paid_by(end.slot, other)
        if end.in_hand >> other & 1:
            theirs = strength[np.uint64(signals), np.uint64(other)]
            winners += theirs == own
            beaten = beaten or theirs > own
    return -np.float64(mine) if beaten else pot / winners - mine


@waist.exploration.register(HoldemGame)
def _exploration_of(game, node, signals):  # type: ignore[no-untyped-def]
    here = game.nodes[np.uint64(node)]
    return game.exploration[np.uint64(here.outlook), np.uint64(here.player)]


@waist.calling_action.register(HoldemGame)
def _calling_action(game, node, signals):  # type: ignore[no-untyped-def]
    return np.int64(game.nodes[np.uint64(node)].calling)


# ---- Exact cards


def _exact(rules: Holdem) -> Exact:
    """The tables of a small deck."""
    situations = rules.buckets()[-1]
    if situations > MOST_SITUATIONS:
        raise FogplayError(
            f"{rules} has {situations:,} situations of exact cards, over {MOST_SITUATIONS:,}: choose a smaller deck, "
            "or buckets (grid) with the whole deck"
        )
    cards = rules.num_cards()
    choose = np.array([[math.comb(n, size) for n in range(cards + 1)] for size in range(MOST_CARDS + 1)], np.int64)
    return Exact(rules.hole, np.array(rules.board, np.int64), choose, _strengths(rules))


def _strengths(rules: Holdem) -> NDArray[np.uint16]:
    """[situations of the last round] the order of hands at showdown; 0 where a card would be there twice."""
    hands = np.zeros((1, 0), np.int64)
    for size in (rules.hole, *rules.board):
        by_number = sorted(itertools.combinations(range(rules.num_cards()), size), key=lambda each: each[::-1])
        sets = np.array(by_number, np.int64).reshape(len(by_number), size)
        hands = np.hstack([np.repeat(hands, len(sets), axis=0), np.tile(sets, (len(hands), 1))])
    hands = np.sort(hands, axis=1)
    possible = (np.diff(hands, axis=1) > 0).all(axis=1)
    different, which = np.unique(hands[possible], axis=0, return_inverse=True)
    values = [hand_strength(rules, tuple(map(int, hand))) for hand in different]
    order = {value: number for number, value in enumerate(sorted(set(values)))}
    strength = np.zeros(len(hands), np.uint16)
    strength[possible] = np.array([order[value] for value in values], np.uint16)[which.reshape(-1)]
    return strength


def tree_slots(simulated: SimulatedHoldem, flat: FlatGame) -> NDArray[np.int64]:
    """[slots of the tree] the simulator's slot of every action of a flattened game with exact cards."""
    rules = simulated.rules
    numbers = {rules.card_to_string(card): card for card in range(rules.num_cards())}

    def number_of(text: str, count: int) -> int:
        cards = sorted(numbers[text[at : at + 2]] for at in range(0, 2 * count, 2))
        return sum(math.comb(card, place + 1) for place, card in enumerate(cards))

    slots = np.zeros(flat.num_slots, np.int64)
    for infoset, name in enumerate(flat.infosets):
        held, rest = name[: 2 * rules.hole], name[2 * rules.hole :].removeprefix("|")
        situation, node = number_of(held, rules.hole), ROOT
        for count, part in zip(rules.board, rest.split("/"), strict=False):
            cards, letters = part.split(":")
            situation = situation * math.comb(rules.num_cards(), count) + number_of(cards, count)
            for letter in letters:
                node = child_after(simulated.betting, node, letter)
        here, where = simulated.betting.nodes[node], flat.slots(infoset)
        slots[where] = here.slot + situation * here.stride + np.arange(where.stop - where.start)
    return slots
