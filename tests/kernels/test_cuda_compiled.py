"""The kernels compiled for a GPU, which needs none: only the compiler that the extra `gpu` installs."""

from __future__ import annotations

import re
import warnings
from typing import Any
from unittest.mock import Mock

import numba
import pytest

from fogplay.kernels import cuda as driver
from fogplay.simulators import Simulator, simulator_for
from fogplay.simulators.holdem import HoldemSimulator
from tests.kernels.test_cuda import ALGORITHMS, SMALL_DECK, learner

pytest.importorskip("numba_cuda", reason="the extra gpu is not installed")


@pytest.fixture(autouse=True)
def _no_gpu_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile for compute capability 9.0, and leave arrays where they are."""
    import numba.cuda.compiler
    import numba.cuda.dispatcher

    some = type("Device", (), {"compute_capability": (9, 0)})
    for module in (numba.cuda.compiler, numba.cuda.dispatcher):
        monkeypatch.setattr(module, "get_current_device", lambda: some)
    monkeypatch.setattr(driver, "require_gpu", lambda: None)
    monkeypatch.setattr(driver.CudaDriver, "_there", lambda self, value: value)
    monkeypatch.setattr(driver.cuda, "stream", Mock)
    monkeypatch.setattr(driver, "_require_memory", lambda *_: None)


def assembly(simulator: Simulator, algorithm: str) -> str:
    made = learner(simulator, algorithm, threads=1024).driver
    types = [numba.typeof(each) for each in (*made.shared, 1024, 1, 1)]
    text: str = driver.cuda.compile_ptx(made.kernel.py_func, tuple(types), cc=(9, 0))[0]
    return text


def lines(text: str, beginning: str) -> list[Any]:
    return [line for line in text.splitlines() if line.strip().startswith(beginning)]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("game", ["leduc", SMALL_DECK])
def test_every_kernel_compiles(game: str, algorithm: str) -> None:
    simulator = HoldemSimulator.of(game) if game == SMALL_DECK else simulator_for(game)
    text = assembly(simulator, algorithm)
    assert lines(text, "atom") or lines(text, "red")
    assert not lines(text, "call"), "some part is not merged into the kernel"


def test_records_are_read_whole() -> None:
    """What is not aligned is read byte by byte."""
    text = assembly(simulator_for("leduc"), "smooth-uct")
    assert lines(text, "ld.global")
    assert not lines(text, "ld.global.u8")


def test_a_warp_waits_only_for_lanes_that_play() -> None:
    """The last warp may not be whole, and it is undefined what happens where an absent lane is named."""
    text = assembly(simulator_for("kuhn"), "uct")
    meetings = [*lines(text, "shfl.sync"), *lines(text, "bar.warp.sync")]
    assert len(meetings) >= 2
    assert all(re.search(r"%r\d+;", line) for line in meetings), meetings  # a mask that is worked out, not a constant


def test_the_whole_game_compiles() -> None:
    text = assembly(simulator_for("holdem"), "smooth-uct")
    assert len(lines(text, "ld.global.u8")) < 80  # 324 where records are not aligned


def test_a_small_grid_is_no_reason_to_warn() -> None:
    made = learner(simulator_for("kuhn"), "uct", threads=1).driver
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made.kernel[1, 1] is not None
