"""Duplicate matches of hold'em: every deal is played once for every seating of the players.

The random number for a player's k-th decision is part of the deal, like the cards. Players with the same strategy
therefore win exactly the same, and any difference is due to how they play. Deals come in blocks, each with its own
random numbers: a seed and a number identify a deal, whoever plays it and however the work is divided.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.deals import Deals, deals_buffer, look_up_deals
from fogplay.cards.deck import draw_cards, new_deck
from fogplay.cards.evaluator import evaluate, evaluator
from fogplay.errors import FogplayError
from fogplay.games import limit
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import Holdem
from fogplay.jit import kernel, piece
from fogplay.notation.acpc import Score, game_in, hand_line, log_head, print_cards, print_score, read_hands, read_lines
from fogplay.notation.gamedef import definition_of, name_of
from fogplay.simulators.streams import uniform
from fogplay.strategies.betting import BettingStrategy, betting_of, require_betting
from fogplay.strategies.packing import WHOLE
from fogplay.strategies.policy import BLIND, BettingPolicy, signals_of
from fogplay.trees.betting import Betting, claim, paid_by

SIXTHS = 6  # of a chip: a pot split by one, two or three is a whole number of them
BLOCK = 1024  # deals that are drawn and looked up together
# A tree needs some grid; its nodes are the same for all.
SMALLEST_GRID = "ehs:1/1/1/1"


class Player(NamedTuple):
    """One player's strategy, and its knowledge of the cards."""

    slot: NDArray[np.int64]  # [nodes] of the first action in bucket 0
    stride: NDArray[np.int32]  # [nodes] slots from one bucket to the next
    share: NDArray[np.uint8]  # [slots] probabilities in 255ths
    bucket: NDArray[np.uint16]  # [deals, seats, rounds] the bucket of each seat's cards, by this player's grid


def smallest_tree(rules: Holdem) -> Betting:
    """A betting tree of these rules, if no player provides one."""
    return betting_of(str(dataclasses.replace(rules, grid=SMALLEST_GRID)))


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


class HoldemDeals:
    """The deals of duplicate matches, in milli-big-blinds per hand (``play.formats.Deals``)."""

    unit, digits, points, parts, block = "mb/h", 1, "chips", SIXTHS, BLOCK

    def __init__(self, rules: Holdem) -> None:
        self.rules = rules
        self.scale = (1000, max(rules.blinds))
        self.seatings = tuple(itertools.permutations(range(rules.players)))
        self._dealer = Dealer(rules)
        self._drawn = (-1, -1)  # seed and number of the block in ``_cards`` and ``_numbers``
        self._cards: list[list[int]] = []
        self._numbers: list[list[float]] = []
        self._betting: Betting | None = None
        self._story: Story | None = None

    @property
    def betting(self) -> Betting:
        """The betting tree whose nodes say how hands ended."""
        if self._betting is None:
            self._betting = smallest_tree(self.rules)
        return self._betting

    def cards(self, seed: int, number: int) -> tuple[list[int], list[float]]:
        """The cards of a deal, the board first, and a random number for every possible decision."""
        if self._drawn != (seed, number // BLOCK):
            self._dealer.deal(seed, number // BLOCK)
            self._cards, self._numbers = self._dealer.cards.tolist(), self._dealer.chance.tolist()
            self._drawn = seed, number // BLOCK
        return self._cards[number % BLOCK], self._numbers[number % BLOCK]

    def deal(self, seed: int, number: int) -> tuple[Sequence[int], Sequence[float]]:
        cards, numbers = self.cards(seed, number)
        rules = self.rules
        holes, boards = split(rules, cards)
        return [card for dealt in (*holes, *boards) for card in sorted(dealt)], numbers

    def end(self, moves: tuple[int, ...]) -> int:
        """The terminal node at which a hand ended."""
        nodes, rules = self.betting.nodes, self.rules
        player, street = nodes["player"], nodes["street"]
        node, at = 0, rules.players * rules.hole
        while player.item(node) != TERMINAL:
            after = nodes["first_child"].item(node) + nodes["calling"].item(node) + moves[at] - limit.CALL
            at += 1
            if street.item(after) != street.item(node):
                at += rules.board[street.item(after)]
            node = after
        return node

    def loop(self, agents: Sequence[Any], seed: int) -> _Compiled | None:
        policies = [self._policy(agent) for agent in agents]
        self._betting = next((policy.betting for policy in policies if policy is not None), self._betting)
        made = [policy for policy in policies if policy is not None]
        return _Compiled(self.rules, made, self.betting, seed) if len(made) == len(agents) else None

    def _policy(self, agent: Any) -> BettingPolicy | None:
        if isinstance(agent, BettingStrategy):
            require_betting(agent.rules, self.rules)
            return agent.policy
        return agent if isinstance(agent, BettingPolicy) else None

    def log_lines(self, match: Any) -> Iterator[str]:
        """A log in the competition's notation: comments, every hand in every seating, the score."""
        rules, names = self.rules, match.names
        yield log_head("fogplay-match", self._known_as, match.hands, match.seed)
        yield f"# a duplicate match: {match.deals} deals, each played in all seatings"
        story, hand = Story(rules, self.betting), 0
        for deal, ends in enumerate(match.ends.tolist()):
            cards, _ = self.cards(match.seed, deal)
            for seating, end in zip(self.seatings, ends, strict=True):
                yield state_line(hand, story, cards, end, [names[player] for player in seating])
                hand += 1
        yield print_score(Score(match.totals, tuple(names)))

    def log_head(self) -> str:
        """The first line of a person's log."""
        return log_head("fogplay-play", self._known_as, 0, 0)

    def logged(self, path: Path) -> int:
        """The number of hands in a person's log; refuses one of another game."""
        first = next((line for _, line in read_lines(path)), "")
        if game_in(first) != "-".join(self._known_as.split()):
            raise FogplayError(f"{path} is not a log of {self._known_as}; choose another name for --log")
        return sum(1 for _ in read_hands(path))

    def seen_line(self, hand: int, seed: int, deal: int, end: int, names: Sequence[str], seat: int) -> str:
        """A hand as one seat saw it: the others' cards only if they were shown down."""
        if self._story is None:
            self._story = Story(self.rules, self.betting)
        cards, _ = self.cards(seed, deal)
        in_hand = int(self.betting.nodes[end]["in_hand"])
        showdown = in_hand.bit_count() > 1
        shown = [other == seat or (showdown and bool(in_hand >> other & 1)) for other in range(self.rules.players)]
        return state_line(hand, self._story, cards, end, names, shown)

    @property
    def _known_as(self) -> str:
        return name_of(definition_of(self.rules)) or str(self.rules)


def split(rules: Holdem, cards: Sequence[int]) -> tuple[list[Sequence[int]], list[Sequence[int]]]:
    """A deal, the board first, as hole cards by seat and what is turned up before each round from the second on."""
    first = len(cards) - rules.players * rules.hole
    holes = [cards[at : at + rules.hole] for at in range(first, len(cards), rules.hole)]
    boards, seen = [], 0
    for count in rules.board[1:]:
        boards.append(cards[seen : seen + count])
        seen += count
    return holes, boards


class _Compiled:
    """Blocks played by policies."""

    def __init__(self, rules: Holdem, policies: Sequence[BettingPolicy], betting: Betting, seed: int) -> None:
        self.kernel, self.seed = play_block, seed
        self.nodes, self.dealer = betting.nodes, Dealer(rules)
        self.ways = np.array(list(itertools.permutations(range(rules.players))), np.int64)
        self.won = np.zeros((BLOCK, rules.players), np.int64)
        self.ends = np.zeros((BLOCK, len(self.ways)), np.int32)
        grids = list(dict.fromkeys(policy.grid for policy in policies if policy.grid != BLIND)) or [SMALLEST_GRID]
        self.seen: dict[str, Deals] = {}
        for grid in grids:  # the same cards and strengths, with other buckets
            own = deals_buffer(BLOCK, rules.players)
            self.seen[grid] = own._replace(cards=self.dealer.cards)
        self.strength = self.seen[grids[0]].strength
        unseen = np.zeros_like(self.seen[grids[0]].bucket)
        self.players = tuple(
            Player(
                _fixed(policy.slot),
                _fixed(policy.stride),
                _fixed(policy.share),
                unseen if policy.grid == BLIND else self.seen[policy.grid].bucket,
            )
            for policy in policies
        )

    def play(self, first: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Play a block of deals; return each player's winnings over all seatings, and every hand's terminal node."""
        self.dealer.deal(self.seed, first // BLOCK)
        for grid, deals in self.seen.items():
            look_up_deals(signals_of(grid), evaluator(), deals)
        chance = self.dealer.chance
        play_block(self.nodes, self.players, self.ways, self.strength, chance, count, self.won, self.ends)
        return self.won[:count], self.ends[:count].copy()


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    """The array as read-only, so that all such arrays have the same type in compiled code."""
    view = array.view()
    view.flags.writeable = False
    return view


# ---- Logs


def state_line(
    hand: int, story: Story, cards: Sequence[int], end: int, names: Sequence[str], shown: Sequence[bool] | None = None
) -> str:
    """The line of one hand, which ended at a node; ``cards`` are the board, then each seat's hole cards.

    ``shown`` says whose hole cards are written; all of them by default.
    """
    letters = story.betting_to(end)
    holes, boards = split(story.rules, cards)
    if shown is not None:
        holes = [hole if seen else () for hole, seen in zip(holes, shown, strict=True)]
    seen = print_cards(holes, boards[: letters.count("/")])
    return hand_line(hand, letters, seen, story.values(end, cards), names)


class Story:
    """The actions on the path to a terminal node of a betting tree."""

    def __init__(self, rules: Holdem, betting: Betting) -> None:
        self.rules, self.betting = rules, betting
        self.parent = _parents(betting)
        self.betting_to = functools.lru_cache(maxsize=1 << 16)(self._betting_to)

    def _betting_to(self, end: int) -> str:
        """Letters by round, with ``/`` where a round is over: ``rc/cc/...``."""
        nodes, letters, node = self.betting.nodes, "", end
        while node != 0:
            before = int(self.parent[node])
            here = nodes[before]
            letter = limit.LETTERS[node - int(here["first_child"]) + limit.CALL - int(here["calling"])]
            letters = letter + ("/" if nodes[node]["street"] != here["street"] else "") + letters
            node = before
        return letters

    def values(self, end: int, cards: Sequence[int]) -> list[float]:
        """Each seat's winnings in chips."""
        node, seats = self.betting.nodes[end], range(self.rules.players)
        holes, _ = split(self.rules, cards)
        board = cards[: len(cards) - len(holes) * self.rules.hole]
        paid = [int(paid_by(int(node["slot"]), seat)) for seat in seats]
        in_hand = [bool(int(node["in_hand"]) >> seat & 1) for seat in seats]
        return limit.winnings(paid, in_hand, lambda seat: evaluate([*board, *holes[seat]]))


def _parents(betting: Betting) -> NDArray[np.int32]:
    """[nodes] the node before each."""
    nodes = betting.nodes
    acting = np.flatnonzero(nodes["player"] != TERMINAL)
    parent = np.zeros(len(nodes), np.int32)
    for action in range(betting.widest):
        having = acting[nodes["count"][acting] > action]
        parent[nodes["first_child"][having] + action] = having
    return parent


# ---- Compiled play


@kernel
def deal_block(deck, rng, cards, chance):
    """Fill ``cards[deals, 5 + 2 * seats]`` and ``chance[deals, decisions]``; ``deck[52]`` and ``rng`` are mutated.

    The deck is put in order first, so that a block of deals depends on its random numbers alone.
    """
    for card in range(len(deck)):
        deck[card] = card
    for deal in range(cards.shape[0]):
        for first in range(0, cards.shape[1], 3):
            draw_cards(deck, first, 3, uniform(rng))
        for place in range(cards.shape[1]):
            cards[deal, place] = deck[place]
        for decision in range(chance.shape[1]):
            chance[deal, decision] = uniform(rng)


@kernel
def play_block(nodes, players, seating, strength, chance, count, won, ends):
    """Play ``count`` deals, each once for every row of ``seating[seatings, seats]``, which says who sits where.

    ``won[deals, players]`` is filled with winnings over all seatings, in sixths of a chip, and
    ``ends[deals, seatings]`` with terminal nodes. ``strength[deals, seats]`` decides showdowns.
    """
    for deal in range(count):
        for player in range(seating.shape[1]):
            won[deal, player] = 0
        for turn in range(seating.shape[0]):
            node, decision = np.int64(0), 0
            while nodes[np.uint64(node)].player != TERMINAL:
                here = nodes[np.uint64(node)]
                player = players[seating[turn, here.player]]
                bucket = player.bucket[deal, here.player, here.street]
                first = player.slot[node] + np.int64(bucket) * player.stride[node]
                node = here.first_child + choose(player.share, first, here.count, chance[deal, decision])
                decision += 1
            ends[deal, turn] = node
            for seat in range(seating.shape[1]):
                won[deal, seating[turn, seat]] += winnings(nodes[np.uint64(node)], strength, deal, seat)


@piece
def choose(share, first, count, chance):
    """The action that a number from [0, 1) selects by the 255ths ``share[first ...]``."""
    left = np.int64(chance * WHOLE)
    choice = np.int64(0)
    for action in range(count - 1):
        left -= np.int64(share[np.uint64(first + action)])
        choice += left >= 0
    return choice


@piece
def winnings(end, strength, deal, seat):
    """A seat's winnings at a terminal node, in sixths of a chip."""
    mine = paid_by(end.slot, seat)
    if not end.in_hand >> seat & 1:
        return -SIXTHS * mine
    pot, winners = claim(end, strength, deal, seat)
    if winners == 0:
        return -SIXTHS * mine
    return pot * SIXTHS // winners - SIXTHS * mine
