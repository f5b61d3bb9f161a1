"""Rooms: tables that outlive a process, with scores, reviews and secrets. Nothing here knows of pages or sockets."""

from fogplay.rooms.company import Opponent, opponents_for
from fogplay.rooms.hall import Hall
from fogplay.rooms.room import Look, Room
from fogplay.rooms.scores import Mean, Scores
from fogplay.rooms.store import Finished, Settings, Store

__all__ = [
    "Finished",
    "Hall",
    "Look",
    "Mean",
    "Opponent",
    "Room",
    "Scores",
    "Settings",
    "Store",
    "opponents_for",
]
