"""Doudizhu beside RLCard, OpenSpiel and DouZero's rule: the same moves, or a difference that is known and counted."""

from __future__ import annotations

import numpy as np
import pytest

from fogplay.games.doudizhu_cards import JOKERS, counts_of, pack, show
from fogplay.games.doudizhu_heads import CATEGORIES, HEAD_CATEGORY
from fogplay.games.doudizhu_moves import all_moves

from .doudizhu_peers import (
    OpenSpiel,
    compare_openspiel,
    compare_rlcard,
    douzero_planes_and_fours,
    only_ours,
)


def test_the_moves_of_rlcard() -> None:
    pytest.importorskip("rlcard", reason="RLCard is not installed: pip install rlcard")
    from rlcard.games.doudizhu.utils import ACTION_2_ID, CARD_TYPE, TYPE_CARD

    ours = {show(cards) or "pass" for cards in all_moves().cards.tolist()}
    assert len(ACTION_2_ID) == 27_472
    assert ours == set(ACTION_2_ID)
    assert ours - {"pass"} == set(CARD_TYPE[0])
    heads = dict(zip(map(show, all_moves().cards.tolist()), all_moves().heads.tolist(), strict=True))
    by_type: dict[str, set[str]] = {}
    for cards, types in CARD_TYPE[0].items():
        assert len(types) == 1
        by_type.setdefault(types[0][0], set()).add(CATEGORIES[HEAD_CATEGORY[heads[cards]]].name)
    assert all(len(names) == 1 for names in by_type.values())
    assert len({min(names) for names in by_type.values()}) == len(by_type) == 37
    listed = {cards for by_rank in TYPE_CARD.values() for each in by_rank.values() for cards in each}
    assert listed == set(CARD_TYPE[0])


def test_random_situations_as_rlcard() -> None:
    pytest.importorskip("rlcard", reason="RLCard is not installed: pip install rlcard")
    assert compare_rlcard(2000, seed=1) > 8000


@pytest.mark.slow
def test_many_random_situations_as_rlcard() -> None:
    pytest.importorskip("rlcard", reason="RLCard is not installed: pip install rlcard")
    assert compare_rlcard(200_000, seed=2) > 800_000


def test_random_situations_as_openspiel() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    assert compare_openspiel(3000, seed=1) > 12_000


@pytest.mark.slow
def test_many_random_situations_as_openspiel() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    assert compare_openspiel(200_000, seed=2) > 800_000


def test_the_moves_of_openspiel() -> None:
    """26,053 and pass: no four with two, and a trio next to the plane may be kickers: some cards have two readings."""
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    peer = OpenSpiel()
    theirs = list(peer.cards.values())
    assert len(theirs) == 26_053
    ours = set(all_moves().cards.tolist()) - {0}
    assert len(set(theirs)) == 25_661
    assert ours - set(theirs) == {int(all_moves().cards[number]) for number in only_ours()}
    assert len(only_ours()) == 1326 + 858
    more = {action: cards for action, cards in peer.cards.items() if cards not in ours}
    assert len(set(more.values())) == 374
    for action in more:
        chain, kickers = peer.names[action].replace("(BWJ)", "B").replace("(CJ)", "R").split("-")
        trio = next(letter for letter in kickers if kickers.count(letter) == 3)
        ranks = counts_of(pack(["3456789TJQKA2BR".index(letter) for letter in chain]))
        first, last = ranks.index(3), len(ranks) - 1 - ranks[::-1].index(3)
        assert "3456789TJQKA2BR".index(trio) in (first - 1, last + 1)
    assert len(_repeated(theirs)) == 383


def _repeated(cards: list[int]) -> set[int]:
    values, times = np.unique(np.array(cards, np.uint64), return_counts=True)
    return set(values[times > 1].tolist())


def test_the_moves_of_douzero() -> None:
    """2,513 more: its kickers of planes and fours may be the rocket, a bomb, or a trio next to the plane."""
    theirs, ours = douzero_planes_and_fours(), set(all_moves().cards.tolist())
    kinds = {CATEGORIES[HEAD_CATEGORY[head]].name for head in all_moves().heads}
    planes = {name for name in kinds if name.startswith("chain of trios with solos")} | {"four with two solos"}
    named = zip(all_moves().cards.tolist(), all_moves().heads.tolist(), strict=True)
    assert {cards for cards, head in named if CATEGORIES[HEAD_CATEGORY[head]].name in planes} <= theirs
    more = theirs - ours
    assert len(more) == 2513
    rocket = {cards for cards in more if cards & int(JOKERS) == int(JOKERS)}
    bomb = {cards for cards in more - rocket if 4 in counts_of(cards)}
    trio = more - rocket - bomb
    assert (len(rocket), len(bomb), len(trio)) == (1482, 657, 374)
