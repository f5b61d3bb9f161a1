"""Clusters of hands: their vectors against slow twins, k-means, and grids of them."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest

from fogplay.cards import clusters, tables
from fogplay.cards.buckets import Grid, arrange_clusters, bucket_for
from fogplay.cards.deck import pair_number, parse_cards
from fogplay.cards.evaluator import evaluate
from fogplay.cards.features import GROUPS, LENGTH
from fogplay.cards.index import CANONICAL, canonical_board, canonical_hole, entry_of, preflop_class
from fogplay.errors import FogplayError


@pytest.fixture(scope="module")
def strength() -> tables.Tables:
    return tables.load("ehs")


def vector(strength: tables.Tables, hole: str, board: str) -> list[int]:
    cards = parse_cards(board)
    entry = entry_of(cards)
    found = clusters.Vectors(strength, len(cards)).of(int(canonical_board(entry)))
    return [int(each) for each in found[int(canonical_hole(entry, *parse_cards(hole)))]]


@pytest.mark.parametrize(
    ("hole", "board"), [("AhTh", "KhQh7d"), ("9c9d", "KhQh7d"), ("AhTh", "KhQh7d2c"), ("2s3s", "2d2h2c")]
)
def test_strengths_after_the_next_card(hole: str, board: str, strength: tables.Tables) -> None:
    held, cards = parse_cards(hole), parse_cards(board)
    after = [tables.strength_of(strength, held, (*cards, card)) for card in range(52) if card not in (*held, *cards)]
    found = vector(strength, hole, board)
    assert len(found) == LENGTH[len(cards)] == len(after)
    assert found == sorted(found)
    assert np.abs(np.array(found) / 255 - np.sort(after)).max() < 1 / 200


@pytest.mark.parametrize(("hole", "board"), [("AhTh", "KhQh7d2c9h"), ("9c9d", "KhQh7d2c9h"), ("3c4s", "KhQhJhTh9h")])
def test_strength_against_groups_of_opponents(hole: str, board: str, strength: tables.Tables) -> None:
    held, cards = parse_cards(hole), parse_cards(board)
    group, own = clusters.groups(strength), evaluate((*held, *cards))
    won, met = np.zeros(GROUPS), np.zeros(GROUPS)
    for other in itertools.combinations(set(range(52)) - {*held, *cards}, 2):
        which, value = group[preflop_class(*other)], evaluate((*other, *cards))
        won[which] += (own > value) + (own == value) / 2
        met[which] += 1
    assert met.sum() == 990
    assert vector(strength, hole, board) == (255 * won // met).astype(int).tolist()


def test_groups_hold_equally_many_hands(strength: tables.Tables) -> None:
    group = clusters.groups(strength)
    held = np.bincount(group, strength.preflop_population, GROUPS)
    assert abs(held - 1326 / GROUPS).max() < 20
    best, worst = preflop_class(50, 51), preflop_class(0, 21)  # aces; 7-2 offsuit
    assert (group[best], group[worst]) == (GROUPS - 1, 0)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("AhTh", "KhQh7d"), ("AsTs", "KsQs7c")),
        (("Ah3c", "KhQh7d2s"), ("Ad3h", "KdQd7c2s")),
        (("9c8d", "KhQh7d2c9h"), ("9s8h", "KdQd7h2s9d")),
        (("As3c", "KhQh7h"), ("Ac3s", "KhQh7h")),  # the board stays as it is
    ],
)
def test_equal_hands_up_to_suits_have_equal_vectors(
    first: tuple[str, str], second: tuple[str, str], strength: tables.Tables
) -> None:
    assert vector(strength, *first) == vector(strength, *second)


def test_a_draw_is_far_from_a_pair_of_the_same_strength(strength: tables.Tables) -> None:
    """Though their averages are alike, the next card moves one much and the other little."""
    draw, pair = (np.array(vector(strength, hole, "Kh7h2d")) for hole in ("9h8h", "4c4s"))
    other = np.array(vector(strength, "5c5s", "Kh7h2d"))
    assert abs(draw.mean() - pair.mean()) < 30
    assert np.abs(draw - pair).sum() > 2 * np.abs(pair - other).sum()


@pytest.mark.parametrize("length", [8, 47])
def test_the_nearest_centre_is_found(length: int) -> None:
    rng = np.random.default_rng(length)
    vectors = np.sort(rng.integers(0, 256, (300, length)), axis=1).astype(np.uint8)
    centres = clusters.find_centres(vectors, 40)
    sums = centres.sum(axis=1, dtype=np.int64)
    assert (np.diff(sums) >= 0).all()
    found, distance = np.zeros(300, np.uint16), np.zeros(300, np.int64)
    clusters.nearest(vectors, centres, sums, found, distance)
    apart = np.abs(vectors[:, None].astype(int) - centres[None].astype(int)).sum(axis=2)
    assert (found == apart.argmin(axis=1)).all()
    assert (distance == apart.min(axis=1)).all()
    assert len(np.unique(found)) == 40


def test_k_means_finds_what_is_there() -> None:
    rng = np.random.default_rng(1)
    truth = np.array([[10, 10, 200, 200], [100, 105, 105, 110], [0, 0, 0, 0]])
    vectors = np.repeat(truth, 30, axis=0) + rng.integers(-3, 4, (90, 4)) * (truth.sum(axis=1) > 0).repeat(30)[:, None]
    centres = clusters.find_centres(vectors.astype(np.uint8), 3)
    assert {tuple(each) for each in np.round(centres / 10).astype(int).tolist()} == {
        (0, 0, 0, 0), (1, 1, 20, 20), (10, 10, 10, 11)
    }  # fmt: skip


def test_every_machine_finds_the_same_centres(strength: tables.Tables) -> None:
    vectors = clusters.sample(strength, 5, 400)
    centres = clusters.find_centres(vectors, 12)
    assert hashlib.sha256(centres.tobytes()).hexdigest()[:16] == "46ba363f3038bb9a"
    assert (clusters.sample(strength, 5, 400) == vectors).all()


def test_grids_of_clusters() -> None:
    grid = Grid.parse("kmeans:169/20/30/40")
    assert (grid.counts, grid.spec) == ((169, 20, 30, 40), "kmeans:169/20/30/40")
    assert grid.digest != Grid.parse("ehs2:169/20/30/40").digest
    for spec, answer in (
        ("kmeans:100/20/30/40", "begin after the flop"),
        ("kmeans-percentile:169/20/30/40", "begin after the flop"),
        ("kmeans:169/20/30/9001", "1 to 9000"),
    ):
        with pytest.raises(FogplayError, match=answer):
            Grid.parse(spec)


def test_buckets_are_read_from_the_tables() -> None:
    sizes = zip(("flop", "turn", "river"), CANONICAL.values(), strict=True)
    made = clusters.Clusters(**{name: np.zeros((boards, 1326), np.uint16) for name, boards in sizes})
    for table, number, board in zip(made, (7, 8, 9), ("KhQh7d", "KhQh7d2c", "KhQh7d2c9h"), strict=True):
        entry = entry_of(parse_cards(board))
        table[int(canonical_board(entry)), int(canonical_hole(entry, *parse_cards("AsTc")))] = number
    signals = arrange_clusters(made)
    for number, board in ((7, "KhQh7d"), (8, "KhQh7d2c"), (9, "KhQh7d2c9h")):
        assert bucket_for(signals, parse_cards("AsTc"), parse_cards(board)) == number
        assert bucket_for(signals, parse_cards("AsTs"), parse_cards(board)) == 0
    hole = parse_cards("AsTc")
    assert bucket_for(signals, hole) == preflop_class(*hole)
    assert int(pair_number(*hole)) < 1326
