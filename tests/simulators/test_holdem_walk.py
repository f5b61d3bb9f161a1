"""Best responses by vectors of hands: boards up to suits, small decks against the tree, known values on flops."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.typing import NDArray

from fogplay import FogplayError, evaluate
from fogplay.cards.deck import parse_card
from fogplay.evaluate import measure
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import Holdem
from fogplay.games.registry import load
from fogplay.simulators.holdem_boards import Deck, Next, alike, hand_classes, next_boards, pairs, stabiliser
from fogplay.simulators.holdem_estimate import STRENGTH_GRID, estimate, features, jackknife, sample, strengths
from fogplay.simulators.holdem_full import FullGame, _Kept, full_game
from fogplay.simulators.holdem_lines import Shares
from fogplay.simulators.holdem_lookups import buckets_of, lookups
from fogplay.simulators.holdem_walk import Walk, new_walk
from fogplay.strategies.packing import WHOLE
from fogplay.strategies.policy import BettingPolicy
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


def walk_of(player: Player, own: Player | None = None, precision: Any = np.float64) -> Walk:
    seen = lookups(player.rules, player.buckets, (own or player).buckets, player.deck.symmetric)
    mine = None if own is None else own.shares
    return new_walk(player.rules, player.betting, seen, player.shares, mine, precision)


def earned(walk: Walk) -> tuple[float, float]:
    reach = walk.begin()
    return walk.finish(sum(walk.on_flop(flop, reach) for flop in walk.flops()))


@pytest.mark.parametrize("spec", SMALL)
@pytest.mark.parametrize("symmetric", [True, False])
def test_best_responses_are_those_of_the_tree(spec: str, symmetric: bool) -> None:
    rules, flat = load(spec), _flat(spec)
    player = Player(rules, symmetric, seed=3)
    expected = measure(flat, player.on_tree(flat)).best_response_values
    assert earned(walk_of(player)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("symmetric", [True, False])
def test_values_are_those_of_the_tree(symmetric: bool) -> None:
    rules, flat = load(SMALL[1]), _flat(SMALL[1])
    player = Player(rules, symmetric, seed=4)
    expected = measure(flat, player.on_tree(flat)).values
    found = earned(walk_of(player, player))
    assert found == pytest.approx(expected, abs=1e-9)
    assert sum(found) == pytest.approx(0, abs=1e-9)


# ---- The whole deck


def _careful(seed: int) -> BettingPolicy:
    """A player that folds by the strength of its hand and never raises: few lines, but every lookup."""
    grid = "ehs2:169/10/10/10"
    betting = betting_tree(load(f"holdem(grid={grid})"))
    nodes, rng = betting.nodes, np.random.default_rng(seed)
    share = np.zeros(betting.num_slots, np.uint8)
    counts = np.array([169, 10, 10, 10])
    for node in np.flatnonzero(nodes["player"] != TERMINAL):
        here = nodes[node]
        first = here["slot"] + here["stride"] * np.arange(counts[here["street"]])
        folds = rng.integers(0, WHOLE, len(first)) if here["calling"] else 0
        share[first] += np.uint8(folds)
        share[first + here["calling"]] += np.uint8(WHOLE) - np.uint8(folds)
    return BettingPolicy(betting, nodes["slot"], nodes["stride"], share, grid)


def _on_flop(policy: BettingPolicy, flop: Next, symmetric: bool, precision: Any = np.float64) -> NDArray[np.float64]:
    """[seats, lines] the values of all hands on one flop, added up."""
    seen = buckets_of(policy.grid)
    shares = Shares(policy.slot, policy.stride, policy.share, (169, 10, 10, 10))
    rules = load("holdem")
    made = new_walk(rules, policy.betting, lookups(rules, seen, seen, symmetric), shares, precision=precision)
    found = made.on_flop(flop, made.begin())
    weighted: NDArray[np.float64] = (found * np.bincount(made.classes)).sum(axis=2)
    return weighted


def test_single_precision_is_enough() -> None:
    policy, flop = _careful(1), Next((0, 4, 8), 1)  # three suits alike
    expected = _on_flop(policy, flop, True)
    assert np.abs(expected).max() > 1
    assert _on_flop(policy, flop, True, np.float32) == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_single_precision_is_enough_on_twenty_flops() -> None:
    policy, flops = _careful(2), next_boards(FULL, (), 3)
    numbers = np.random.default_rng(5).choice(len(flops), 20, replace=False)
    single, double = (
        sum(_on_flop(policy, flops[number], True, kind) for number in numbers) for kind in (np.float32, np.float64)
    )
    assert np.abs(double).max() > 1
    assert single == pytest.approx(double, rel=3e-6)


@pytest.mark.slow
@pytest.mark.parametrize("cards", [(0, 4, 9), (0, 4, 8), (0, 1, 2), (3, 10, 21)])
def test_a_flop_without_isomorphism_gives_the_same(cards: tuple[int, int, int]) -> None:
    policy, flop = _careful(1), Next(cards, 1)
    assert _on_flop(policy, flop, True) == pytest.approx(_on_flop(policy, flop, False), rel=1e-12)


# ---- Runs


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    walk = walk_of(Player(load(SMALL[0]), symmetric=True, seed=3))
    game, kept = FullGame(walk, "some digest", "cpu"), tmp_path / "kept"
    expected = game.measure()
    assert expected is not None
    assert expected.values == pytest.approx([100 * value for value in earned(walk)], abs=1e-9)
    seen: list[tuple[int, int]] = []
    assert game.measure(checkpoint=kept, seconds=-1) is None
    found = _Kept(kept, "some digest", adding=True)
    reach = walk.begin()
    for number in (0, 1, 4):  # the fifth flop was ready before the third
        found.add(number, walk.on_flop(walk.flops()[number], reach))
    found.save()
    again = game.measure(checkpoint=kept, threads=2, progress=lambda done, of: seen.append((done, of)))
    assert again is not None
    assert again.values == expected.values
    assert seen[0] == (3, len(walk.flops()))
    assert seen[-1] == (len(walk.flops()),) * 2
    with pytest.raises(FogplayError, match="begun with other strategies or settings"):
        FullGame(walk, "another", "cpu").measure(checkpoint=kept)


def _chosen(truth: NDArray[np.float64]) -> Any:
    """A walk whose responder bets where a class earns something, and ``found`` for ``truth[flops, classes]``."""
    weight = np.array([each.weight for each in next_boards(FULL, (), 3)])

    def finish(total: NDArray[np.float64]) -> tuple[float, float]:
        earned = float(np.maximum(total[0, 0] / 22100, 0).mean())
        return earned, earned

    found = {number: weight[number] * row * np.ones((2, 1, 1)) for number, row in enumerate(truth)}
    return Mock(finish=finish), found, float(np.maximum(weight @ truth / 22100, 0).mean())


def test_an_estimate_is_near_the_truth_by_its_error() -> None:
    """What a class is worth depends on its strength and on the flop; betting with many classes hardly matters."""
    flops, rng = next_boards(FULL, (), 3), np.random.default_rng(0)
    strength, about = rng.normal(size=(len(flops), 50)), features(flops)
    about -= about.mean(axis=0)
    truth = rng.normal(0, 0.2, 50) + 2 * strength + 0.3 * (about @ rng.normal(size=6))[:, None]
    truth += 0.5 * rng.normal(size=truth.shape) + 0.1 * rng.normal(size=(len(flops), 1))
    walk, found, wanted = _chosen(truth)
    for count, least, most in ((20, 0.01, 0.08), (60, 0.005, 0.04)):
        misses, errors = [], []
        for seed in range(60):
            values, error, _ = estimate(walk, flops, sample(flops, count, seed), found, strength)
            assert values[0] == values[1]
            misses.append(values[0] - wanted)
            errors.append(error)
        scaled = np.array(misses) / errors
        assert least < np.mean(errors) < most
        assert abs(np.mean(scaled)) < 0.6
        assert 0.5 < np.sqrt(np.mean(scaled**2)) < 1.2


def test_differences_on_the_same_flops_have_smaller_errors() -> None:
    """Two players who are nearly the same lose nearly the same on every flop."""
    flops, rng = next_boards(FULL, (), 3), np.random.default_rng(1)
    strength = rng.normal(size=(len(flops), 50))
    one = 1 + rng.normal(size=strength.shape)
    other, drawn = one + 0.1 * rng.normal(size=one.shape) + 0.05, sample(flops, 30, 0)
    (walk, found, first), (_, others, second) = _chosen(one), _chosen(other)
    made = [estimate(walk, flops, drawn, each, strength) for each in (found, others)]
    assert [jackknife(each.without) for each in made] == [each.standard_error for each in made]
    error = jackknife(made[1].without - made[0].without)
    assert 0 < error < 0.3 * made[0].standard_error
    assert made[1].values[0] - made[0].values[0] == pytest.approx(second - first, abs=4 * error)
    assert made[0].rescaled(100.0).without == pytest.approx(100 * made[0].without)


def test_strengths_of_hands_on_a_flop() -> None:
    """Aces are strong on every flop, stronger on one with an ace; 65536ths of the expected square of HS."""
    flops = [Next(tuple(parse_card(card) for card in cards.split()), 1) for cards in ("2c 7d 9h", "2c 7d Ah")]
    found = strengths(flops, hand_classes(FULL), buckets_of(STRENGTH_GRID)) / 65536
    assert found.shape == (2, 169)
    aces = hand_classes(FULL)[pairs(FULL).tolist().index([48, 49])]
    assert 0.65 < found[0, aces] < 0.85
    assert found[1, aces] == pytest.approx(0.5 * 0.9, abs=0.05)  # half of the six pairs hold the ace of the flop


def test_what_cannot_be_measured_in_full_says_so() -> None:
    with pytest.raises(FogplayError, match="only two-player hold'em with 52 cards"):
        full_game(load("holdem(players=3)"), _careful(1))
    with pytest.raises(FogplayError, match="precision must be"):
        full_game(load("holdem"), _careful(1), precision="half")
    with pytest.raises(FogplayError, match="tables of numbers"):
        full_game(load("holdem"), object())
    with pytest.raises(FogplayError, match="add full=True"):
        evaluate(Mock(), flops=3)
    with pytest.raises(FogplayError, match="has no exact measure of its own"):
        evaluate(Mock(), "kuhn", full=True)
