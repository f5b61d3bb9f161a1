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
    Fit,
    definition_of,
    fit,
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


# The definitions that come with the competition's dealer, and others in use, as word and numbers.
FULL = "numSuits 4, numRanks 13, numHoleCards 2, numBoardCards 0 3 1 1"
TWO_ROUNDS = "numSuits 2, numRanks 3, numHoleCards 1, numBoardCards 0 1"
COMPETITION = {
    "holdem.limit.2p.reverse_blinds": "limit, numPlayers 2, numRounds 4, blind 10 5, raiseSize 10 10 20 20, "
    f"firstPlayer 2 1 1 1, maxRaises 3 4 4 4, {FULL}",
    "holdem.limit.3p": "limit, numPlayers 3, numRounds 4, blind 5 10 0, raiseSize 10 10 20 20, "
    f"firstPlayer 3 1 1 1, maxRaises 3 4 4 4, {FULL}",
    "holdem.limit.2p, early": "limit, numPlayers 2, numRounds 4, stack 400 400, blind 2 1, raiseSize 2 2 4 4, "
    f"firstPlayer 2 1 1 1, maxRaises 3 4 4 4, {FULL}",
    "holdem.limit.3p, early": "limit, numPlayers 3, numRounds 4, stack 400 400 400, blind 1 2 0, raiseSize 2 2 4 4, "
    f"firstPlayer 3 1 1 1, maxRaises 3 4 4 4, {FULL}",
    "kuhn.limit.3p": "limit, numPlayers 3, numRounds 1, blind 1 1 1, raiseSize 1, firstPlayer 1, maxRaises 1, "
    "numSuits 1, numRanks 4, numHoleCards 1, numBoardCards 0",
    "kuhn.limit.3p, stacks": "limit, numPlayers 3, numRounds 1, stack 2 2 2, blind 1 1 1, raiseSize 1, firstPlayer 1, "
    "maxRaises 1, numSuits 1, numRanks 4, numHoleCards 1, numBoardCards 0",
    "leduc": "limit, numPlayers 2, numRounds 2, blind 1 1, raiseSize 2 4, firstPlayer 1 1, maxRaises 2 2, "
    f"{TWO_ROUNDS}",
    "royal.limit.2p": "limit, numPlayers 2, numRounds 4, blind 10 5, raiseSize 10 10 20 20, firstPlayer 2 1 1 1, "
    "maxRaises 3 4 4 4, numSuits 4, numRanks 5, numHoleCards 2, numBoardCards 0 3 1 1",
}
NO_LIMIT = {
    "holdem.nolimit.2p.reverse_blinds": "nolimit, numPlayers 2, numRounds 4, stack 20000 20000, blind 100 50, "
    f"firstPlayer 2 1 1 1, {FULL}",
    "holdem.nolimit.3p": "nolimit, numPlayers 3, numRounds 4, stack 20000 20000 20000, blind 50 100 0, "
    f"firstPlayer 3 1 1 1, {FULL}",
    "leduc, no-limit": "nolimit, numPlayers 2, numRounds 2, stack 1200 1200, blind 100 100, firstPlayer 1 1, "
    f"{TWO_ROUNDS}",
}


def text_of(words: str) -> str:
    rows = [f"{row.split()[0]} = {' '.join(row.split()[1:])}" if " " in row else row for row in words.split(", ")]
    return "\n".join(["GAMEDEF", *rows, "END GAMEDEF", ""])


@pytest.mark.parametrize(
    ("name", "spec", "scale"),
    [
        ("holdem.limit.2p.reverse_blinds", "holdem", 1),
        ("holdem.limit.3p", "holdem(players=3)", 1),
        ("holdem.limit.2p, early", "holdem", 0.2),
        ("holdem.limit.3p, early", "holdem(players=3)", 0.2),
        ("kuhn.limit.3p", "kuhn(players=3)", 1),
        ("kuhn.limit.3p, stacks", "kuhn(players=3)", 1),
        ("leduc", "leduc", 1),
        ("royal.limit.2p", "holdem(ranks=5)", 1),
    ],
)
def test_the_competitions_own_files(name: str, spec: str, scale: float) -> None:
    definition = parse_definition(text_of(COMPETITION[name]))
    assert game_of(definition) == load(spec)
    assert fit(definition, load(spec)) == Fit(definition.players, 0, scale)


@pytest.mark.parametrize("name", NO_LIMIT)
def test_no_limit_is_refused_in_a_line(name: str) -> None:
    with pytest.raises(FogplayError, match="this is a no-limit game; fogplay plays limit games only"):
        game_of(parse_definition(text_of(NO_LIMIT[name])))


def test_what_comes_before_a_definition_is_ignored() -> None:
    """Old files carry the definition in an older format too."""
    assert parse_definition(f"NUM_PLAYERS = 3\nANTE = 100 50\nLIMIT\n\n{print_definition(TWO)}") == TWO


@pytest.mark.parametrize(
    ("changes", "spec", "turn", "scale"),
    [
        ("blind 5 10, firstPlayer 1 2 2 2", "holdem", 1, 1),  # the button sits first
        ("blind 100 50, raiseSize 100 100 200 200", "holdem", 0, 10),
        ("blind 20000 10000, raiseSize 20000 20000 40000 40000", "holdem", 0, 2000),  # more chips than games allow
        ("blind 50 100, raiseSize 100 100 200 200, firstPlayer 1 2 2 2", "holdem", 1, 10),
        ("blind 2 1, raiseSize 2 2 4 4", "holdem", 0, 0.2),
        ("blind 10 2, raiseSize 10 10 20 20", "holdem(blinds=[10,2])", 0, 1),
        ("numPlayers 3, blind 0 5 10, firstPlayer 1 2 2 2", "holdem(players=3)", 2, 1),
        ("numPlayers 3, blind 100 0 50, firstPlayer 2 3 3 3", "holdem(players=3,blinds=[50,100,0])", 1, 1),
    ],
)
def test_other_seats_and_stakes(changes: str, spec: str, turn: int, scale: float) -> None:
    changed = {row.split()[0]: row for row in changes.split(", ")}
    rows = [changed.pop(row.split()[0], row) for row in COMPETITION["holdem.limit.2p.reverse_blinds"].split(", ")]
    definition = parse_definition(text_of(", ".join(rows)))
    assert game_of(definition) == load(spec)
    assert fit(definition, load(spec)) == Fit(definition.players, turn, scale)


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
        assert fit(definition, game_of(definition)) is not None


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
