"""Kuhn, One-Card Poker and Leduc by hand."""

from __future__ import annotations

import pytest

from fogplay.errors import FogplayError
from fogplay.games import load

from .specs import every_state, infosets, play


@pytest.mark.parametrize(
    ("actions", "returns"),
    [
        (("deal K", "deal Q", "pass", "pass"), [1.0, -1.0]),
        (("deal J", "deal Q", "bet", "pass"), [1.0, -1.0]),
        (("deal J", "deal Q", "bet", "bet"), [-2.0, 2.0]),
        (("deal K", "deal Q", "pass", "bet", "pass"), [-1.0, 1.0]),
        (("deal K", "deal Q", "pass", "bet", "bet"), [2.0, -2.0]),
    ],
)
def test_kuhn(actions: tuple[str, ...], returns: list[float]) -> None:
    assert play(load("kuhn"), *actions).returns() == returns


def test_kuhn_with_three_players() -> None:
    deal = ("deal 2", "deal 4", "deal 3")
    assert play(load("kuhn(3)"), *deal, "pass", "pass", "pass").returns() == [-1.0, 2.0, -1.0]
    assert play(load("kuhn(3)"), *deal, "pass", "bet", "bet", "pass").returns() == [-1.0, 3.0, -2.0]
    assert play(load("kuhn(3)"), *deal, "bet", "pass", "pass").returns() == [2.0, -1.0, -1.0]


def test_kuhn_with_another_pot() -> None:
    """The initial pot of 5 is paid in equal parts."""
    assert play(load("kuhn(pot=5)"), "deal K", "deal Q", "pass", "pass").returns() == [2.5, -2.5]
    assert play(load("kuhn(pot=5)"), "deal K", "deal Q", "bet", "bet").returns() == [3.5, -3.5]


def test_one_card_poker_is_kuhn_with_more_cards() -> None:
    assert play(load("ocp(13)"), "deal 6", "deal 13", "bet", "bet").returns() == [-2.0, 2.0]
    small, kuhn = ([s.returns() for s in every_state(load(spec)) if s.is_terminal()] for spec in ("ocp(3)", "kuhn"))
    assert small == kuhn
    assert len(infosets(load("ocp(10)"))) == 40


@pytest.mark.parametrize(
    ("actions", "returns"),
    [
        (("deal Js", "deal Ks", "raise", "fold"), [1.0, -1.0]),
        (("deal Js", "deal Ks", "raise", "raise", "fold"), [-3.0, 3.0]),
        (("deal Js", "deal Ks", "call", "call", "deal Jh", "call", "call"), [1.0, -1.0]),  # a pair beats a king
        (("deal Ks", "deal Kh", "raise", "call", "deal Jh", "raise", "call"), [0.0, 0.0]),  # split
        (("deal Qs", "deal Kh", "raise", "raise", "call", "deal Jh", "raise", "raise", "call"), [-13.0, 13.0]),
    ],
)
def test_leduc(actions: tuple[str, ...], returns: list[float]) -> None:
    assert play(load("leduc"), *actions).returns() == returns


def test_leduc_with_three_players() -> None:
    deal = ("deal 1h", "deal 2h", "deal 3h")
    end = play(load("leduc(3)"), *deal, "raise", "fold", "call", "deal 1s", "call", "raise", "call")
    assert end.returns() == [8.0, -1.0, -7.0]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("kuhn(1)", "kuhn: players must be a whole number from 2 to 10, not 1"),
        ("kuhn(pot=-1)", "kuhn: pot must be a number from 0 to 1000000, not -1"),
        ("kuhn(pot=much)", "kuhn: pot must be a number from 0 to 1000000, not 'much'"),
        ("ocp(2)", "ocp: cards must be a whole number from 3 to 5000, not 2"),
        ("ocp(cards=5001)", "ocp: cards must be a whole number from 3 to 5000, not 5001"),
        ("leduc(6)", "leduc: players must be a whole number from 2 to 5, not 6"),
    ],
)
def test_wrong_parameters(spec: str, message: str) -> None:
    with pytest.raises(FogplayError, match=f"^{message}$"):
        load(spec)
