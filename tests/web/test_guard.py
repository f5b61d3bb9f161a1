"""Who may talk to the server: names of this machine, pages of its own, and whoever has the token."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fogplay.web.guard import Guard


def asked(guard: Guard, kind: str = "http", query: bytes = b"", **headers: str) -> list[dict[str, Any]]:
    """The messages that the guard, or the application behind it, sends."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": kind,
        "path": "/room/x",
        "query_string": query,
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
    }

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def receive() -> None:
        return None

    asyncio.run(guard(scope, receive, send))
    return sent


async def application(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


LOCAL = Guard(application, "127.0.0.1", None)
OPEN = Guard(application, "0.0.0.0", "to-ken")


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "LOCALHOST", "[::1]:8080"])
def test_names_of_this_machine_get_in(host: str) -> None:
    (message,) = asked(LOCAL, host=host)
    assert message["status"] == 200
    assert b"no-referrer" in dict(message["headers"])[b"referrer-policy"]


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "192.168.0.7:8080"},
        {"host": ""},
        {},
        {"host": "localhost:8080", "origin": "http://evil.example"},
        {"host": "localhost:8080", "origin": "null"},
        {"host": "localhost:8080", "origin": "http://localhost:9090"},
        {"host": "localhost:8080", "origin": "http://localhost:8080@evil.example"},
    ],
)
def test_foreign_hosts_and_origins_are_refused(headers: dict[str, str]) -> None:
    assert asked(LOCAL, **headers)[0]["status"] == 403
    assert asked(LOCAL, "websocket", **headers)[0]["type"] == "websocket.close"


def test_a_page_of_its_own_gets_in() -> None:
    assert asked(LOCAL, host="localhost:8080", origin="http://localhost:8080")[0]["status"] == 200


def test_others_need_the_token() -> None:
    host = "192.168.0.7:8080"
    assert asked(OPEN, host=host)[0]["status"] == 403
    assert asked(OPEN, host=host, cookie="fogplay=wrong")[0]["status"] == 403
    assert asked(OPEN, host=host, query=b"token=wrong")[0]["status"] == 403
    assert asked(OPEN, "websocket", host=host, query=b"token=to-ken")[0]["type"] == "websocket.close"
    redirect = asked(OPEN, host=host, query=b"token=to-ken")[0]
    assert redirect["status"] == 303
    headers = dict(redirect["headers"])
    assert headers[b"location"] == b"/room/x"
    assert b"SameSite=Strict" in headers[b"set-cookie"]
    assert asked(OPEN, host=host, cookie="fogplay=to-ken")[0]["status"] == 200
    assert asked(OPEN, host="evil.example", cookie="fogplay=to-ken")[0]["status"] == 403
    assert asked(OPEN, host="localhost:8080")[0]["status"] == 403  # also from this machine
