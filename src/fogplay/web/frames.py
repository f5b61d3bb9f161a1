"""What comes over sockets, before NiceGUI sees it: well-formed frames, from the page's own socket, not too many."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable
from typing import Any

NAMES = ("event", "javascript_response", "ack", "log")
MOST_PER_SECOND = 60  # frames of one socket; a person who clicks and types sends a few
MOST_SOCKETS = 10_000  # whose counts are remembered


class Frames:
    """A filter before the handlers of a socket server."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.counts: dict[str, tuple[int, int]] = {}  # by socket: the second, and the frames in it

    def install(self) -> None:
        """Stand before the handlers that are there."""
        handlers = self.server.handlers["/"]
        for name in NAMES:
            if name in handlers:
                self.server.on(name, functools.partial(self.heard, handlers[name]))
        self.server.on("*", self._unknown)

    def heard(self, handler: Callable[[str, Any], None], sid: str, frame: Any = None, *_: Any) -> None:
        """Pass a frame on if it may come from this socket; anything else is dropped without a word."""
        if self._too_many(sid) or not isinstance(frame, dict) or not self._owns(sid, frame.get("client_id")):
            return
        try:
            handler(sid, frame)
        except Exception:  # a frame that NiceGUI cannot read: nothing has happened
            return

    def _owns(self, sid: str, client: Any) -> bool:
        """Whether a socket shook hands for this page: knowing another page's id is not enough."""
        if not isinstance(client, str):
            return False
        return sid in self.server.manager.rooms.get("/", {}).get(client, ())  # server.rooms(sid) looks at all rooms

    def _unknown(self, _: str, sid: str, *__: Any) -> None:
        self._too_many(sid)

    def _too_many(self, sid: str) -> bool:
        """Count a frame; a socket that sends too many is closed."""
        now = int(time.monotonic())
        second, count = self.counts.get(sid, (now, 0))
        count = count + 1 if second == now else 1
        if len(self.counts) > MOST_SOCKETS:
            self.counts.clear()
        self.counts[sid] = (now, count)
        if count == MOST_PER_SECOND + 1:
            self._closing = asyncio.ensure_future(self.server.disconnect(sid))
        return count > MOST_PER_SECOND
