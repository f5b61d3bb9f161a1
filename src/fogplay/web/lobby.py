"""The first page: choose a game, an opponent and a seat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nicegui import run, ui

from fogplay.errors import FogplayError
from fogplay.games.own import failed
from fogplay.games.registry import load
from fogplay.notation.talk import talk_for
from fogplay.rooms import Hall, Settings
from fogplay.rooms.company import BEST, checked_spec
from fogplay.rooms.store import AT_ONCE, PACES
from fogplay.web.forms import add_form_page
from fogplay.web.markup import pace_words

HOW = "Choose a game, or type its name with parameters in brackets."
MOVING = "change after every hand"
ROOMS = (
    '<section aria-label="Your rooms"><h2>Your rooms in this browser</h2>'
    '<p class="soft" id="no-rooms">None yet. Rooms that you open are listed here.</p><ul id="rooms"></ul></section>'
)


def add_page(hall: Hall) -> None:
    """Serve the first page."""

    def fill() -> None:
        Lobby(hall)
        ui.html(ROOMS, sanitize=False)

    add_form_page("/", "Play a game of hidden information", fill)


class Lobby:
    """The choices for a new room."""

    def __init__(self, hall: Hall) -> None:
        self.hall, self.sentences = hall, dict[str, str]()
        with ui.element("section").classes("panel"):
            self.game = ui.select(
                list(hall.games), value=hall.games[0], label="Game", with_input=True, new_value_mode="add-unique"
            )
            ui.label(HOW).classes("soft")
            self.rules = ui.label().classes("soft rules")
            self.opponent = ui.select({BEST: BEST}, value=BEST, label="Opponent")
            self.strength = ui.label().classes("soft strength").props('role="status"')
            self.seat = ui.select([MOVING], value=MOVING, label="Your seat")
            self.pace = ui.select(list(PACES), value=AT_ONCE, label="Pace", on_change=self.describe)
            self.pace_said = ui.label().classes("soft strength")
            self.automatic = ui.checkbox("Begin the next hand by itself")
            self.said = ui.label().classes("bad").props('role="alert"')
            self.button = ui.button("Sit down", on_click=self.sit_down, color=None).props("no-caps")
        self.opponent.on_value_change(self.describe)
        self.game.on_value_change(self.choose)
        self.choose()

    def choose(self, _: Any = None) -> None:
        """Offer what the chosen game has."""
        try:
            spec = checked_spec(str(self.game.value or ""), self.hall.games)
            rules = load(spec)
            offered = self.hall.opponents(spec)
        except FogplayError as error:
            self.said.text = str(error)
            return
        self.said.text = ""
        self.rules.text = " ".join(talk_for(rules).rules(rules))
        self.sentences = {each.text: each.sentence for each in offered}
        self.opponent.set_options({each.text: Path(each.text).name for each in offered}, value=BEST)
        self.describe()
        self.seat.set_options([MOVING, *(f"seat {seat}" for seat in range(int(rules.num_players())))], value=MOVING)

    def describe(self, _: Any = None) -> None:
        """Say how strong the chosen opponent is, and what the pace means."""
        self.strength.text = self.sentences.get(str(self.opponent.value), "")
        self.pace_said.text = pace_words(str(self.pace.value))

    async def sit_down(self) -> None:
        """Make the room and go there."""
        chosen = str(self.seat.value)
        seat = None if chosen == MOVING else int(chosen.removeprefix("seat "))
        automatic, pace = bool(self.automatic.value), str(self.pace.value)
        settings = Settings(str(self.game.value), str(self.opponent.value), seat, automatic, pace)
        self.button.disable()
        self.said.text = "Seating your opponent; the first time this may take a minute …"
        try:
            room = await run.io_bound(self.hall.create, settings)
        except Exception as error:  # a game of a person's own may fail in any way
            self.said.text = str(error) if isinstance(error, FogplayError) else failed(error)
            self.button.enable()
            return
        if room is not None:  # else the server is stopping
            ui.navigate.to(f"/room/{room.kept.secret}")
