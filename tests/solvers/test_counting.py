"""Tables that count visits in 32 bits say how far they count before a run starts, and never lose one."""

from __future__ import annotations

import pytest

from fogplay import FogplayError, solve
from fogplay.solvers import sampling


@pytest.fixture(autouse=True)
def small_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if Kuhn were large, and 32 bits few."""
    monkeypatch.setattr(sampling, "LARGE", 1)
    monkeypatch.setattr(sampling, "MOST_IN_SMALL_CELLS", 1000)


def test_too_many_iterations_are_refused_before_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling.SelfPlay, "advance", lambda *_: pytest.fail("it started"))
    with pytest.raises(FogplayError, match="can count 1,000 iterations on a CPU, not 1,001: ask for fewer with -n"):
        solve("kuhn", "smooth-uct", 1001)


def test_all_that_can_be_counted_are_played() -> None:
    result = solve("kuhn", "uct", 1000)
    assert (result.iterations, result.stopped) == (1000, None)


def test_a_run_by_the_clock_ends_there_and_keeps_what_it_learned() -> None:
    result = solve("kuhn", "uct", minutes=1)
    assert result.iterations == 1000
    assert result.stopped is not None
    assert "count to 1,000 episodes on a CPU; the run ended there" in result.stopped
    assert result.strategy.visits is not None
    assert len(result.strategy) == 12
