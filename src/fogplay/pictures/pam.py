"""The picture of Princess and Monster: the cells, the own path, and at the end both."""

from __future__ import annotations

from typing import Any

from fogplay.games.game import CHANCE
from fogplay.pictures.picture import won
from fogplay.pictures.scene import Drawing, Place, Scene
from fogplay.pictures.sight import Sight
from fogplay.pictures.svg import number, rectangle, text

CELL = 64.0
ROLES = ("monster", "princess")


def scene_of(sight: Sight) -> Scene | None:
    """The cells, with the path of every role that this seat may know."""
    game = sight.game
    steps = [[event.action for event in sight.seen if event.seat == seat] for seat in range(2)]
    starts: dict[int, int] = {}
    pair = next((event.action for event in sight.seen if event.seat == CHANCE), None)
    if pair is not None:
        starts = dict(enumerate(divmod(pair, game.rows * game.columns)))
    elif sight.infoset:
        row, column = sight.infoset.partition(":")[0].split()[-1].split(",")
        starts = {sight.seat: (int(row) - 1) * game.columns + int(column) - 1}
    if not starts:
        return None
    paths = {seat: _path(game, start, steps[seat]) for seat, start in starts.items() if None not in steps[seat]}
    places = tuple(
        Place(f"{name} ({ROLES[seat]})", note=won(sight, seat), turn=seat in sight.to_act)
        for seat, name in enumerate(sight.names)
    )
    lines = sight.lines if sight.over else (f"{sight.situation}.",)
    return Scene(places, sight.seat, lines=lines, drawing=_cells(game, paths))


def _path(game: Any, start: int, steps: list[int]) -> list[int]:
    path = [start]
    for step in steps:
        path.append(game.targets[path[-1]][step])
    return path


def _cells(game: Any, paths: dict[int, list[int]]) -> Drawing:
    parts = [
        rectangle(CELL * column, CELL * row, CELL, CELL, "panel", 4)
        for row in range(game.rows)
        for column in range(game.columns)
    ]
    words = []
    for seat, path in paths.items():
        offset = 8 * (seat - 0.5)
        points = [(CELL * (cell % game.columns + 0.5) + offset, CELL * (cell // game.columns + 0.5)) for cell in path]
        joined = " ".join(f"{number(x)},{number(y + offset)}" for x, y in points)
        parts.append(f'<polyline class="s{seat}" stroke-width="3" points="{joined}"/>')
        x, y = points[-1]
        parts.append(f'<circle class="a{seat}" cx="{number(x)}" cy="{number(y + offset)}" r="9"/>')
        parts.append(text(x, y + offset + (22 if seat else -13), ROLES[seat], 13))  # one above, one below
        words.append(
            f"the {ROLES[seat]} is in row {path[-1] // game.columns + 1}, column {path[-1] % game.columns + 1}"
        )
    legend = f"cells in {game.rows} rows and {game.columns} columns; {'; '.join(words)}"
    return Drawing("".join(parts), CELL * game.columns, CELL * game.rows, legend)
