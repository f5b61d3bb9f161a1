"""The tables of hand strength on disk: built once, kept in the user's cache folder, memory-mapped, verified on load.

Every load verifies a digest over everything it maps. For the largest file (357 MB) this takes 0.2 s on a processor with
SHA instructions and about a second on others. It also brings the pages into memory, for which the first random
accesses would otherwise wait. Files that are missing, damaged or of another version are built again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.cards.deck import cards_name
from fogplay.cards.index import boards, canonical_board, canonical_hole, entry_of, preflop_class
from fogplay.cards.strength import FULL_SCORE, MEASURES, STEPS, Progress, Strength, build
from fogplay.errors import FogplayError
from fogplay.jit import kernel, user_cache

VERSION = 1  # of the tables' contents; files of another version are built again
KIND = "table of hand strength"
WHAT = "the tables of hand strength (only once: some seconds, about 455 MB on disk)"
RIVER = "river"
BYTES = 470_000_000  # all files together
LARGEST = 360_000_000  # one file, which needs space beside the one it replaces while it is written
LEFT_BEHIND_AFTER = 600  # seconds without a write after which a temporary file counts as abandoned


class Tables(NamedTuple):
    """Hand strength by one measure, and the frequency of each value among all deals of (hole cards, board)."""

    measure: str
    preflop: NDArray[np.uint16]  # [169] 65536ths
    flop: NDArray[np.uint16]  # [1755, 1326] 65536ths
    turn: NDArray[np.uint16]  # [16432, 1326] 65536ths
    river: NDArray[np.uint16]  # [134459, 1326] half-wins out of 1980: HS, whatever the measure
    preflop_population: NDArray[np.int64]  # [169] hole cards of each class
    flop_population: NDArray[np.int64]  # [65536] by value
    turn_population: NDArray[np.int64]  # [65536] by value
    river_population: NDArray[np.int64]  # [1981] by half-wins


def folder() -> Path:
    """The folder of the tables."""
    return user_cache() / "tables"


def load(measure: str = "ehs2", progress: Progress | None = None, threads: int | None = None) -> Tables:
    """The tables of a measure; builds all tables first if any is missing, reporting ``progress(done, total)``."""
    if measure not in MEASURES:
        raise FogplayError(f"unknown measure of hand strength '{measure}'; choose {' or '.join(MEASURES)}")
    found = _read(measure), _read(RIVER)
    if found[0] is None or found[1] is None:
        make(progress, threads)
        found = _read(measure), _read(RIVER)
    if found[0] is None or found[1] is None:
        raise FogplayError(f"cannot read back the tables written to {folder()}; check the disk, or set FOGPLAY_CACHE")
    return Tables(measure, **found[0], **found[1])


def strength_of(tables: Tables, hole: Sequence[int], board: Sequence[int] = ()) -> float:
    """The strength of hole cards on a board of zero, three, four or five cards: a number from 0 to 1."""
    check_hand(hole, board)
    if not board:
        return float(tables.preflop[preflop_class(*hole)]) / STEPS
    entry = entry_of(board)
    where = int(canonical_board(entry)), int(canonical_hole(entry, *hole))
    if len(board) == 5:
        return float((tables.river[where] / FULL_SCORE) ** (2 if tables.measure == "ehs2" else 1))
    return float((tables.flop if len(board) == 3 else tables.turn)[where]) / STEPS


def check_hand(hole: Sequence[int], board: Sequence[int]) -> None:
    """Raise an error unless these are two hole cards and the board of a round."""
    cards = [*hole, *board]
    if len(hole) != 2 or len(board) not in (0, 3, 4, 5) or len(set(cards)) < len(cards):
        raise FogplayError(
            f"'{cards_name(hole)}' on the board '{cards_name(board)}' is not a hand: give two hole cards, "
            "and zero or three to five cards on the board, all different"
        )


def check_board(board: Sequence[int]) -> None:
    """Raise an error unless this is the board of a round."""
    if len(board) not in (0, 3, 4, 5) or len(set(board)) < len(board):
        raise FogplayError(f"'{cards_name(board)}' is not a board: give three to five different cards, or none")


def make(progress: Progress | None = None, threads: int | None = None) -> None:
    """Build all tables and write them, each file atomically."""
    _prepare_folder()
    scores, measures = build(progress, threads)
    about = {"version": VERSION}
    for measure, strength in measures.items():
        storage.write(_path(measure), KIND, {**strength._asdict(), **_populations(strength)}, about)
    counts = np.zeros(FULL_SCORE + 1, np.int64)
    _count(boards(5)[0], scores, counts)
    storage.write(_path(RIVER), KIND, {"river": scores, "river_population": counts}, about)


def _path(name: str) -> Path:
    return folder() / f"strength-{name}.safetensors"


def _read(name: str) -> dict[str, NDArray[Any]] | None:
    try:
        arrays, about = storage.read(_path(name), KIND)
    except FogplayError:
        return None
    return arrays if about.get("version") == VERSION else None


def _prepare_folder() -> None:
    """Create the folder, remove what a killed build left behind, and check for disk space before work begins."""
    place = folder()
    advice = f"set FOGPLAY_CACHE to a writable folder with {BYTES // 10**6} MB"
    try:
        place.mkdir(parents=True, exist_ok=True)
        for path in place.glob(".*.part"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > LEFT_BEHIND_AFTER:
                    path.unlink()
        there = sum(path.stat().st_size for path in place.glob("strength-*.safetensors"))
        free = shutil.disk_usage(place).free
    except OSError as error:
        raise FogplayError(
            f"cannot keep the tables of hand strength in {place} ({error.strerror}); {advice}"
        ) from error
    if not os.access(place, os.W_OK):
        raise FogplayError(f"cannot keep the tables of hand strength in {place} (no permission to write); {advice}")
    needed = max(BYTES - there, LARGEST)
    if free < needed:
        raise FogplayError(
            f"the tables of hand strength need {needed // 10**6} MB in {place}, where {free // 10**6} MB are free; "
            f"{advice}"
        )


def _populations(strength: Strength) -> dict[str, NDArray[np.int64]]:
    preflop = np.zeros(len(strength.preflop), np.int64)
    _count_preflop(preflop)
    flop, turn = np.zeros(STEPS, np.int64), np.zeros(STEPS, np.int64)
    _count(boards(3)[0], strength.flop, flop)
    _count(boards(4)[0], strength.turn, turn)
    return {"preflop_population": preflop, "flop_population": flop, "turn_population": turn}


@kernel
def _count_preflop(counts):
    """Count the hole cards of each class in ``counts[169]``."""
    for high in range(1, 52):
        for low in range(high):
            counts[preflop_class(low, high)] += 1


@kernel
def _count(boards, table, counts):
    """Count the deals that have each value of ``table[boards, 1326]`` in ``counts[values]``."""
    for board in range(len(boards.weight)):
        on_board = 0
        for place in range(boards.cards.shape[1]):
            on_board |= 1 << int(boards.cards[board, place])
        hole = 0
        for high in range(1, 52):
            for low in range(high):
                if (on_board >> low | on_board >> high) & 1 == 0:
                    counts[table[board, hole]] += boards.weight[board]
                hole += 1
