"""What notebooks show of games, results, evaluations and matches."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import fogplay as fp
from fogplay.games.registry import registered
from fogplay.pictures import as_table


def parsed(html: str | None) -> ElementTree.Element:
    assert html is not None
    return ElementTree.fromstring(html)


@pytest.mark.parametrize("name", registered())
def test_every_game_is_shown(name: str) -> None:
    game = fp.load(name)
    root = parsed(game._repr_html_())
    assert str(game) in "".join(root.itertext())


def test_small_games_show_their_tree() -> None:
    assert "<svg" in (fp.load("kuhn")._repr_html_() or "")
    assert "<svg" not in (fp.load("leduc")._repr_html_() or "")


def test_results_and_evaluations() -> None:
    result = fp.solve("kuhn", "cfr+", 100, curve=5)
    shown = parsed(result._repr_html_())
    assert f"{result.nash_conv:.6g}" in "".join(shown.itertext())
    assert shown.find("{http://www.w3.org/2000/svg}svg") is not None
    assert "svg" not in fp.solve("kuhn", "cfr+", 100)._repr_html_()
    quality = fp.evaluate(result.strategy)
    cells = [cell.text for cell in parsed(quality._repr_html_()).iter("td")]
    assert f"{quality.values[0]:+.6f}" in cells
    assert "58" in [cell.text for cell in parsed(fp.flatten("kuhn")._repr_html_()).iter("td")]


def test_matches() -> None:
    result = fp.match("kuhn", ["uniform", "uniform"], 100, seed=1)
    cells = [cell.text for cell in parsed(result._repr_html_()).iter("td")]
    assert cells[0] == "uniform"
    assert f"{result.means[0]:+.4g}" in cells


def test_what_others_wrote_is_escaped() -> None:
    assert "<script>" not in as_table(["<script>"], [["<script>"]], "<script>")
