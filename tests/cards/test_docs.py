"""The code in docs/cards.md, run as it stands."""

from __future__ import annotations

import pytest

from tests.test_docs import blocks


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks("docs/cards.md", "python")
    exec(block, {})
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == "7461 full house"
    before, after = map(float, second.split())
    assert 0 < after < before < 1
    assert int(third) == int(after * 1000)
