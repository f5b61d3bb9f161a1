"""BLAS in one thread, while anybody asks for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fogplay.blas import _libraries, one_thread
from fogplay.strategies.dense import DenseShape
from fogplay.strategies.network import Network


@pytest.fixture
def two() -> Iterator[None]:
    with _libraries().limit(limits=2):
        yield


def threads() -> set[int]:
    return {library.num_threads for library in _libraries().lib_controllers}


@pytest.mark.usefixtures("two")
def test_limits_come_back_when_the_last_one_leaves() -> None:
    inside = threading.Event()

    def other() -> set[int]:
        with one_thread():
            inside.set()
        return threads()

    before = threads()
    with ThreadPoolExecutor(1) as pool, one_thread():
        done = pool.submit(other)
        assert inside.wait(60)
        assert done.result(60) == {1}, "this thread is still inside"
        assert threads() == {1}
    assert threads() == before


@pytest.mark.usefixtures("two")
def test_networks_are_evaluated_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    monkeypatch.setattr(DenseShape, "evaluate", lambda self, own, seen: found.append(threads()) or seen)
    before = threads()
    Network(DenseShape(1, 1), {}, {}).outputs(np.zeros((2, 1), np.int64))
    assert found == [{1}]
    assert threads() == before


@pytest.mark.usefixtures("two")
def test_an_error_restores_them_too() -> None:
    before = threads()
    with pytest.raises(ValueError, match="here"), one_thread():
        raise ValueError("here")
    assert threads() == before
