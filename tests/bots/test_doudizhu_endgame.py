"""The solver of open endings in Doudizhu equals brute force."""

from __future__ import annotations

import numpy as np
import pytest

from fogplay.bots.doudizhu import STRONG, playouts
from fogplay.bots.doudizhu.endgame import LIMIT, MOST_CARDS, NODES, alpha_beta, search, solve
from fogplay.errors import FogplayError
from fogplay.games.doudizhu_cards import FULL_DECK, pack, unpack
from fogplay.games.doudizhu_heads import LEAD, head_of, is_bomb
from fogplay.games.doudizhu_moves import follow, legal_moves
from fogplay.notation.doudizhu import parse_cards

Hands = tuple[int, ...]
Known = dict[tuple[Hands, int, int, int], float]


def brute_force(hands: Hands, seat: int, to_beat: int, passes: int, doubling: bool, known: Known) -> float:
    """The landlord's value by trying everything."""
    key = hands, seat, to_beat, passes
    if key not in known:
        values = []
        for head, cards in zip(*map(np.ndarray.tolist, legal_moves(hands[seat], to_beat)), strict=True):
            factor = 2.0 if doubling and is_bomb(head) else 1.0
            if cards == hands[seat]:
                values.append(factor if seat == 0 else -factor)
                continue
            after = tuple(hand - cards * (each == seat) for each, hand in enumerate(hands))
            beat, passed = follow(to_beat, passes, head)
            values.append(factor * brute_force(after, (seat + 1) % 3, int(beat), int(passed), doubling, known))
        known[key] = max(values) if seat == 0 else min(values)
    return known[key]


def ending(rng: np.random.Generator, cards: int) -> Hands:
    """Three hands of a few ranks, so that there are pairs, trios and bombs."""
    ranks = rng.choice(15, rng.integers(3, 9), replace=False)
    whole = list(rng.permutation([rank for rank in unpack(int(FULL_DECK)) if rank in ranks]))
    if rng.random() < 0.4:  # somebody has a bomb, or the rocket
        bomb = [13, 14] if rng.random() < 0.3 else [int(rng.integers(13))] * 4
        whole = bomb + [rank for rank in whole if rank not in bomb]
    chosen = whole[: max(cards, 6)]
    owners = rng.permutation([0, 1, 2, *rng.integers(0, 3, len(chosen) - 3)])
    if rng.random() < 0.5:
        owners = np.sort(owners)
    return tuple(pack(int(rank) for rank, who in zip(chosen, owners, strict=True) if who == seat) for seat in range(3))


def check(number: int, known: Known) -> float:
    """Compare one random ending, in the middle of a trick in every third; return its value."""
    rng = np.random.default_rng(number)
    hands, doubling, seat = ending(rng, int(rng.integers(6, 11))), bool(number % 2), int(rng.integers(3))
    to_beat, passes = LEAD, 0
    if number % 3 == 0:
        to_beat, passes = int(head_of(np.uint64(pack([int(rng.integers(9))] * int(rng.integers(1, 4)))))), number % 2
    value, move = solve(hands, seat, to_beat, passes, doubling)
    assert value == brute_force(hands, seat, to_beat, passes, doubling, known)
    head = int(head_of(np.uint64(move)))
    factor = 2.0 if doubling and is_bomb(head) else 1.0
    if move != hands[seat]:
        after = tuple(hand - move * (each == seat) for each, hand in enumerate(hands))
        beat, passed = map(int, follow(to_beat, passes, head))
        assert value == factor * brute_force(after, (seat + 1) % 3, beat, passed, doubling, known)
    return value


def test_random_endings_have_the_values_of_brute_force() -> None:
    values = {check(number, {}) for number in range(250)}
    assert values >= {-2.0, -1.0, 1.0, 2.0}


@pytest.mark.slow
def test_ten_thousand_random_endings_have_the_values_of_brute_force() -> None:
    for number in range(10_000):
        check(number, {})


def test_one_search_serves_many_endings() -> None:
    """Its table keeps positions of earlier endings, which must not be confused."""
    work = search(doubling=True)
    for number in range(100):
        rng = np.random.default_rng(1000 + number)
        hands, seat = ending(rng, 8), number % 3
        value = alpha_beta(np.array(hands, np.uint64), seat, LEAD, 0, -np.inf, np.inf, work)
        assert value == brute_force(hands, seat, LEAD, 0, True, {})


def test_known_endings() -> None:
    def value(landlord: str, after: str, before: str, seat: int = 0) -> float:
        return solve([parse_cards(landlord), parse_cards(after), parse_cards(before)], seat)[0]

    assert value("2 3", "A 4", "K 5") == 1  # the two comes back
    assert value("K 3", "A 4", "Q 5") == -1
    assert value("BR 3", "2 4", "2 5") == 2  # the rocket doubles
    assert value("44", "5", "A 3", seat=2) == -1  # the partner is fed


def test_too_many_positions_are_left_undecided() -> None:
    work = search()
    work.nodes[LIMIT] = 5
    hands = np.array([parse_cards("345699"), parse_cards("78TTJJ"), parse_cards("QKA2BR")], np.uint64)
    before = hands.copy()
    assert alpha_beta(hands, 0, LEAD, 0, -1.0, 1.0, work) == 0
    assert work.nodes[NODES] > 5
    assert (hands == before).all()


def test_impossible_endings_are_refused() -> None:
    with pytest.raises(FogplayError, match=f"at most {MOST_CARDS} cards, not 0, 1, 1"):
        solve([0, 1, 1], 0)
    with pytest.raises(FogplayError, match="not 20, 17, 17"):
        solve([pack(unpack(int(FULL_DECK))[at : at + size]) for at, size in ((0, 20), (20, 17), (37, 17))], 0)
    with pytest.raises(FogplayError, match="not 3 and 0"):
        solve([1, 1, 1], 3)


@pytest.mark.parametrize(("doubling", "bombs"), [(0.2, 1), (0.0, None)])
def test_strong_counts_the_bombs_of_solved_endings(doubling: float, bombs: int | None) -> None:
    """If the score counts; else any win is as good."""
    work = playouts.mind()
    for hands, seat, won in ((("BR 3", "2 4", "2 5"), 0, True), (("3 5", "4444 6", "7 7"), 1, False)):
        work.hands[:] = [parse_cards(hand) for hand in hands]
        landlord, found = playouts.judge(seat, LEAD, 0, STRONG._replace(doubling=doubling), work)
        assert landlord == won
        assert bombs is None or found == bombs
