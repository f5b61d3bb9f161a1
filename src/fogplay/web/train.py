"""The page for training: start solvers, watch them, stop and resume them, play against what they have learned."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import run, ui

from fogplay.errors import FogplayError
from fogplay.pictures.charts import draw_lines
from fogplay.pictures.svg import escape
from fogplay.rooms import Hall, Settings
from fogplay.rooms.company import checked_spec
from fogplay.rooms.training import Training, Trainings
from fogplay.solvers.algorithms import ALGORITHMS
from fogplay.web.forms import add_form_page

SUITED = "one that suits the game"
EVERY = 0.7  # seconds between two looks at the runs
MOST_LINES = 4


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
            self.iterations = ui.number("Iterations", value=2000, min=1, precision=0)
            self.said = ui.label().classes("bad").props('role="alert"')
            ui.button("Start", on_click=self.start).props("no-caps")
        self.shown, self.deeds = ui.html(sanitize=False), ui.html(sanitize=False)
        ui.on("fogplay", self.handle)
        ui.timer(EVERY, self.draw)
        self.draw()

    async def start(self) -> None:
        await self._try(self._start)

    def _start(self) -> None:
        spec = checked_spec(str(self.game.value or ""), self.hall.games)
        algorithm = "" if self.algorithm.value == SUITED else str(self.algorithm.value)
        self.trainings.start(spec, algorithm, int(self.iterations.value or 0))

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

    def draw(self) -> None:
        runs = list(self.trainings.runs.values())
        lines = {f"{each.name.rpartition('-')[0]} {each.algorithm}": each.curve for each in runs[-MOST_LINES:]}
        chart = draw_lines(lines, "iterations", "nash_conv") if runs else ""
        rows = "".join(f"<li><b>{escape(_name(each))}</b>: {escape(each.words)}</li>" for each in reversed(runs))
        self._show(
            self.shown, f'<section class="panel" aria-label="Runs">{chart}<ul>{rows}</ul></section>' if runs else ""
        )
        self._show(self.deeds, "".join(map(_buttons, reversed(runs))))

    @staticmethod
    def _show(place: ui.html, made: str) -> None:
        """Change an element only if it differs: buttons must stay where they are while numbers change."""
        if place.content != made:
            place.content = made


def _name(each: Training) -> str:
    return f"{each.name.rpartition('-')[0]}, {each.game} by {each.algorithm or 'a suitable algorithm'}"


def _buttons(each: Training) -> str:
    deed = "stop" if each.running else "" if each.done else "resume"
    buttons = [name for name in (deed, "play" if each.snapshot is not None else "") if name]
    shown = "".join(
        f'<button class="plain" data-do="{name}" data-run="{escape(each.name)}">{name.capitalize()}</button> '
        for name in buttons
    )
    return f"<p>{escape(_name(each))}: {shown}</p>"
