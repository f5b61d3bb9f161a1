"""Matrix games: all players choose one action simultaneously, and a table gives the payoffs."""

from __future__ import annotations

import csv
import functools
import json
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.game import TERMINAL, Game, State

PRESETS = {"rps": "matrix(rps)", "biased-rps": "matrix(biased-rps)", "two-by-two": "matrix(two-by-two)"}

# The games of the 2009 paper: the row player's payoffs out of 100 (the column player gets the rest) and the names of
# both players' actions.
_RPS_NAMES = (("rock", "paper", "scissors"), ("rock", "paper", "scissors"))
_KNOWN: dict[str, tuple[Any, tuple[tuple[str, ...], ...]]] = {
    "rps": (((50, 0, 100), (100, 50, 0), (0, 100, 50)), _RPS_NAMES),  # section 3
    "biased-rps": (((50, 25, 100), (75, 50, 45), (0, 55, 50)), _RPS_NAMES),  # table 1
    "two-by-two": (((23, 77), (73, 27)), (("a1", "a2"), ("b1", "b2"))),  # table 2
}
_MOST_DIMENSIONS = 12
_LARGEST = 1e100


@dataclass(frozen=True)
class Matrix(Game):
    """A one-shot game of simultaneous actions, for two or more players.

    ``payoffs`` is a matrix (rows x columns), which the row player receives and the column player pays; or a table
    [players, actions of player 0, actions of player 1, ...] with the payoffs of each player; or the name of a preset;
    or a file: .csv with one matrix, .json or .npy with either form. A file is read once and its numbers become the
    parameter, so that the game's spec is self-contained.
    """

    name = "matrix"
    payoffs: Any = "rps"

    def __post_init__(self) -> None:
        given = self.payoffs
        if isinstance(given, str | Path):
            if str(given) in _KNOWN:
                return
            given = _from_file(str(given))
        payoffs = _as_tuples(given)
        _require_shape(_shape(payoffs))
        object.__setattr__(self, "payoffs", payoffs)

    @functools.cached_property
    def table(self) -> tuple[Any, ...]:
        """The payoffs of each player: [players, actions of player 0, actions of player 1, ...]."""
        rows, total = (_KNOWN[self.payoffs][0], 100) if isinstance(self.payoffs, str) else (self.payoffs, 0)
        if len(_shape(rows)) > 2:
            return tuple(rows)
        return rows, tuple(tuple(total - payoff for payoff in row) for row in rows)

    @functools.cached_property
    def actions(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(range(size)) for size in _shape(self.table)[1:])

    @functools.cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names of each player's actions; numbers from 0, except in presets."""
        if isinstance(self.payoffs, str):
            return _KNOWN[self.payoffs][1]
        return tuple(tuple(map(str, actions)) for actions in self.actions)

    @functools.cached_property
    def infosets(self) -> tuple[str, ...]:
        return tuple(f"player {player}" for player in range(len(self.actions)))

    def num_players(self) -> int:
        return len(self.actions)

    def num_distinct_actions(self) -> int:
        return max(map(len, self.actions))

    def new_initial_state(self) -> MatrixState:
        return MatrixState(self, (), 0)


class MatrixState(State):
    """The actions chosen so far, in the order of the players; nobody sees them before the end."""

    __slots__ = ("chosen", "game", "player")

    def __init__(self, game: Matrix, chosen: tuple[int, ...], player: int) -> None:
        self.game = game
        self.chosen = chosen
        self.player = player

    def current_player(self) -> int:
        return self.player

    def legal_actions(self) -> tuple[int, ...]:
        return self.game.actions[self.player]

    def child(self, action: int) -> MatrixState:
        chosen = (*self.chosen, action)
        return MatrixState(self.game, chosen, len(chosen) if len(chosen) < len(self.game.actions) else TERMINAL)

    def information_state_string(self, player: int) -> str:
        return self.game.infosets[player]

    def action_to_string(self, player: int, action: int) -> str:
        return self.game.names[player][action]

    def returns(self) -> list[float]:
        paid = self.game.table
        for action in self.chosen:
            paid = tuple(payoffs[action] for payoffs in paid)
        return [float(payoff) for payoff in paid]

    def __str__(self) -> str:
        return " ".join(names[action] for names, action in zip(self.game.names, self.chosen, strict=False))


def _as_tuples(value: Any, depth: int = 0) -> Any:
    """Lists, tuples and numpy arrays of numbers as nested tuples; raises an error for anything else."""
    if depth > _MOST_DIMENSIONS:
        raise FogplayError(f"matrix: payoffs are nested more than {_MOST_DIMENSIONS} levels deep")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(_as_tuples(entry, depth + 1) for entry in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FogplayError(f"matrix: payoffs must be numbers, not {reprlib.repr(value)}")
    if not abs(value) <= _LARGEST:
        raise FogplayError(f"matrix: payoffs must be finite and at most {_LARGEST:g} in size")
    return value


def _shape(value: Any) -> tuple[int, ...]:
    """The lengths of nested tuples, outermost first; all tuples of a level must have the same length."""
    if not isinstance(value, tuple):
        return ()
    inner = {_shape(entry) for entry in value}
    if len(inner) > 1:
        raise FogplayError("matrix: payoffs are ragged; every row must have the same number of entries")
    return (len(value), *(inner.pop() if inner else ()))


def _require_shape(shape: tuple[int, ...]) -> None:
    if 0 in shape:
        raise FogplayError("matrix: payoffs are empty; write at least [[1,0],[0,1]]")
    if len(shape) < 2:
        raise FogplayError("matrix: payoffs must have rows and columns, such as [[1,0],[0,1]]")
    if len(shape) > 2 and shape[0] != len(shape) - 1:
        raise FogplayError(
            f"matrix: payoffs with {len(shape)} dimensions are [players, actions of each player], "
            f"so the first must have length {len(shape) - 1}, not {shape[0]}"
        )
    sizes = shape if len(shape) == 2 else shape[1:]
    if min(sizes) < 2:
        raise FogplayError(f"matrix: every player needs at least two actions, but player {sizes.index(1)} has one")


def _from_file(file: str) -> Any:
    """The payoffs in a file, not yet checked."""
    path = Path(file)
    if path.suffix not in _READERS:
        presets, endings = ", ".join(_KNOWN), ", ".join(_READERS)
        raise FogplayError(
            f"matrix: payoffs must be numbers in brackets, a preset ({presets}) or a file ({endings}), "
            f"not {reprlib.repr(file)}"
        )
    try:
        return _READERS[path.suffix](path)
    except OSError as error:
        raise FogplayError(f"matrix: cannot read {file}: {error.strerror or error}") from error
    except (ValueError, EOFError, MemoryError, RecursionError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FogplayError(f"matrix: {file} does not hold payoffs: {reason}") from error


def _read_csv(path: Path) -> list[list[float]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            return [[float(entry) for entry in row] for row in csv.reader(file) if row]
        except csv.Error as error:
            raise ValueError(error) from error


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8-sig"))


def _read_npy(path: Path) -> Any:
    import numpy

    with path.open("rb") as file:
        return numpy.lib.format.read_array(file, allow_pickle=False)


_READERS: dict[str, Callable[[Path], Any]] = {".csv": _read_csv, ".json": _read_json, ".npy": _read_npy}
