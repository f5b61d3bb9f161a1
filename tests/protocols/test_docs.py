"""The code in docs/acpc.md, run as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fogplay.notation.gamedef import our_definitions
from fogplay.protocols.acpc.replay import replay
from tests.helpers import ROOT
from tests.test_docs import blocks, run_commands

PAGE = "docs/acpc.md"


def test_the_commands_run(tmp_path: Path) -> None:
    run_commands(PAGE, tmp_path)
    assert replay(tmp_path / "second.log").hands == 2000
    assert (tmp_path / "bo.safetensors").exists()


def test_the_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks(PAGE, "python")
    namespace: dict[str, Any] = {}
    exec(block, namespace)
    assert capsys.readouterr().out.strip() in block


def test_every_definition_is_there() -> None:
    page = (ROOT / PAGE).read_text()
    assert all(f"`{name}`" in page for name in our_definitions())
