"""The moves of Doudizhu: how many there are, which are legal, and that counting, finding and listing agree."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fogplay.games.doudizhu_cards import (
    FULL_DECK,
    NUM_RANKS,
    RANKS,
    contains,
    deck_copies,
    having,
    nth_rank,
    num_cards,
    num_in,
    pack,
    show,
    unpack,
)
from fogplay.games.doudizhu_heads import (
    CATEGORIES,
    HEAD_CATEGORY,
    HEAD_RANK,
    LEAD,
    NUM_HEADS,
    ROCKET_HEAD,
    SIZE,
    beats,
    describe,
    head_of,
)
from fogplay.games.doudizhu_moves import NUM_MOVES, WIDEST, all_moves, count_moves, legal_heads, legal_moves, nth_move
from fogplay.jit import kernel
from fogplay.notation.doudizhu import parse_cards

from .doudizhu_peers import situations

DECK = [rank for rank in range(NUM_RANKS) for _ in range(deck_copies(rank))]
TYPE_COUNTS = {
    "pass": 1, "solo": 15, "pair": 13, "trio": 13, "bomb": 13, "rocket": 1, "trio with solo": 182,
    "trio with pair": 156, "four with two solos": 1326, "four with two pairs": 858,
    **{f"chain of solos × {length}": 13 - length for length in range(5, 13)},
    **{f"chain of pairs × {length}": 13 - length for length in range(3, 11)},
    **{f"chain of trios × {length}": 13 - length for length in range(2, 7)},
    **{f"chain of trios with solos × {n}": count for n, count in enumerate((968, 3282, 7184, 10388), 2)},
    **{f"chain of trios with pairs × {n}": count for n, count in enumerate((605, 1200, 1134), 2)},
}  # fmt: skip


def moves_of(hand: str, last: str = "") -> set[str]:
    """The legal moves of a hand after the cards ``last``."""
    to_beat = int(head_of(np.uint64(parse_cards(last))))
    assert to_beat >= 0
    return {show(cards) or "pass" for cards in legal_moves(parse_cards(hand), to_beat)[1].tolist()}


def name_of(cards: str) -> str | None:
    """The category of a set of cards; None if they are not a move."""
    head = int(head_of(np.uint64(parse_cards(cards))))
    return CATEGORIES[HEAD_CATEGORY[head]].name if head >= 0 else None


def test_every_type_has_as_many_moves_as_rlcard_says() -> None:
    counted = Counter(CATEGORIES[HEAD_CATEGORY[head]].name for head in all_moves().heads)
    assert counted == TYPE_COUNTS
    assert sum(TYPE_COUNTS.values()) == NUM_MOVES == len(all_moves().number) == 27_472
    assert NUM_HEADS == 309
    assert sum(13 - n for n in range(5, 13)) == 36
    assert sum(13 - n for n in range(3, 11)) == 52
    assert sum(13 - n for n in range(2, 7)) == 45


def test_every_set_of_cards_has_one_reading() -> None:
    moves = all_moves()
    assert [int(head_of(cards)) for cards in moves.cards] == moves.heads.tolist()
    assert [int(num_cards(cards)) for cards in moves.cards] == SIZE[HEAD_CATEGORY[moves.heads]].tolist()
    assert sorted(moves.heads.tolist()) == moves.heads.tolist()


def test_what_is_no_move_has_no_head() -> None:
    """All sets of up to four ranks with few cards, beside the list of moves."""
    known = set(all_moves().number)
    for ranks in itertools.combinations((0, 1, 5, 10, 11, 12, 13, 14), 4):
        for counts in itertools.product(*(range(deck_copies(rank) + 1) for rank in ranks)):
            cards = pack([rank for rank, count in zip(ranks, counts, strict=True) for _ in range(count)])
            assert (int(head_of(np.uint64(cards))) >= 0) == (cards in known), show(cards)


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("333444555666", "chain of trios × 4"),  # never three trios with 333 or 666
        ("333444555777", "chain of trios with solos × 3"),  # a trio that does not touch the chain
        ("333444555666789T", "chain of trios with solos × 4"),
        ("3334445556667778", None),  # 777 touches the chain of four
        ("QQQKKKAAA222", "chain of trios with solos × 3"),  # twos are not part of chains
        ("KKKAAA222", None),
        ("AAA222", None),
        ("33344456", "chain of trios with solos × 2"),
        ("33344455", "chain of trios with solos × 2"),  # a pair as two solos
        ("3334443", None),
        ("33334445", None),  # a kicker of the chain's own rank
        ("333444BR", None),  # both jokers
        ("3334445R", "chain of trios with solos × 2"),
        ("333444555BR6", None),
        ("3334445556666", None),
        ("3334445556667777", None),  # a bomb as kickers
        ("333444555666777788889999", None),
        ("3334445566", "chain of trios with pairs × 2"),
        ("3334445555", None),  # two pairs of one rank
        ("333BR", None),
        ("333B", "trio with solo"),
        ("333444", "chain of trios × 2"),
        ("3333", "bomb"),
        ("33334", None),
        ("333344", "four with two solos"),
        ("3333BR", None),
        ("33334R", "four with two solos"),
        ("33334455", "four with two pairs"),
        ("33334444", None),
        ("BR", "rocket"),
        ("B", "solo"),
        ("R", "solo"),
        ("QKA2", None),
        ("TJQKA", "chain of solos × 5"),
        ("JQKA2", None),
        ("3456", None),
        ("3456789TJQKA", "chain of solos × 12"),
        ("3344", None),
        ("334455", "chain of pairs × 3"),
        ("QQKKAA", "chain of pairs × 3"),
        ("KKAA22", None),
        ("33445566778899TTJJQQ", "chain of pairs × 10"),
        ("33445566778899TTJJQQKK", None),  # 22 cards, more than a hand has
        ("333444555666777888", "chain of trios × 6"),
    ],
)
def test_nasty_cases(cards: str, name: str | None) -> None:
    assert name_of(cards) == name


@pytest.mark.parametrize(
    ("hand", "last", "legal"),
    [
        ("3456", "2", {"pass"}),
        ("34BR", "2", {"pass", "B", "R", "BR"}),
        ("3333BR", "B", {"pass", "R", "3333", "BR"}),
        ("3333BR", "R", {"pass", "3333", "BR"}),
        ("33334444", "333", {"pass", "444", "3333", "4444"}),
        ("33334444BR", "3333", {"pass", "4444", "BR"}),
        ("44445555", "BR", {"pass"}),
        ("33334444", "5555", {"pass"}),
        ("4567893", "34567", {"pass", "45678", "56789"}),
        ("TJQKA2", "9TJQK", {"pass", "TJQKA"}),
        ("3334", "4445", {"pass"}),
        ("555446", "4443", {"pass", "4555", "5556"}),
        ("55544", "33344", {"pass", "44555"}),
        ("666677", "555534", {"pass", "666677", "6666"}),
        ("66667788", "55553344", {"pass", "66667788", "6666"}),
    ],
)
def test_what_beats_what(hand: str, last: str, legal: set[str]) -> None:
    assert moves_of(hand, last) == legal


def test_a_hand_that_leads() -> None:
    assert moves_of("33344") == {"3", "4", "33", "44", "333", "3334", "33344"}
    assert moves_of("BR2") == {"2", "B", "R", "BR"}
    assert moves_of("333344") == {
        "3", "4", "33", "44", "333", "3334", "33344", "3333", "333344",
    }  # fmt: skip


def test_heads_beat_as_their_moves_do() -> None:
    """The relation of heads, against the words of the rules."""
    for head, to_beat in itertools.product(range(NUM_HEADS), repeat=2):
        one, other = HEAD_CATEGORY[head], HEAD_CATEGORY[to_beat]
        name, name_other = CATEGORIES[one].name, CATEGORIES[other].name
        expected = head != LEAD and (
            to_beat == LEAD
            or (name == "rocket" and name_other != "rocket")
            or (name == "bomb" and name_other not in ("bomb", "rocket"))
            or (name == name_other and HEAD_RANK[head] > HEAD_RANK[to_beat])
        )
        assert bool(beats(head, to_beat)) == expected, (describe(head), describe(to_beat))


def test_counting_finding_and_listing_agree() -> None:
    for hand, to_beat, _ in itertools.islice(situations(random.Random(5)), 3000):
        heads, cards = legal_moves(hand, to_beat)
        assert len(heads) == count_moves(np.uint64(hand), to_beat)
        found = [nth_move(np.uint64(hand), to_beat, place) for place in range(len(heads))]
        assert [int(head) for head, _ in found] == heads.tolist()
        assert [int(each) for _, each in found] == cards.tolist()
        numbers = [all_moves().number[each] for each in cards.tolist()]
        assert numbers == sorted(set(numbers))
        by_head = legal_heads(hand, to_beat)
        assert by_head.tolist() == np.bincount(heads, minlength=NUM_HEADS).tolist()


@settings(max_examples=60, deadline=None)
@given(st.permutations(DECK), st.integers(1, 20), st.integers(0, NUM_HEADS - 1))
def test_legal_moves_are_those_that_are_held_and_beat(deck: list[int], size: int, to_beat: int) -> None:
    """Beside a search through all 27,472 moves."""
    hand = np.uint64(pack(deck[:size]))
    moves = all_moves()
    spare = np.uint64(0x888888888888888)
    held = ((hand | spare) - moves.cards) & spare == spare
    expected = [
        int(cards)
        for number, cards in enumerate(moves.cards)
        if held[number] and (beats(moves.heads[number], to_beat) or (number == 0 and to_beat != LEAD))
    ]
    assert legal_moves(int(hand), to_beat)[1].tolist() == expected


MOST_LEGAL = 519


@kernel
def widest_hand(size, fronts):
    """Over all hands of ``size`` cards whose six lowest ranks are in ``fronts``: the most leads, and how many hands."""
    most, hands = np.int64(0), np.int64(0)
    for front in fronts:
        low, left, rest = np.uint64(0), size, front
        for rank in range(6):
            low |= np.uint64(rest % 5) << np.uint64(4 * rank)
            left -= rest % 5
            rest //= 5
        for back in range(4 * 5**7 if 0 <= left <= 30 else 0):
            jokers, rest = back // 5**7, back % 5**7
            word, need = low, left
            for rank in range(6, 13):
                word |= np.uint64(rest % 5) << np.uint64(4 * rank)
                need -= rest % 5
                rest //= 5
            for joker in range(2):
                word |= np.uint64(jokers >> joker & 1) << np.uint64(52 + 4 * joker)
                need -= jokers >> joker & 1
            if need == 0:
                hands += 1
                most = max(most, count_moves(word, LEAD))
    return most, hands


@pytest.mark.slow
def test_no_hand_has_more_moves_than_the_buffers_hold() -> None:
    assert widest_hand(20, np.arange(5**6)) == (MOST_LEGAL, 153_009_740)
    assert MOST_LEGAL < WIDEST


def test_some_hands_have_more_moves_than_others() -> None:
    """A two-thousandth of all hands of 20 cards; the six lowest ranks of the widest hand are 345678."""
    ones = sum(5**rank for rank in range(6))
    most, hands = widest_hand(20, np.array([ones, 0, 44, 12_345, 15_000, 6_000]))
    assert most == MOST_LEGAL < WIDEST
    assert hands > 50_000
    assert count_moves(np.uint64(parse_cards("3456789TJJJQQQKKKAAA")), LEAD) == MOST_LEGAL


@settings(deadline=None)
@given(st.permutations(DECK), st.integers(0, 20), st.integers(0, len(DECK) - 1))
def test_more_cards_take_no_move_away(deck: list[int], size: int, more: int) -> None:
    """So hands of 20 cards have the most moves; and who follows has fewer than who leads, but may pass."""
    hand, larger = (np.uint64(pack(sorted(deck[:count]))) for count in (size, min(54, size + 1 + more % 3)))
    fewer, moves = (set(legal_moves(int(word))[1].tolist()) for word in (hand, larger))
    assert fewer <= moves
    for to_beat in (3, 30, 100, 200):
        assert set(legal_moves(int(hand), to_beat)[1].tolist()) <= fewer | {0}


@settings(deadline=None)
@given(st.permutations(DECK), st.integers(0, 54))
def test_words_of_cards(deck: list[int], size: int) -> None:
    ranks = sorted(deck[:size])
    word = np.uint64(pack(ranks))
    assert unpack(int(word)) == ranks
    assert num_cards(word) == size
    for copies in range(1, 5):
        named = [rank for rank in range(NUM_RANKS) if ranks.count(rank) >= copies]
        mask = having(word, copies)
        assert num_in(mask) == len(named)
        assert [int(nth_rank(mask, place)) for place in range(len(named))] == named
    other = np.uint64(pack(sorted(deck[size // 2 : size])))
    assert contains(word, other)
    assert contains(other, word) == (other == word)


def test_the_whole_deck() -> None:
    assert show(int(FULL_DECK)) == "".join(letter * (1 if letter in "BR" else 4) for letter in RANKS)
    assert describe(ROCKET_HEAD) == "rocket"
    assert describe(int(head_of(np.uint64(parse_cards("33344456"))))) == "chain of trios with solos × 2 from 3"
