"""The first page: choose a game, an opponent and a seat."""

from __future__ import annotations

from typing import Any

from nicegui import run, ui

from fogplay.errors import FogplayError
from fogplay.games.registry import load
from fogplay.notation.talk import talk_for
from fogplay.rooms import Hall, Settings, opponents_for
from fogplay.rooms.company import BEST, checked_spec
from fogplay.web.forms import add_form_page

MOVING = "change after every hand"
ROOMS = '<section aria-label="Your rooms"><h2>Your rooms in this browser</h2><ul id="rooms"></ul></section>'


def add_page(hall: Hall) -> None:
    """Serve the first page."""

    def fill() -> None:
        Lobby(hall)
        ui.html(ROOMS, sanitize=False)

    add_form_page("/", "Play a game of hidden information", fill)


class Lobby:
    """The choices for a new room."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        with ui.element("section").classes("panel"):
            self.game = ui.select(
                list(hall.games),
                value=hall.games[0],
                label="Game; choose one, or type one with its parameters",
                with_input=True,
                new_value_mode="add-unique",
            )
            self.rules = ui.label().classes("soft rules")
            self.opponent = ui.select({BEST: BEST}, value=BEST, label="Opponent")
            self.seat = ui.select([MOVING], value=MOVING, label="Your seat")
            self.automatic = ui.checkbox("Begin the next hand by itself")
            self.said = ui.label().classes("bad").props('role="alert"')
            self.button = ui.button("Sit down", on_click=self.sit_down).props("no-caps")
        self.game.on_value_change(self.choose)
        self.choose()

    def choose(self, _: Any = None) -> None:
        """Offer what the chosen game has."""
        try:
            spec = checked_spec(str(self.game.value or ""), self.hall.games)
            rules = load(spec)
            offered = opponents_for(spec, self.hall.strategies)
        except FogplayError as error:
            self.said.text = str(error)
            return
        self.said.text = ""
        self.rules.text = " ".join(talk_for(rules).rules(rules))
        self.opponent.set_options({each.text: f"{each.text}: {each.sentence}" for each in offered}, value=BEST)
        self.seat.set_options([MOVING, *(f"seat {seat}" for seat in range(int(rules.num_players())))], value=MOVING)

    async def sit_down(self) -> None:
        """Make the room and go there."""
        chosen = str(self.seat.value)
        seat = None if chosen == MOVING else int(chosen.removeprefix("seat "))
        settings = Settings(str(self.game.value), str(self.opponent.value), seat, bool(self.automatic.value))
        self.button.disable()
        self.said.text = "Seating your opponent; the first time this may take a minute …"
        try:
            room = await run.io_bound(self.hall.create, settings)
        except FogplayError as error:
            self.said.text = str(error)
            self.button.enable()
            return
        if room is not None:  # else the server is stopping
            ui.navigate.to(f"/room/{room.kept.secret}")
