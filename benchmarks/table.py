"""Load on the table in the browser: many rooms, clicks at a steady rate, a solver beside them, junk from one client.

``python benchmarks/table.py --rooms 50 --seconds 30 --every 2 --solve`` prints the time from a click until its answer
arrives, the server's CPU time per click and its memory. Clients are sockets without a browser; with ``--browser`` one
more room is in headless Chromium, which tells the time from a click until the change is painted, and how long the first
page takes. ``--junk 10000`` sends so many malformed frames from one client meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent))
from fogplay.rooms import Settings, Store
from tests.web.browser import Server, all_of, chromium, wait_for
from tests.web.sockets import Client

PRESS = """const done = arguments[0], all = document.querySelectorAll("button[data-do=act],button[data-do=next]");
const began = performance.now(), watch = new MutationObserver(() => {
  watch.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
});
watch.observe(document.body, {childList: true, subtree: true, characterData: true});
all[Math.floor(Math.random() * all.length)].click();"""
FIRST = "return performance.getEntriesByType('paint').pop().startTime"


def in_a_browser(server: Server, secret: str, seconds: float) -> dict[str, float]:
    """Milliseconds until the first page is painted, and from clicks until their changes are."""
    times, until = [], time.monotonic() + seconds
    with chromium() as driver:
        driver.get(server.url)
        wait_for(driver, lambda _: all_of(driver, ".q-btn"))
        first = float(driver.execute_script(FIRST))
        driver.get(f"{server.url}/room/{secret}")
        while time.monotonic() < until:
            wait_for(driver, lambda _: all_of(driver, "button[data-do=act],button[data-do=next]"))
            times.append(float(driver.execute_async_script(PRESS)))
            time.sleep(0.5)
    found = sorted(times)
    return {
        "first page ms": first,
        "painted median ms": statistics.median(found),
        "painted p95 ms": found[int(0.95 * len(found))],
    }


async def measure(server: Server, asked: argparse.Namespace, secrets: list[str]) -> dict[str, Any]:
    clients = [Client(server, secret, random.Random(number)) for number, secret in enumerate(secrets)]
    for client in clients:
        await client.open()
    await asyncio.sleep(asked.wait)
    process = psutil.Process(server.process.pid)
    cpu, began = sum(process.cpu_times()[:2]), time.monotonic()
    work: list[Any] = [client.keep_clicking(asked.every, asked.seconds) for client in clients[1:]]
    if asked.junk:
        work.append(clients[0].send_junk(asked.junk))
    if asked.browser:
        work.append(asyncio.to_thread(in_a_browser, server, secrets[0], asked.seconds))
    told = await asyncio.gather(*work)
    seen = told[-1] if asked.browser else {}
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
        **seen,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rooms", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two clicks in a room")
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--solve", action="store_true", help="run a solver with two threads beside the server")
    parser.add_argument(
        "--wait",
        type=float,
        default=22.0,
        help="seconds until the server forgets pages that were opened and left before",
    )
    parser.add_argument("--junk", type=int, default=0)
    parser.add_argument("--browser", action="store_true", help="click in headless Chromium too")
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
