"""The page to explore strategies: bars of action probabilities, charts of starting hands, small trees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from nicegui import run, ui

from fogplay.errors import FogplayError
from fogplay.games.registry import load
from fogplay.pictures.bars import draw_bars
from fogplay.pictures.svg import escape
from fogplay.pictures.trees import draw_tree
from fogplay.rooms import Hall
from fogplay.rooms.training import Trainings
from fogplay.simulators import part_of
from fogplay.strategies import TabularStrategy
from fogplay.web.forms import add_form_page, opened, said

MOST_BARS = 30
MOST_TREE = 200
NONE = "none"
SEED = 1  # of the cards by which a chart tells what hands earn
HOW = "Point at a cell, or go to one with Tab and the arrow keys."


def add_page(hall: Hall, trainings: Trainings) -> None:
    """Serve the page to explore strategies."""
    add_form_page("/explore", "Explore a strategy", lambda: ExplorePage(hall, trainings))


class ExplorePage:
    """What is shown of one or two strategies."""

    def __init__(self, hall: Hall, trainings: Trainings) -> None:
        self.known = strategies_known(hall, trainings)
        with ui.element("section").classes("panel"):
            self.first = ui.select(list(self.known), value=next(iter(self.known)), label="Strategy")
            self.second = ui.select([NONE, *self.known], value=NONE, label="Beside it")
            self.where = ui.input("Infosets that contain, or betting such as crc/r", value="")
            self.board = ui.input("Board, such as Kh7d2c, for games with one", value="")
            ui.button("Show", on_click=self.draw).props("no-caps")
        self.shown = ui.html(sanitize=False)

    async def draw(self) -> None:
        """Draw what is asked for."""
        others = [] if self.second.value == NONE else [str(self.second.value)]
        names, where, board = [str(self.first.value), *others], str(self.where.value), str(self.board.value)
        try:
            made = await run.io_bound(lambda: pictures([self.known[name] for name in names], names, where, board))
        except (FogplayError, KeyError) as error:
            made = said(error)
        self.shown.content = made


def strategies_known(hall: Hall, trainings: Trainings) -> dict[str, Any]:
    """Strategies by the names that the page shows: files, snapshots of runs, and the best of every game on offer."""
    found: dict[str, Any] = {f"the best of {spec}": spec for spec in hall.games}
    for path in hall.strategies:
        found[Path(path).name] = Path(path)
    for name, training in trainings.runs.items():
        if training.snapshot is not None:
            found[f"{name} ({training.game})"] = training.snapshot
    return found


def pictures(sources: Sequence[Any], names: Sequence[str], where: str, board: str) -> str:
    """HTML with the pictures of one strategy, or of two with their differences first."""
    strategies = [opened(source) for source in sources]
    first = strategies[0]
    if not isinstance(first, TabularStrategy):
        return "".join(
            f"<h2>{escape(name)}</h2>{_chart(source, each, where, board)}"
            for source, name, each in zip(sources, names, strategies, strict=True)
        )
    chosen = [infoset for infoset in first.infosets if where in infoset]
    if not chosen:
        return f'<p class="soft">No infoset contains {escape(where)}.</p>'
    if len(strategies) == 1:
        rows = {infoset: first[infoset] for infoset in chosen[:MOST_BARS]}
        return draw_bars(rows, _heading(names[0], len(chosen))) + _tree(first)
    other = strategies[1]
    both = [infoset for infoset in chosen if infoset in other and first[infoset].keys() == other[infoset].keys()]
    if not both:
        raise FogplayError("these two strategies have no infoset in common: choose two of the same game")
    both.sort(key=lambda infoset: -_difference(first[infoset], other[infoset]))
    pairs: dict[str, Any] = {}
    for infoset in both[: MOST_BARS // 2]:
        pairs[f"{infoset} · first"] = first[infoset]
        pairs[f"{infoset} · second"] = other[infoset]
    return draw_bars(pairs, f"Largest differences first: {names[0]}, {names[1]}")


def _chart(source: Any, strategy: Any, where: str, board: str) -> str:
    """The chart of a strategy that is not a list of infosets, with what situations earn where its game can tell."""
    rules = load(strategy.game if isinstance(source, Path) else source)
    draw = part_of(rules, "draw_chart")
    drawn = None if draw is None else draw(rules, strategy, where or None, board, np.random.default_rng(SEED))
    if drawn is None:
        return '<p class="soft">This player has no table of probabilities to draw.</p>'
    return f'<p class="soft" id="cell" role="status">{HOW}</p>{drawn.svg}'


def _heading(name: str, count: int) -> str:
    return f"{name}: {count:,} infosets" + (f", the first {MOST_BARS}" if count > MOST_BARS else "")


def _tree(strategy: TabularStrategy) -> str:
    """The game's tree, if it is small enough for a picture."""
    try:
        return draw_tree(load(strategy.game), lambda infoset, player: strategy.get(infoset), MOST_TREE)
    except FogplayError:
        return ""


def _difference(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(abs(one[action] - other[action]) for action in one) / 2
