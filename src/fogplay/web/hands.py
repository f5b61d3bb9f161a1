"""All hands of a room: a list with filters, the review of one of them, and files to take away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from fastapi import Response
from nicegui import app, run, ui

from fogplay.errors import FogplayError
from fogplay.notation.records import kinds_for
from fogplay.pictures import draw_sight
from fogplay.pictures.svg import escape
from fogplay.rooms import Finished, Hall, Room
from fogplay.rooms.hands import Filter, chosen, exported
from fogplay.web.forms import PATIENCE
from fogplay.web.markup import DRILL_LINK, TABLE_LINK, called, head, review_panel, short
from fogplay.web.room import opened

MOST_ROWS = 200
MOST_WORDS = 60  # letters


def add_page(hall: Hall) -> None:
    """Serve the hands of rooms by the rooms' secrets."""

    @ui.page("/room/{secret}/hands", response_timeout=PATIENCE)
    async def page(secret: str, cost: str = "", seat: str = "", words: str = "", show: str = "") -> None:
        place = ui.html(sanitize=False).classes("w-full")
        room = await opened(hall, secret, place)
        if room is None:
            return
        number = number_from(show)
        if number is not None and not room.is_settled(number):  # a search thinks about every decision again
            place.content = f'<div class="page">{head("Hands")}<p role="status">Reviewing …</p></div>'
            await ui.context.client.connected()
        try:
            found = await run.io_bound(hands_page, room, filter_from(cost, seat, words), number)
        except FogplayError as error:
            found = f'<div class="page">{head("Hands")}<p class="bad" role="alert">{escape(error)}</p></div>'
        place.content = found or ""

    @app.get("/room/{secret}/file/{kind}")
    def file(secret: str, kind: str) -> Response:
        try:
            name, text = exported(hall.room(secret), kind)
        except FogplayError as error:
            return Response(f"{error}\n", status_code=404, media_type="text/plain")
        return Response(
            text,
            media_type="text/plain; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
        )


def filter_from(cost: str, seat: str, words: str) -> Filter:
    """The filter that a person typed; what is not a number counts as nothing."""
    number = number_from(seat)
    return Filter(max(_decimal(cost), 0.0), number, words[:MOST_WORDS])


def number_from(text: str) -> int | None:
    """A whole number from 0, or None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _decimal(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        return 0.0
    return found if math.isfinite(found) else 0.0


def hands_page(room: Room, wanted: Filter, show: int | None) -> str:
    """The list, and the hand that is looked at."""
    hands, title = chosen(room.history(None), wanted), f"Hands of {called(room.settings.game)}"
    looked = "" if show is None else _looked_at(room, show)
    kinds = " ".join(
        f'<a data-in-room="file/{kind}" download>{escape(kind.upper())}</a>' for kind in kinds_for(room.company.rules)
    )
    files = f'<p>Take all hands away as {kinds}.</p><p class="links">{DRILL_LINK} {TABLE_LINK}</p>'
    found = f"<p>{len(hands):,} hands fit.</p>" if len(hands) != 1 else "<p>1 hand fits.</p>"
    inside = f"{_form(room, wanted)}{found}{looked}{_rows(hands[:MOST_ROWS], wanted)}{files}"
    return f'<div class="page">{head(title)}{inside}</div>'


def _form(room: Room, wanted: Filter) -> str:
    seats = "".join(
        f'<option value="{seat}"{" selected" if wanted.seat == seat else ""}>seat {seat}</option>'
        for seat in range(len(room.company.others) + 1)
    )
    cost = f"{wanted.cost:g}" if wanted.cost else ""
    words = "cards, a round, …"
    return (
        '<form method="get" class="panel filters" aria-label="Filters">'
        f'<label>A choice that cost at least <input name="cost" inputmode="decimal" size="6" value="{cost}"></label> '
        f'<label>at <select name="seat"><option value="">any seat</option>{seats}</select></label> '
        f'<label>in a situation with <input name="words" size="16" maxlength="{MOST_WORDS}" '
        f'placeholder="{words}" value="{escape(wanted.words)}"></label> '
        "<button>Show</button></form>"
    )


def _rows(hands: Sequence[Finished], wanted: Filter) -> str:
    if not hands:
        return ""
    rows = []
    for hand in hands:
        fitting = [made for made in hand.review or () if wanted.fits_decision(made)]
        worst = max(fitting, key=lambda made: made["cost"] or 0.0, default=None)
        what = "not reviewed yet" if hand.review is None else ""
        if worst is not None:
            what = f"{worst['situation']}: {worst['options'][worst['chosen']]}"
        cost = "" if hand.cost is None else short(hand.cost)
        link = f'<a data-in-room="hands?show={hand.number}{_query(wanted)}">{hand.number + 1}</a>'
        rows.append(
            f'<tr><td>{link}</td><td class="number">{hand.seat}</td><td class="number">{hand.score:+g}</td>'
            f'<td class="number">{cost}</td><td>{escape(what)}</td></tr>'
        )
    names = (("Hand", ""), ("Seat", "number"), ("Won", "number"), ("Cost", "number"), ("The costliest choice", ""))
    top = "".join(f'<th scope="col" class="{kind}">{name}</th>' for name, kind in names)
    return f'<section class="panel" aria-label="Hands"><table><tr>{top}</tr>{"".join(rows)}</table></section>'


def _query(wanted: Filter) -> str:
    parts: list[tuple[str, Any]] = [
        ("cost", f"{wanted.cost:g}" if wanted.cost else ""), ("seat", wanted.seat), ("words", wanted.words)
    ]  # fmt: skip
    return "".join(f"&amp;{name}={quote(str(value))}" for name, value in parts if value not in ("", None))


def _looked_at(room: Room, number: int) -> str:
    hand = room.settle(number)
    board = f'<div class="board">{draw_sight(room.sight_at_end(number), faces=True)}</div>'
    return f'<div class="room"><section aria-label="Hand {number + 1}">{board}</section>{review_panel(hand)}</div>'
