"""The files of the tables: built when missing or damaged, never half-written, refused in one line."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pytest

from fogplay import storage
from fogplay.cards import tables
from fogplay.cards.index import Boards
from fogplay.cards.strength import MEASURES, Strength
from fogplay.errors import FogplayError

FILES = ["strength-ehs.safetensors", "strength-ehs2.safetensors", "strength-river.safetensors"]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Tables of one board each in a folder of their own; the list has one entry per build."""
    builds: list[int] = []

    def build(progress: Any, threads: Any) -> Any:
        builds.append(1)
        if progress is not None:
            progress(1, 1)
        row = np.arange(1326, dtype=np.uint16).reshape(1, -1)
        return row % 1981, {name: Strength(row[0, :169], row * 3, row * 5) for name in MEASURES}

    def one_board(size: int) -> tuple[Boards, None]:
        return Boards(np.arange(size, dtype=np.uint8).reshape(1, -1), np.ones(1, np.int64)), None

    monkeypatch.setenv("FOGPLAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tables, "build", build)
    monkeypatch.setattr(tables, "boards", one_board)
    return builds


def names() -> list[str]:
    return sorted(path.name for path in tables.folder().iterdir())


def test_they_are_built_once_and_then_mapped(small: list[int]) -> None:
    told: list[tuple[int, int]] = []
    first = tables.load("ehs2", lambda done, total: told.append((done, total)))
    again, other = tables.load("ehs2"), tables.load("ehs")
    assert (len(small), told) == (1, [(1, 1)])
    assert names() == FILES
    assert isinstance(again.river, np.memmap)
    assert again.river.dtype == again.turn.dtype == np.uint16
    for mine, theirs in zip(first[1:], again[1:], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(other.river, first.river)
    # Five cards on the board leave 1,081 hands; the numbers 0 to 9 are the pairs of cards 0 to 4.
    assert first.river_population.sum() == 1081
    assert first.river_population[:10].sum() == 0
    assert first.preflop_population.sum() == 1326


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "remove", "version"])
def test_damage_is_noticed_and_mended(small: list[int], name: str, damage: str) -> None:
    whole = [[np.array(each) for each in tables.load(measure)[1:]] for measure in ("ehs2", "ehs")]
    path = tables.folder() / name
    content = bytearray(path.read_bytes())
    if damage == "flip":
        content[-100] ^= 4
        path.write_bytes(content)
    elif damage == "truncate":
        path.write_bytes(content[:-1])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "remove":
        path.unlink()
    else:
        arrays, _ = storage.read(path, tables.KIND)
        storage.write(path, tables.KIND, {key: np.array(each) for key, each in arrays.items()}, {"version": 0})
    mended = tables.load("ehs2"), tables.load("ehs")
    assert len(small) == 2
    for before, after in zip(whole, mended, strict=True):
        for mine, theirs in zip(before, after[1:], strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_a_full_disk_is_one_line_and_leaves_nothing(small: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    written = storage._write_safetensors

    def full(file: BinaryIO, arrays: Any, known: Any) -> None:
        if "river" in arrays:
            file.write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        written(file, arrays, known)

    monkeypatch.setattr(storage, "_write_safetensors", full)
    with pytest.raises(FogplayError, match="No space left on device; existing files are unchanged") as error:
        tables.load("ehs2")
    assert "\n" not in str(error.value)
    assert names() == FILES[:2]
    monkeypatch.undo()


class Usage(NamedTuple):
    free: int


def test_too_little_disk_space_is_reported_before_work_begins(
    small: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**8))
    with pytest.raises(
        FogplayError, match=r"need 470 MB in .*, where 100 MB are free; set FOGPLAY_CACHE to a writable folder"
    ):
        tables.load("ehs2")
    assert not small


def test_a_folder_that_cannot_be_is_one_line(small: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FOGPLAY_CACHE", str(tmp_path / "file"))
    with pytest.raises(
        FogplayError, match=r"cannot keep the tables of hand strength in .*; set FOGPLAY_CACHE to a writable folder"
    ):
        tables.load("ehs2")
    assert not small


def test_what_a_killed_build_left_is_removed(small: list[int]) -> None:
    tables.folder().mkdir(parents=True)
    old, new = tables.folder() / ".strength-river.x.part", tables.folder() / ".strength-river.y.part"
    old.write_bytes(b"half"), new.write_bytes(b"being written")
    long_ago = time.time() - 2 * tables.LEFT_BEHIND_AFTER
    os.utime(old, (long_ago, long_ago))
    tables.load("ehs2")
    assert names() == [new.name, *FILES]


def test_an_unknown_measure_is_refused(small: list[int]) -> None:
    with pytest.raises(FogplayError, match="unknown measure of hand strength 'ehs3'; choose ehs2 or ehs"):
        tables.load("ehs3")


def test_a_disk_that_loses_what_it_took_does_not_loop_forever(
    small: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "write", lambda *_: None)
    with pytest.raises(FogplayError, match="cannot read back"):
        tables.load("ehs2")
    assert len(small) == 1


@pytest.mark.slow
def test_a_build_killed_at_any_moment_leaves_whole_files_or_none(tmp_path: Path) -> None:
    environment = {**os.environ, "FOGPLAY_CACHE": str(tmp_path)}
    code = "from fogplay.cards import tables; tables.load('ehs2')"
    begin = time.monotonic()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)  # compiles, and says how long it takes
    shutil.rmtree(tmp_path / "tables")
    begin = time.monotonic()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    whole = time.monotonic() - begin
    good = {path.name: path.stat().st_size for path in (tmp_path / "tables").iterdir()}
    for share in (0.3, 0.75, 0.85, 0.9, 0.95):
        shutil.rmtree(tmp_path / "tables")
        process = subprocess.Popen([sys.executable, "-c", code], env=environment)
        time.sleep(share * whole)
        process.send_signal(signal.SIGKILL)
        process.wait()
        left = (tmp_path / "tables").glob("strength-*")
        for path in left:
            assert path.stat().st_size == good[path.name]
            storage.read(path, tables.KIND)
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


@pytest.mark.slow
def test_a_disk_that_fills_up_during_a_real_build(tmp_path: Path) -> None:
    """No file may grow beyond 100 MB: the largest table cannot be written, the others can."""
    code = (
        "import resource; from fogplay.cards import tables; from fogplay.cards.index import boards; boards(5);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10**8, 10**8)); tables.load('ehs2')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "FOGPLAY_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith("fogplay.errors.FogplayError: cannot write"), done.stderr
    assert last.endswith("existing files are unchanged")
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == FILES[:2]
