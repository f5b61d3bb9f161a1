"""docs/acpc.md names every definition of a game; its code runs in tests/docs."""

from __future__ import annotations

from fogplay.notation.gamedef import our_definitions
from tests.helpers import ROOT


def test_every_definition_is_there() -> None:
    page = (ROOT / "docs/acpc.md").read_text()
    assert all(f"`{name}`" in page for name in our_definitions())
