"""Boards up to suit isomorphism."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fogplay.cards.deck import CARDS, parse_cards
from fogplay.cards.index import (
    CANONICAL,
    NUMBER_OF_BOARDS,
    board_number,
    boards,
    canonical_board,
    canonical_hole,
    count_classes,
    hole_cards,
    preflop_class,
    replace_suit,
)

PERMUTATIONS = list(itertools.permutations(range(4)))


def rename(cards: list[int], suits: tuple[int, ...]) -> list[int]:
    return [card // 4 * 4 + suits[card % 4] for card in cards]


def look(board: list[int], hole: list[int]) -> tuple[int, int]:
    """The canonical board and hole cards."""
    entry = np.uint64(boards(len(board))[1][board_number(np.array(board), len(board))])
    return int(canonical_board(entry)), int(canonical_hole(entry, hole[0], hole[1]))


def smallest(board: list[int], hole: list[int]) -> tuple[list[int], list[int]]:
    """The least of all renamings of (board, hole), which represents the class."""
    return min((sorted(rename(board, suits)), sorted(rename(hole, suits))) for suits in PERMUTATIONS)


# Waugh 2013 and many before him; the boards as sets, so that the order of flop, turn and river is forgotten.
@pytest.mark.parametrize(("size", "classes"), [(0, 169), (3, 1_286_792), (4, 13_960_050), (5, 123_156_254)])
def test_the_number_of_classes(size: int, classes: int) -> None:
    assert count_classes(size) == classes


@pytest.mark.parametrize("size", [3, 4, 5])
def test_canonical_boards_stand_for_all(size: int) -> None:
    found, entries = boards(size)
    assert len(found.cards) == CANONICAL[size]
    assert found.weight.sum() == NUMBER_OF_BOARDS[size]
    assert set(np.unique(found.weight)) <= {1, 3, 4, 6, 12, 24}
    np.testing.assert_array_equal(np.bincount(entries >> 8), found.weight)
    for number in np.random.default_rng(size).choice(len(found.cards), 300):
        cards = found.cards[number].tolist()
        assert look(cards, [0, 1])[0] == number
        assert cards == sorted(cards)
        assert cards[::-1] == min(sorted(rename(cards, suits))[::-1] for suits in PERMUTATIONS)


def test_every_flop_is_led_to_its_canonical_flop() -> None:
    found, entries = boards(3)
    for number, flop in enumerate(sorted(itertools.combinations(range(CARDS), 3), key=lambda each: each[::-1])):
        entry = np.uint64(entries[number])
        led = sorted(int(replace_suit(entry, card)) for card in flop)
        assert led == found.cards[int(canonical_board(entry))].tolist()
        assert sorted(int(replace_suit(entry, suit)) for suit in range(4)) == [0, 1, 2, 3]


@given(st.lists(st.integers(0, 51), unique=True, min_size=5, max_size=7), st.sampled_from(PERMUTATIONS), st.randoms())
@settings(max_examples=400, deadline=None)
def test_names_of_suits_and_order_do_not_matter(cards: list[int], suits: tuple[int, ...], random: object) -> None:
    hole, board = cards[:2], cards[2:]
    other_hole, other_board = rename(hole, suits), rename(board, suits)
    random.shuffle(other_hole)  # type: ignore[attr-defined]
    random.shuffle(other_board)  # type: ignore[attr-defined]
    number, where = look(board, hole)
    other_number, other_where = look(other_board, other_hole)
    found, holes = boards(len(board))[0], hole_cards()
    assert number == other_number
    # The hole cards may come out differently where the board has symmetries, but they are then of one class.
    canonical = found.cards[number].tolist()
    first, second = smallest(canonical, holes[where].tolist()), smallest(canonical, holes[other_where].tolist())
    assert first == second == smallest(board, hole)


def test_hole_cards_are_numbered_in_order() -> None:
    holes = hole_cards()
    assert [int(canonical_hole(np.uint64(0b11100100), *hole)) for hole in holes] == list(range(1326))


def test_classes_before_the_flop() -> None:
    classes: dict[int, set[tuple[str, str, bool]]] = {}
    for first, second in itertools.permutations(range(CARDS), 2):
        low, high = sorted((first // 4, second // 4))
        name = (str(low), str(high), first % 4 == second % 4)
        classes.setdefault(int(preflop_class(first, second)), set()).add(name)
    assert sorted(classes) == list(range(169))
    assert all(len(names) == 1 for names in classes.values())
    named = {text: int(preflop_class(*parse_cards(text))) for text in ("AsAd", "AsKs", "AsKd", "2c2d")}
    assert named == {"AsAd": 168, "AsKs": 167, "AsKd": 155, "2c2d": 0}
