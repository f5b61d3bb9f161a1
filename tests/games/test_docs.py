"""The pages on the games say what the code does."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from fogplay.games import load, registered

from .specs import every_state

PAGES = Path(__file__).parent.parent.parent / "docs" / "games"
README = (PAGES / "README.md").read_text(encoding="utf-8")
SIZES = re.findall(r"^\| `([^`]+)` \| ([\d,]+) \| ([\d,]+) \|", README, re.MULTILINE)
MOST_NODES = 400_000  # larger trees take too long to walk here


def test_every_game_has_a_page() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} == {"README", "efg", "gdl", *registered()}


@pytest.mark.parametrize("name", registered())
def test_parameters(name: str) -> None:
    """The defaults as written in the class; a pot of 0 stands for the antes."""
    fields = dataclasses.fields(registered()[name])  # type: ignore[arg-type]
    defaults = ", ".join(f"{field.name}={field.default}" for field in fields)
    assert f"| [{name}]({name}.md) | `{defaults}` |" in README
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert page.splitlines()[0].endswith(f": `{name}({defaults.replace(', ', ',')})`")


@pytest.mark.parametrize(
    ("spec", "nodes", "infosets"), [size for size in SIZES if int(size[1].replace(",", "")) <= MOST_NODES]
)
def test_sizes(spec: str, nodes: str, infosets: str) -> None:
    claimed = int(nodes.replace(",", "")), int(infosets.replace(",", ""))
    count, seen = 0, set()
    for state in every_state(load(spec)):
        count += 1
        if state.current_player() >= 0:
            seen.add(state.information_state_string(state.current_player()))
    assert (count, len(seen)) == claimed
