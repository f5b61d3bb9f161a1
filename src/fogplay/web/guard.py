"""``Guard``: who may talk to the server. It stands before everything else, sockets included."""

from __future__ import annotations

import hmac
import ipaddress
import urllib.parse
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
COOKIE = "fogplay"
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws: wss:; frame-ancestors 'none'; base-uri 'self'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),  # a room's address is its secret
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)


class Guard:
    """Refuses foreign hosts and origins, and without the token everybody if there is one."""

    def __init__(self, app: Any, host: str, token: str | None) -> None:
        """``host`` is the address that the server listens at."""
        self.app, self.host, self.token = app, host, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        why = self.refused(headers.get("host", ""), headers.get("origin"))
        if why is None and self.token is not None and not self._has_token(headers.get("cookie", "")):
            if scope["type"] == "http" and self._brings_token(scope):
                await _redirect(scope, send, self.token)
                return
            why = "this server wants the address with the token that it printed when it started"
        if why is not None:
            await _refuse(scope, send, why)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        await self.app(scope, receive, with_headers)

    def refused(self, host: str, origin: str | None) -> str | None:
        """Why a request for this Host from this Origin is refused, if it is."""
        if not self._knows(_name(host)):
            return "this address is not known here"
        if origin is not None and urllib.parse.urlsplit(origin).netloc.lower() != host.lower():
            return "pages of other sites may not talk to this server"
        return None

    def _knows(self, name: str) -> bool:
        """Names of this machine only: a foreign name that leads here is somebody's trick."""
        if name in LOCAL or name == self.host.lower():
            return True
        if self.token is None:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name.endswith(".local")
        return True

    def _has_token(self, cookie: str) -> bool:
        try:
            found = SimpleCookie(cookie).get(COOKIE)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), str(self.token).encode())

    def _brings_token(self, scope: Scope) -> bool:
        given = urllib.parse.parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        return hmac.compare_digest(given.encode(), str(self.token).encode())


def _name(host: str) -> str:
    """The host without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


async def _refuse(scope: Scope, send: Send, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": why.encode()})


async def _redirect(scope: Scope, send: Send, token: str) -> None:
    """To the same path without the token, which is now a cookie that only this site gets."""
    cookie = f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000"
    path = scope["path"] if scope["path"].startswith("/") and not scope["path"].startswith("//") else "/"
    headers = [(b"location", urllib.parse.quote(path).encode()), (b"set-cookie", cookie.encode())]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
