"""``load``: from a line of text to a game, and a helpful sentence for every line that is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fogplay.cli.console import Watch
from fogplay.errors import FogplayError
from fogplay.games import load, registered
from fogplay.games.bluff import Bluff
from fogplay.games.goofspiel import Goofspiel
from fogplay.games.kuhn import Kuhn
from fogplay.games.matrix import Matrix
from fogplay.games.registry import presets
from fogplay.games.repeated import Repeated
from fogplay.simulators import simulator_for

OWN_GAME = """
from dataclasses import dataclass

from fogplay.games import TERMINAL, Game, State
from fogplay.simulators import simulator_for
from fogplay.cli.console import Watch


@dataclass(frozen=True)
class MyGame(Game):
    name = "mine"
    size: int = 2

    def new_initial_state(self):
        return MyState(self)


class MyState(State):
    def __init__(self, game):
        self.game = game

    def current_player(self):
        return TERMINAL

    def returns(self):
        return [self.game.size, -self.game.size]
"""


def test_registered_games_and_presets() -> None:
    assert list(registered()) == sorted(registered())
    assert {"bluff", "goofspiel", "kuhn", "leduc", "matrix", "ocp", "pam", "repeated"} <= set(registered())
    assert presets() == {"rps": "matrix(rps)", "biased-rps": "matrix(biased-rps)", "two-by-two": "matrix(two-by-two)"}
    assert not set(presets()) & set(registered())


@pytest.mark.parametrize(
    ("spec", "game"),
    [
        ("kuhn", Kuhn()),
        ("kuhn()", Kuhn()),
        (" kuhn ( players = 3 ) ", Kuhn(players=3)),
        ("kuhn(3)", Kuhn(players=3)),
        ("kuhn(3,pot=4.5)", Kuhn(players=3, pot=4.5)),
        ("bluff(2,1,faces=3)", Bluff(2, 1, 3)),
        ("bluff(faces=3,dice1=2)", Bluff(2, 1, 3)),
        ("goofspiel(3,ascending,revealed,points)", Goofspiel(3, "ascending", "revealed", "points")),
        ("matrix([[1,2],[3,4]])", Matrix([[1, 2], [3, 4]])),
        ("matrix(payoffs=((1,2),(3,4)))", Matrix([[1, 2], [3, 4]])),
        ("rps", Matrix("rps")),
        ("rps()", Matrix("rps")),
        ("repeated(rps,3)", Repeated(Matrix("rps"), 3)),
        ("repeated(hands=3,game=kuhn(players=3,pot=4))", Repeated(Kuhn(3, 4), 3)),
        ("repeated(repeated(bluff(1,1,faces=2),2),hands=3)", Repeated(Repeated(Bluff(1, 1, 2), 2), 3)),
    ],
)
def test_specs(spec: str, game: object) -> None:
    assert load(spec) == game


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("leduk", "no game is called 'leduk'; did you mean 'leduc'?"),
        ("rsp", "did you mean 'rps'?"),
        ("xyzzyx", "no game is called 'xyzzyx'; the games are"),
        ("", "no game is called ''"),
        ("(3)", "no game is called ''"),
        ("kuhn(3", "the bracket after 'kuhn' is never closed; write kuhn(…)"),
        ("repeated(kuhn(3)", "a bracket is never closed"),
        ("matrix([[1,2],[3,4])", "a bracket is never closed"),
        ("kuhn(3))", "a closing bracket has no opening one"),
        ("kuhn(3)(4)", "a closing bracket has no opening one"),
        ("kuhn(players=3,players=4)", "kuhn: players is given twice"),
        ("bluff(1,dice1=2)", "bluff: dice1 is given twice"),
        ("kuhn(seats=3)", "kuhn has no parameter 'seats'; it has players, pot"),
        ("kuhn(2,3,4)", "kuhn takes at most 2 parameters (players, pot)"),
        ("kuhn(players=)", "players must be a whole number from 2 to 10, not ''"),
        ("kuhn({[]:1})", "players must be a whole number from 2 to 10, not '{[]:1}'"),
        ("rps(3)", "rps takes no parameters; it stands for matrix(rps)"),
        ("missing.py", "there is no file 'missing.py'"),
        ("missing.py:Game(3)", "there is no file 'missing.py'"),
    ],
)
def test_wrong_specs(spec: str, message: str) -> None:
    with pytest.raises(FogplayError) as caught:
        load(spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_only_text_is_a_spec() -> None:
    with pytest.raises(FogplayError, match="not int"):
        load(3)  # type: ignore[arg-type]


@given(st.text(alphabet="kuhnrepatdmix()[]=,.-0123456789 '\"{}:", max_size=40))
def test_any_text_loads_or_is_refused_in_one_line(spec: str) -> None:
    try:
        game, refusal = load(spec), ""
    except FogplayError as error:
        game, refusal = None, str(error)
    assert "\n" not in refusal
    if game is not None:
        assert load(str(game)) == game


def test_games_of_your_own(tmp_path: Path) -> None:
    file = tmp_path / "mygame.py"
    file.write_text(OWN_GAME)
    for spec in (f"{file}(size=3)", f"{file}:MyGame(3)", f"{file}:MyGame(size=3)"):
        assert load(spec).new_initial_state().returns() == [3, -3]
    assert load(str(file)).new_initial_state().returns() == [2, -2]
    assert load(f"repeated({file}:MyGame(size=3),hands=1)").new_initial_state().returns() == [3, -3]


def test_a_file_is_read_once_and_keeps_its_name(tmp_path: Path) -> None:
    file, count = tmp_path / "mygame.py", tmp_path / "count"
    file.write_text(f"{OWN_GAME}\nwith open({str(count)!r}, 'a') as file:\n    file.write('x')\n")
    for simulator in (simulator_for, Watch(quiet=True).simulator):
        count.write_text("")
        assert simulator(f"{file}(size=3)").game == f"{file}(size=3)"
        assert count.read_text() == "x"


@pytest.mark.parametrize(
    ("content", "ending", "message"),
    [
        (OWN_GAME, ":Other", "defines no game class 'Other'; it has MyGame"),
        (OWN_GAME, ":MyGame(3,4)", "takes at most 1 parameters (size)"),
        (OWN_GAME, "(length=3)", "has no parameter 'length'; it has size"),
        (OWN_GAME + OWN_GAME.replace("MyGame", "Second"), "", "defines 2 game classes; say which: "),
        ("x = 1", "", "defines no game: a class with num_players() and new_initial_state()"),
        ("x = 1", ":MyGame", "defines no game class 'MyGame'; it has none"),
        ("x = = 1", "", "SyntaxError"),
        ("import nothing_of_this_name", "", "ModuleNotFoundError"),
    ],
)
def test_wrong_files(tmp_path: Path, content: str, ending: str, message: str) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(content)
    with pytest.raises(FogplayError) as caught:
        load(f"{file}{ending}")
    assert message in str(caught.value)
