"""Desks: compiled code waits at one until somebody else has answered."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from fogplay import desks
from fogplay.desks import ANSWERED, ASKED, FAILED, Desk, exchange, new_desk


def attend(own: list[Desk], stop: threading.Event, state: int = ANSWERED) -> None:
    """Answer a question by its sum."""
    while not stop.is_set():
        for desk in own:
            if desk.state[0] == ASKED:
                rows = int(desk.asked.sum())
                desk.answers[:rows] = desk.questions[:rows].sum(1, keepdims=True)
                desk.state[0] = state
        time.sleep(1e-5)


def ask_often(desk: Desk, number: int) -> bool:
    good = True
    for round_ in range(200):
        desk.questions[:] = np.arange(6).reshape(3, 2) + number * 1000 + round_
        desk.asked[:] = 2, 1
        good &= bool(exchange(desk))
        good &= bool((desk.answers == desk.questions.sum(1, keepdims=True)).all())
    return good


def test_every_thread_gets_the_answers_to_its_own_questions() -> None:
    own, stop = [new_desk(3, 2, 4, 2) for _ in range(5)], threading.Event()
    answering = threading.Thread(target=attend, args=(own, stop))
    answering.start()
    with ThreadPoolExecutor(5) as pool:
        assert all(pool.map(ask_often, own, range(5)))
    stop.set()
    answering.join()


def test_a_failure_is_told() -> None:
    own, stop = [new_desk(3, 2, 4, 2)], threading.Event()
    answering = threading.Thread(target=attend, args=(own, stop, FAILED))
    answering.start()
    assert not exchange(own[0])
    stop.set()
    answering.join()


def test_waiting_leaves_the_core_and_pythons_lock_to_others() -> None:
    desk = new_desk(1, 1, 1, 1)
    desk.state[0] = ANSWERED
    threading.Timer(0.01, lambda: desk.state.fill(ANSWERED)).start()
    exchange(desk)  # compiles
    waiting = threading.Thread(target=exchange, args=(desk,))
    waiting.start()
    time.sleep(0.01)
    before, counted, end = time.thread_time(), 0, time.monotonic() + 0.3
    used = time.process_time()
    while time.monotonic() < end:
        counted += 1
    own = time.thread_time() - before
    assert counted > 1000
    assert time.process_time() - used - own < 0.15, "the waiting thread sleeps"
    desk.state[0] = ANSWERED
    waiting.join(10)
    assert not waiting.is_alive()


def test_a_system_without_the_function_waits_busily() -> None:
    desk = new_desk(1, 1, 1, 1)._replace(nap=np.zeros(1, np.int64))
    threading.Timer(0.05, lambda: desk.state.fill(ANSWERED)).start()
    assert exchange(desk)


def test_plain_python_sleeps_too() -> None:
    began = time.monotonic()
    desks.sleep(0, 2000)
    assert time.monotonic() - began > 0.001
