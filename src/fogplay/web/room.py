"""The page of a room: one element, made by the server, and one handler for everything that the person does."""

from __future__ import annotations

import asyncio
import hmac
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from nicegui import background_tasks, run, ui

from fogplay.errors import FogplayError
from fogplay.pictures.svg import escape
from fogplay.rooms import Finished, Hall, Look, Room, Scores, Settings
from fogplay.web.forms import PATIENCE
from fogplay.web.markup import MOST_HISTORY, head, room_page

Answer = TypeVar("Answer")

MOST_TEXT = 200  # letters of a typed move

_watching: dict[str, set[RoomPage]] = defaultdict(set)  # the pages that show a room, by its secret


def add_page(hall: Hall) -> None:
    """Serve rooms by their secrets."""

    @ui.page("/room/{secret}", response_timeout=PATIENCE)
    async def page(secret: str) -> None:
        place = ui.html(sanitize=False).classes("w-full")
        room = await opened(hall, secret, place)
        if room is not None:
            RoomPage(room, place)


async def opened(hall: Hall, secret: str, place: ui.html) -> Room | None:
    """The room that a secret opens; None, and a word about it, if there is none, or if the server is stopping."""
    if not hall.is_open(secret):  # large tables are read first, which takes longer than a page may
        place.content = f'<div class="page">{head("Opening the room …")}</div>'
        await ui.context.client.connected()
    try:
        return await run.io_bound(hall.room, secret)
    except FogplayError as error:
        place.content = f'<div class="page">{head("No such room")}<p>{escape(error)}</p></div>'
        return None


class RoomPage:
    """One browser's page of a room."""

    def __init__(self, room: Room, place: ui.html) -> None:
        self.room, self.message = room, ""
        self.shown: int | None = None  # the hand whose review is shown; None: the last one
        self.html = place
        self.busy = self.stepping = self.reviewing = False
        ui.on("fogplay", self.handle)
        self.client = ui.context.client
        _watching[room.kept.secret].add(self)
        self.client.on_connect(self._catch_up)
        self.client.on_delete(self._leave)
        self.stale = False  # whether something happened while nobody was looking
        self.draw()
        self._review_later()

    async def handle(self, event: Any) -> None:
        """Something that the person did; only a page that knows the room's secret is heard."""
        given = event.args if isinstance(event.args, dict) else {}
        if not hmac.compare_digest(str(given.get("secret", "")).encode(), self.room.kept.secret.encode()):
            return
        if self.busy:
            return
        self.busy, self.message = True, ""
        try:
            await self._do(str(given.get("do", "")), given)
        except FogplayError as error:
            self.message = str(error)
        except (KeyError, TypeError, ValueError, OverflowError):
            self.message = "that was not understood; reload the page"
        finally:
            self.busy = False
        self.draw()

    async def _do(self, what: str, given: dict[str, Any]) -> None:
        room = self.room
        if what == "set":
            await self._soon(room.change, self._changed(str(given["what"]), str(given["value"])))
            self._tell_others()
        elif what == "review":
            self.shown = int(given["hand"])
            await run.io_bound(room.settle, self.shown)
        elif what == "next":
            before = self._books()
            await self._soon(room.next_hand, int(given["hand"]))
            self.shown = None
            await self._show_steps(await self._soon(room.steps, int(given["hand"]) + 1, -1), *before)
            self._review_later()  # the others may have ended the hand
            self._tell_others()
        elif what in ("act", "typed"):
            hand, decision, before = int(given["hand"]), int(given["decision"]), self._books()
            if what == "act":
                await self._soon(room.act, hand, decision, int(given["action"]))
            else:
                await self._soon(room.act_by_text, hand, decision, str(given.get("text", ""))[:MOST_TEXT])
            await self._show_steps(await self._soon(room.steps, hand, decision), *before)
            self._review_later()
            self._tell_others()
        else:
            raise ValueError(what)

    def _changed(self, what: str, value: str) -> Settings:
        """The room's settings with another seat or pace."""
        settings = self.room.settings
        if what == "seat":
            return replace(settings, seat=int(value) if value else None)
        if what == "automatic":
            return replace(settings, automatic=value == "1")
        if what == "pace":
            return replace(settings, pace=value)
        raise ValueError(what)

    def _books(self) -> tuple[Scores, list[Finished]]:
        """The score and the last hands as they are now."""
        return self.room.scores(), self.room.history(MOST_HISTORY)

    async def _show_steps(self, steps: Sequence[Look] | None, scores: Scores, history: Sequence[Finished]) -> None:
        """Show the others' moves one after the other, at the room's pace; the score changes only after the last."""
        self.stepping = True
        try:
            for look in steps or ():
                self.html.content = room_page(look, self.room.settings, scores, history)
                await asyncio.sleep(self.room.settings.move_seconds)
        finally:
            self.stepping = False

    async def _soon(self, deed: Callable[..., Answer], *given: Any) -> Answer | None:
        """Do something here if nobody has to think, which is cheaper than to ask a thread; else on a thread.

        None if the server is stopping.
        """
        if self.room.company.is_shared:
            return deed(*given)
        return await run.io_bound(deed, *given)

    def _tell_others(self) -> None:
        for page in list(_watching[self.room.kept.secret]):
            if page is not self and page.client.has_socket_connection:
                page.draw()
            elif page is not self:
                page.stale = True

    def _catch_up(self) -> None:
        """Draw what happened while the browser was away."""
        if self.stale:
            self.draw()

    def _leave(self) -> None:
        watching = _watching[self.room.kept.secret]
        watching.discard(self)
        if not watching:
            del _watching[self.room.kept.secret]

    def _review_later(self) -> None:
        """Review the last hands without letting anybody wait."""
        missing = [hand.number for hand in self.room.history(MOST_HISTORY) if hand.review is None]
        if missing and not self.reviewing:
            self.reviewing = True
            background_tasks.create(self._settle(missing))

    async def _settle(self, numbers: Sequence[int]) -> None:
        try:
            for number in reversed(numbers):
                if await run.io_bound(self.room.settle, number) is None:
                    return  # the server is stopping
                self.draw()
                self._tell_others()
        except (FogplayError, asyncio.CancelledError):
            return
        finally:
            self.reviewing = False
        self._review_later()  # what was finished meanwhile

    def _reviewed(self, look: Look, history: list[Finished]) -> Finished | None:
        """The hand whose review is shown: the one asked for, or the last one once it is over."""
        if self.shown is not None:
            return self.room.store.hand(self.room.kept.id, self.shown)
        return history[-1] if history and look.sight.over else None

    def draw(self) -> None:
        """Make the page's only element again, unless it is about to be made anyway."""
        if self.stepping:
            return
        self.stale = False
        look, (scores, history) = self.room.look(), self._books()
        reviewed = self._reviewed(look, history)
        self.html.content = room_page(look, self.room.settings, scores, history, reviewed, self.message)
