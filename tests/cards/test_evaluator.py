"""The evaluator against phevaluator, pokerkit, plain rules, and the known numbers of hands."""

from __future__ import annotations

import itertools
import random

import numpy as np
import phevaluator
import pokerkit
import pytest
from numpy.typing import NDArray

from fogplay.cards.deck import cards_name
from fogplay.cards.evaluator import CATEGORIES, STRENGTHS, category, evaluate, evaluate_hands, evaluator
from fogplay.errors import FogplayError
from tests.cards.oracles import best_five

# How many of all C(52, n) hands fall into each category, from high card to straight flush.
FIVE = [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]
SEVEN = [23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584]


def strengths(hands: NDArray[np.uint8]) -> NDArray[np.uint16]:
    found = np.zeros(len(hands), np.uint16)
    evaluate_hands(evaluator(), hands, found)
    return found


def random_hands(count: int, size: int, seed: int) -> NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    hands = np.argpartition(rng.random((count, 52), dtype=np.float32), size, axis=1)[:, :size]
    return rng.permuted(hands, axis=1).astype(np.uint8)


def by_category(found: NDArray[np.uint16]) -> list[int]:
    counts = np.bincount(found, minlength=STRENGTHS)
    return [int(counts[[category(number) == name for number in range(STRENGTHS)]].sum()) for name in CATEGORIES]


def test_all_hands_of_five_cards() -> None:
    hands = np.array(list(itertools.combinations(range(52), 5)), np.uint8)
    found = strengths(hands)
    assert len(np.unique(found)) == STRENGTHS == found.max() + 1
    assert by_category(found) == FIVE


@pytest.mark.slow
def test_all_hands_of_seven_cards() -> None:
    total = np.zeros(len(CATEGORIES), np.int64)
    for first in range(46):
        rest = np.fromiter(
            itertools.chain.from_iterable(itertools.combinations(range(first + 1, 52), 6)), np.uint8
        ).reshape(-1, 6)
        total += by_category(strengths(np.hstack([np.full((len(rest), 1), first, np.uint8), rest])))
    assert total.tolist() == SEVEN


# phevaluator numbers all hands from the best, 1, to the worst, 7462, equal ones alike.
@pytest.mark.parametrize(("size", "count"), [(5, 100_000), (6, 100_000), (7, 600_000)])
def test_numbers_are_phevaluators_turned_round(size: int, count: int) -> None:
    hands = random_hands(count, size, seed=size)
    theirs = [phevaluator.evaluate_cards(*hand) for hand in hands.tolist()]
    np.testing.assert_array_equal(strengths(hands), STRENGTHS - np.array(theirs))


@pytest.mark.slow
def test_millions_of_hands_as_phevaluator_has_them() -> None:
    for seed in range(5):
        hands = random_hands(1_000_000, 7, seed=100 + seed)
        theirs = [phevaluator.evaluate_cards(*hand) for hand in hands.tolist()]
        np.testing.assert_array_equal(strengths(hands), STRENGTHS - np.array(theirs))


def test_hands_compare_as_in_pokerkit() -> None:
    hands = random_hands(2000, 7, seed=3)
    found = strengths(hands)
    theirs = [pokerkit.StandardHighHand.from_game(cards_name(hand)) for hand in hands]
    for one in range(0, 2000, 2):
        assert (found[one] > found[one + 1]) == (theirs[one] > theirs[one + 1])
        assert (found[one] == found[one + 1]) == (theirs[one] == theirs[one + 1])
    in_order = [theirs[number] for number in np.argsort(found, kind="stable")]
    assert all(not low > high for low, high in itertools.pairwise(in_order))


@pytest.mark.parametrize("size", [5, 6, 7])
def test_small_decks_by_the_rules(size: int) -> None:
    """Two suits of six ranks, where flushes and straights are frequent: the order is that of the rules."""
    deck = [4 * rank + suit for rank in range(6, 12) for suit in (1, 3)]
    hands = np.array(list(itertools.combinations(deck, size)), np.uint8)
    by_number: dict[int, tuple[int, ...]] = {}
    for hand, number in zip(hands.tolist(), strengths(hands).tolist(), strict=True):
        assert by_number.setdefault(number, best_five(hand)) == best_five(hand)
    worths = [by_number[number] for number in sorted(by_number)]
    assert all(low < high for low, high in itertools.pairwise(worths))


def test_numbers_of_hands_of_different_sizes_agree() -> None:
    pick = random.Random(4)
    for _ in range(300):
        seven = pick.sample(range(52), 7)
        six, five = (max(evaluate(each) for each in itertools.combinations(seven, size)) for size in (6, 5))
        assert evaluate(seven) == six == five


def test_the_order_of_cards_does_not_matter() -> None:
    pick = random.Random(5)
    for _ in range(100):
        hand = pick.sample(range(52), 7)
        assert evaluate(hand) == evaluate(sorted(hand))


def test_names_of_categories() -> None:
    hands = {
        "2s3s4s5s7d": "high card",
        "AsAd2c3d4h": "one pair",
        "AsAd2c2d4h": "two pair",
        "AsAdAc2d4h": "three of a kind",
        "As2d3c4d5h": "straight",
        "As2s3s4s6s": "flush",
        "AsAdAc2d2h": "full house",
        "AsAdAcAh2h": "four of a kind",
        "As2s3s4s5s9d9c": "straight flush",
    }
    assert {hand: category(evaluate(hand)) for hand in hands} == hands
    assert (evaluate("2s3s4s5s7d"), evaluate("AsKsQsJsTs")) == (0, STRENGTHS - 1)


@pytest.mark.parametrize("hand", ["AsKsQsJs", "AsKsQsJsTs9s8s7s", [1, 1, 2, 3, 4]])
def test_what_is_no_hand_is_refused(hand: str | list[int]) -> None:
    with pytest.raises(FogplayError, match="five to seven different cards"):
        evaluate(hand)
