"""A page as a bare WebSocket: every byte that the server sends is looked at.

A page before the showdown must be what somebody draws who knows neither the opponent nor the hidden cards: from the
same hand with other cards in place of the hidden ones, on rules without agents. What is around the page in a message
must be the same for everybody.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import json
import random
import re
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import aiohttp

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE
from fogplay.games.registry import load
from fogplay.pictures import sight_of
from fogplay.play import Table
from fogplay.play.luck import Seeded
from fogplay.rooms import Look, Scores, Settings, Store
from fogplay.rooms.room import YOU
from fogplay.rooms.store import Kept
from fogplay.web.frames import MOST_PER_SECOND
from fogplay.web.markup import MOST_HISTORY, room_page
from tests.web.browser import Server

INSIDE = re.compile(r'"innerHTML":"((?:[^"\\]|\\.)*)"')
ADDRESS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")  # random ids of pages
UPDATE = re.compile(
    r'42\["update",\{"\d+":\{"tag":"nicegui-html","class":\["w-full"\],"props":\{"innerHTML":"\*","tag":"div",'
    r'"sanitize":false\}\},"_id":\d+\}\]'
)
OTHERS = re.compile(  # ping, greetings, and the code of the page's element
    r'2|0\{"sid":"[\w-]+","upgrades":\[\],"pingTimeout":\d+,"pingInterval":\d+,"maxPayload":\d+\}|40\{"sid":"[\w-]+"\}'
    r'|42\["load_js_components",\{"components":\[\{"key":"[0-9a-f]+/html\.js","tag":"nicegui-html"\}\],"_id":0\}\]'
)
PAUSE = 1.5 / MOST_PER_SECOND  # between two clicks: sockets that send more are closed
TRIES = 30  # of other cards
LONGEST = 120  # seconds for an answer
REVIEWING = "Reviewing …"


class Tap:
    """One room, played by clicks over a bare socket."""

    def __init__(self, server: Server, store: Store, settings: Settings, number: int) -> None:
        self.server, self.store, self.rng = server, store, random.Random(number)
        self.kept: Kept = store.create(settings, f"5eed{number:04d}" * 4)
        self.rules: Any = load(settings.game)
        self.checked = self.changed = self.bytes = self.over = 0  # pages before the showdown, of other cards, …
        self.frames: list[object] = []  # what is around the first pages, which must be the same for everybody

    async def play(self, hands: int) -> None:
        """Play so many hands at random, and look at all that comes.

        Sockets get connections of their own, as in browsers. On one that has just carried a page, uvicorn may still
        start its timer for idle connections when the socket is open, and close the socket five seconds later.
        """
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
            page = await self._open(session)
            if not self.listener:  # the server reads the room first, once somebody is connected
                with self._bounded(lambda: page):
                    async with asyncio.timeout(LONGEST), self._connected(session) as socket:
                        while not await self._next(socket, whole=True):
                            pass
                page = await self._open(session)
            async with self._connected(session) as socket:
                while self.over < hands:
                    await asyncio.sleep(PAUSE)
                    await self._click(socket, page)
                    page = await self._answer(socket, page)

    @contextlib.contextmanager
    def _bounded(self, seen: Callable[[], str]) -> Iterator[None]:
        """Say what the server logged and what was seen if an answer takes too long; pings alone keep a socket open."""
        try:
            yield
        except TimeoutError:
            log = (self.server.folder / "log").read_text()
            raise AssertionError(f"no answer in {LONGEST} s; {seen()}\nthe server's log: {log}") from None

    @contextlib.asynccontextmanager
    async def _connected(self, session: aiohttp.ClientSession) -> AsyncIterator[Any]:
        query = f"EIO=4&transport=websocket&client_id={self.id}&next_message_id=0&implicit_handshake=true"
        address = f"{self.server.url}/_nicegui_ws/socket.io/?{query}&tab_id={uuid.uuid4()}&document_id={uuid.uuid4()}"
        async with session.ws_connect(address, compress=0, max_msg_size=0) as socket:
            await self._next(socket)
            await socket.send_str("40")
            yield socket

    async def _open(self, session: aiohttp.ClientSession) -> str:
        async with session.get(f"{self.server.url}/room/{self.kept.secret}") as answer:
            text, headers = await answer.text(), dict(answer.headers)
        inside = INSIDE.search(text)
        assert inside is not None
        self.id = re.search(r"'client_id': '([^']+)'", text)[1]  # type: ignore[index]
        found = re.search(r'"listener_id":"([^"]+)","type":"fogplay"', text)
        self.listener = found[1] if found else ""
        around = ADDRESS.sub("*", text.replace(inside[0], "*"))
        if found:
            told = sorted((k, v) for k, v in headers.items() if k.lower() not in ("date", "content-length"))
            self.frames.append((around, told))
        self._require_no_secret(text + str(headers))
        page = html.unescape(json.loads(f'"{inside[1]}"'))
        if found:
            self._check(page)
        return page

    async def _click(self, socket: Any, page: str) -> None:
        buttons = re.findall(r'<button data-do="(act|next)" ([^>]*)>', page)
        assert buttons, page
        what, rest = self.rng.choice(buttons)
        sent = dict(re.findall(r'data-(\w+)="([^"]*)"', rest)) | {"do": what, "secret": self.kept.secret}
        event = {"id": 0, "client_id": self.id, "listener_id": self.listener, "args": [json.dumps(sent)]}
        await socket.send_str(f"42{json.dumps(['event', event])}")

    async def _answer(self, socket: Any, before: str) -> str:
        """The page after a click, at the end of a hand with its review."""
        page = ""
        with self._bounded(lambda: f"after {before}\ncame {page}"):
            async with asyncio.timeout(LONGEST):
                while not page or place_of(page) == place_of(before) or REVIEWING in page:
                    page = await self._next(socket) or page
        self.over += place_of(page)[1] is None
        return page

    async def _next(self, socket: Any, whole: bool = False) -> str:
        """The next message: a page, or nothing if it is another. The first page of a room comes with all elements."""
        message = await socket.receive(timeout=60)
        assert message.type == aiohttp.WSMsgType.TEXT, message
        self.bytes += len(message.data)
        self._require_no_secret(message.data)
        if message.data == "2":
            await socket.send_str("3")
        if OTHERS.fullmatch(message.data):
            return ""
        inside = INSIDE.search(message.data)
        assert inside is not None, message.data
        around = message.data.replace(inside[1], "*", 1)
        if whole:
            self.frames.append(ADDRESS.sub("*", around))
        else:
            assert UPDATE.fullmatch(around), message.data
        page = str(json.loads(f'"{inside[1]}"'))
        self._check(page)
        return page

    def _require_no_secret(self, text: str) -> None:
        assert self.kept.seed not in text
        assert self.kept.secret not in text

    def _check(self, page: str) -> None:
        """A page before the showdown is the page of somebody who does not know what is hidden."""
        hand, decision = place_of(page)
        if decision is None:
            return
        seat, events = self._events(hand, decision)
        other = exchanged(self.rules, events, seat, self.rng)
        self.changed += other != events
        title = re.search(r"<h1>.* against (.*)</h1>", page)
        assert title is not None
        names = html.unescape(title[1]).split(", ")
        table = Table(self.rules, Seeded("another"), (*names[:seat], YOU, *names[seat:]), events=other)
        look = Look(sight_of(table, seat), hand, decision, None)
        done = [each for each in self.store.finished(self.kept.id) if each.number < hand]
        scores = Scores.of([(each.score, each.baseline) for each in done])
        assert page == room_page(look, self.kept.settings, scores, done[-MOST_HISTORY:])
        self.checked += 1

    def _events(self, hand: int, decision: int) -> tuple[int, list[list[int]]]:
        """The seat and the events of a hand before a decision of the person."""
        kept = self.store.hand(self.kept.id, hand)
        opened = self.store.open_hand(self.kept.id)
        if kept is not None:
            seat, events = kept.seat, [list(each) for each in kept.events]
        else:
            assert opened is not None
            assert opened[0] == hand
            seat, events = opened[1], [list(each) for each in opened[2]]
        own = [place for place, (who, _) in enumerate(events) if who == seat]
        return seat, events[: own[decision]] if decision < len(own) else events


def place_of(page: str) -> tuple[int, int | None]:
    """The hand and the decision that a page asks for; no decision at the end of a hand."""
    asked = re.search(r'data-hand="(\d+)" data-decision="(\d+)"', page)
    if asked is not None:
        return int(asked[1]), int(asked[2])
    ended = re.search(r'data-do="next" data-key="n" data-hand="(\d+)"', page)
    assert ended is not None, page
    return int(ended[1]), None


def exchanged(rules: Any, events: list[list[int]], seat: int, rng: random.Random) -> list[list[int]]:
    """The same hand as a seat saw it, with other hidden cards and moves, if there are any that fit."""
    real = Table(rules, Seeded("x"), events=events)
    hidden = [place for place, event in enumerate(real.events) if seat not in event.seen_by]
    start = rules.new_initial_state()
    cards = [action for action, _ in start.chance_outcomes()] if start.current_player() == CHANCE else []
    moves = sorted({action for who, action in events if who != CHANCE} | set(real.view(seat).legal))
    for _ in range(TRIES if hidden else 0):
        found = [list(each) for each in events]
        for place in hidden:
            found[place][1] = rng.choice(cards if found[place][0] == CHANCE else moves)
        with contextlib.suppress(FogplayError):  # a card that is dealt already
            if found != events and known(Table(rules, Seeded("x"), events=found), seat) == known(real, seat):
                return found
    return events


def known(table: Table, seat: int) -> object:
    """All that a seat knows at its decision."""
    view = table.view(seat)
    return table.seen(seat), view.legal, view.infoset if view.observation is None else view.observation
