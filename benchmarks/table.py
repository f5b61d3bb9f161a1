"""Load on the table in the browser: many rooms, clicks at a steady rate, a solver beside them, junk from one client.

``python benchmarks/table.py --rooms 50 --seconds 30 --every 2 --solve`` prints the time from a click until its answer
arrives, the server's CPU time per click and its memory. Clients are sockets without a browser, so painting is not part
of it. ``--junk 10000`` sends so many malformed frames from one client meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import html
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import psutil
import socketio

sys.path.insert(0, str(Path(__file__).parent.parent))
from fogplay.rooms import Settings, Store
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

    async def click(self) -> None:
        """One random button, and the time until the page changes."""
        buttons = re.findall(r'<button data-do="(act|next)" ([^>]*)>', self.page)
        if not buttons:
            return
        what, rest = self.rng.choice(buttons)
        sent = dict(re.findall(r'data-(\w+)="([^"]*)"', rest)) | {"do": what, "secret": self.secret}
        self.answered.clear()
        before = time.perf_counter()
        await self.socket.emit(
            "event", {"id": 0, "client_id": self.id, "listener_id": self.listener, "args": [json.dumps(sent)]}
        )
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


async def measure(server: Server, asked: argparse.Namespace, secrets: list[str]) -> dict[str, Any]:
    clients = [Client(server, secret, random.Random(number)) for number, secret in enumerate(secrets)]
    for client in clients:
        await client.open()
    process = psutil.Process(server.process.pid)
    cpu, began = sum(process.cpu_times()[:2]), time.monotonic()
    work: list[Any] = [client.keep_clicking(asked.every, asked.seconds) for client in clients[1:]]
    if asked.junk:
        work.append(clients[0].send_junk(asked.junk))
    await asyncio.gather(*work)
    times = sorted(each for client in clients for each in client.times)
    for client in clients:
        await client.socket.disconnect()
    spent = sum(process.cpu_times()[:2]) - cpu
    return {
        "rooms": len(clients),
        "clicks": len(times),
        "clicks per second": len(times) / (time.monotonic() - began),
        "median ms": 1000 * statistics.median(times),
        "p95 ms": 1000 * times[int(0.95 * len(times))],
        "worst ms": 1000 * times[-1],
        "cpu ms per click": 1000 * spent / len(times),
        "memory MB": process.memory_info().rss / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rooms", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two clicks in a room")
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--solve", action="store_true", help="run a solver with two threads beside the server")
    parser.add_argument("--junk", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        store = Store(Path(folder) / "rooms.sqlite")
        secrets = [store.create(Settings(asked.game, "best")).secret for _ in range(asked.rooms + 1)]
        beside = None
        try:
            if asked.solve:
                command = [sys.executable, "-m", "fogplay", "solve", "leduc", "-a", "es-mccfr", "--threads", "2"]
                options = ["--minutes", "10", "--out", f"{folder}/beside.safetensors"]
                beside = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(10)
            found = asyncio.run(measure(server, asked, secrets))
            print(json.dumps({name: round(value, 2) for name, value in found.items()}))
        finally:
            if beside is not None:
                beside.kill()
                beside.wait()
            server.stop()


if __name__ == "__main__":
    main()
