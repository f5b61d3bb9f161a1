"""Boards of rule sheets: what everybody knows is drawn, and what is hidden is not."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from fogplay.games.registry import load
from fogplay.notation.gdl import GdlTalk, plain, steps_of
from fogplay.notation.talk import talk_for
from fogplay.pictures import draw_sight, scene_for, sight_of
from fogplay.play import Table
from fogplay.play.luck import Seeded


def table_after(spec: str, moves: list[str]) -> Table:
    """A table after moves by their names, whoever makes them."""
    table = Table(load(spec), Seeded("1"))
    for move in moves:
        seat = table.to_act[0]
        view = table.view(seat)
        table.take(seat, view.legal[view.names.index(move)])
    return table


def test_tic_tac_toe_is_a_board_with_marks() -> None:
    table = table_after("tictactoe.kif", ["(mark 2 2)", "(mark 1 3)"])
    scene = scene_for(sight_of(table, 0))
    assert scene.drawing is not None
    assert scene.drawing.words == "a board of 3 columns and 3 rows; 1 3: oplayer, 2 2: xplayer"
    assert [place.name for place in scene.places] == ["seat 0 (xplayer)", "seat 1 (oplayer)"]
    assert scene.drawing.svg.count('class="panel"') == 9
    circles = re.findall(r'<circle class="(a\d)" cx="([\d.]+)" cy="([\d.]+)"', scene.drawing.svg)
    assert sorted(circles) == [("a0", "110", "84"), ("a1", "54", "28")]  # the second coordinate grows upwards
    ElementTree.fromstring(draw_sight(sight_of(table, 0)))


def test_an_empty_board_is_drawn_too() -> None:
    scene = scene_for(sight_of(table_after("connectfour.kif", []), 0))
    assert scene.drawing is not None
    assert scene.drawing.words == "a board of 7 columns and 6 rows; all cells are empty"


def test_moves_at_the_same_time_are_drawn_after_their_step_and_not_before() -> None:
    spec = "connectfour-simultaneous.kif"
    first = table_after(spec, ["(drop 1)", "(drop 2)"])
    drawn = scene_for(sight_of(first, 0)).drawing
    assert drawn is not None
    assert drawn.words.endswith("1 1: red, 2 1: yellow")
    pages = {
        draw_sight(sight_of(table_after(spec, ["(drop 1)", "(drop 2)", move]), 1)) for move in ("(drop 3)", "(drop 4)")
    }
    assert len(pages) == 1  # what red chose in this step is not known to yellow yet


def test_hidden_marks_are_drawn_only_at_the_end() -> None:
    moves = ["(mark 1 1)", "(mark 2 2)", "(mark 2 2)", "(mark 1 2)"]
    table = table_after("phantom-tictactoe.kif", moves)
    other = table_after("phantom-tictactoe.kif", moves)
    scene = scene_for(sight_of(table, 1))
    assert scene.drawing is None
    assert "you: mark 2 2, you see your-turn" not in scene.lines
    own = table_after("phantom-tictactoe.kif", moves[:3])
    assert scene_for(sight_of(own, 0)).lines[-1] == "you: mark 2 2, you see taken"
    assert draw_sight(sight_of(other, 1)) == draw_sight(sight_of(table, 1))
    end = table_after("phantom-tictactoe.kif", ["(mark 1 1)", "(mark 2 2)", "(mark 1 2)", "(mark 3 3)", "(mark 1 3)"])
    assert end.is_over
    drawn = scene_for(sight_of(end, 1)).drawing
    assert drawn is not None
    assert drawn.svg.count("<circle") == 5


@pytest.mark.parametrize(
    ("words", "shown"), [("(mark 1 2)", "mark 1 2"), ("noop", "noop"), ("(f (g 1) 2)", "(f (g 1) 2)")]
)
def test_moves_lose_their_brackets(words: str, shown: str) -> None:
    assert plain(words) == shown


def test_percepts_are_told_in_words() -> None:
    assert steps_of("candidate: . (choose 2) [(opened 1)]") == [("", ""), ("choose 2", ""), ("", "opened 1")]
    assert steps_of("left: rock/paper (f (g 1) 2)/noop") == [("rock / paper", ""), ("(f (g 1) 2) / noop", "")]
    table = Table(load("montyhall.kif"), Seeded(1), ["you"])
    talk = talk_for(table.game)(table.game, table.names, 0)
    assert talk.situation(table.view(0)) == "You are candidate"
    table.take(0, 1)
    assert re.fullmatch("You are candidate, after choose 2; seeing opened [13]", talk.situation(table.view(0)))


def test_a_long_history_is_cut_before_a_move() -> None:
    table = table_after("connectfour.kif", [f"(drop {number})" for number in (1, 2, 1, 2, 3, 4, 5, 6)])
    game = table.game
    talk = talk_for(game)(game, table.names, 0)
    assert isinstance(talk, GdlTalk)
    said = talk.situation(table.view(0))
    assert said.startswith("You are red, after … drop ")
    assert said.endswith("drop 5; drop 6")
    assert talk.options(table.view(0))[0] == "drop 1"
