"""What tests of rooms share."""

from __future__ import annotations

import random
from pathlib import Path

from fogplay.rooms import Hall, Look, Room, Settings, Store


def hall_at(path: Path, games: tuple[str, ...] = ("kuhn", "tictactoe.kif")) -> Hall:
    return Hall(Store(path / "rooms.sqlite"), games)


def room_of(path: Path, game: str, opponent: str = "best", seat: int | None = None, seed: str = "1") -> Room:
    return hall_at(path).create(Settings(game, opponent, seat), seed)


def play_hand(room: Room, rng: random.Random) -> Look:
    """Play the current hand at random to its end."""
    look = room.look()
    while not look.sight.over:
        room.act(look.hand, look.decision, rng.choice(look.sight.legal))
        look = room.look()
    return look
