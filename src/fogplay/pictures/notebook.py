"""What notebooks show: games, and tables of facts and numbers beside pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.game import Game, fits_in_tree, spec_of
from fogplay.pictures.svg import escape
from fogplay.pictures.trees import draw_tree

MOST_NODES = 120  # of a tree that is shown unasked


def as_table(columns: Sequence[str], rows: Iterable[Sequence[object]], heading: str = "") -> str:
    """A table as HTML; everything is escaped."""
    top = f"<caption>{escape(heading)}</caption>" if heading else ""
    names = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{top}<thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>"


def as_facts(facts: Mapping[str, object], heading: str = "") -> str:
    """Names and values as a table of two columns."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts.items())
    top = f"<caption>{escape(heading)}</caption>" if heading else ""
    return f"<table>{top}<tbody>{rows}</tbody></table>"


def game_as_html(game: Any) -> str:
    """A game for a notebook: its summary and parameters, and its tree if that is small."""
    fields = dataclasses.fields(game) if dataclasses.is_dataclass(game) else ()
    settings = {each.name: spec_of(getattr(game, each.name)) for each in fields if each.init}
    summary = (type(game).__doc__ or "").strip().partition("\n")[0].replace("``", "")
    words = f"<p><b>{escape(spec_of(game))}</b> {escape(summary)}</p>"
    facts = as_facts({"players": game.num_players(), **settings})
    try:
        small = fits_in_tree(game) and not hasattr(game, "instead_of_a_tree")
        tree = draw_tree(game, most=MOST_NODES) if small else ""
    except FogplayError:  # it is larger
        tree = ""
    return f"<div>{words}{facts}{tree}</div>"


Game.drawing = game_as_html
