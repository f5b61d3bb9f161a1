"""The server itself is killed at random moments: no finished hand is lost or doubled, and the room goes on there."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import random
import re
from pathlib import Path

import pytest

pytest.importorskip("nicegui")
socketio = pytest.importorskip("socketio")
pytest.importorskip("aiohttp")

from fogplay.rooms import Settings, Store  # noqa: E402
from tests.web.browser import Server  # noqa: E402
from tests.web.sockets import Client  # noqa: E402

OVER = re.compile(r"Hand (\d+) is over: you (win nothing|(?:win|lose) [\d.]+)\.")


def told(page: str) -> dict[int, float]:
    """The hand that a page says is over, and its score."""
    found = OVER.search(page)
    if found is None:
        return {}
    words = found[2].split()
    sign = {"win": 1.0, "lose": -1.0}[words[0]]
    return {int(found[1]) - 1: 0.0 if words[1] == "nothing" else sign * float(words[1])}


async def play_until(client: Client, kill: asyncio.Event) -> dict[int, float]:
    """Click as fast as answers come, until the server is gone; what the pages told of finished hands."""
    seen: dict[int, float] = {}
    with contextlib.suppress(OSError, http.client.HTTPException, socketio.exceptions.SocketIOError, IndexError):
        await client.open()
        seen |= told(client.page)
        while not kill.is_set():
            frame = client.choice()
            client.answered.clear()
            await client.socket.emit("event", frame)
            await asyncio.wait_for(client.answered.wait(), 2.0)
            seen |= told(client.page)
    return seen


def killed(server: Server, kills: int) -> int:
    """Kill the server so often while somebody plays; the number of finished hands."""
    store = Store(server.folder / "rooms.sqlite")
    kept = store.create(Settings("kuhn", "uniform"))
    rng = random.Random(1)
    all_told: dict[int, float] = {}

    async def once(wait: float) -> tuple[dict[int, float], str]:
        kill = asyncio.Event()
        client = Client(server, kept.secret, random.Random(rng.random()))
        playing = asyncio.create_task(play_until(client, kill))
        while not client.page and not playing.done():
            await asyncio.sleep(0.01)
        await asyncio.sleep(wait)
        server.kill()
        kill.set()
        return await playing, client.page

    for _ in range(kills):
        seen, page = asyncio.run(once(rng.uniform(0.0, 0.3)))
        all_told |= seen
        stored = {hand.number: hand.score for hand in store.finished(kept.id)}
        assert list(stored) == list(range(len(stored)))
        assert {number: stored[number] for number in all_told} == all_told
        number, _, events = store.open_hand(kept.id) or (len(stored) - 1, 0, [])
        made = re.findall(r'data-hand="(\d+)" data-decision="(\d+)"', page)
        if made:  # what the browser was asked is still to be decided, or has been
            assert (number, len(events)) >= (int(made[0][0]), int(made[0][1]))
        server.start()
    assert all_told
    store.close()
    return len(stored)


@pytest.mark.slow
def test_a_server_killed_a_hundred_times_loses_nothing(tmp_path: Path) -> None:
    server = Server(tmp_path)
    try:
        assert killed(server, 100) > 100
    finally:
        server.stop()
