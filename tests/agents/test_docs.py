"""The code in docs/matches.md, run as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fogplay.bots.holdem import BOTS
from tests.helpers import ROOT
from tests.test_docs import blocks, run_commands


def test_the_page_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, Any] = {}
    for block in blocks("docs/matches.md", "python"):
        exec(block, namespace)
    assert float(capsys.readouterr().out.split()[0]) > 300
    assert namespace["match"].hands == 200


def test_every_bot_is_there() -> None:
    page = (ROOT / "docs/matches.md").read_text()
    assert all(f"| `{name}` | " in page for name in BOTS)


@pytest.mark.slow  # three players: a betting tree of 24 million nodes
def test_the_commands_run(tmp_path: Path) -> None:
    run_commands("docs/matches.md", tmp_path)
    assert len((tmp_path / "hands.log").read_text().splitlines()) == 60_003
