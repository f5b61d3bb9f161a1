"""Best responses by vectors of hands: boards up to suits, small decks against the tree, known values on flops."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fogplay.cards.deck import parse_card
from fogplay.evaluate import measure
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import Holdem
from fogplay.games.registry import load
from fogplay.simulators.holdem_boards import Deck, alike, hand_classes, next_boards, pairs, stabiliser
from fogplay.simulators.holdem_lines import Shares
from fogplay.simulators.holdem_lookups import lookups
from fogplay.simulators.holdem_walk import Walk, new_walk
from fogplay.strategies.packing import WHOLE
from fogplay.trees import flatten
from fogplay.trees.betting import betting_tree, node_after

FULL = Deck(13, 4)
BUCKETS = 5


def test_there_are_as_many_boards_as_the_order_of_cards_demands() -> None:
    flops = next_boards(FULL, (), 3)
    assert (len(flops), sum(each.weight for each in flops)) == (1755, 22100)
    turns, rivers, weights = 0, 0, 0
    for flop in flops:
        for turn in next_boards(FULL, (flop.cards,), 1):
            turns += 1
            board, groups = (*flop.cards, *turn.cards), alike(FULL, (flop.cards, turn.cards))
            kinds = [13 - sum(card % 4 == group[0] for card in board) for group in groups]
            rivers += sum(kinds)
            weights += flop.weight * turn.weight * sum(k * len(g) for k, g in zip(kinds, groups, strict=True))
    assert (turns, rivers, weights) == (63193, 2554656, 22100 * 49 * 48)


def test_the_next_cards_stand_for_all_cards() -> None:
    for dealt in ((), ((0, 5, 9),), ((0, 1, 2),), ((3, 7, 20), (4,))):
        found = next_boards(FULL, dealt, 1)
        assert sum(each.weight for each in found) == 52 - sum(map(len, dealt))
        images = stabiliser(FULL, dealt)
        assert (np.sort(images, axis=1) == np.arange(1326)).all()
        cards = {card for card in range(52) if not any(card in each for each in dealt)}
        holes = pairs(FULL)
        for each in found:  # the cards that permutations make of one are as many as its weight
            with_it = np.flatnonzero((holes == each.cards[0]).any(axis=1))
            common = [set.intersection(*(set(map(int, holes[image[hand]])) for hand in with_it)) for image in images]
            assert len(set.union(*common)) == each.weight
            assert set.union(*common) <= cards
    assert hand_classes(FULL).max() + 1 == 169
    assert len(stabiliser(Deck(13, 4, symmetric=False), ())) == 1


# ---- Small decks against the tree

SMALL = [
    "holdem(rounds=2,ranks=4,suits=2,board=[0,2],raises=[10,20],max_raises=[2,3])",
    "holdem(rounds=3,ranks=3,suits=3,board=[0,1,1],raises=[10,10,20],max_raises=[0,1,1])",
]


class Player:
    """A random strategy of a small game, by buckets that may or may not tell suits apart."""

    def __init__(self, rules: Holdem, symmetric: bool, seed: int) -> None:
        self.rules, self.deck = rules, Deck(rules.ranks, rules.suits, symmetric)
        self.rng = np.random.default_rng(seed)
        self.betting = betting_tree(rules)
        self.known: dict[Any, int] = {}
        nodes = self.betting.nodes
        stride = np.where(nodes["player"] == TERMINAL, 0, nodes["count"]).astype(np.int32)
        size = stride.astype(np.int64) * BUCKETS
        slot = np.cumsum(size) - size
        share = np.zeros(int(size.sum()), np.uint8)
        for node in np.flatnonzero(stride):
            for bucket in range(BUCKETS):
                cuts = np.sort(self.rng.integers(0, WHOLE + 1, stride[node] - 1))
                at = slot[node] + bucket * stride[node]
                share[at : at + stride[node]] = np.diff([0, *cuts, WHOLE])
        self.shares = Shares(slot, stride, share, (BUCKETS,) * rules.rounds)

    def bucket(self, street: int, hand: tuple[int, ...], board: tuple[int, ...]) -> int:
        suits = self.deck.suits
        ways = itertools.permutations(range(suits)) if self.deck.symmetric else [tuple(range(suits))]
        sizes = self.rules.board[: street + 1]
        cuts = [0, *itertools.accumulate(sizes)]
        kinds = []
        for way in ways:
            moved = [tuple(card - card % suits + way[card % suits] for card in cards) for cards in (hand, board)]
            kinds.append((sorted(moved[0]), *(sorted(moved[1][a:b]) for a, b in itertools.pairwise(cuts))))
        return self.known.setdefault(str(min(kinds)), int(self.rng.integers(BUCKETS)))

    def buckets(self, street: int, boards: NDArray[np.uint8]) -> NDArray[np.uint16]:
        found = np.zeros((len(boards), self.deck.hands), np.uint16)
        for number, board in enumerate(boards.tolist()):
            for hand, pair in enumerate(pairs(self.deck).tolist()):
                if not set(pair) & set(board):
                    found[number, hand] = self.bucket(street, tuple(pair), tuple(board))
        return found

    def on_tree(self, flat: Any) -> NDArray[np.float64]:
        """[slots] its probabilities in the game's tree."""
        probabilities = np.zeros(flat.num_slots)
        for number, name in enumerate(flat.infosets):
            rounds = [each.split(":") for each in name.split("/")]
            hand, *turned = (self._cards(cards) for cards, _ in rounds)
            street = len(rounds) - 1
            bucket = self.bucket(street, hand, tuple(itertools.chain(*turned)))
            node = node_after(self.betting, [letters for _, letters in rounds])
            slots = flat.slots(number)
            shares = [self.shares.at(node, street, action)[bucket] for action in range(slots.stop - slots.start)]
            probabilities[slots] = shares
        return probabilities

    def _cards(self, text: str) -> tuple[int, ...]:
        numbers = [parse_card(text[at : at + 2]) for at in range(0, len(text), 2)]
        return tuple(number // 4 * self.deck.suits + number % 4 for number in numbers)


@functools.cache
def _flat(spec: str) -> Any:
    return flatten(spec)


def _walk(player: Player, own: Player | None = None, precision: Any = np.float64) -> Walk:
    seen = lookups(player.rules, player.buckets, (own or player).buckets, player.deck.symmetric)
    mine = None if own is None else own.shares
    return new_walk(player.rules, player.betting, seen, player.shares, mine, precision)


def _earned(walk: Walk) -> tuple[float, float]:
    reach = walk.begin()
    return walk.finish(sum(walk.on_flop(flop, reach) for flop in walk.flops()))


@pytest.mark.parametrize("spec", SMALL)
@pytest.mark.parametrize("symmetric", [True, False])
def test_best_responses_are_those_of_the_tree(spec: str, symmetric: bool) -> None:
    rules, flat = load(spec), _flat(spec)
    player = Player(rules, symmetric, seed=3)
    expected = measure(flat, player.on_tree(flat)).best_response_values
    assert _earned(_walk(player)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("symmetric", [True, False])
def test_values_are_those_of_the_tree(symmetric: bool) -> None:
    rules, flat = load(SMALL[1]), _flat(SMALL[1])
    player = Player(rules, symmetric, seed=4)
    expected = measure(flat, player.on_tree(flat)).values
    found = _earned(_walk(player, player))
    assert found == pytest.approx(expected, abs=1e-9)
    assert sum(found) == pytest.approx(0, abs=1e-9)
