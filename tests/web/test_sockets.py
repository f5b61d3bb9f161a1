"""Sockets that are not what they should be: stolen ids, other rooms, junk, foreign origins."""

from __future__ import annotations

import asyncio
import http.client
import random
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("nicegui")
socketio = pytest.importorskip("socketio")
pytest.importorskip("aiohttp")

from fogplay.rooms import Settings, Store  # noqa: E402
from tests.web.browser import Server  # noqa: E402
from tests.web.sockets import Client  # noqa: E402


@pytest.fixture(scope="module")
def server(tmp_path_factory: Any) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("sockets"))
    yield made
    made.stop()


async def two_rooms(server: Server) -> tuple[Client, Client]:
    store = Store(server.folder / "rooms.sqlite")
    found = [Client(server, store.create(Settings("leduc", "best", 0)).secret, random.Random(n)) for n in range(2)]
    store.close()
    for client in found:
        await client.open()
    return found[0], found[1]


def test_a_stolen_client_id_moves_nothing_even_with_the_secret(server: Server) -> None:
    async def go() -> None:
        owner, thief = await two_rooms(server)
        before = owner.page
        for frame in (owner.choice(), owner.choice() | {"listener_id": thief.listener}):
            await thief.socket.emit("event", frame)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(owner.answered.wait(), 1.0)
        assert owner.page == before
        await owner.click()  # the owner still can
        assert owner.page != before
        await thief.click()
        for client in (owner, thief):
            await client.socket.disconnect()

    asyncio.run(go())


def test_another_rooms_secret_moves_nothing(server: Server) -> None:
    async def go() -> None:
        one, two = await two_rooms(server)
        one.secret, two.secret = two.secret, one.secret
        for client in (one, two):
            client.answered.clear()
            await client.socket.emit("event", client.choice())
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.answered.wait(), 0.7)
            await client.socket.disconnect()

    asyncio.run(go())


def test_junk_closes_its_own_socket_and_disturbs_nobody(server: Server) -> None:
    async def go() -> None:
        quiet, loud = await two_rooms(server)
        await loud.send_junk(10_000)
        for _ in range(5):
            await quiet.click()
        async with asyncio.timeout(60):
            while loud.socket.connected:
                await asyncio.sleep(0.05)
        await quiet.socket.disconnect()

    asyncio.run(go())
    assert "Traceback" not in (server.folder / "log").read_text()


def test_sockets_of_other_sites_are_refused(server: Server) -> None:
    async def go() -> None:
        for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
            socket = socketio.AsyncClient(reconnection=False)
            with pytest.raises(socketio.exceptions.ConnectionError):
                await socket.connect(
                    server.url, headers=headers, socketio_path="/_nicegui_ws/socket.io", transports=["websocket"]
                )

    asyncio.run(go())


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/room/../../../etc/passwd",
        "/room/%2e%2e/%2e%2e/etc/passwd",
        "/room/x/file/../../../../etc/passwd",
        "/_nicegui/3.18.0/static/../../../../../../etc/passwd",
        "/_nicegui/3.18.0/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/_nicegui/3.18.0/static/..%5c..%5cetc%5cpasswd",
        "/_nicegui/3.18.0/components/../../../pyproject.toml",
        "//etc/passwd",
        "/rooms.sqlite",
        "/../rooms.sqlite",
    ],
)
def test_no_path_leads_out_of_the_pages(server: Server, path: str) -> None:
    """Sent as it is: libraries would tidy such a path up first."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    found = answer.read()
    connection.close()
    assert b"root:" not in found
    assert not found.startswith(b"SQLite")
    assert answer.status >= 400 or b"no such room" in found or b"Opening the room" in found
