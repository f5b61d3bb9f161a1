"""Doudizhu's decks in files, its situations typed in, and its cards as other programs number them."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fogplay as fp
from fogplay.games.doudizhu_cards import unpack
from fogplay.notation.doudizhu import parse_cards
from fogplay.notation.doudizhu_decks import NUMBERS, PLACES, read_decks, written_decks
from fogplay.notation.doudizhu_wire import DoudizhuWire, numbered, rank_of
from fogplay.play import Seeded, Table
from fogplay.play.situations import table_at

RULES = fp.load("doudizhu")
DECK = {
    "landlord": "333344678899TTQKKA22",
    "landlord_down": "4566779TTJQKKAA2R",
    "landlord_up": "455567889JJJQQA2B",
    "three_landlord_cards": "392",
}
HAND, SHOWN = "3345567899TJQKKA2", "79R"


def numbers(deck: dict[str, str]) -> dict[str, list[int]]:
    return {place: [NUMBERS[rank] for rank in unpack(parse_cards(cards))] for place, cards in deck.items()}


# ---- Decks


@pytest.mark.parametrize("name", ["decks.json", "decks.pkl"])
def test_decks_are_written_and_read(name: str) -> None:
    decks = [Table(RULES, Seeded(deal)).moves for deal in range(5)]
    read = read_decks(written_decks(decks, name), name)
    assert [sorted(deck[:17]) for deck in decks] == [list(deck[:17]) for deck in read]
    assert read_decks(written_decks(read, name), name) == read


def test_decks_of_douzero_are_read() -> None:
    """Its numbers, in JSON or pickled, are the same decks as ours in letters."""
    (ours,) = read_decks(json.dumps([DECK]).encode(), "ours")
    assert read_decks(json.dumps([numbers(DECK)]).encode(), "theirs") == [ours]
    assert read_decks(pickle.dumps([numbers(DECK)]), "theirs") == [ours]
    table = Table(RULES, fp.play.luck.Given(ours, 0))
    assert table.view(0).infoset == "0:333344678899TTQKKA22|392|"
    assert set(pickle.loads(written_decks([ours], "x.pkl"))[0]) == set(PLACES)


class Evil:
    def __reduce__(self) -> Any:
        return (print, ("called",))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "neither JSON nor a pickle"),
        (b"[[[", "neither JSON nor a pickle"),
        (b"{}", "a file of decks is a list"),
        (b"[]", "a file of decks is a list"),
        (b"[1]", "deck 0: a deck is an object with landlord, landlord_down"),
        (pickle.dumps([Evil()]), "it wants to call builtins.print"),
        (pickle.dumps([DECK])[:-9], "is not a pickle of plain lists and numbers"),
        (json.dumps([DECK | {"landlord": "3333"}]).encode(), "deck 0: landlord has 4 cards, not 20"),
        (json.dumps([DECK, DECK | {"landlord_up": "3" * 17}]).encode(), "deck 1, landlord_up: '33333333333333333' has"),
        (json.dumps([DECK | {"landlord_up": [99] * 17}]).encode(), "or a list of numbers 3 to 14, 17, 20 and 30"),
        (json.dumps([DECK | {"landlord_up": [True] * 17}]).encode(), "or a list of numbers 3 to 14, 17, 20 and 30"),
        (json.dumps([DECK | {"three_landlord_cards": "55R"}]).encode(), "the landlord lacks 55R of the shown cards"),
        (json.dumps([DECK | {"landlord_up": "455567889JJJQQA2R"}]).encode(), "the hands have 0 cards B, not 1"),
    ],
)
def test_files_that_are_not_decks_are_refused(data: bytes, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(fp.FogplayError) as refused:
        read_decks(data, "file")
    assert why in str(refused.value)
    assert str(refused.value).startswith("file")
    assert capsys.readouterr().out == ""


# ---- Situations


def test_a_situation_typed_in_is_what_the_player_sees() -> None:
    at = table_at(RULES, HAND, SHOWN, "456789")
    assert at.to_act == (1,)
    assert at.view(1).infoset == "1:3345567899TJQKKA2|79R|456789"
    again = table_at(RULES, "33 4 5 6 7 8 9 10 J Q KK A 2", SHOWN, "456789, - p; 3 5 pass 7 9 pass p")
    assert again.to_act == (1,)
    assert again.view(1).observation.cards_left == (12, 15, 17)


@given(st.integers(0, 10**6), st.integers(0, 40))
@settings(max_examples=25, deadline=None)
def test_every_situation_of_a_hand_can_be_typed(seed: int, length: int) -> None:
    table = Table(RULES, Seeded(seed))
    for _ in range(length):
        view = table.view(table.to_act[0])
        table.take(view.seat, view.legal[int(view.luck * len(view.legal))])
        if table.is_over:
            return
    view = table.view(table.to_act[0])
    hand, shown, history = view.infoset.partition(":")[2].split("|")
    typed = table_at(RULES, hand, shown, history, seed=1).view(view.seat)
    assert (typed.infoset, typed.legal, typed.names) == (view.infoset, view.legal, view.names)


@pytest.mark.parametrize(
    ("hand", "shown", "history", "why"),
    [
        ("3" * 5, None, "", "'33333' has 5 cards 3; there are 4"),
        (
            "33455678899TJQKKA22BR",
            None,
            "",
            "--hand has 21 cards: after this history the landlord is to move, who begins",
        ),
        (HAND, None, "456789", "--shown: type the three cards"),
        (HAND, "79", "456789", "--shown has 2 cards"),
        (HAND, SHOWN, "456789 3", "'3' by the peasant after the landlord, cannot be: 3 (solo of 3) does not beat"),
        (HAND, SHOWN, "pass", "'pass' by the landlord, cannot be: a player who leads must play"),
        (HAND, SHOWN, "345", "'345' is not a move of Doudizhu"),
        (HAND, SHOWN, "4x7", "is not a move of Doudizhu"),
        (HAND, SHOWN, "Z", "'Z' in 'Z' is not a card"),
        (HAND, SHOWN, "3 R pass pass 3 R", "that makes 2 cards R; the deck has 1"),
        (HAND, SHOWN, "KKK", "that makes 5 cards K; the deck has 4"),
        ("33344455566677788899", "34R", "", "--shown: the landlord took 34R, but never had R"),
    ],
)
def test_a_situation_that_cannot_be_is_refused_in_one_line(
    hand: str, shown: str | None, history: str, why: str
) -> None:
    with pytest.raises(fp.FogplayError) as refused:
        table_at(RULES, hand, shown, history)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_there_is_no_advice_when_the_hand_is_over() -> None:
    landlord = "34567 pass pass 34567 pass pass 34567 pass pass 34567"
    with pytest.raises(fp.FogplayError, match="the hand is over: the landlord has no cards left"):
        table_at(RULES, "8899TTJJQQKKAA22R", "345", landlord)
    with pytest.raises(
        fp.FogplayError, match="'pass' by the peasant after the landlord, cannot be: the landlord has no"
    ):
        table_at(RULES, "8899TTJJQQKKAA22R", "345", f"{landlord} pass")
    with pytest.raises(fp.FogplayError, match="leave out bidding=True"):
        table_at(fp.load("doudizhu(bidding=True)"), HAND, SHOWN, "")


# ---- Numbers of cards


def test_cards_are_numbered_as_on_botzone() -> None:
    assert numbered(parse_cards("3344A2BR")) == [0, 1, 4, 5, 44, 48, 52, 53]
    assert [rank_of(card) for card in (0, 3, 4, 51, 52, 53)] == [0, 0, 1, 12, 13, 14]


def test_a_hand_as_a_program_sees_it() -> None:
    at = table_at(RULES, HAND, SHOWN, "456789")
    (request,), responses = DoudizhuWire(RULES).talk(at.view(1), [])
    assert responses == []
    assert request["own"] == numbered(parse_cards(HAND))
    assert [rank_of(card) for card in request["publiccard"]] == [4, 6, 14]
    assert [[rank_of(card) for card in cards] for cards in request["history"]] == [[], [1, 2, 3, 4, 5, 6]]
    assert set(request["publiccard"][:2]) < set(request["history"][1]), "the landlord plays the shown 7 and 9 first"
    assert not set(request["own"]) & {*request["publiccard"], *request["history"][1]}


@given(st.integers(0, 10**6), st.sampled_from(["doudizhu", "doudizhu(bidding=True)"]))
@settings(max_examples=15, deadline=None)
def test_the_numbers_of_a_whole_hand_agree(seed: int, game: str) -> None:
    """Every seat sees 54 different numbers at most, own moves come from own cards, and answers are understood."""
    rules = fp.load(game)
    table, wire = Table(rules, Seeded(seed)), DoudizhuWire(rules)
    answered: list[list[Any]] = [[], [], []]
    while not table.is_over:
        view = table.view(table.to_act[0])
        requests, responses = wire.talk(view, answered[view.seat])
        assert len(requests) == len(responses) + 1
        assert responses == answered[view.seat]
        action = view.legal[int(view.luck * len(view.legal))]
        answer: Any = action
        if view.observation.landlord >= 0:
            own = set(next(each["own"] for each in requests if "history" in each))
            gone = [card for cards in responses if isinstance(cards, list) for card in cards]
            others = [card for each in requests for cards in each.get("history", ()) for card in cards]
            assert set(gone) <= own
            assert not own & (set(others) - own)
            assert len(gone) == len(set(gone))
            left, name = sorted(own - set(gone), reverse=True), view.names[view.legal.index(action)]
            answer = []
            for rank in unpack(parse_cards(name)) if name != "pass" else []:
                answer.append(next(card for card in left if rank_of(card) == rank and card not in answer))
        assert wire.action(answer, view) == action
        answered[view.seat].append(answer)
        table.take(view.seat, action)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ([0, 0], "a card is there twice"),
        ([54], "a list of cards from 0 to 53"),
        ([-1], "a list of cards from 0 to 53"),
        ("five", "a list of cards from 0 to 53"),
        ([True], "a list of cards from 0 to 53"),
        ([0, 4], "34 is not a move"),
        ([52, 53], "it does not hold BR"),
        ([0], "3 (solo of 3) does not beat a chain of solos"),
    ],
)
def test_answers_that_are_no_move_are_refused(answer: Any, why: str) -> None:
    view = table_at(RULES, HAND, SHOWN, "456789").view(1)
    with pytest.raises(fp.FogplayError) as refused:
        DoudizhuWire(RULES).action(answer, view)
    assert why in str(refused.value)
