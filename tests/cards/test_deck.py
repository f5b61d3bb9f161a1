"""Names of cards, and the numbers of sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fogplay.cards.deck import (
    CARDS,
    FLOPS,
    HOLES,
    card_name,
    cards_name,
    draw_cards,
    flop_number,
    new_deck,
    pair_number,
    parse_card,
    parse_cards,
    river_number,
    turn_number,
)
from fogplay.errors import FogplayError
from fogplay.jit import kernel

NUMBERS = {2: pair_number, 3: flop_number, 4: turn_number, 5: river_number}


def test_names() -> None:
    assert [card_name(card) for card in (0, 3, 4, 50, 51)] == ["2c", "2s", "3c", "Ah", "As"]
    assert [parse_card(card_name(card)) for card in range(CARDS)] == list(range(CARDS))
    assert parse_card("tD") == parse_card("Td")


@given(st.lists(st.integers(0, 51), unique=True, max_size=9), st.sampled_from(["", " ", ",", ", "]))
def test_parse_and_print_are_inverse(cards: list[int], between: str) -> None:
    text = between.join(card_name(card) for card in cards)
    assert list(parse_cards(text)) == cards
    assert parse_cards(cards_name(cards)) == tuple(cards)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1s", "'1s' is not a card"),
        ("Ax", "'Ax' is not a card"),
        ("A", "'A' is not a card"),
        ("Asd", "'d' is not a card"),
        ("AsKdAs", "has As twice"),
    ],
)
def test_a_mistake_is_named_in_one_line(text: str, says: str) -> None:
    with pytest.raises(FogplayError, match=says) as error:
        parse_cards(text)
    assert "\n" not in str(error.value)
    with pytest.raises(FogplayError, match="no card number 52"):
        card_name(52)


@given(st.text(max_size=8))
def test_any_text_is_cards_or_refused(text: str) -> None:
    try:
        cards = parse_cards(text)
    except FogplayError:
        return
    assert parse_cards(cards_name(cards)) == cards


@pytest.mark.parametrize("size", [2, 3])
def test_numbers_count_the_sets_in_colexicographic_order(size: int) -> None:
    sets = sorted(itertools.combinations(range(CARDS), size), key=lambda each: each[::-1])
    assert [NUMBERS[size](*each) for each in sets] == list(range({2: HOLES, 3: FLOPS}[size]))


@given(st.lists(st.integers(0, 51), unique=True, min_size=4, max_size=5), st.randoms())
@settings(max_examples=300)
def test_order_does_not_matter_and_numbers_are_colexicographic(cards: list[int], random: object) -> None:
    size, number = len(cards), NUMBERS[len(cards)]
    shuffled = list(cards)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    from math import comb

    assert number(*cards) == sum(comb(card, place) for place, card in enumerate(sorted(cards), 1))
    assert number(*np.array(shuffled, np.uint8)) == number(*cards) < comb(CARDS, size)


def test_every_card_is_drawn_as_often_in_every_place() -> None:
    """Three draws at a time from a deck that is never put in order; χ² of every place and of ordered pairs."""
    deck, rng = new_deck(), np.random.default_rng(1)
    deals = np.zeros((200_000, 9), np.uint8)
    draw_deals(deck, rng.random((len(deals), 3)), deals)
    assert sorted(deck.tolist()) == list(range(CARDS))
    assert all(len(set(deal)) == 9 for deal in deals[:1000].tolist())
    for place in range(9):
        counts = np.bincount(deals[:, place], minlength=CARDS)
        assert ((counts - len(deals) / 52) ** 2 / (len(deals) / 52)).sum() < 51 + 5 * 102**0.5
    pairs = np.bincount(deals[:, 2].astype(int) * 52 + deals[:, 7], minlength=52 * 52)
    expected = len(deals) / (52 * 51)
    assert pairs[::53].sum() == 0
    assert ((pairs - expected) ** 2 / expected).sum() - 52 * expected < 2651 + 5 * 5302**0.5


def test_the_ends_of_chance_stay_in_the_deck() -> None:
    for count in range(1, 10):
        for chance in (0.0, 2.0**-53, 1 - 2.0**-53):
            for at in range(CARDS - count + 1):
                deck = new_deck()
                draw_cards(deck, at, count, chance)
                assert sorted(deck.tolist()) == list(range(CARDS))


@kernel
def draw_deals(deck, chances, deals):
    for deal in range(len(deals)):
        for three in range(3):
            draw_cards(deck, 3 * three, 3, chances[deal, three])
        for place in range(9):
            deals[deal, place] = deck[place]
