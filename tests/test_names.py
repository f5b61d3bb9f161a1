"""No game's name stands in a general file: a game is one file of rules, and an interface that needs more is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import fogplay
from fogplay.games.registry import presets, registered

PACKAGE = Path(fogplay.__file__).parent
# Games' own places: rules, simulators, pictures and bots by game, strategies of betting games, notations, papers.
OWN = ("games/", "bots/", "notation/", "experiments/", "strategies/betting.py")
PLAIN_WORDS = {"matrix", "repeated"}  # words of English and mathematics as well


def test_no_general_file_names_a_game() -> None:
    names = sorted({*registered(), *presets()} - PLAIN_WORDS)
    games = re.compile(rf"(?<![a-z])({'|'.join(map(re.escape, names))}|hold'em)(?![a-z])", re.IGNORECASE)
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        place = str(path.relative_to(PACKAGE))
        own = place.startswith(OWN) or any(
            place.startswith((f"simulators/{name}", f"pictures/{name}")) for name in names
        )
        if not own:
            lines = path.read_text().splitlines()
            found += [f"{place}:{number}: {line}" for number, line in enumerate(lines, 1) if games.search(line)]
    assert not found, "\n".join(found)
