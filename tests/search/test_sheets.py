"""Players of rule sheets: they find what is best, mix where that is needed, and keep to the clock."""

from __future__ import annotations

import time

import numpy as np
import pytest

import fogplay as fp
from fogplay import load
from fogplay.games.gdl import GdlState
from fogplay.kernels import stages
from fogplay.play import View
from fogplay.search.sheets import SheetPlayer, agent
from tests.helpers import refusal


def view_of(state: GdlState, deadline: float | None = None) -> View:
    seat = state.current_player()
    return View(
        seat=seat,
        legal=state.legal_actions(),
        luck=0.5,
        infoset=lambda: state.information_state_string(seat),
        names=lambda: tuple(state.action_to_string(seat, action) for action in state.legal_actions()),
        world=lambda rng, doubt: state,
        game=state.game,
        deadline=deadline,
    )


def after(name: str, *moves: str) -> GdlState:
    state = load(name).new_initial_state()
    for move in moves:
        names = [state.action_to_string(0, action) for action in state.legal_actions()]
        state = state.child(names.index(move))
    return state


@pytest.mark.parametrize("algorithm", ["uct", "cfr", "auto"])
def test_it_wins_and_prevents_a_loss(algorithm: str) -> None:
    state = after("tictactoe.kif", "(mark 1 1)", "(mark 2 2)", "(mark 1 2)")  # x threatens (1 3)
    player = SheetPlayer(state.game, algorithm, 0.3)
    assert state.action_to_string(1, player.act(view_of(state))) == "(mark 1 3)"
    assert player.iterations > 20


@pytest.mark.parametrize(
    ("name", "share"), [("biased-rps.kif", (0.625, 0.0625, 0.3125)), ("two-by-two.kif", (0.46, 0.54))]
)
def test_cfr_mixes(name: str, share: tuple[float, ...]) -> None:
    state = load(name).new_initial_state()
    found = SheetPlayer(state.game, "auto", 0.3).distribution(view_of(state))
    assert found == pytest.approx(share, abs=0.02)


def test_cfr_finds_the_value_of_a_whole_game() -> None:
    player = SheetPlayer(load("rps-repeated.kif"), "cfr", 1.0)
    state = player.game.new_initial_state()
    made = player._expand(state.position, time.monotonic() + 60)
    stages.iterate(made, 1, 2000)
    stages.match_regrets(made, 0.0)
    root = made.average[made.first_slot[0, 0] : made.first_slot[0, 1]]
    assert root / root.sum() == pytest.approx(np.full(3, 1 / 3), abs=0.05)
    assert made.value[0] == pytest.approx([50.0, 50.0], abs=1.0)


def test_the_deadline_ends_it() -> None:
    state = load("connectfour.kif").new_initial_state()
    for algorithm in ("uct", "cfr"):
        player = SheetPlayer(state.game, algorithm, 100.0)
        player.act(view_of(state, time.monotonic() + 0.3))  # compiles
        end = time.monotonic() + 0.5
        player.act(view_of(state, end))
        assert time.monotonic() < end + 5.0  # a busy machine may be late


def test_hidden_information_is_searched() -> None:
    outcome = fp.match("kuhn.kif", ["ggp:auto:0.02s", "uniform"], hands=4, seed=1)
    assert outcome.hands == 4


def test_texts() -> None:
    rules = load("rps.kif")
    assert str(agent("", rules)) == "ggp:auto:1s"
    assert str(agent("cfr:0.5s", rules)) == "ggp:cfr:0.5s"
    assert "did you mean 'uct'? write ggp:ALGORITHM:SECONDS" in refusal(agent, "utc", rules)
    assert "'x' is not a number of seconds" in refusal(agent, "uct:x", rules)
    assert "plays rule sheets only" in refusal(agent, "uct", load("kuhn"))
