"""docs/matches.md names every bot; its code runs in tests/docs."""

from __future__ import annotations

from fogplay.bots.holdem import BOTS
from tests.helpers import ROOT


def test_every_bot_is_there() -> None:
    page = (ROOT / "docs/matches.md").read_text()
    assert all(f"| `{name}` | " in page for name in BOTS)
