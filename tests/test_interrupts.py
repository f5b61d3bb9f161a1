"""Ctrl-C and SIGTERM: what is done is shown and kept, the next command is named, and the exit code is 130.

``test_interrupted_commands.py`` interrupts every command.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fogplay
from fogplay import cli, interrupts, starting
from fogplay.interrupts import Handler, Stop, apart, promptly, stopping

STOPPED = 130


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Iterator[Handler]:
    """The command line's handler, as if this process were a command."""
    before = [(number, signal.getsignal(number)) for number in interrupts.SIGNALS]
    monkeypatch.setattr(interrupts, "_installed", None)
    yield interrupts.install()
    for number, usual in before:
        signal.signal(number, usual)


@pytest.mark.parametrize("number", interrupts.SIGNALS)
def test_a_loop_is_asked_and_anything_else_is_interrupted(handler: Handler, number: int) -> None:
    with stopping() as outer, stopping() as inner:
        os.kill(os.getpid(), number)
        assert outer.is_set()
        assert inner.is_set()
    with stopping() as later:
        assert not later.is_set()  # not within the loop that was asked
    assert handler.received
    handler._last -= 10
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    assert handler.twice


def test_the_same_signal_sent_twice_counts_once(handler: Handler) -> None:
    with stopping() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)  # as timeout does: to the process, and to its group
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.is_set()
    assert not handler.twice


def test_a_slow_step_is_interrupted_at_once(handler: Handler) -> None:
    with stopping() as stop, pytest.raises(KeyboardInterrupt), stop.at_once():
        os.kill(os.getpid(), signal.SIGINT)
    with stopping() as stop:
        stop.set()
        with stopping() as inner:
            assert inner.is_set()
        with pytest.raises(KeyboardInterrupt), promptly():
            pytest.fail("work was begun after the signal")


def test_work_outside_python_can_be_interrupted(handler: Handler) -> None:
    over = threading.Event()
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
    with stopping(), pytest.raises(KeyboardInterrupt):
        apart(over.wait)
    over.set()
    handler.received = False
    assert apart(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 // 0)


def test_a_signal_within_a_callback_is_not_lost(handler: Handler) -> None:
    """Python drops what is raised in the callbacks of a library, such as those of the compiler, and prints it."""
    over: list[bool] = []

    def _raw_object_cache_notify() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        over.append(True)

    _raw_object_cache_notify()
    assert over
    assert not handler.received
    with pytest.raises(KeyboardInterrupt):
        time.sleep(10)
    assert handler.received
    assert not handler.twice


def test_signals_that_are_ignored_stay_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stopping():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        monkeypatch.setattr(interrupts, "_installed", None)
        term = signal.getsignal(signal.SIGTERM)
        installed = interrupts.install()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is installed
        signal.signal(signal.SIGTERM, term)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_process_that_calls_the_command_line_keeps_its_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [signal.getsignal(number) for number in interrupts.SIGNALS]
    monkeypatch.setattr(sys, "argv", ["fogplay", "--version"])
    with pytest.raises(SystemExit):
        cli.main()
    assert [signal.getsignal(number) for number in interrupts.SIGNALS] == before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("words", "is_command"),
    [
        ("python /usr/bin/fogplay solve kuhn", True),
        ("python -m fogplay solve", True),
        ("python -X dev -m fogplay.cli solve", True),
        ("python -mfogplay.cli", True),
        ("python -m pytest fogplay", False),
        ("python -c import fogplay", False),
        ("python script.py -m fogplay", False),
        ("python -m joblib.worker fogplay", False),
        ("python", False),
    ],
)
def test_only_the_command_itself_handles_signals_while_it_starts(
    words: str, is_command: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "orig_argv", words.split())
    assert starting.is_command() == is_command


def test_importing_fogplay_changes_no_handler() -> None:
    script = (
        "import signal; both = signal.SIGINT, signal.SIGTERM; before = [signal.getsignal(n) for n in both]\n"
        "import fogplay, fogplay.cli; assert before == [signal.getsignal(n) for n in both]\n"
        "fogplay.solve('kuhn', 'cfr', 5); assert before == [signal.getsignal(n) for n in both]"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_match_of_compiled_hands_stops_between_stretches() -> None:
    """The hands that were played are those of a shorter match."""

    pressed = []

    def press(done: int, total: int) -> None:
        if done >= 2 << 17:
            pressed.append(done)
            os.kill(os.getpid(), signal.SIGINT)

    stopped = fogplay.match("kuhn", ["uniform", "uniform"], 10**8, keep=True, progress=press)
    assert stopped.interrupted
    assert stopped.hands == pressed[0] < 10**8
    whole = fogplay.match("kuhn", ["uniform", "uniform"], stopped.hands, keep=True)
    assert stopped.means == whole.means
    assert (stopped.ends == whole.ends).all()


def test_a_tradeoff_keeps_the_confidences_that_were_finished() -> None:
    model = fogplay.solve("kuhn", "cfr", 50).strategy
    seen: list[int] = []

    def press(now: Any) -> None:
        seen.append(now.iteration)
        if now.iteration > 5 * 1000:  # two seats of 1,000 iterations for each confidence: in the third
            os.kill(os.getpid(), signal.SIGINT)

    points = fogplay.tradeoff("kuhn", model, [0, 0.5, 1], algorithm="cfr+", iterations=1000, progress=press)
    assert [point.confidence for point in points if point.method == "rnr"] == [0, 0.5]
    assert sum(point.method == "mixing" for point in points) == 11


def test_a_response_that_is_stopped_can_be_resumed(tmp_path: Path) -> None:
    model = fogplay.solve("kuhn", "cfr", 50).strategy
    run: dict[str, Any] = {"algorithm": "cfr+", "iterations": 3000, "checkpoint": tmp_path / "run"}

    def press(now: Any) -> None:
        if now.iteration > 3000:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match=r"seat 1 of 2 seats .* 1 finished"):
        fogplay.respond("kuhn", model, progress=press, **run)
    resumed = fogplay.respond("kuhn", model, resume=True, **run).strategy
    whole = fogplay.respond("kuhn", model, algorithm="cfr+", iterations=3000).strategy
    assert resumed.probabilities.tobytes() == whole.probabilities.tobytes()


def test_the_exit_code_is_130_wherever_python_was(tmp_path: Path) -> None:
    """KeyboardInterrupt that leaves code compiled from text, as libraries do, would end Python by the signal itself."""
    (tmp_path / "stopped.py").write_text(
        "import fogplay.cli\ndef app(**_): exec('raise KeyboardInterrupt')\nfogplay.cli.app = app\nfogplay.cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-m", "stopped"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == STOPPED, done.stderr
    assert done.stderr.startswith("fogplay: stopped; nothing was finished")


def test_stop_can_be_set_by_somebody_else() -> None:
    event = threading.Event()
    stop = Stop(event)
    event.set()
    assert stop.is_set()
