"""Princess and Monster by hand."""

from __future__ import annotations

import pytest

from fogplay.errors import FogplayError
from fogplay.games import load
from fogplay.games.game import State
from fogplay.games.pam import PrincessAndMonster

from .specs import every_state, infosets, play


def names(state: State) -> list[str]:
    return [state.action_to_string(state.current_player(), action) for action in state.legal_actions()]


def test_starts_are_distinct_and_uniform() -> None:
    state = load("pam(2,3,4)").new_initial_state()
    starts = {state.action_to_string(-1, action): probability for action, probability in state.chance_outcomes()}
    cells = ["1,1", "1,2", "1,3", "2,1", "2,2", "2,3"]
    assert starts == {f"start {one} and {two}": pytest.approx(1 / 30) for one in cells for two in cells if one != two}


@pytest.mark.parametrize(
    ("cell", "free"),
    [
        ("1,1", ["east", "south"]),
        ("1,2", ["east", "south", "west"]),
        ("2,2", ["north", "east", "south", "west"]),
        ("2,3", ["north", "south", "west"]),
        ("3,3", ["north", "west"]),
    ],
)
def test_walls(cell: str, free: list[str]) -> None:
    assert names(play(load("pam(3,3,4)"), f"start {cell} and 3,1")) == free


def test_a_move_goes_where_it_says() -> None:
    """Cells of two rows of three, row by row; north, east, south, west of each, -1 for a wall."""
    assert PrincessAndMonster(rows=2, columns=3).targets == (
        (-1, 1, 3, -1),
        (-1, 2, 4, 0),
        (-1, -1, 5, 1),
        (0, 4, -1, -1),
        (1, 5, -1, 3),
        (2, -1, -1, 4),
    )


def test_monster_moves_first_and_turns_alternate() -> None:
    state = play(load("pam(2,2,4)"), "start 1,1 and 2,2")
    assert state.current_player() == 0
    state = state.child(state.legal_actions()[0])
    assert state.current_player() == 1
    assert state.child(state.legal_actions()[0]).current_player() == 0


def test_capture_at_once_survives_nothing() -> None:
    end = play(load("pam(2,2,4)"), "start 1,1 and 1,2", "east")
    assert end.is_terminal()
    assert end.returns() == [0.0, 0.0]


def test_capture_on_the_third_move() -> None:
    """Round the square: the monster goes down, the princess takes its place, and it comes back up."""
    end = play(load("pam(2,2,4)"), "start 1,1 and 1,2", "south", "west", "north")
    assert end.is_terminal()
    assert end.returns() == [-2.0, 2.0]


def test_capture_on_the_last_move_is_still_a_capture() -> None:
    end = play(load("pam(2,3,3)"), "start 1,1 and 1,3", "east", "south", "south")
    assert end.is_terminal()
    assert end.returns() == [-3.0, 3.0]  # at 2,2 beside 2,3: the horizon is reached
    end = play(load("pam(2,3,3)"), "start 1,1 and 2,3", "east", "west", "south")
    assert end.is_terminal()
    assert end.returns() == [-2.0, 2.0]  # both at 2,2 on the third move


def test_princess_walks_past_the_monster_unnoticed() -> None:
    """On a corridor she steps onto its cell; the game goes on, it must move off, and may find her only later."""
    state = play(load("pam(1,4,6)"), "start 1,1 and 1,3", "east", "west")
    assert not state.is_terminal()  # both are at 1,2
    assert state.current_player() == 0
    state = play(load("pam(1,4,6)"), "start 1,1 and 1,3", "east", "west", "east")
    assert not state.is_terminal()
    end = play(load("pam(1,4,2)"), "start 1,1 and 1,3", "east", "west")
    assert end.returns() == [-2.0, 2.0]  # on one cell at the end, yet never captured


def test_horizon_counts_the_moves_of_both() -> None:
    end = play(load("pam(2,2,1)"), "start 1,1 and 2,2", "east")
    assert end.is_terminal()
    assert end.returns() == [-1.0, 1.0]
    assert max(state.returns()[1] for state in every_state(load("pam(2,2,4)")) if state.is_terminal()) == 4


def test_infosets_are_own_paths() -> None:
    state = play(load("pam(3,3,9)"), "start 1,1 and 3,3", "east", "north", "south", "north")
    assert state.information_state_string(0) == "monster 1,1:es"
    assert state.information_state_string(1) == "princess 3,3:nn"


@pytest.mark.parametrize(("spec", "nodes", "count"), [("pam", 229, 24), ("pam(3,3,4)", 5061, 66)])
def test_sizes(spec: str, nodes: int, count: int) -> None:
    assert sum(1 for _ in every_state(load(spec))) == nodes
    assert len(infosets(load(spec))) == count


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pam(0,2)", "rows must be a whole number from 1 to 20, not 0"),
        ("pam(2,21)", "columns must be a whole number from 1 to 20, not 21"),
        ("pam(2,2,0)", "horizon must be a whole number from 1 to 100, not 0"),
        ("pam(2,2,horizon=1.5)", "horizon must be a whole number from 1 to 100, not 1.5"),
        ("pam(1,1)", "rows and columns must make at least two cells"),
    ],
)
def test_wrong_parameters(spec: str, message: str) -> None:
    with pytest.raises(FogplayError, match=f"^pam: {message}"):
        load(spec)
