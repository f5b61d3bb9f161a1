"""Rule sheets as games: solved, matched and played as any other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fogplay import FogplayError, evaluate, flatten, load, solve
from fogplay.evaluate import equilibrium
from fogplay.evaluate.exact import measure
from fogplay.games.gdl import own_sheets
from fogplay.strategies import TabularStrategy
from tests.helpers import fogplay, refusal


@pytest.mark.parametrize(
    ("file", "known", "nodes", "value"),
    [
        ("kuhn.kif", "kuhn", 55, -1 / 18),
        ("leduc.kif", "leduc", 9451, -0.0856064),
        ("rps.kif", "rps", 13, 50.0),
        ("biased-rps.kif", "biased-rps", 13, 50.0),
        ("two-by-two.kif", "two-by-two", 7, 50.0),
        ("goofspiel.kif", "goofspiel(5,ascending,revealed,percent)", None, None),
        ("goofspiel.kif(cards=4)", "goofspiel(4,ascending,revealed,percent)", None, None),
        ("goofspiel.kif(2)", "goofspiel(2,ascending,revealed,percent)", None, None),
        ("montyhall.kif", None, 43, None),
    ],
)
def test_the_built_in_games(file: str, known: str | None, nodes: int | None, value: float | None) -> None:
    flat = flatten(file)
    assert nodes in (None, flat.num_nodes)
    if known is None:
        assert evaluate(solve(flat, "cfr+", 100).strategy).best_response_values == pytest.approx((200 / 3,))
        return
    ours = flatten(known)
    assert flat.num_infosets == ours.num_infosets
    assert flat.constant_sum == pytest.approx(ours.constant_sum)
    assert equilibrium(flat)[0] == pytest.approx(equilibrium(ours)[0])
    if value is not None:
        assert equilibrium(flat)[0] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_strategy_has_the_same_exploitability(seed: int) -> None:
    """A random strategy of Leduc, and the same one for the sheet: infosets correspond by cards and betting."""
    flat, sheet = flatten("leduc"), flatten("leduc.kif")
    rng = np.random.default_rng(seed)
    table = rng.random(flat.num_slots)
    by_name = {}
    for number, name in enumerate(flat.infosets):
        own = table[flat.slots(number)]
        by_name[name] = dict(zip(flat.actions[flat.slots(number)], own / own.sum(), strict=True))
        table[flat.slots(number)] = own / own.sum()
    moved = np.zeros(sheet.num_slots)
    for number, name in enumerate(sheet.infosets):
        known = by_name[as_leduc(name)]
        moved[sheet.slots(number)] = [known[action] for action in sheet.actions[sheet.slots(number)]]
    ours, theirs = measure(flat, table), measure(sheet, moved)
    assert theirs.nash_conv == pytest.approx(ours.nash_conv)
    assert theirs.values == pytest.approx(ours.values)


def as_leduc(name: str) -> str:
    """``alice: [jh] call [call] [kh] raise`` as the built-in game writes it."""
    card, *moves = name.partition(": ")[2].replace("[", "").replace("]", "").split()
    betting = "".join(move[0] if move in ("call", "raise") else f"/{move.capitalize()}:" for move in moves)
    return f"{card.capitalize()}:{betting}"


def test_every_own_sheet_is_a_game() -> None:
    for name in own_sheets():
        game = load(name)
        state = game.new_initial_state()
        while not state.is_terminal():
            moves = state.chance_outcomes() if state.is_chance_node() else state.legal_actions()
            state = state.child(len(moves) // 2)
        assert len(state.returns()) == game.num_players() >= 1


def test_hidden_moves_are_drawn_anew() -> None:
    state = load("rps.kif").new_initial_state().child(0)
    rng = np.random.default_rng(1)
    drawn = {state.determinise(1, rng).chosen for _ in range(50)}
    assert drawn == {(0,), (1,), (2,)}
    assert {state.determinise(0, rng).chosen for _ in range(5)} == {(0,)}


def test_commands(tmp_path: Path) -> None:
    (tmp_path / "own.kif").write_text(TOSS)
    done = fogplay("solve", "own.kif", "-n", "1000", "-a", "cfr+", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "saved to own.safetensors" in done.stdout
    strategy = TabularStrategy.load(tmp_path / "own.safetensors")
    assert strategy["ann:"] == pytest.approx({"heads": 0.5, "tails": 0.5}, abs=0.02)
    done = fogplay("games", "own.kif", cwd=tmp_path)
    assert "The roles are ann, bob; they know all moves. Played by the network." in done.stdout
    assert "Warning: line 8, column 1: nothing concludes nothing with 0 arguments" in done.stdout
    assert "2 players, 7 nodes, 2 infosets" in done.stdout
    done = fogplay("evaluate", "own.safetensors", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = fogplay("match", "own.kif", "own.safetensors", "uniform", "--hands", "10", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


TOSS = """(role ann) (role bob) (init start)
(side heads) (side tails)
(<= (legal ?player ?side) (role ?player) (side ?side))
(<= (next same) (does ann ?side) (does bob ?side))
(<= (next over) (does ann ?side))
(<= terminal (true over))
(<= (goal ann 100) (true same)) (<= (goal ann 0) (not (true same))) (<= (goal bob 0) (true same))
(<= (goal bob 100) (not (true same)) (not nothing))
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            TOSS.replace("(side ?side))", "(side ?side) (true never))"),
            "ann has no legal move, and the game is not over",
        ),
        (
            TOSS.replace("(side tails)", "").replace("(true over)", "(true never)"),
            "nobody has a choice for 10,000 steps",
        ),
        (
            "(role random) (legal random a) (goal random 0) terminal",
            "random is the only role, so there is nobody to play",
        ),
    ],
)
def test_unplayable_sheets(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "own.kif").write_text(text)
    with pytest.raises(FogplayError, match=message):
        load(str(tmp_path / "own.kif")).new_initial_state()


def test_goals_in_their_own_unit() -> None:
    assert load("kuhn.kif").unit == (50.0, 25.0)
    assert load("rps.kif").unit == (0.0, 1.0)
    state = load("montyhall.kif").new_initial_state()
    while not state.is_terminal():
        state = state.child(0)
    assert state.returns() in ([0.0], [100.0])
    assert str(state)


def test_parameters(tmp_path: Path) -> None:
    assert str(load("goofspiel.kif(cards=3)")) == "goofspiel.kif(cards=3)"
    state, built_in = load("goofspiel.kif(cards=7)").new_initial_state(), load("goofspiel(7)").new_initial_state()
    assert len(state.legal_actions()) == len(built_in.legal_actions()) == 7
    path = tmp_path / "own.kif"
    path.write_text(
        "(PARAMETER size 2 1 3)\n(<= (role ?r) (parameter size ?n ?a ?b) (named ?n ?r)) (named 2 ann) (named 3 bob)"
        "(legal ?r a) (legal ?r b) (<= (next x) (role ?r)) (<= terminal (true x)) (goal ?r 1)"
    )
    assert load(str(path)).machine.roles == ("ann",)
    assert load(f"{path}(size=3)").machine.roles == ("bob",)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("goofspiel.kif(card=4)", "goofspiel.kif has no parameter 'card'; it has cards"),
        ("goofspiel.kif(cards=14)", "goofspiel.kif: cards must be a whole number from 2 to 13, not 14"),
        ("goofspiel.kif(many)", "goofspiel.kif: cards must be a whole number from 2 to 13, not 'many'"),
        ("goofspiel.kif(4,5)", "goofspiel.kif takes at most 1 parameters (cards)"),
        ("goofspiel.kif(4,cards=5)", "goofspiel.kif: cards is given twice"),
        ("tictactoe.kif(4)", "tictactoe.kif takes at most 0 parameters (none)"),
        ("goofspiel.kif(cards=4", "'goofspiel.kif(cards=4': the bracket after 'goofspiel.kif' is never closed"),
    ],
)
def test_settings_that_do_not_fit(spec: str, message: str) -> None:
    assert refusal(load, spec).startswith(message)
