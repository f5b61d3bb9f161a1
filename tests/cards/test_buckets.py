"""Grids, and the bucket of a hand on each of them."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fogplay.cards.buckets import Grid, Signals, arrange, bucket_for, percentiles
from fogplay.cards.deals import Deals, deals_buffer, look_up_deals
from fogplay.cards.deck import CARDS, parse_cards
from fogplay.cards.evaluator import evaluate, evaluator
from fogplay.cards.index import boards, hole_cards
from fogplay.cards.strength import FULL_SCORE
from fogplay.cards.tables import Tables, strength_of
from fogplay.errors import FogplayError
from tests.cards.oracles import half_wins

counts = st.integers(1, 65536)
grids = st.builds(Grid, st.tuples(counts, counts, counts, counts), st.sampled_from(["ehs2", "ehs"]), st.booleans())


@given(grids)
def test_specs_and_grids_are_inverse(grid: Grid) -> None:
    assert Grid.parse(grid.spec) == grid


def test_specs() -> None:
    assert Grid().spec == "ehs2:169/1000/500/200"
    assert Grid((10, 10, 10, 10), "ehs", True).spec == "ehs-percentile:10/10/10/10"
    assert Grid.parse("169/1000/100/20") == Grid((169, 1000, 100, 20))
    digests = {grid.digest for grid in (Grid(), Grid(percentile=True), Grid(measure="ehs"), Grid((169, 1, 1, 1)))}
    assert len(digests) == 4


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "ehs2",
        "ehs2:1/2/3",
        "ehs2:1/2/3/x",
        "ehs2:1/2/3/4/5",
        "ehs2:0/1/1/1",
        "ehs2:1/1/1/65537",
        "ehs2:1/1/1/²",
        "hs:1/1/1/1",
        "-percentile:1/1/1/1",
        "ehs2-percentil:1/1/1/1",
    ],
)
def test_what_is_not_a_grid_is_refused_in_one_line(spec: str) -> None:
    with pytest.raises(FogplayError) as error:
        Grid.parse(spec)
    assert "\n" not in str(error.value)


def test_one_grid_refuses_anothers_strategy() -> None:
    Grid().require("ehs2:169/1000/500/200")
    for spec in ("ehs2-percentile:169/1000/500/200", "ehs:169/1000/500/200", "ehs2:169/1000/500/100"):
        with pytest.raises(
            FogplayError, match=f"learned on the grid {spec} and cannot be used on ehs2:169/1000/500/200"
        ):
            Grid().require(spec)


def hands(size: int, count: int) -> list[tuple[list[int], list[int]]]:
    pick = random.Random(size)
    return [(cards[:2], cards[2:]) for cards in (pick.sample(range(CARDS), 2 + size) for _ in range(count))]


@pytest.mark.parametrize("numbers", [(169, 1000, 500, 200), (169, 1000, 100, 20), (10, 10, 10, 10), (1, 7, 333, 999)])
def test_equal_width_is_a_multiplication(ehs2: Tables, ehs: Tables, numbers: tuple[int, int, int, int]) -> None:
    for measure, tables in (("ehs2", ehs2), ("ehs", ehs)):
        signals = arrange(Grid(numbers, measure), tables)
        for street, size in ((1, 3), (2, 4), (3, 5)):
            for hole, board in hands(size, 150):
                value = strength_of(tables, hole, board)
                expected = min(numbers[street] - 1, int(value * numbers[street] + 1e-9))
                assert bucket_for(signals, hole, board) == expected


def test_rivers_are_exact(ehs2: Tables) -> None:
    signals = arrange(Grid((169, 10, 10, 1000)), ehs2)
    for hole, board in hands(5, 40):
        value = Fraction(half_wins(hole, board), FULL_SCORE) ** 2
        assert bucket_for(signals, hole, board) == min(999, int(value * 1000))


def test_169_buckets_are_the_classes(ehs2: Tables) -> None:
    signals = arrange(Grid(), ehs2)
    told = {tuple(hole): bucket_for(signals, hole.tolist()) for hole in hole_cards()}
    assert sorted(set(told.values())) == list(range(169))
    assert len({told[tuple(sorted(parse_cards(text)))] for text in ("AsKd", "AdKs", "KhAc")}) == 1
    assert told[tuple(sorted(parse_cards("AsKs")))] != told[tuple(sorted(parse_cards("AsKd")))]
    coarse = arrange(Grid((10, 10, 10, 10)), ehs2)
    for text in ("AsAd", "7c2d", "JhTh"):
        hole = parse_cards(text)
        assert bucket_for(coarse, hole) == int(strength_of(ehs2, hole) * 10)


def test_populations_count_every_deal(ehs2: Tables, ehs: Tables) -> None:
    for tables in (ehs2, ehs):
        assert tables.preflop_population.sum() == 1326
        assert tables.flop_population.sum() == 22100 * 1176
        assert tables.turn_population.sum() == 270725 * 1128
        assert tables.river_population.sum() == 2598960 * 1081
        mean = np.average(np.arange(FULL_SCORE + 1), weights=tables.river_population)
        assert mean == FULL_SCORE / 2  # one hand's win is another's loss


def shares(signals: Signals, tables: Tables, street: int, count: int) -> list[float]:
    """How many of all deals are in each bucket, counted hand by hand."""
    size = street + 2
    found, weight = boards(size)[0], np.zeros(count)
    pick = np.random.default_rng(1).choice(len(found.cards), 60, p=found.weight / found.weight.sum())
    for board in (found.cards[number].tolist() for number in pick):
        for hole in hole_cards()[::7]:
            if not set(hole.tolist()) & set(board):
                weight[bucket_for(signals, hole.tolist(), board)] += 1
    return list(weight / weight.sum())


def test_percentiles_have_equally_many_deals(ehs2: Tables) -> None:
    signals = arrange(Grid((10, 10, 10, 10), percentile=True), ehs2)
    for population, bucket in (
        (ehs2.flop_population, signals.flop_bucket),
        (ehs2.turn_population, signals.turn_bucket),
        (ehs2.river_population, signals.river_bucket),
    ):
        exact = np.bincount(bucket, weights=population) / population.sum()
        assert exact == pytest.approx(np.full(10, 0.1), abs=0.002)
        assert (np.diff(bucket.astype(int)) >= 0).all()
    assert shares(signals, ehs2, 1, 10) == pytest.approx([0.1] * 10, abs=0.04)
    before = np.bincount(signals.preflop, weights=ehs2.preflop_population) / 1326
    assert before == pytest.approx(np.full(10, 0.1), abs=0.02)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=60).filter(any), st.integers(1, 100))
def test_percentiles_keep_the_order_and_the_range(population: list[int], count: int) -> None:
    bucket = percentiles(np.array(population), count)
    assert (np.diff(bucket.astype(int)) >= 0).all()
    assert bucket.max() < count
    # Nobody is further from its place than its own value is wide.
    ends = np.cumsum(population) / sum(population)
    for value in np.flatnonzero(population):
        low = ends[value] - population[value] / sum(population)
        assert low * count - 1 - 1e-6 <= bucket[value] <= ends[value] * count + 1e-6


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("percentile", [False, True])
def test_a_batched_lookup_agrees_with_one_by_one(ehs2: Tables, players: int, percentile: bool) -> None:
    signals = arrange(Grid(percentile=percentile), ehs2)
    deals: Deals = deals_buffer(50, players)
    pick = random.Random(players)
    for row in deals.cards:
        row[:] = pick.sample(range(CARDS), 5 + 2 * players)
    look_up_deals(signals, evaluator(), deals)
    for cards, bucket, strength in zip(deals.cards.tolist(), deals.bucket, deals.strength, strict=True):
        for player in range(players):
            hole = cards[5 + 2 * player : 7 + 2 * player]
            one_by_one = [bucket_for(signals, hole, cards[:size]) for size in (0, 3, 4, 5)]
            assert bucket[player].tolist() == one_by_one
            assert strength[player] == evaluate([*hole, *cards[:5]])


def test_a_batch_needs_deals_and_a_deck_large_enough() -> None:
    with pytest.raises(FogplayError, match="cannot deal 0 times"):
        deals_buffer(0, 2)
    with pytest.raises(FogplayError, match="1 to 23 players"):
        deals_buffer(64, 24)
