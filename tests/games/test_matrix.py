"""Matrix games: the presets against the paper's tables, all forms of payoffs, and invalid ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fogplay.errors import FogplayError
from fogplay.games import load
from fogplay.games.matrix import Matrix

from .specs import every_state, infosets, play

SQUARE = ((1, -2), (0.5, 3))


def test_rock_paper_scissors_pays_100_50_0() -> None:
    assert play(load("rps"), "rock", "scissors").returns() == [100.0, 0.0]
    assert play(load("rps"), "rock", "paper").returns() == [0.0, 100.0]
    assert play(load("rps"), "paper", "rock").returns() == [100.0, 0.0]
    assert play(load("rps"), "scissors", "scissors").returns() == [50.0, 50.0]


@pytest.mark.parametrize(
    ("row", "column", "payoffs"),
    [
        ("rock", "rock", [50, 50]),
        ("rock", "paper", [25, 75]),
        ("rock", "scissors", [100, 0]),
        ("paper", "rock", [75, 25]),
        ("paper", "paper", [50, 50]),
        ("paper", "scissors", [45, 55]),
        ("scissors", "rock", [0, 100]),
        ("scissors", "paper", [55, 45]),
        ("scissors", "scissors", [50, 50]),
    ],
)
def test_biased_rock_paper_scissors_is_table_1(row: str, column: str, payoffs: list[float]) -> None:
    assert play(load("biased-rps"), row, column).returns() == payoffs


def test_paper_equilibrium_of_the_biased_game() -> None:
    """The mixed strategy that the paper gives makes every action of the other worth 50."""
    table = numpy.array(load("biased-rps").table[0])  # type: ignore[attr-defined]
    assert numpy.array([0.0625, 0.625, 0.3125]) @ table == pytest.approx([50, 50, 50])


@pytest.mark.parametrize(
    ("row", "column", "payoffs"),
    [("a1", "b1", [23, 77]), ("a1", "b2", [77, 23]), ("a2", "b1", [73, 27]), ("a2", "b2", [27, 73])],
)
def test_two_by_two_is_table_2(row: str, column: str, payoffs: list[float]) -> None:
    assert play(load("two-by-two"), row, column).returns() == payoffs


def test_choices_are_simultaneous() -> None:
    game = load("rps")
    assert {play(game, action).information_state_string(1) for action in range(3)} == {"player 1"}
    assert infosets(game) == {"player 0", "player 1"}
    assert sum(1 for _ in every_state(game)) == 13


def test_a_matrix_is_zero_sum_and_the_row_player_receives_it() -> None:
    game = Matrix(SQUARE)
    assert play(game, 0, 1).returns() == [-2.0, 2.0]
    assert play(game, 1, 0).returns() == [0.5, -0.5]


def test_three_players() -> None:
    payoffs = numpy.arange(3 * 2 * 3 * 4).reshape(3, 2, 3, 4)
    game = Matrix(payoffs)
    assert game.num_players() == 3
    assert [len(actions) for actions in game.actions] == [2, 3, 4]
    for chosen in numpy.ndindex(2, 3, 4):
        assert play(game, *map(int, chosen)).returns() == payoffs[(slice(None), *chosen)].tolist()
    assert load(str(game)) == game


@pytest.mark.parametrize(
    "same",
    [[[1, -2], [0.5, 3]], numpy.array(SQUARE), [numpy.array([1, -2]), (numpy.float32(0.5), numpy.int64(3))]],
    ids=["lists", "array", "mixed"],
)
def test_lists_and_arrays(same: Any) -> None:
    game = Matrix(same)
    assert game == Matrix(SQUARE)
    assert hash(game) == hash(Matrix(SQUARE))
    assert load(str(game)) == game


def test_files(tmp_path: Path) -> None:
    (tmp_path / "square.csv").write_text("1,-2\n\n0.5, 3\n", encoding="utf-8-sig")
    (tmp_path / "square.json").write_text(json.dumps(SQUARE))
    numpy.save(tmp_path / "square.npy", numpy.array(SQUARE))
    for file in ("square.csv", "square.json", "square.npy"):
        game = load(f"matrix({tmp_path / file})")
        assert game == Matrix(tmp_path / file) == Matrix(SQUARE)
        assert load(str(game)) == game


def test_a_file_may_hold_the_payoffs_of_each_player(tmp_path: Path) -> None:
    payoffs = numpy.arange(8).reshape(2, 2, 2)
    (tmp_path / "both.json").write_text(json.dumps(payoffs.tolist()))
    numpy.save(tmp_path / "both.npy", payoffs)
    assert play(Matrix(tmp_path / "both.json"), 1, 0).returns() == [2.0, 6.0]
    assert Matrix(tmp_path / "both.npy") == Matrix(tmp_path / "both.json")


@given(
    st.integers(2, 4).flatmap(
        lambda columns: st.lists(
            st.lists(st.floats(-1e100, 1e100), min_size=columns, max_size=columns), min_size=2, max_size=4
        )
    )
)
def test_any_matrix_round_trips(payoffs: list[list[float]]) -> None:
    game = Matrix(payoffs)
    assert load(str(game)) == game
    assert play(game, 1, 0).returns() == [payoffs[1][0], -payoffs[1][0]]


@pytest.mark.parametrize(
    ("payoffs", "message"),
    [
        ([[1, 2], [3]], "ragged"),
        ([[1, 2], 3], "ragged"),
        ([], "empty"),
        ([[], []], "empty"),
        ([[1, 2]], "at least two actions, but player 0 has one"),
        ([[1], [2]], "at least two actions, but player 1 has one"),
        ([[[1, 2]], [[1, 2]]], "at least two actions, but player 0 has one"),
        (3, "must have rows and columns"),
        ([1, 2], "must have rows and columns"),
        ([[[1, 2], [3, 4]]] * 3, "so the first must have length 2, not 3"),
        (numpy.zeros((2, 2, 2, 2)), "so the first must have length 3, not 2"),
        ([[float("nan"), 1], [1, 1]], "must be finite"),
        ([[1, float("-inf")], [1, 1]], "must be finite"),
        ([[10**5000, 1], [1, 1]], "must be finite"),
        ([[True, 1], [1, 1]], "must be numbers, not True"),
        ([["a", 1], [1, 1]], "must be numbers, not 'a'"),
        (numpy.array([[1j, 1], [1, 1]]), "must be numbers, not 1j"),
        (None, "must be numbers, not None"),
        ({}, "must be numbers, not {}"),
        ("rsp", r"a preset \(rps, biased-rps, two-by-two\) or a file \(.csv, .json, .npy\), not 'rsp'"),
        ("game.txt", "not 'game.txt'"),
        ("missing.csv", "cannot read missing.csv: No such file"),
        ("missing.npy", "cannot read missing.npy: No such file"),
    ],
)
def test_wrong_payoffs(payoffs: Any, message: str) -> None:
    with pytest.raises(FogplayError, match=message) as caught:
        Matrix(payoffs)
    assert str(caught.value).startswith("matrix: ")
    assert "\n" not in str(caught.value)


def test_nested_without_end() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(FogplayError, match="nested more than 12 levels deep"):
        Matrix(endless)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("words.csv", b"rock,paper\n1,2\n", "could not convert string to float: 'rock'"),
        ("ragged.csv", b"1,2\n3\n", "ragged"),
        ("empty.csv", b"", "empty"),
        ("nan.csv", b"nan,1\n1,1\n", "finite"),
        ("bytes.csv", b"\xff\xfe\xff,1\n", "bytes.csv does not hold payoffs"),
        ("long.csv", b'"' + b"1" * 200_000, "long.csv does not hold payoffs: field larger"),
        ("cut.json", b"[[1,2],[3", "cut.json does not hold payoffs"),
        ("nan.json", b"[[NaN,1],[1,1]]", "finite"),
        ("object.json", b'{"payoffs": 1}', "must be numbers, not {'payoffs': 1}"),
        ("deep.json", b"[" * 100_000, "deep.json does not hold payoffs"),
        ("empty.npy", b"", "empty.npy does not hold payoffs"),
        ("text.npy", b"1 2 3 4 5 6 7 8 9", "text.npy does not hold payoffs"),
    ],
)
def test_wrong_files(tmp_path: Path, file: str, content: bytes, message: str) -> None:
    (tmp_path / file).write_bytes(content)
    with pytest.raises(FogplayError, match=message) as caught:
        Matrix(tmp_path / file)
    assert "\n" not in str(caught.value)


def test_no_pickles(tmp_path: Path) -> None:
    numpy.save(tmp_path / "objects.npy", numpy.array([[1, None], [None, 1]], dtype=object), allow_pickle=True)
    with pytest.raises(FogplayError, match="allow_pickle=False"):
        Matrix(tmp_path / "objects.npy")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FogplayError, match="cannot read"):
        Matrix(tmp_path / "folder.csv")
