"""The kernels compiled for a GPU, which needs none: only the compiler that the extra `gpu` installs."""

from __future__ import annotations

import warnings
from typing import Any
from unittest.mock import Mock

import numba
import pytest

from fogplay.kernels import grid
from fogplay.simulators.holdem import simulate_holdem
from fogplay.solvers.arenas import Arena, HoldemArena, arena_of
from tests.kernels.test_grid import ALGORITHMS, SMALL_DECK, learner

pytest.importorskip("numba_cuda", reason="the extra gpu is not installed")


@pytest.fixture(autouse=True)
def _no_gpu_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile for compute capability 9.0, and leave arrays where they are."""
    import numba.cuda.compiler
    import numba.cuda.dispatcher

    some = type("Device", (), {"compute_capability": (9, 0)})
    for module in (numba.cuda.compiler, numba.cuda.dispatcher):
        monkeypatch.setattr(module, "get_current_device", lambda: some)
    monkeypatch.setattr(grid, "require_gpu", lambda: None)
    monkeypatch.setattr(grid.Grid, "_there", lambda self, value: value)
    monkeypatch.setattr(grid.cuda, "stream", Mock)
    monkeypatch.setattr(grid, "_require_memory", lambda *_: None)


def assembly(arena: Arena, algorithm: str) -> str:
    driver = learner(arena, algorithm, threads=1024).driver
    types = [numba.typeof(each) for each in (*driver.shared, 1024, 1, 1)]
    text: str = grid.cuda.compile_ptx(driver.kernel.py_func, tuple(types), cc=(9, 0))[0]
    return text


def lines(text: str, beginning: str) -> list[Any]:
    return [line for line in text.splitlines() if line.strip().startswith(beginning)]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("game", ["leduc", SMALL_DECK])
def test_every_kernel_compiles(game: str, algorithm: str) -> None:
    arena = HoldemArena(simulate_holdem(game)) if game == SMALL_DECK else arena_of(game)
    text = assembly(arena, algorithm)
    assert lines(text, "atom") or lines(text, "red")
    assert not lines(text, "call"), "some part is not merged into the kernel"


def test_records_are_read_whole() -> None:
    """What is not aligned is read byte by byte."""
    text = assembly(arena_of("leduc"), "smooth-uct")
    assert lines(text, "ld.global")
    assert not lines(text, "ld.global.u8")


def test_the_whole_game_compiles() -> None:
    text = assembly(arena_of("holdem"), "smooth-uct")
    assert len(lines(text, "ld.global.u8")) < 80  # 324 where records are not aligned


def test_a_small_grid_is_no_reason_to_warn() -> None:
    driver = learner(arena_of("kuhn"), "uct", threads=1).driver
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert driver.kernel[1, 1] is not None
