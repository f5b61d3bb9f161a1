"""A player keeps its clock: the deadlines it sets, and 200 moves on a busy machine (``benchmarks/ggp_clock.py``)."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from fogplay.play import View
from fogplay.protocols.ggp.player import MARGIN, Player
from tests.helpers import ROOT
from tests.protocols.test_ggp import start


def test_the_margin_grows_with_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent must be done half a second before the clock runs out, and earlier once a reply came late."""
    now, deadlines = [1000.0], []

    class Noting:
        def act(self, view: View) -> int:
            assert view.deadline is not None
            deadlines.append(view.deadline)
            now[0] = view.deadline + 0.4  # the machine was busy
            return 0

    monkeypatch.setattr("fogplay.protocols.ggp.player.resolve", lambda texts, rules: [Noting()])
    player = Player("noting", clock=lambda: now[0])
    assert player.handle(start("rps-repeated.kif", "row", clock=5.0)) == "ready"
    assert player.handle("(PLAY m1 nil)", 1000.0) == player.handle("(PLAY m1 (paper rock))", 2000.0)
    assert deadlines == pytest.approx([1005.0 - MARGIN, 2005.0 - MARGIN - 0.4])


@pytest.mark.slow
@pytest.mark.parametrize("sheet", ["connectfour.kif", "phantom-tictactoe.kif"])
def test_two_hundred_moves_on_a_busy_machine(sheet: str) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "ggp_clock.py"), "--sheet", sheet]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1800)
    print(done.stdout)
    assert re.search("200 moves: 0 late, 0 illegal; margin 0", done.stdout)
