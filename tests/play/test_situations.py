"""Situations typed in, in any game: the table that they lead to, and why some cannot be."""

from __future__ import annotations

import pytest

import fogplay as fp
from fogplay.play.situations import table_at


@pytest.mark.parametrize(
    ("game", "hand", "shown", "history", "seat", "infoset"),
    [
        ("kuhn", "K", None, "", 0, "K:"),
        ("kuhn", "deal Q,", None, "pass", 1, "Q:p"),
        ("kuhn(players=3)", "2", None, "pass, bet", 2, "2:pb"),
        ("leduc", "Js", None, "call, raise", 0, "Js:cr"),
        ("leduc", "Qh", "Ks", "call call call", 1, "Qh:cc/Ks:c"),
        ("bluff", "3", None, "", 0, "3:"),
    ],
)
def test_a_table_at_the_decision_that_was_typed(
    game: str, hand: str, shown: str | None, history: str, seat: int, infoset: str
) -> None:
    at = table_at(fp.load(game), hand, shown, history)
    assert at.to_act == (seat,)
    assert at.view(seat).infoset == infoset


@pytest.mark.parametrize(
    ("game", "hand", "shown", "history", "why"),
    [
        ("kuhn", "X", None, "", "a card of --hand cannot be 'X'; it can be J, Q, K"),
        ("kuhn", "", None, "", "a card of --hand was not typed"),
        ("kuhn", "K", None, "pass fold", "move 2 of the history cannot be 'fold'; it can be check, bet"),
        ("kuhn", "K", None, "bet bet", "the hand is over after these moves"),
        ("kuhn", "K", None, "bet bet bet", "the hand is over before 'bet'"),
        ("kuhn", "K Q", None, "pass", "Q was not dealt by then"),
        ("leduc", "Js", "Js", "call call", "a card of --shown cannot be 'Js'; it can be"),
    ],
)
def test_a_situation_that_cannot_be_is_refused(game: str, hand: str, shown: str | None, history: str, why: str) -> None:
    with pytest.raises(fp.FogplayError, match="there is no such situation") as refused:
        table_at(fp.load(game), hand, shown, history)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
