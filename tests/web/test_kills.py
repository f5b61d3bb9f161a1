"""The server itself is killed at random moments: no finished hand is lost or doubled, and the room goes on there."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import random
import re
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("nicegui")
socketio = pytest.importorskip("socketio")
pytest.importorskip("aiohttp")

from fogplay.rooms import Settings, Store  # noqa: E402
from tests.web.browser import Server  # noqa: E402
from tests.web.sockets import Client  # noqa: E402

OVER = re.compile(r"Hand (\d+) is over: you (win nothing|(?:win|lose) [\d.]+)\.")
GONE = (OSError, http.client.HTTPException, socketio.exceptions.SocketIOError, TimeoutError)


class Place(NamedTuple):
    """Where a room stands: at a decision of a hand, or at its end."""

    hand: int
    decision: int
    over: bool


def told(page: str) -> dict[int, float]:
    """The hand that a page says is over, and its score."""
    found = OVER.search(page)
    if found is None:
        return {}
    words = found[2].split()
    sign = {"win": 1.0, "lose": -1.0}[words[0]]
    return {int(found[1]) - 1: 0.0 if words[1] == "nothing" else sign * float(words[1])}


def shown(page: str) -> Place:
    """Where a page says that the room stands."""
    ended = re.search(r'data-do="next" data-key="n" data-hand="(\d+)"', page)
    if ended is not None:
        return Place(int(ended[1]), 0, True)
    asked = re.search(r'data-hand="(\d+)" data-decision="(\d+)"', page)
    assert asked is not None, page
    return Place(int(asked[1]), int(asked[2]), False)


def stored(store: Store, room: int) -> Place:
    """Where the file says that the room stands."""
    hand = store.open_hand(room)
    if hand is None:
        return Place(store.finished(room, 1)[0].number, 0, True)
    number, seat, events = hand
    return Place(number, sum(who == seat for who, _ in events), False)


def follows(place: Place, after: Place) -> bool:
    """Whether at most one click leads from one place to another."""
    if place.over:
        return after == place or (after.hand == place.hand + 1 and after.decision == 0)
    return after == place or after in (place._replace(decision=place.decision + 1), Place(place.hand, 0, True))


async def play_until(client: Client, kill: asyncio.Event, seen: dict[int, float]) -> None:
    """Click as fast as answers come, until the server is gone; ``seen`` gets what pages told of finished hands."""
    with contextlib.suppress(*GONE):
        while not kill.is_set():
            frame = client.choice()
            client.answered.clear()
            await client.socket.emit("event", frame)
            await asyncio.wait_for(client.answered.wait(), 2.0)
            seen |= told(client.page)


def killed(server: Server, kills: int) -> tuple[int, int]:
    """Kill the server so often while somebody plays; how many hands were finished, and how many clicks cut short."""
    store = Store(server.folder / "rooms.sqlite")
    kept = store.create(Settings("kuhn", "uniform"))
    rng, seen, cut = random.Random(1), dict[int, float](), 0
    expected: Place | None = None

    async def once(wait: float) -> Place:
        """Open the room, which must be where the file says; play, kill, and return what the page showed last."""
        client, kill = Client(server, kept.secret, random.Random(rng.random())), asyncio.Event()
        await client.open()
        assert expected is None or shown(client.page) == expected
        seen.update(told(client.page))
        playing = asyncio.create_task(play_until(client, kill, seen))
        await asyncio.sleep(wait)
        server.kill()
        kill.set()
        await playing
        with contextlib.suppress(*GONE):
            await client.socket.disconnect()
        return shown(client.page)

    for _ in range(kills):
        last = asyncio.run(once(rng.uniform(0.0, 0.3)))
        expected = stored(store, kept.id)
        assert follows(last, expected), (last, expected)
        cut += last != expected
        scores = {hand.number: hand.score for hand in store.finished(kept.id)}
        assert list(scores) == list(range(len(scores)))  # none lost, none twice
        assert {number: scores[number] for number in seen} == seen
        server.start()
    store.close()
    return len(scores), cut


@pytest.mark.slow
def test_a_server_killed_a_hundred_times_loses_nothing(tmp_path: Path) -> None:
    server = Server(tmp_path)
    try:
        hands, cut = killed(server, 100)
    finally:
        server.stop()
    print(f"{hands} hands finished, {cut} clicks done without an answer")
    assert hands > 100
