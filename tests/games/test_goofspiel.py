"""Goofspiel by hand."""

from __future__ import annotations

import pytest

from fogplay.errors import FogplayError
from fogplay.games import load
from fogplay.games.goofspiel import Goofspiel

from .specs import every_state, infosets, play


def test_the_second_player_does_not_see_the_bid_on_the_table() -> None:
    seen = {play(load("goofspiel"), bid).information_state_string(1) for bid in range(4)}
    assert seen == {"1:"}


def test_tied_prize_is_discarded() -> None:
    """Prizes 3, 2, 1. Both bid 3: prize 3 is gone. Player 0 takes 2; its 1 loses the forced last round for 1."""
    end = play(load("goofspiel(3,payoff=points)"), "bid 3", "bid 3", "bid 2", "bid 1")
    assert end.is_terminal()
    assert end.returns() == [1.0, -1.0]


def test_last_cards_are_forced() -> None:
    """After two of three rounds there is no choice left: prizes 3 to player 1, 2 to player 0, and 1 to player 0."""
    end = play(load("goofspiel(3,payoff=points)"), "bid 1", "bid 3", "bid 2", "bid 1")
    assert end.is_terminal()
    assert end.returns() == [0.0, 0.0]  # 2 + 1 against 3
    choices = [len(state.legal_actions()) for state in every_state(load("goofspiel(4)")) if not state.is_terminal()]
    assert min(choices) == 2


def test_order_of_the_prizes() -> None:
    """The same bids: player 0 wins the first prize, player 1 the second, and the last is tied."""
    bids = ("bid 2", "bid 1", "bid 1", "bid 2")
    assert play(load("goofspiel(3,descending,payoff=points)"), *bids).returns() == [1.0, -1.0]  # 3 against 2
    assert play(load("goofspiel(3,ascending,payoff=points)"), *bids).returns() == [-1.0, 1.0]  # 1 against 2


@pytest.mark.parametrize(
    ("payoff", "won", "drawn", "lost"),
    [
        ("win", [1, -1], [0, 0], [-1, 1]),
        ("percent", [100, 0], [50, 50], [0, 100]),
        ("points", [1, -1], [0, 0], [-1, 1]),
    ],
)
def test_payoffs(payoff: str, won: list[float], drawn: list[float], lost: list[float]) -> None:
    """Two cards: the first prize is 2, the second 1; different bids split them."""
    game = Goofspiel(cards=2, payoff=payoff)
    assert play(game, "bid 2", "bid 1").returns() == won
    assert play(game, "bid 1", "bid 1").returns() == drawn
    assert play(game, "bid 1", "bid 2").returns() == lost


def test_hidden_bids_show_own_cards_and_results_only() -> None:
    one = play(load("goofspiel(4)"), "bid 3", "bid 1")
    two = play(load("goofspiel(4)"), "bid 3", "bid 2")
    assert one.information_state_string(0) == two.information_state_string(0) == "0: 3>"
    assert one.information_state_string(1) == "1: 1<"
    tie = play(load("goofspiel(4)"), "bid 3", "bid 3", "bid 4", "bid 1")
    assert tie.information_state_string(0) == "0: 3= 4>"
    assert tie.information_state_string(1) == "1: 3= 1<"


def test_revealed_bids_show_both() -> None:
    state = play(load("goofspiel(4,bids=revealed)"), "bid 3", "bid 1", "bid 2", "bid 4")
    assert state.information_state_string(0) == "0: 3>1 2<4"
    assert state.information_state_string(1) == "1: 1<3 4>2"


def test_two_digit_cards_stay_apart() -> None:
    state = play(load("goofspiel(12,bids=revealed)"), "bid 11", "bid 1", "bid 1", "bid 11")
    assert state.information_state_string(0) == "0: 11>1 1<11"


@pytest.mark.parametrize(
    ("spec", "nodes", "count"),
    [
        ("goofspiel(3)", 67, 16),
        ("goofspiel(4)", 1077, 162),
        ("goofspiel(4,bids=revealed)", 1077, 322),
        ("goofspiel(5)", 26931, 2124),
    ],
)
def test_sizes(spec: str, nodes: int, count: int) -> None:
    assert sum(1 for _ in every_state(load(spec))) == nodes
    assert len(infosets(load(spec))) == count


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("goofspiel(1)", "cards must be a whole number from 2 to 13, not 1"),
        ("goofspiel(14)", "cards must be a whole number from 2 to 13, not 14"),
        ("goofspiel(4.0)", "cards must be a whole number from 2 to 13, not 4.0"),
        ("goofspiel(True)", "cards must be a whole number from 2 to 13, not True"),
        ("goofspiel(order=random)", "order must be descending or ascending, not 'random'"),
        ("goofspiel(bids=open)", "bids must be hidden or revealed, not 'open'"),
        ("goofspiel(payoff=2)", "payoff must be win or points or percent, not 2"),
    ],
)
def test_wrong_parameters(spec: str, message: str) -> None:
    with pytest.raises(FogplayError, match=f"^goofspiel: {message}$"):
        load(spec)
