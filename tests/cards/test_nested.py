"""Buckets within buckets: against a slow twin, in equal shares, and as grids."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fogplay.cards import nested, tables
from fogplay.cards.buckets import Grid, arrange_clusters, bucket_for
from fogplay.cards.deck import HOLES, parse_cards
from fogplay.cards.evaluator import evaluate
from fogplay.cards.index import boards, canonical_board, canonical_hole, entry_of
from fogplay.cards.strength import STEPS
from fogplay.errors import FogplayError

PARTED = "ehs2-percentile:169/20x5/20x5/20x5"


def allowed(cards: np.ndarray) -> np.ndarray:
    """[1326] which hands hold no card of a board."""
    holes = np.array([(low, high) for high in range(52) for low in range(high)])
    found: np.ndarray = ~np.isin(holes, cards).any(axis=1)
    return found


@pytest.fixture(scope="module")
def flops() -> np.ndarray:
    first, other = tables.load("ehs2"), tables.load("ehs")
    return nested.divide(3, (20, 5), first.flop, first.flop_population, other.flop, STEPS)


def test_every_part_has_equally_many_deals(flops: np.ndarray) -> None:
    deals, canonical = np.zeros(100), boards(3)[0]
    for board, weight in enumerate(canonical.weight):
        deals += weight * np.bincount(flops[board][allowed(canonical.cards[board])], minlength=100)
    share = deals / deals.sum()
    assert share.min() > 0.0095
    assert share.max() < 0.0105


def test_parts_are_ordered_by_the_second_number_within_a_bucket_of_the_first(flops: np.ndarray) -> None:
    first, other, rng = tables.load("ehs2"), tables.load("ehs"), np.random.default_rng(3)
    cards, hands = boards(3)[0].cards, []
    for board in rng.integers(len(cards), size=300):
        for hole in rng.choice(np.flatnonzero(allowed(cards[board])), 20):
            hands.append((int(first.flop[board, hole]), int(other.flop[board, hole]), int(flops[board, hole])))
    compared = 0
    for (a, c, one), (b, d, two) in itertools.combinations(hands, 2):
        if one // 5 == two // 5 and one < two:
            assert c <= d
            compared += 1
        elif one // 5 < two // 5:
            assert a <= b
    assert compared > 10_000


@pytest.mark.parametrize(("hole", "board"), [("AhTh", "KhQh7d2c9h"), ("9c9d", "KhQh7d2c9h"), ("3c4s", "KhQhJhTh9h")])
def test_on_the_river_the_second_number_is_the_strength_against_good_hands(hole: str, board: str) -> None:
    from fogplay.cards.clusters import Vectors, groups
    from fogplay.cards.features import GROUPS
    from fogplay.cards.index import preflop_class

    strength, held, cards = tables.load("ehs"), parse_cards(hole), parse_cards(board)
    entry = entry_of(cards)
    row = Vectors(strength, 5).of(int(canonical_board(entry)))[int(canonical_hole(entry, *held))]
    group, own, expected = groups(strength), evaluate((*held, *cards)), 0
    for strongest in range(GROUPS - nested.STRONGEST, GROUPS):
        met = [
            evaluate((*other, *cards))
            for other in itertools.combinations(set(range(52)) - {*held, *cards}, 2)
            if group[preflop_class(*other)] == strongest
        ]
        expected += 255 * sum(2 * (own > value) + (own == value) for value in met) // (2 * len(met))
    assert int(row[GROUPS - nested.STRONGEST :].sum()) == expected


def test_a_grid_with_parts_is_read_and_written() -> None:
    grid = Grid.parse(PARTED)
    assert grid.counts == (169, 100, 100, 100)
    assert grid.splits == ((20, 5), (20, 5), (20, 5))
    assert grid.spec == PARTED
    assert grid.digest != Grid.parse("ehs2-percentile:169/100/100/100").digest
    assert Grid.parse("ehs2-percentile:169/100x1/100/100") == Grid.parse("ehs2-percentile:169/100/100/100")
    with pytest.raises(FogplayError, match="cannot be used on"):
        grid.require("ehs2-percentile:169/100/100/100")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ehs2:169/100x10/10/10", "write ehs2-percentile"),
        ("kmeans:169/100x10/100/100", "clusters have no parts"),
        ("ehs2-percentile:13x13/10/10/10", "from the flop on"),
        ("ehs2-percentile:169/10x0/10/10", "from 1 to 65536"),
        ("ehs2-percentile:169/300x300/10/10", "from 1 to 65536"),
        ("ehs2-percentile:169/10x/10/10", "is not a grid"),
        ("ehs2-percentile:169/10x2x2/10/10", "is not a grid"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(spec: str, message: str) -> None:
    with pytest.raises(FogplayError, match=message):
        Grid.parse(spec)


def test_hands_that_differ_in_suits_alone_share_a_bucket(flops: np.ndarray) -> None:
    turn, river = (np.zeros((1, HOLES), np.uint16) for _ in range(2))
    signals = arrange_clusters(nested.Clusters(flops, turn, river))
    assert bucket_for(signals, parse_cards("AhTh"), parse_cards("KhQh7d")) == bucket_for(
        signals, parse_cards("AsTs"), parse_cards("KsQs7c")
    )
    entry = entry_of(parse_cards("KhQh7d"))
    where = int(canonical_board(entry)), int(canonical_hole(entry, *parse_cards("AhTh")))
    assert bucket_for(signals, parse_cards("AhTh"), parse_cards("KhQh7d")) == flops[where]


@pytest.mark.slow
def test_a_grid_is_built_once_and_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    splits = ((20, 5), (20, 5), (20, 5))
    found = nested.load("ehs2", splits)
    assert [int(table.max()) for table in found] == [99, 99, 99]
    monkeypatch.setattr(nested, "_make", lambda *_: pytest.fail("it was built again"))
    assert np.array_equal(nested.load("ehs2", splits).river[::1000], found.river[::1000])
