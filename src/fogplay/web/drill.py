"""The page of a drill: decisions that cost most, asked again, and what the reviewer says."""

from __future__ import annotations

import hmac
import random
from typing import Any

from nicegui import run, ui

from fogplay.errors import FogplayError
from fogplay.pictures import draw_sight
from fogplay.pictures.svg import escape
from fogplay.rooms import Hall, Room
from fogplay.rooms.hands import Exercise, answer, exercise
from fogplay.web.forms import PATIENCE
from fogplay.web.markup import HANDS_LINK, TABLE_LINK, decision_panel, head, keys_for
from fogplay.web.room import opened

NOTHING = "Nothing to practise yet: no reviewed choice of yours has cost anything."


def add_page(hall: Hall) -> None:
    """Serve drills by the rooms' secrets."""

    @ui.page("/room/{secret}/drill", response_timeout=PATIENCE)
    async def page(secret: str) -> None:
        place = ui.html(sanitize=False).classes("w-full")
        room = await opened(hall, secret, place)
        if room is not None:
            await DrillPage(room, place).go_on()


class DrillPage:
    """One browser's drill."""

    def __init__(self, room: Room, place: ui.html) -> None:
        self.room, self.html, self.rng = room, place, random.Random()
        self.asked: Exercise | None = None
        self.given: int | None = None  # the answer; None until there is one
        self.right = self.all = 0
        ui.on("fogplay", self.handle)

    async def handle(self, event: Any) -> None:
        """An answer, or the wish for another question; only a page that knows the room's secret is heard."""
        given = event.args if isinstance(event.args, dict) else {}
        if not hmac.compare_digest(str(given.get("secret", "")).encode(), self.room.kept.secret.encode()):
            return
        try:
            if given.get("do") == "next":
                await self.go_on()
            elif given.get("do") == "answer" and self.asked is not None and self.given is None:
                option = int(given["option"])
                self.right += bool(await run.io_bound(answer, self.room, self.asked, option))
                self.given, self.all = option, self.all + 1
        except (FogplayError, KeyError, TypeError, ValueError, OverflowError):
            pass  # a page never sends that
        self.draw()

    async def go_on(self) -> None:
        """Ask the next question."""
        self.asked, self.given = await run.io_bound(exercise, self.room, self.rng), None
        self.draw()

    def draw(self) -> None:
        """Make the page's only element again."""
        self.html.content = drill_page(self.asked, self.given, self.right, self.all)


def drill_page(asked: Exercise | None, given: int | None, right: int, count: int) -> str:
    """The question, or what the reviewer says to the answer."""
    back = f'<p class="links">{HANDS_LINK} {TABLE_LINK}</p>'
    if asked is None:
        return f'<div class="page">{head("Drill")}<p role="status">{NOTHING}</p>{back}</div>'
    board = f'<div class="board">{draw_sight(asked.sight, faces=True)}</div>'
    score = f'<p class="soft">{right} of {count} right</p>' if count else ""
    if given is None:
        said = f"Hand {asked.hand + 1} again. {asked.made['situation']}. What is best?"
        below = _options(asked)
    else:
        said = "Right." if asked.right(given) else "That costs something."
        made = {**asked.made, "chosen": given, "cost": _cost(asked, given)}
        more = '<button data-do="next" data-key="n">Next<kbd>n</kbd></button>'
        below = f'<div class="moves">{more}</div>{decision_panel(made)}'
    table = f'<section aria-label="Drill">{board}<p id="turn">{escape(said)}</p>{below}{score}</section>'
    return f'<div class="page">{head("Drill")}{table}{back}</div>'


def _options(asked: Exercise) -> str:
    options = asked.made["options"]
    buttons = []
    for place, key in enumerate(keys_for(options)):
        named, shown = (f' data-key="{key}"', f"<kbd>{key.split()[0]}</kbd>") if key else ("", "")
        buttons.append(
            f'<button data-do="answer" data-option="{place}"{named}>{escape(options[place])}{shown}</button>'
        )
    return f'<div class="moves" role="group" aria-label="Your answer">{"".join(buttons)}</div>'


def _cost(asked: Exercise, option: int) -> float | None:
    values = asked.made["values"]
    return None if values is None else float(max(values) - values[option])
