"""Game definitions: read, printed, and turned into games of ours."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fogplay import load
from fogplay.cards.deck import cards_name
from fogplay.errors import FogplayError
from fogplay.notation.gamedef import (
    Definition,
    definition_of,
    game_of,
    load_definition,
    name_of,
    our_definitions,
    parse_definition,
    print_definition,
)
from tests.helpers import refusal

TWO = our_definitions()["holdem.limit.2p"]
GAMES = {
    "holdem.limit.2p": "holdem",
    "holdem.limit.3p": "holdem(players=3)",
    "kuhn.limit.2p": "kuhn",
    "kuhn.limit.3p": "kuhn(players=3)",
    "leduc.limit.2p": "leduc",
    "leduc.limit.3p": "leduc(players=3)",
}


def test_ours_are_our_games() -> None:
    assert list(our_definitions()) == sorted(GAMES)
    for name, spec in GAMES.items():
        definition = our_definitions()[name]
        assert str(game_of(definition)) == str(load(spec))
        assert definition_of(load(spec)) == definition
        assert name_of(definition) == name


def test_the_competitions_numbers() -> None:
    assert (TWO.blinds, TWO.raises, TWO.first, TWO.max_raises) == (
        (10, 5), (10, 10, 20, 20), (2, 1, 1, 1), (3, 4, 4, 4),
    )  # fmt: skip
    three = our_definitions()["holdem.limit.3p"]
    assert (three.blinds, three.first) == ((5, 10, 0), (3, 1, 1, 1))


def test_small_decks_have_the_highest_cards() -> None:
    assert cards_name(our_definitions()["leduc.limit.2p"].deck()) == "QhQsKhKsAhAs"
    assert cards_name(our_definitions()["kuhn.limit.3p"].deck()) == "JsQsKsAs"
    assert TWO.deck() == tuple(range(52))


def test_other_hold_em() -> None:
    game = load("holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1],max_raises=[1,1])")
    assert game_of(parse_definition(print_definition(definition_of(game)))) == game


@st.composite
def definitions(draw: st.DrawFn) -> Definition:
    players, rounds = draw(st.integers(2, 10)), draw(st.integers(1, 4))
    number = st.integers(0, 10**9)
    by_player, by_round = (st.lists(number, min_size=n, max_size=n).map(tuple) for n in (players, rounds))
    betting = draw(st.sampled_from(["limit", "nolimit"]))
    return Definition(
        players=players,
        rounds=rounds,
        blinds=draw(by_player),
        raises=draw(by_round) if betting == "limit" else (),
        first=draw(st.lists(st.integers(1, players), min_size=rounds, max_size=rounds).map(tuple)),
        max_raises=draw(by_round),
        suits=4,
        ranks=draw(st.integers(6, 13)),
        hole=draw(st.integers(1, 2)),
        board=(0,) * rounds,
        betting=betting,
        stacks=draw(st.one_of(st.just(()), by_player)),
    )


@given(definitions())
def test_definitions_come_back(definition: Definition) -> None:
    assert parse_definition(print_definition(definition)) == definition
    if not refusal(game_of, definition):
        assert definition_of(game_of(definition)) == dataclasses.replace(definition, stacks=())


def test_the_readers_freedoms() -> None:
    text = print_definition(TWO).replace("numPlayers =", "NUMPLAYERS").replace("END GAMEDEF", "end gamedef\nwhatever")
    assert parse_definition(f"# a comment\n\n{text}") == TWO
    assert parse_definition(print_definition(TWO).replace("firstPlayer = 2 1 1 1\n", "")).first == (1, 1, 1, 1)
    assert parse_definition(print_definition(TWO).replace("10 10 20 20", "10 10 20 20 40")) == TWO


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("limit", "nolimit", "this is a no-limit game; fogplay plays limit games only"),
        ("maxRaises = 3 4 4 4\n", "", "maxRaises"),
        ("numHoleCards = 2", "numHoleCards = 4", "hole must be a whole number from 1 to 2"),
        ("firstPlayer = 2", "firstPlayer = 1", "fogplay does not have this game"),
        ("firstPlayer = 2", "firstPlayer = 3", "firstPlayer must be numbers from 1 to 2"),
        ("numPlayers = 2", "numPlayers = 3", "blind must have 3 numbers; it has 2"),
        ("numPlayers = 2", "numPlayers = 0", "numPlayers must be a whole number from 2 to 10; it is 0"),
        ("numRanks = 13\n", "", "numRanks must be a whole number from 1 to 13; it is missing"),
        ("numRanks = 13", "numRanks = 2", "more cards than the 8"),
        ("blind = 10 5", "blind = 10 5\nblind = 10 5", "line 6: blind occurs twice"),
        ("blind = 10 5", "blind = 10 -5", "line 5: expected .* found 'blind = 10 -5'"),
        ("blind = 10 5", "ante = 10", "line 5: expected .* found 'ante = 10'"),
        ("blind = 10 5", "blind = 10 5\nstack = 100 100", "stacks of 100 can run out"),
        ("blind = 10 5", "blind = 10 9999999999", "blinds must be a whole number"),
    ],
)
def test_what_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    file = tmp_path / "x.game"
    file.write_text(print_definition(TWO).replace(old, new, 1))
    with pytest.raises(FogplayError, match=says):
        game_of(load_definition(str(file))[1])


def test_stacks_that_never_run_out_change_nothing() -> None:
    assert game_of(dataclasses.replace(TWO, stacks=(1000, 1000))) == game_of(TWO)


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "mine.game"
    file.write_text(print_definition(TWO))
    assert load_definition(str(file)) == ("mine", TWO)
    for content, says in (
        (b"\xff\xff", "not text in UTF-8"),
        (b"x" * 100_000, "at most 65,536 characters, not 65,537"),
    ):
        file.write_bytes(content)
        with pytest.raises(FogplayError, match=says):
            load_definition(str(file))
    with pytest.raises(FogplayError, match=r"there is no game definition nowhere.*holdem\.limit\.2p"):
        load_definition("nowhere")


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused_in_a_line(text: str) -> None:
    refusal(parse_definition, text)


@pytest.mark.parametrize("spec", ["ocp(13)", "goofspiel(3)", "kuhn(pot=3)"])
def test_games_that_the_notation_cannot_describe(spec: str) -> None:
    with pytest.raises(FogplayError, match="notation cannot describe"):
        definition_of(load(spec))
