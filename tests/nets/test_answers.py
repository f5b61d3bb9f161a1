"""Answering many threads in common batches; the place is this machine instead of a GPU."""

import contextlib
import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fogplay.bots.doudizhu.asking import Asking  # noqa: E402
from fogplay.nets.answers import SIZES, Answers, Captured  # noqa: E402

WORDS, OUTPUTS = 3, 2


class Mark:
    def synchronize(self) -> None:
        pass

    def elapsed_time(self, other: "Mark") -> float:
        return 500.0


class Here:
    """What ``Gpu`` does, without one."""

    def event(self) -> Mark:
        return Mark()

    def context(self) -> Any:
        return contextlib.nullcontext()

    def settle(self) -> None:
        pass

    def memory(self, *size: int, dtype: Any) -> Any:
        return torch.zeros(size, dtype=dtype)

    def capture(self, forward: Any, seat: int, size: int, words: int) -> Captured:
        seen, outputs = torch.zeros((size, words), dtype=torch.int64), torch.zeros((size, OUTPUTS))
        return Captured(lambda: outputs.copy_(forward(seen, seat)), seen, outputs)


def expected(seat: int, seen: Any) -> Any:
    return np.stack([seen.sum(1) + seat, seen[:, 0] * 2], 1).astype(np.float32)


def answers(gate: threading.Event | None = None, begun: threading.Event | None = None) -> Answers:
    def forward(seen: Any, seat: int) -> Any:
        if gate is not None and begun is not None:
            begun.set()
            gate.wait()
        if seat == 2:
            raise RuntimeError("broken")
        return torch.stack([seen.sum(1) + seat, seen[:, 0] * 2], 1).float()

    return Answers(forward, lambda: None, 3, WORDS, OUTPUTS, Here())


def test_every_thread_gets_its_own_answers() -> None:
    asked, rng = answers(), np.random.default_rng(1)
    questions = [(int(rng.integers(2)), rng.integers(0, 99, (int(rng.integers(1, 700)), WORDS))) for _ in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda question: np.array(asked(*question)), questions)
        for question, outputs in zip(questions, found, strict=True):
            assert np.array_equal(outputs, expected(*question))
    assert asked.rows == sum(len(seen) for _, seen in questions)
    assert asked.seconds() == pytest.approx(0.5 * asked.batches)


def test_what_waits_is_answered_together() -> None:
    gate, begun = threading.Event(), threading.Event()
    asked = answers(gate, begun)
    seen = np.arange(30).reshape(10, WORDS)
    with ThreadPoolExecutor(6) as pool:
        found = [pool.submit(lambda: np.array(asked(1, seen)))]
        assert begun.wait(60), "the first question is being answered"
        found += [pool.submit(lambda: np.array(asked(1, seen))) for _ in range(5)]
        end = time.monotonic() + 60
        while time.monotonic() < end:
            waiting = asked._open[1]
            if waiting is not None and waiting.rows == 50 and waiting.writers == 0:
                break
            time.sleep(0.01)
        gate.set()
        assert all(np.array_equal(each.result(), expected(1, seen)) for each in found)
    assert asked.batches == 2


def test_several_seats_are_asked_together() -> None:
    gate, begun = threading.Event(), threading.Event()
    asked, seen = answers(gate, begun), np.arange(30).reshape(10, WORDS)
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(lambda: [np.array(each) for each in asked.together([(0, seen), (1, seen + 1)])])
        assert begun.wait(60), "one seat's question is being answered"
        end = time.monotonic() + 60
        while (waiting := sum(each.rows for each in asked._open if each is not None)) < 10 and time.monotonic() < end:
            time.sleep(0.01)
        gate.set()
        assert waiting == 10, "the other seat's waits meanwhile"
        for seat, outputs in enumerate(found.result()):
            assert np.array_equal(outputs, expected(seat, seen + seat))
    assert asked.together([]) == []


def test_a_search_asks_all_seats_together() -> None:
    class Both:
        def __init__(self) -> None:
            self.asked: list[list[int]] = []

        def __call__(self, seat: int, seen: Any) -> Any:
            return np.repeat(seen[:, :1] * 3.0 + seat, 476, 1).astype(np.float32)

        def together(self, questions: Any) -> Any:
            self.asked.append([seat for seat, _ in questions])
            return [self(*question) for question in questions]

    rng, both = np.random.default_rng(3), Both()
    asks, seen = rng.integers(-1, 3, 40).astype(np.int8), rng.integers(0, 99, (40, 32))
    one, other = np.zeros((40, 476), np.float32), np.zeros((40, 476), np.float32)
    assert Asking(both).fill(asks, seen, one)
    assert Asking(both.__call__).fill(asks, seen, other)
    assert both.asked == [[0, 1, 2]]
    assert np.array_equal(one, other)
    assert (one[:, 0] == np.where(asks >= 0, seen[:, 0] * 3 + asks, 0)).all()
    assert not Asking(both).fill(np.full(40, -1, np.int8), seen, one)


def test_a_question_larger_than_a_batch_is_split() -> None:
    asked, seen = answers(), np.arange(3 * (2 * SIZES[-1] + 5)).reshape(-1, WORDS)
    assert np.array_equal(asked(0, seen), expected(0, seen))
    assert asked.batches == 3


def test_batches_are_used_again() -> None:
    asked, seen = answers(), np.arange(3 * 5000).reshape(-1, WORDS)
    first = asked(0, seen)
    kept = np.array(first)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(20):
            pool.submit(lambda: asked(0, seen + 1)).result()
    assert np.array_equal(first, kept), "answers stay until the thread that got them asks again"
    for _ in range(20):
        asked(1, seen)
    assert len(asked._spare) <= 2


def test_a_failure_reaches_the_thread_that_asked() -> None:
    asked = answers()
    with pytest.raises(RuntimeError, match="broken"):
        asked(2, np.ones((1, WORDS), np.int64))
    assert asked(0, np.ones((1, WORDS), np.int64)).shape == (1, OUTPUTS)


def test_a_failure_on_the_way_reaches_everybody() -> None:
    class Failing(Here):
        def event(self) -> Any:
            return Lost()

    class Lost(Mark):
        def synchronize(self) -> None:
            raise RuntimeError("lost")

    asked = Answers(lambda seen, seat: seen[:, :OUTPUTS].float(), lambda: None, 3, WORDS, OUTPUTS, Failing())
    for seat in (0, 1):
        with pytest.raises(RuntimeError, match="lost"):
            asked(seat, np.ones((1, WORDS), np.int64))


def test_the_networks_live_as_long_as_their_answers() -> None:
    class Net:
        def __call__(self, seen: Any, seat: int) -> Any:
            return seen[:, :OUTPUTS].float()

    class Graphs(Here):
        def capture(self, forward: Any, seat: int, size: int, words: int) -> Captured:
            seen = torch.zeros((size, words), dtype=torch.int64)
            return Captured(lambda: None, seen, torch.zeros((size, OUTPUTS)))  # as on a GPU, only memory is referred to

    net = Net()
    alive = weakref.ref(net)
    asked = Answers(net, lambda: None, 3, WORDS, OUTPUTS, Graphs())
    del net
    gc.collect()
    assert alive() is not None
    assert asked.rows == 0
