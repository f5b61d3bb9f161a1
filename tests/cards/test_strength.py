"""Hand strength against plain enumeration, published numbers, and Billings's own program."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from fogplay.cards.deck import CARDS, parse_cards
from fogplay.cards.index import boards, hole_cards
from fogplay.cards.strength import FULL_SCORE, STEPS, build, fractions, score
from fogplay.cards.tables import Tables, strength_of
from fogplay.errors import FogplayError
from tests.cards.oracles import billings, expected, half_wins

STEP = 1 / STEPS  # values are rounded up to the next of these


def sample(size: int, count: int, seed: int) -> list[tuple[list[int], list[int]]]:
    pick = random.Random(seed)
    hands = [pick.sample(range(CARDS), 2 + size) for _ in range(count)]
    return [(cards[:2], cards[2:]) for cards in hands]


def test_rivers_by_enumeration(ehs2: Tables, ehs: Tables) -> None:
    for hole, board in sample(5, 150, seed=1):
        share = half_wins(hole, board) / FULL_SCORE
        assert strength_of(ehs, hole, board) == share
        assert strength_of(ehs2, hole, board) == share**2


# Boards on which much is equal: everybody has the royal flush, quads, a full house, or a straight.
@pytest.mark.parametrize("text", ["AsKsQsJsTs", "AsAdAhAcKd", "AsAdAhKcKd", "9c8d7h6s5c", "2c2d2h2s3c", "6h7h8h9hTh"])
def test_special_rivers(ehs: Tables, text: str) -> None:
    board = parse_cards(text)
    holes = [hole.tolist() for hole in hole_cards() if not set(hole.tolist()) & set(board)]
    for hole in random.Random(text).sample(holes, 25):
        assert strength_of(ehs, hole, board) == half_wins(hole, board) / FULL_SCORE


def test_all_tie_under_a_royal_flush(ehs: Tables, ehs2: Tables) -> None:
    assert strength_of(ehs, parse_cards("2c7d"), parse_cards("AsKsQsJsTs")) == 0.5
    assert strength_of(ehs2, parse_cards("2c7d"), parse_cards("AsKsQsJsTs")) == 0.25
    assert strength_of(ehs2, parse_cards("AsKs"), parse_cards("QsJsTs2c3d")) == 1.0


def test_every_river_is_a_fair_contest(ehs: Tables) -> None:
    """What one hand wins another loses: all pairs of hands on a board share out exactly what there is."""
    hands = 47 * 46 // 2
    np.testing.assert_array_equal(ehs.river.sum(axis=1, dtype=np.int64), hands * FULL_SCORE // 2)


def test_turns_by_enumeration(ehs2: Tables, ehs: Tables) -> None:
    for hole, board in sample(4, 6, seed=2):
        for power, tables in ((1, ehs), (2, ehs2)):
            excess = strength_of(tables, hole, board) - expected(hole, board, power)
            assert -1e-12 <= excess < STEP


@pytest.mark.slow
def test_flops_by_enumeration(ehs2: Tables, ehs: Tables) -> None:
    for hole, board in sample(3, 2, seed=3):
        for power, tables in ((1, ehs), (2, ehs2)):
            excess = strength_of(tables, hole, board) - expected(hole, board, power)
            assert -1e-12 <= excess < STEP


def test_flops_are_means_of_turns_and_hands_of_flops(ehs2: Tables, ehs: Tables) -> None:
    for tables in (ehs2, ehs):
        for hole, board in sample(3, 40, seed=4):
            rest = [card for card in range(CARDS) if card not in hole and card not in board]
            mean = np.mean([strength_of(tables, hole, [*board, card]) for card in rest])
            assert mean - STEP <= strength_of(tables, hole, board) <= mean + STEP
    for text in ("AsAd", "7c2d", "JhTh"):
        hole = list(parse_cards(text))
        rest = [card for card in range(CARDS) if card not in hole]
        mean = np.mean([strength_of(ehs2, hole, flop) for flop in itertools.combinations(rest, 3)])
        assert mean - STEP <= strength_of(ehs2, hole) <= mean + STEP


# All-in equities against a random hand, as every odds table has them.
@pytest.mark.parametrize(
    ("text", "equity"),
    [("AsAd", 0.8520), ("KsKd", 0.8240), ("AsKs", 0.6704), ("AsKd", 0.6532), ("2s2d", 0.5033), ("3s2d", 0.3230)],
)
def test_known_equities(ehs: Tables, text: str, equity: float) -> None:
    assert strength_of(ehs, parse_cards(text)) == pytest.approx(equity, abs=6e-5)


def test_the_mean_of_all_hands_is_a_half(ehs: Tables) -> None:
    weights = ehs.preflop_population
    assert np.average(ehs.preflop, weights=weights) / STEPS == pytest.approx(0.5, abs=STEP)


# Papp 1998, table 5.1, and Billings's works after it: the flop 3h 4c Jh for Ad Qc.
def test_billings_on_the_published_flop(ehs: Tables) -> None:
    hole, board = parse_cards("AdQc"), parse_cards("3h4cJh")
    strength, positive, negative = billings(hole, board)
    assert (round(strength, 3), round(positive, 3), round(negative, 3)) == (0.585, 0.208, 0.274)
    effective = strength * (1 - negative) + (1 - strength) * positive
    assert 0 <= strength_of(ehs, hole, board) - effective < STEP


def test_effective_hand_strength_is_billingss_on_the_turn(ehs: Tables) -> None:
    for hole, board in [*sample(4, 5, seed=5), (list(parse_cards("2c7d")), list(parse_cards("AsKsQsJs")))]:
        strength, positive, negative = billings(hole, board)
        effective = strength * (1 - negative) + (1 - strength) * positive
        assert -1e-12 <= strength_of(ehs, hole, board) - effective < STEP


def test_hands_that_differ_in_names_of_suits_only_are_equal(ehs2: Tables) -> None:
    for size in (0, 3, 4, 5):
        for hole, board in sample(size, 60, seed=6 + size):
            suits = random.Random(size).sample(range(4), 4)
            other = [[card // 4 * 4 + suits[card % 4] for card in cards][::-1] for cards in (hole, board)]
            assert strength_of(ehs2, hole, board) == strength_of(ehs2, *other)


def test_rounding_keeps_edges() -> None:
    for count in (10, 100, 500, 1000):
        edges = fractions(np.arange(count + 1, dtype=np.uint64), count).astype(np.int64)
        buckets = edges * count // STEPS
        assert buckets.tolist() == [*range(count), count - 1]
    assert fractions(np.array([0, 1]), 46 * FULL_SCORE**2).tolist() == [0, 1]


def test_threads_do_not_change_the_scores(ehs2: Tables) -> None:
    rivers = boards(5)[0].cards
    again = np.zeros_like(ehs2.river[:3000])
    score(rivers, again, 1000, 2500)
    np.testing.assert_array_equal(again[1000:2500], ehs2.river[1000:2500])
    assert not again[:1000].any()
    assert not again[2500:].any()


@pytest.mark.slow
def test_builds_are_the_same_bits_and_report_progress(ehs2: Tables, ehs: Tables) -> None:
    told: list[tuple[int, int]] = []
    scores, measures = build(lambda done, total: told.append((done, total)), threads=1)
    np.testing.assert_array_equal(scores, ehs.river)
    for name, tables in (("ehs2", ehs2), ("ehs", ehs)):
        for field, array in measures[name]._asdict().items():
            np.testing.assert_array_equal(array, getattr(tables, field))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == told[-1][1]
    assert len(told) > 20


@pytest.mark.parametrize(("hole", "board"), [("As", ""), ("AsKs", "2c"), ("AsKs", "As2c3c"), ("AsKs", "2c3c4c5c6c7c")])
def test_what_is_no_hand_is_refused(ehs2: Tables, hole: str, board: str) -> None:
    with pytest.raises(FogplayError, match="is not a hand: give two hole cards"):
        strength_of(ehs2, parse_cards(hole), parse_cards(board))
