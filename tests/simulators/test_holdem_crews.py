"""Flops shared by threads that feed a device and threads that walk themselves, with a device that is made up."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from fogplay.games.registry import load
from fogplay.simulators import holdem_crews
from fogplay.simulators.holdem_boards import Next
from fogplay.simulators.holdem_crews import Crew, walk_flops
from fogplay.simulators.holdem_full import FullGame
from fogplay.simulators.holdem_walk_rows import by_rows
from tests.simulators.test_holdem_walk import SMALL, Player, earned, walk_of

FLOPS = [Next((number,), 1) for number in range(40)]


class Device:
    """Something that walks a flop in so many seconds, whatever else it does, and notes which; flop 7 may be broken."""

    def __init__(self, seconds: float, broken: bool = False) -> None:
        self.seconds, self.broken, self.walked = seconds, broken, list[int]()

    def begin(self) -> str:
        return "reach"

    def on_flop(self, flop: Next, reach: str) -> Any:
        assert reach == "reach"
        if self.broken and flop.cards == (7,):
            raise ValueError("broken")
        time.sleep(self.seconds)
        self.walked.append(flop.cards[0])
        return np.array(flop.cards)


def crews(quick: Any, slow: Any) -> list[Crew]:
    return [Crew(quick, 2), Crew(slow, 3)]


def test_every_flop_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem_crews, "UNTRIED", 0)
    quick, slow, found = Device(0.002), Device(0.005), {}
    here = threading.get_ident()

    def add(number: int, values: Any) -> None:
        assert threading.get_ident() == here
        found[number] = int(values[0])

    walk_flops(crews(quick, slow), FLOPS, range(3, 40), lambda: False, add)
    assert sorted(quick.walked + slow.walked) == list(range(3, 40))
    assert found == {number: number for number in range(3, 40)}
    assert quick.walked
    assert slow.walked


def test_helpers_stop_before_they_are_waited_for() -> None:
    quick, slow = Crew(Device(0.0), 2, done=10, spent=4.0), Crew(Device(0.0), 3, done=3, spent=24.0)
    assert slow.helps(quick, 41)  # 41 flops in 0.2 s each, or one in 8 s
    assert not slow.helps(quick, 39)
    untried = Crew(Device(0.0), 3)
    assert untried.helps(quick, 61)
    assert not untried.helps(quick, 60)


def test_few_flops_are_left_to_the_first() -> None:
    quick, slow = Device(0.0), Device(10.0)
    walk_flops(crews(quick, slow), FLOPS, range(40), lambda: False, lambda *_: None)
    assert sorted(quick.walked) == list(range(40))
    assert not slow.walked


def test_a_walk_ends_early_with_what_it_has() -> None:
    quick, found = Device(0.0), list[int]()
    walk_flops([Crew(quick, 2)], FLOPS, range(40), lambda: len(found) >= 10, lambda number, _: found.append(number))
    assert 10 <= len(found) <= 12
    assert sorted(found) == sorted(quick.walked)


def test_an_error_of_one_thread_ends_the_walk() -> None:
    quick = Device(0.0, broken=True)
    with pytest.raises(ValueError, match="broken"):
        walk_flops([Crew(quick, 2)], FLOPS, range(40), lambda: False, lambda *_: None)
    assert len(quick.walked) < 20


def test_a_measure_by_two_crews_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem_crews, "UNTRIED", 0)
    walk = walk_of(Player(load(SMALL[0]), symmetric=True, seed=3))
    helped: list[int] = []
    rows = by_rows(walk)
    plain = type(rows).on_flop

    def noted(self: Any, flop: Any, reach: Any) -> Any:
        helped.append(flop.cards)
        return plain(self, flop, reach)

    monkeypatch.setattr(type(rows), "on_flop", noted)
    found = FullGame(walk, "digest", "cuda", rows, feeders=1).measure(threads=3)
    assert found is not None
    assert found.values == pytest.approx([100 * value for value in earned(walk)], abs=1e-9)
    assert 0 < len(helped) < found.all_flops
    helped.clear()
    alone = FullGame(walk, "digest", "cuda", rows, feeders=2).measure(threads=2)
    assert alone is not None
    assert not helped
