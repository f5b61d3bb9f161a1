"""A page as a socket, without a browser."""

from __future__ import annotations

import asyncio
import contextlib
import html
import json
import random
import re
import time
import urllib.request
import uuid
from typing import Any

import socketio

from tests.web.browser import Server


class Client:
    """One room's page as a socket: it clicks, and waits for the page to be made again."""

    def __init__(self, server: Server, secret: str, rng: random.Random) -> None:
        self.server, self.secret, self.rng = server, secret, rng
        self.page, self.times, self.answered = "", [], asyncio.Event()
        self.socket: Any = None

    async def open(self) -> None:
        """Open the page twice: once so that the server reads the room, once with all of its parts."""
        for _ in range(2):
            if self.socket is not None:
                await self.socket.disconnect()
            text = await asyncio.to_thread(self._get)
            self.id = re.search(r"'client_id': '([^']+)'", text)[1]
            found = re.search(r'"listener_id":"([^"]+)","type":"fogplay"', text)
            self.listener = found[1] if found else ""
            raw = re.search(r'"innerHTML":"((?:[^"\\]|\\.)*)"', text)
            self.page = html.unescape(json.loads(f'"{raw[1]}"')) if found and raw else ""
            self.socket = socketio.AsyncClient(reconnection=False)
            self.socket.on("update", self._updated)
            query = f"client_id={self.id}&next_message_id=0&implicit_handshake=true&tab_id={uuid.uuid4()}"
            self.answered.clear()
            await self.socket.connect(
                f"{self.server.url}?{query}&document_id={uuid.uuid4()}",
                socketio_path="/_nicegui_ws/socket.io",
                transports=["websocket"],
            )
            if not found:
                await asyncio.wait_for(self.answered.wait(), 120)

    def _get(self) -> str:
        return urllib.request.urlopen(f"{self.server.url}/room/{self.secret}", timeout=120).read().decode()

    async def _updated(self, told: dict[str, Any]) -> None:
        for element in told.values():
            content = (element or {}).get("props", {}).get("innerHTML") if isinstance(element, dict) else None
            if content:
                self.page = content
                self.answered.set()

    def choice(self) -> dict[str, Any]:
        """A random button, as the frame that a click on it sends."""
        what, rest = self.rng.choice(re.findall(r'<button data-do="(act|next)" ([^>]*)>', self.page))
        sent = dict(re.findall(r'data-(\w+)="([^"]*)"', rest)) | {"do": what, "secret": self.secret}
        return {"id": 0, "client_id": self.id, "listener_id": self.listener, "args": [json.dumps(sent)]}

    async def click(self) -> None:
        """Click a random button, and take the time until the page changes."""
        frame = self.choice()
        self.answered.clear()
        before = time.perf_counter()
        await self.socket.emit("event", frame)
        await asyncio.wait_for(self.answered.wait(), 60)
        self.times.append(time.perf_counter() - before)

    async def keep_clicking(self, every: float, seconds: float) -> None:
        await asyncio.sleep(self.rng.uniform(0, every))
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            due = time.monotonic() + every
            await self.click()
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def send_junk(self, frames: int) -> None:
        """Events of no known shape, as fast as the socket takes them."""
        for number in range(frames):
            junk = [
                None,
                [],
                {},
                "x" * 200,
                {"client_id": self.id},
                {"client_id": self.id, "id": number, "args": ["{"]},
            ]
            with contextlib.suppress(Exception):
                await self.socket.emit(self.rng.choice(["event", "log", "ack", "nonsense"]), junk[number % len(junk)])
            if number % 50 == 0:
                await asyncio.sleep(0)
