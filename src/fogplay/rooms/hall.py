"""``Hall``: all rooms of a server, opened by their secrets."""

from __future__ import annotations

import collections
import dataclasses
import hmac
import threading
from collections.abc import Sequence
from pathlib import Path

from fogplay.errors import FogplayError
from fogplay.games.registry import load
from fogplay.rooms.company import Opponent, checked_spec, company_for, opponents_for
from fogplay.rooms.room import Room
from fogplay.rooms.store import Settings, Store, require_settings

MOST_OPEN = 500  # rooms in memory; others are read from the store when they are wanted


class Hall:
    """Rooms by secret. ``games`` are offered to everybody, files among them.

    ``strategies`` may be played against, and ``agents``, by the texts that a command takes.
    """

    def __init__(
        self, store: Store, games: Sequence[str], strategies: Sequence[Path] = (), agents: Sequence[str] = ()
    ) -> None:
        self.store, self.games, self.strategies, self.agents = store, tuple(games), list(strategies), tuple(agents)
        self._rooms: collections.OrderedDict[str, Room] = collections.OrderedDict()
        self._lock = threading.Lock()

    def create(self, settings: Settings, seed: str | None = None) -> Room:
        """A new room, checked: the game and the opponent must be ones that are offered here."""
        spec = checked_spec(settings.game, self.games)
        offered = [each.text for each in self.opponents(spec)]
        if settings.opponent not in offered:
            raise FogplayError(
                f"{settings.opponent[:60]!r} is not an opponent here; choose one of {', '.join(offered)}"
            )
        chosen = dataclasses.replace(settings, game=spec)
        require_settings(chosen, int(load(spec).num_players()))
        company = company_for(chosen.game, chosen.opponent)
        return self._keep(Room(self.store, self.store.create(chosen, seed), company))

    def opponents(self, spec: str) -> tuple[Opponent, ...]:
        """The opponents that a page may offer for a game."""
        return opponents_for(spec, self.strategies, self.agents)

    def is_open(self, secret: str) -> bool:
        """Whether a room is in memory, so that it is there at once."""
        with self._lock:
            return secret in self._rooms

    def room(self, secret: str) -> Room:
        """The room that a secret opens; a wrong one says nothing about others."""
        with self._lock:
            for known, room in self._rooms.items():
                if hmac.compare_digest(known.encode(), secret.encode()):
                    self._rooms.move_to_end(known)
                    return room
        kept = self.store.find(secret)
        if kept is None:
            raise FogplayError("there is no such room; begin a new one on the first page")
        return self._keep(Room(self.store, kept, company_for(kept.settings.game, kept.settings.opponent)))

    def _keep(self, room: Room) -> Room:
        with self._lock:
            found = self._rooms.setdefault(room.kept.secret, room)
            while len(self._rooms) > MOST_OPEN:
                self._rooms.popitem(last=False)
            return found
