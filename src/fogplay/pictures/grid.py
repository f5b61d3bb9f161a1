"""A square of situations, such as all starting hands: each cell is filled by action, as wide as it is reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fogplay.errors import FogplayError
from fogplay.pictures.bars import colours_of, in_words, segments
from fogplay.pictures.svg import document, escape, rectangle, text, title

SIDE, GAP = 48.0, 2.0


class Cell(NamedTuple):
    """One situation of the square."""

    name: str
    shares: Mapping[str, float]  # the probability of each action; empty if the situation is impossible
    reach: float = 1.0  # how often it comes this far, from 0 to 1: the width of the coloured part
    note: str = ""  # more for a pointer that rests on it


def draw_grid(rows: Sequence[Sequence[Cell]], heading: str = "") -> str:
    """Rows of cells, and the colours of the actions below."""
    cells = [cell for row in rows for cell in row]
    if not cells:
        raise FogplayError("there is no cell to draw")
    colours = colours_of([action for cell in cells for action in cell.shares])
    top = 32.0 if heading else 6.0
    parts = [text(6, 21, heading, 17, anchor="start")] if heading else []
    for line, row in enumerate(rows):
        for place, cell in enumerate(row):
            first = line == place == 0  # the only one that Tab reaches; arrow keys lead on
            parts.append(_cell(cell, colours, 6 + place * (SIDE + GAP), top + line * (SIDE + GAP), first))
    width = 12 + max(map(len, rows)) * (SIDE + GAP)
    y = top + len(rows) * (SIDE + GAP)
    for place, (action, colour) in enumerate(colours.items()):
        x = 6 + place * width / max(len(colours), 3)
        parts.append(rectangle(x, y + 6, 16, 16, f"a{colour}") + text(x + 24, y + 20, action, 16, anchor="start"))
    label = f"{heading}: {len(cells)} situations and what is done in each"
    return document(width, y + 32, parts, label, "group")


def _cell(cell: Cell, colours: Mapping[str, int], x: float, y: float, first: bool) -> str:
    said = in_words(cell.shares) if cell.shares else "impossible"
    words = f"{cell.name}: {said}{f'; {cell.note}' if cell.note and cell.shares else ''}"
    parts = [title(words), rectangle(x, y, SIDE, SIDE, "none")]
    wide = SIDE * min(max(cell.reach, 0.0), 1.0)
    if cell.shares:
        parts.append(segments(cell.shares, colours, x, y, wide, SIDE, titled=False))
    name = text(x + SIDE / 2, y + SIDE / 2 + 6, cell.name, 16)
    if cell.shares and cell.reach > 0.3:
        name = name.replace("<text ", '<text style="fill:#fff;paint-order:stroke;stroke:#000;stroke-width:3" ')
    reached = f'tabindex="{0 if first else -1}" role="img" aria-label="{escape(words)}"'
    return f"<g {reached}>{''.join(parts)}{name}</g>"
