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

from fogplay.bots.doudizhu import DeltaSettings, evaluators  # noqa: E402
from fogplay.bots.doudizhu.asking import Asking  # noqa: E402
from fogplay.bots.doudizhu.deltadou import Mind  # noqa: E402
from fogplay.desks import ASKED  # noqa: E402
from fogplay.nets.answers import SIZES, Answers, Captured  # noqa: E402
from fogplay.simulators.streams import many_streams  # noqa: E402
from tests.bots.networks import hidden, played_on  # noqa: E402

WORDS, OUTPUTS = 3, 2


class Mark:
    def query(self) -> bool:
        return True

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


def wait_for(happened: Any) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_what_waits_is_answered_together() -> None:
    gate, begun = threading.Event(), threading.Event()
    asked = answers(gate, begun)
    seen = np.arange(30).reshape(10, WORDS)
    with ThreadPoolExecutor(6) as pool:
        found = [pool.submit(lambda: np.array(asked(1, seen)))]
        assert begun.wait(60), "the first question is being answered"
        found += [pool.submit(lambda: np.array(asked(1, seen))) for _ in range(5)]
        wait_for(lambda: sum(each.desk.state[0] == ASKED for each in asked._desks) == 6)
        gate.set()
        assert all(np.array_equal(each.result(), expected(1, seen)) for each in found)
    assert asked.batches == 2


def words_of(seat: int, seen: Any) -> Any:
    """Answers of the real width that name the question."""
    return (
        torch.as_tensor(seen).double().sum(1, keepdim=True).remainder(9973).float() * 0.001 + seat + torch.arange(476)
    )


def on_desks(place: Any = None) -> Answers:
    return Answers(lambda seen, seat: words_of(seat, seen), lambda: None, 3, 32, 476, place or Wide())


class Wide(Here):
    def capture(self, forward: Any, seat: int, size: int, words: int) -> Captured:
        seen, outputs = torch.zeros((size, words), dtype=torch.int64), torch.zeros((size, 476))
        return Captured(lambda: outputs.copy_(forward(seen, seat)), seen, outputs)


def test_all_seats_are_asked_at_a_desk() -> None:
    rng, attendant = np.random.default_rng(3), on_desks()
    one, other = Asking(attendant), Asking(lambda seat, seen: words_of(seat, seen).numpy())
    for rows in (40, 3, 9000, 700):
        asks, seen = rng.integers(-1, 3, rows).astype(np.int8), rng.integers(0, 99, (rows, 32))
        found = np.zeros((2, rows, 476), np.float32)
        assert one.fill(asks, seen, found[0])
        assert other.fill(asks, seen, found[1])
        assert np.array_equal(found[0], found[1])
    assert (one.rows, one.asked) == (other.rows, other.asked)
    assert not one.fill(np.full(40, -1, np.int8), seen[:40], found[0])
    assert attendant.rows == one.asked


def test_searches_in_threads_are_the_same_at_desks() -> None:
    attendant, settings = on_desks(), DeltaSettings(playouts=30, sure=2.0)
    own = hidden(played_on(8, 6, 20, evaluators.by_rules()))

    def tried(evaluate: Any) -> Any:
        found = Mind(evaluate, settings).think(own, many_streams(8, len(own.words)))
        return found.searches.trees.tried[: len(own.words), 0].tolist()

    expected = tried(lambda seat, seen: words_of(seat, seen).numpy())
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: tried(attendant), range(12)))
    assert all(each == expected for each in found)
    gc.collect()
    assert len(attendant._desks) == 0, "desks are given back"
    assert 1 <= len(attendant._spare) <= 12
    late = Mind(attendant, settings._replace(playouts=100_000))
    assert late.think(own, many_streams(8, len(own.words)), time.monotonic() + 0.2).searches.trees.tried[0, 0].sum() > 0


def test_a_question_larger_than_a_batch_is_split() -> None:
    asked, seen = answers(), np.arange(3 * (2 * SIZES[-1] + 5)).reshape(-1, WORDS)
    assert np.array_equal(asked(0, seen), expected(0, seen))
    assert asked.batches == 3


def test_a_failure_reaches_a_search_and_the_next_one_asks_again() -> None:
    broken = [True]

    def forward(seen: Any, seat: int) -> Any:
        if broken[0]:
            raise RuntimeError("broken")
        return words_of(seat, seen)

    attendant = Answers(forward, lambda: None, 3, 32, 476, Wide())
    own = hidden(played_on(8, 6, 20, evaluators.by_rules()))
    mind, inner = Mind(attendant, DeltaSettings(playouts=30, sure=2.0)), Asking.fill

    def fails() -> None:
        with pytest.raises(RuntimeError, match="broken"):
            mind.think(own, many_streams(8, len(own.words)))

    fails()
    broken[0] = False
    expected = mind.think(own, many_streams(8, len(own.words))).cards.tolist()
    mind.asking.forget()

    def broken_later(*given: Any) -> bool:
        found = inner(mind.asking, *given)
        broken[0] = True
        return found

    mind.asking.fill = broken_later  # type: ignore[method-assign]
    for _ in range(2):
        broken[0] = False
        mind.asking.forget()
        fails()
    del mind.asking.fill  # type: ignore[method-assign]
    broken[0] = False
    mind.asking.forget()
    assert mind.think(own, many_streams(8, len(own.words))).cards.tolist() == expected


def test_desks_are_used_again() -> None:
    asked = answers()
    first = asked.desk(100)
    asked.give_back(first)
    again, other = asked.desk(50), asked.desk(50)
    assert again.state is first.state
    assert other.state is not first.state
    large = asked.desk(5000)
    assert len(large.questions) == 5000
    asked.give_back(other)
    assert len(asked._desks) == 2


def test_nobody_goes_round_while_nobody_asks() -> None:
    asked = answers()
    asked(0, np.ones((1, WORDS), np.int64))
    before = asked._asking
    time.sleep(0.1)
    assert before == asked._asking == 0
    began = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - began < 0.1


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
        def query(self) -> bool:
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
