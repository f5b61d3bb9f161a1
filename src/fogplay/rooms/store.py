"""Rooms and hands in one SQLite file: a hand is written at every decision of the person, in one transaction.

A process that is killed at any moment leaves the room at its last decision; a finished hand is there once.
"""

from __future__ import annotations

import functools
import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay.errors import FogplayError

SCHEMA = """
CREATE TABLE IF NOT EXISTS rooms (
    id INTEGER PRIMARY KEY, secret TEXT UNIQUE NOT NULL, game TEXT NOT NULL, opponent TEXT NOT NULL,
    seat INTEGER, automatic INTEGER NOT NULL, seed TEXT NOT NULL, created REAL NOT NULL,
    pace TEXT NOT NULL DEFAULT 'at once');
CREATE TABLE IF NOT EXISTS hands (
    room INTEGER NOT NULL REFERENCES rooms(id), number INTEGER NOT NULL, seat INTEGER NOT NULL, events TEXT NOT NULL,
    score REAL, baseline REAL, review TEXT, PRIMARY KEY (room, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (
    room INTEGER NOT NULL REFERENCES rooms(id), hand INTEGER NOT NULL, place INTEGER NOT NULL, well INTEGER NOT NULL,
    PRIMARY KEY (room, hand, place)) WITHOUT ROWID;
"""
SECRET_BYTES = 18
VERSION = 2
OLDER = {1: "ALTER TABLE rooms ADD COLUMN pace TEXT NOT NULL DEFAULT 'at once'"}  # what brings a version to the next

AT_ONCE, BRISK, SLOW = "at once", "brisk", "slow"
PACES = {AT_ONCE: (0.0, 1.0), BRISK: (0.6, 2.5), SLOW: (1.5, 6.0)}  # seconds: a move of another, until the next hand


@dataclass(frozen=True)
class Settings:
    """What a person chose for a room."""

    game: str  # the spec
    opponent: str
    seat: int | None = None  # None: the person moves by one seat after every hand
    automatic: bool = False  # the next hand begins by itself
    pace: str = AT_ONCE  # one of ``PACES``: how the others' moves are shown

    @property
    def move_seconds(self) -> float:
        """How long each move of another player is shown before the next one."""
        return PACES[self.pace][0]

    @property
    def next_seconds(self) -> float:
        """How long the end of a hand is shown if the next one begins by itself."""
        return PACES[self.pace][1]


def require_settings(settings: Settings, players: int) -> None:
    """Refuse a seat or a pace that a game of so many players does not have."""
    if settings.seat is not None and not 0 <= settings.seat < players:
        raise FogplayError(f"{settings.game} has seats 0 to {players - 1}, not {settings.seat}")
    if settings.pace not in PACES:
        raise FogplayError(f"the pace is one of {', '.join(PACES)}, not {settings.pace[:20]!r}")


@dataclass(frozen=True)
class Kept:
    """A room as it is stored. ``secret`` opens it, ``seed`` decides all of its luck: neither is ever shown."""

    id: int
    secret: str
    settings: Settings
    seed: str


@dataclass(frozen=True)
class Finished:
    """A hand that is over."""

    number: int
    seat: int  # where the person sat
    events: tuple[tuple[int, int], ...]  # seat and action
    score: float  # of the person
    baseline: float | None = None  # what the reference made with the same luck; None until it is known
    review: tuple[dict[str, Any], ...] | None = None  # of each decision; None until it is known

    @property
    def cost(self) -> float | None:
        """What all choices of the hand cost together, where that is known."""
        costs = [made["cost"] for made in self.review or () if made["cost"] is not None]
        return sum(costs) if costs else None


class Store:
    """The file. One connection, which threads share under a lock."""

    def __init__(self, path: Path | str) -> None:
        self._lock = threading.RLock()
        try:
            self._base = sqlite3.connect(str(path), check_same_thread=False, isolation_level=None, timeout=10)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            found = self._base.execute("PRAGMA user_version").fetchone()[0]
            while found in OLDER:
                self._base.execute(OLDER[found])
                found += 1
            if found not in (0, VERSION):
                raise FogplayError(f"{path} is of another version of fogplay ({found}); name another file")
            self._base.executescript(SCHEMA)
            self._base.execute(f"PRAGMA user_version={VERSION}")
        except sqlite3.Error as error:
            raise FogplayError(f"{path} cannot be used to keep rooms: {error}") from error

    def close(self) -> None:
        with self._lock:
            self._base.close()

    def create(self, settings: Settings, seed: str | None = None) -> Kept:
        """A new room with a new secret; ``seed`` is for tests."""
        secret, chosen = secrets.token_urlsafe(SECRET_BYTES), seed or secrets.token_hex(16)
        fields = (settings.game, settings.opponent, settings.seat, int(settings.automatic), settings.pace)
        made = self._run(
            "INSERT INTO rooms (secret, game, opponent, seat, automatic, pace, seed, created) VALUES (?,?,?,?,?,?,?,?)",
            (secret, *fields, chosen, time.time()),
        )
        return Kept(int(made.lastrowid or 0), secret, settings, chosen)

    def find(self, secret: str) -> Kept | None:
        """The room that a secret opens."""
        row = self._run(
            "SELECT id, secret, game, opponent, seat, automatic, pace, seed FROM rooms WHERE secret=?", (secret,)
        ).fetchone()
        if row is None:
            return None
        pace = row[6] if row[6] in PACES else AT_ONCE
        return Kept(row[0], row[1], Settings(row[2], row[3], row[4], bool(row[5]), pace), row[7])

    def change(self, room: int, settings: Settings) -> None:
        """Other seat and pace for a room; its game and opponent stay."""
        self._run(
            "UPDATE rooms SET seat=?, automatic=?, pace=? WHERE id=?",
            (settings.seat, int(settings.automatic), settings.pace, room),
        )

    def write(self, room: int, number: int, seat: int, events: Sequence[Sequence[int]], score: float | None) -> None:
        """A hand as it stands; ``score`` if it is over. A finished hand is never written again."""
        text = json.dumps([[int(each[0]), int(each[1])] for each in events], separators=(",", ":"))
        done = self._run(
            "INSERT INTO hands (room, number, seat, events, score) VALUES (?,?,?,?,?) ON CONFLICT (room, number) DO "
            "UPDATE SET events=excluded.events, score=excluded.score WHERE hands.score IS NULL",
            (room, number, seat, text, score),
        )
        if done.rowcount != 1:
            raise FogplayError(f"hand {number + 1} is over already: reload the page")

    def settle(self, room: int, number: int, baseline: float | None, review: Sequence[dict[str, Any]]) -> None:
        """What is learned about a finished hand afterwards."""
        self._run(
            "UPDATE hands SET baseline=?, review=? WHERE room=? AND number=? AND score IS NOT NULL",
            (baseline, json.dumps(list(review)), room, number),
        )

    def open_hand(self, room: int) -> tuple[int, int, list[tuple[int, int]]] | None:
        """The number, the person's seat and the events of the hand that is being played, if there is one."""
        row = self._run("SELECT number, seat, events FROM hands WHERE room=? AND score IS NULL", (room,)).fetchone()
        return None if row is None else (row[0], row[1], [(each[0], each[1]) for each in json.loads(row[2])])

    def finished(self, room: int, last: int | None = None) -> list[Finished]:
        """The finished hands in order, or the ``last`` few of them."""
        limit = "" if last is None else f" LIMIT {int(last)}"
        rows = self._run(
            "SELECT number, seat, events, score, baseline, review FROM hands WHERE room=? AND score IS NOT NULL "
            f"ORDER BY number DESC{limit}",
            (room,),
        ).fetchall()
        return [_finished(row) for row in reversed(rows)]

    def hand(self, room: int, number: int) -> Finished | None:
        """One finished hand."""
        row = self._run(
            "SELECT number, seat, events, score, baseline, review FROM hands WHERE room=? AND number=? "
            "AND score IS NOT NULL",
            (room, number),
        ).fetchone()
        return None if row is None else _finished(row)

    def results(self, room: int) -> list[tuple[float, float | None]]:
        """Of every finished hand in order: the score and the baseline."""
        return self._run(
            "SELECT score, baseline FROM hands WHERE room=? AND score IS NOT NULL ORDER BY number", (room,)
        ).fetchall()

    def answers(self, room: int) -> dict[tuple[int, int], int]:
        """How often decisions were answered well in a row when they were drilled, by hand and place in its review."""
        rows = self._run("SELECT hand, place, well FROM answers WHERE room=?", (room,)).fetchall()
        return {(hand, place): well for hand, place, well in rows}

    def note_answer(self, room: int, hand: int, place: int, right: bool) -> None:
        """One more answer; a wrong one begins the row anew."""
        self._run(
            "INSERT INTO answers (room, hand, place, well) VALUES (?,?,?,?) ON CONFLICT (room, hand, place) DO UPDATE "
            "SET well = CASE WHEN excluded.well > 0 THEN answers.well + 1 ELSE 0 END",
            (room, hand, place, int(right)),
        )

    def _run(self, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
        with self._lock:
            try:
                return self._base.execute(statement, values)
            except sqlite3.Error as error:
                raise FogplayError(f"the file of rooms cannot be used: {error}") from error


@functools.lru_cache(maxsize=1024)
def _finished(row: tuple[Any, ...]) -> Finished:
    """A row of the file, read once: a page shows the same dozen hands again and again."""
    review = None if row[5] is None else tuple(json.loads(row[5]))
    return Finished(row[0], row[1], tuple((each[0], each[1]) for each in json.loads(row[2])), row[3], row[4], review)
