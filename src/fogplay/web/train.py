"""The page for training: start solvers, watch them, stop and resume them, play against what they have learned."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from nicegui import run, ui

from fogplay.errors import FogplayError
from fogplay.pictures.charts import draw_lines
from fogplay.pictures.svg import COLOURS, escape
from fogplay.rooms import Hall, Settings
from fogplay.rooms.company import checked_spec
from fogplay.rooms.training import Training, Trainings
from fogplay.solvers.algorithms import ALGORITHMS
from fogplay.web.forms import add_form_page

SUITED = "one that suits the game"
EVERY = 0.7  # seconds between two looks at the runs
OVER = ("iterations", "seconds")  # what curves are drawn over
HINT = "Without a number: as many iterations as suit the game, about a minute at most."


def add_page(hall: Hall, trainings: Trainings) -> None:
    """Serve the page for training."""
    add_form_page("/train", "Train a strategy", lambda: TrainPage(hall, trainings))


class TrainPage:
    """One browser's page; all of them show the same runs."""

    def __init__(self, hall: Hall, trainings: Trainings) -> None:
        self.hall, self.trainings = hall, trainings
        with ui.element("section").classes("panel"):
            self.game = ui.select(
                list(hall.games), value=hall.games[0], label="Game", with_input=True, new_value_mode="add-unique"
            )
            self.algorithm = ui.select([SUITED, *ALGORITHMS], value=SUITED, label="Algorithm")
            self.iterations = ui.number("Iterations", min=1, precision=0)
            ui.label(HINT).classes("soft")
            self.said = ui.label().classes("bad").props('role="alert"')
            ui.button("Start", on_click=self.start, color=None).props("no-caps")
        self.over = ui.select(list(OVER), value=OVER[0], label="Draw curves over", on_change=self.draw)
        self.charts = ui.html(sanitize=False)
        self.rows = ui.element("section").props('aria-label="Runs"')
        self.shown: dict[str, tuple[ui.html, ui.html]] = {}  # by run: what it says, and its buttons
        ui.on("fogplay", self.handle)
        ui.timer(EVERY, self.draw)
        self.draw()

    async def start(self) -> None:
        await self._try(self._start)

    def _start(self) -> None:
        spec = checked_spec(str(self.game.value or ""), self.hall.games)
        algorithm = "" if self.algorithm.value == SUITED else str(self.algorithm.value)
        iterations = None if self.iterations.value is None else int(self.iterations.value)
        self.trainings.start(spec, algorithm, iterations)

    async def handle(self, event: Any) -> None:
        """A click on one of the buttons beside a run."""
        given = event.args if isinstance(event.args, dict) else {}
        what, name = str(given.get("do", "")), str(given.get("run", ""))
        deeds = {"stop": self.trainings.stop, "resume": self.trainings.resume}
        if what in deeds:
            await self._try(partial(deeds[what], name))
        elif what == "play":
            await self._try(partial(self._play, name))

    def _play(self, name: str) -> str:
        """A room against the newest snapshot of a run; returns its address."""
        found = self.trainings.runs.get(name)
        if found is None or found.snapshot is None:
            raise FogplayError("there is nothing to play against yet")
        if found.snapshot not in self.hall.strategies:
            self.hall.strategies.append(found.snapshot)
        room = self.hall.create(Settings(found.game, str(found.snapshot)))
        return f"/room/{room.kept.secret}"

    async def _try(self, deed: Any) -> None:
        self.said.text = ""
        try:
            where = await run.io_bound(deed)
        except FogplayError as error:
            self.said.text = str(error)
            return
        if isinstance(where, str):
            ui.navigate.to(where)
        self.draw()

    def draw(self, _: Any = None) -> None:
        """Show all runs as they are now."""
        runs = list(self.trainings.runs.values())
        self.over.set_visibility(bool(runs))
        _show(self.charts, charts_of(runs, str(self.over.value)))
        for each in runs:
            if each.name not in self.shown:
                with self.rows, ui.element("div").classes("panel run") as row:
                    self.shown[each.name] = ui.html(sanitize=False), ui.html(sanitize=False)
                row.move(target_index=0)  # the newest first
            words, buttons = self.shown[each.name]
            _show(words, f"<b>{escape(_name(each))}</b> {escape(each.words)}")
            _show(buttons, _buttons(each))


def charts_of(runs: Sequence[Training], over: str) -> str:
    """A chart per game and measure, with the newest runs that have it; the chart of the newest run comes first."""
    groups: dict[tuple[str, str], list[Training]] = {}
    for each in reversed(runs):
        if each.curve:
            groups.setdefault((each.game, each.measure), []).append(each)
    drawn = []
    for (game, measure), members in groups.items():
        lines = {f"{each.short} {each.algorithm}": _points(each, over) for each in reversed(members[:COLOURS])}
        chart = draw_lines(lines, over, measure, plain=measure != "nash_conv")
        drawn.append(f'<section class="panel" aria-label="{escape(game)}"><h2>{escape(game)}</h2>{chart}</section>')
    return f'<div class="pair">{"".join(drawn)}</div>' if drawn else ""


def _points(each: Training, over: str) -> list[tuple[float, float]]:
    return [(at.iteration if over == OVER[0] else at.seconds, at.value) for at in each.curve]


def _show(place: ui.html, made: str) -> None:
    """Change an element only if it differs: buttons must stay where they are while numbers change."""
    if place.content != made:
        place.content = made


def _name(each: Training) -> str:
    return f"{each.short}, {each.game} by {each.algorithm or 'a suitable algorithm'}:"


def _buttons(each: Training) -> str:
    deed = "stop" if each.running else "" if each.done else "resume"
    buttons = [name for name in (deed, "play" if each.snapshot is not None else "") if name]
    return " ".join(
        f'<button class="plain" data-do="{name}" data-run="{escape(each.name)}" '
        f'aria-label="{name.capitalize()} {escape(each.short)}">{name.capitalize()}</button>'
        for name in buttons
    )
