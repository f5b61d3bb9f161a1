"""The page to explore strategies: bars of action probabilities, charts of starting hands, small trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from nicegui import run, ui

from fogplay.agents.resolve import BOTS
from fogplay.errors import FogplayError
from fogplay.games.registry import load
from fogplay.pictures.bars import draw_bars
from fogplay.pictures.svg import escape
from fogplay.pictures.trees import draw_tree
from fogplay.rooms import Hall
from fogplay.rooms.company import BEST
from fogplay.rooms.training import Trainings
from fogplay.simulators import part_of
from fogplay.strategies import TabularStrategy
from fogplay.web.forms import Bot, add_form_page, opened, said

MOST_BARS = 30
MOST_DIFFERENCES, FEW_DIFFERENCES = 12, 4
MOST_TREE = 200
MOST_PLAYERS = 2  # of games whose bots are all offered: with more of them, each takes gigabytes
NONE = "none"
SEED = 1  # of the cards by which a chart tells what hands earn
HOW = "Point at a cell, or go to one with Tab and the arrow keys."
INFOSETS, BETTING = "Infosets that contain", "Betting so far, such as crc/r"

Source = Path | Bot
Shares = Mapping[str, Mapping[str, float]]  # by situation, the probability of each action


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
            self.where = ui.input(INFOSETS)
            self.board = ui.input("Board, such as Kh7d2c")
            self.button = ui.button("Show", on_click=self.draw, color=None).props("no-caps")
        self.shown = ui.html(sanitize=False)
        self.first.on_value_change(self.choose)
        self.choose()

    def choose(self, _: Any = None) -> None:
        """Ask for what the chosen strategy can be asked."""
        source = self.known.get(str(self.first.value))
        charted = isinstance(source, Path) or has_chart(source)
        self.where.props(f'label="{BETTING if charted else INFOSETS}"')
        self.board.set_visibility(charted)

    async def draw(self) -> None:
        """Draw what is asked for."""
        others = [] if self.second.value == NONE else [str(self.second.value)]
        names, where, board = [str(self.first.value), *others], str(self.where.value), str(self.board.value)
        self.shown.content = '<p class="soft" role="status">Drawing …</p>'
        try:
            made = await run.io_bound(lambda: pictures([self.known[name] for name in names], names, where, board))
        except (FogplayError, KeyError) as error:
            made = said(error)
        self.shown.content = made


def has_chart(source: Source | None) -> bool:
    """Whether a player's game draws charts instead of bars."""
    return isinstance(source, Bot) and part_of(load(source.game), "draw_chart") is not None


def strategies_known(hall: Hall, trainings: Trainings) -> dict[str, Source]:
    """Strategies by the names that the page shows: the best of every game, bots with charts, files, runs' snapshots."""
    found: dict[str, Source] = {f"the best of {spec}": Bot(spec, BEST) for spec in hall.games}
    for spec in hall.games:
        rules = load(spec)
        bots = part_of(rules, "opponents", BOTS)
        if bots is not None and has_chart(Bot(spec, BEST)) and rules.num_players() <= MOST_PLAYERS:
            found |= {f"{name} of {spec}": Bot(spec, name) for name in bots(rules)}
    for path in hall.strategies:
        found[Path(path).name] = Path(path)
    for name, training in trainings.runs.items():
        if training.snapshot is not None:
            found[f"{name} ({training.game})"] = training.snapshot
    return found


def pictures(sources: Sequence[Source], names: Sequence[str], where: str, board: str) -> str:
    """HTML with the pictures of one strategy, or of two with their differences first."""
    strategies = [opened(source) for source in sources]
    first = strategies[0]
    if not isinstance(first, TabularStrategy):
        return _charts(sources, names, strategies, where, board)
    chosen = [infoset for infoset in first.infosets if where in infoset]
    if not chosen:
        return f'<p class="soft">No infoset contains {escape(where)}.</p>'
    if len(strategies) == 1:
        rows = {infoset: first[infoset] for infoset in chosen[:MOST_BARS]}
        return draw_bars(rows, _heading(names[0], len(chosen))) + _tree(first)
    if not isinstance(strategies[1], TabularStrategy):
        raise FogplayError("these two strategies have no infoset in common: choose two of the same game")
    return compared({infoset: first[infoset] for infoset in chosen}, strategies[1], names)


def compared(first: Shares, second: Shares, names: Sequence[str]) -> str:
    """Bars of the situations in which two strategies differ most, one above the other."""
    both = [each for each in first if each in second and first[each].keys() == second[each].keys()]
    if not both:
        raise FogplayError("these two strategies have no infoset in common: choose two of the same game")
    apart = {each: _difference(first[each], second[each]) for each in both}
    both.sort(key=lambda each: -apart[each])
    shown = both[:MOST_DIFFERENCES]
    half = len(shown) if len(shown) < FEW_DIFFERENCES else (len(shown) + 1) // 2  # two columns, the first one first
    columns = [
        {f"{each} · {name}": of[each] for each in part for name, of in (("first", first), ("second", second))}
        for part in (shown[:half], shown[half:])
        if part
    ]
    mean = sum(apart.values()) / len(both)
    about = (
        f"They differ by {100 * mean:.1f} % on average over {len(both):,} situations: so much probability moves from "
        "one action to another."
    )
    told = f"<h2>Largest differences first</h2><p>First: {escape(names[0])}. Second: {escape(names[1])}. {about}</p>"
    return f'{told}<div class="columns">{"".join(f"<div>{draw_bars(rows)}</div>" for rows in columns)}</div>'


def _charts(sources: Sequence[Source], names: Sequence[str], strategies: Sequence[Any], where: str, board: str) -> str:
    """Charts side by side, with what situations earn where the game can tell; the largest differences come first."""
    shares, drawn = [], []
    for source, name, each in zip(sources, names, strategies, strict=True):
        rules = load(source.game if isinstance(source, Bot) else each.game)
        draw, find = part_of(rules, "draw_chart"), part_of(rules, "chart_shares")
        chart = None if draw is None else draw(rules, each, where or None, board, np.random.default_rng(SEED))
        if chart is None:
            return f'<p class="soft">{escape(name)} has no table of probabilities to draw.</p>'
        shares.append(find(rules, each, where or None, board))
        drawn.append(f"<div><h2>{escape(name)}</h2>{chart.svg}</div>")
    how = f'<p class="soft" id="cell" role="status">{HOW}</p>'
    apart = compared(shares[0], shares[1], names) if len(shares) > 1 else ""
    return f'{apart}{how}<div class="pair">{"".join(drawn)}</div>'


def _heading(name: str, count: int) -> str:
    return f"{name}: {count:,} infosets" + (f", the first {MOST_BARS}" if count > MOST_BARS else "")


def _tree(strategy: TabularStrategy) -> str:
    """The game's tree, if it is small enough for a picture."""
    try:
        drawn = draw_tree(load(strategy.game), lambda infoset, player: strategy.get(infoset), MOST_TREE)
    except FogplayError:
        return ""
    return f'<h2>The tree</h2><div class="scroll" tabindex="0" role="region" aria-label="The tree">{drawn}</div>'


def _difference(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(abs(one[action] - other[action]) for action in one) / 2
