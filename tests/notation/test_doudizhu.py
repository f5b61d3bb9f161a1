"""Doudizhu's cards as people write them, and a hand at the terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fogplay.cli import playing
from fogplay.errors import FogplayError
from fogplay.games.doudizhu_cards import NUM_RANKS, deck_copies, pack, show
from fogplay.games.doudizhu_heads import LEAD, head_of
from fogplay.games.doudizhu_moves import all_moves
from fogplay.notation.doudizhu import parse_cards, parse_move, read_move, spaced

DECK = [rank for rank in range(NUM_RANKS) for _ in range(deck_copies(rank))]


@given(st.permutations(DECK), st.integers(0, 54))
def test_parse_and_print_are_inverse(deck: list[int], size: int) -> None:
    word = pack(deck[:size])
    assert parse_cards(show(word)) == word
    assert parse_cards(spaced(word).lower()) == word
    assert parse_cards(show(word).replace("T", "10").replace("B", "X").replace("R", "D")) == word
    letters = [show(pack([rank])) for rank in deck[:size]]
    assert parse_cards(",".join({"B": "BJ", "R": "RJ"}.get(letter, letter) for letter in letters)) == word


def test_every_move_is_read_as_it_is_written() -> None:
    for number, cards in enumerate(all_moves().cards.tolist()):
        assert parse_move(show(cards) or "pass") == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("34Z", "'Z' in '34Z' is not a card; write cards as 3456789TJQKA2BR"),
        ("33333", "'33333' has 5 cards 3; there are 4"),
        ("BB", "'BB' has 2 cards B; there are 1"),
        ("1", "'1' in '1' is not a card"),
    ],
)
def test_what_is_not_cards(text: str, message: str) -> None:
    with pytest.raises(FogplayError, match=re.escape(message)):
        parse_cards(text)


def test_what_is_not_a_move() -> None:
    for text in ("34", "", "333BR"):
        with pytest.raises(FogplayError, match="is not a move of Doudizhu"):
            parse_move(text)
    pair = int(head_of(parse_cards("44")))
    assert read_move("rj bj", parse_cards("33BR"), pair) == parse_move("BR")
    assert read_move("pass", parse_cards("33"), LEAD) == "you lead, and must play"
    assert read_move("33", parse_cards("33"), pair) == "33 (pair of 3) does not beat a pair of 4"
    assert "is not a card" in str(read_move("hello", parse_cards("33"), pair))


def test_a_hand_at_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    typed = iter(["BJRJ", "zz", "?", "pass", "Q", "q"])  # a large Q is a queen
    monkeypatch.setattr("builtins.input", lambda prompt: print(prompt, end="") or next(typed))
    playing.play("doudizhu", ["uniform"], 1, 3)
    shown = capsys.readouterr().out
    assert "You are the landlord and take 9 Q A." in shown
    assert "'BJRJ' is not possible here: you do not hold BR; you can play 4, 5" in shown
    assert "'z' in 'zz' is not a card" in shown
    assert "  you can play 4, 5" in shown
    assert "'pass' is not possible here: you lead, and must play" in shown
    assert "You play Q (19 left)." in shown


def test_bidding_at_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    typed = iter(["5", "3", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: print(prompt, end="") or next(typed))
    playing.play("doudizhu(bidding=True)", ["uniform"], 1, 3)
    shown = capsys.readouterr().out
    assert "Bid: pass, bid 1, bid 2, bid 3?" in shown
    assert "'5' is not possible here: type one of pass, bid 1, bid 2, bid 3" in shown
    assert "You are the landlord and take" in shown


def test_a_seat_of_your_choice(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def pass_or_lead(prompt: str) -> str:
        return "pass" if "pass" in prompt else prompt.split()[2][0]

    monkeypatch.setattr("builtins.input", pass_or_lead)
    playing.play("doudizhu", ["uniform"], 3, 3, seat=2)
    assert capsys.readouterr().out.count("you: peasant before the landlord") == 3
    with pytest.raises(FogplayError, match="--seat must be a whole number from 0 to 2, not 3"):
        playing.play("doudizhu", ["uniform"], 3, 3, seat=3)
