"""The picture of a matrix game for two: the payoffs as a table."""

from __future__ import annotations

from typing import Any

from fogplay.pictures.picture import places
from fogplay.pictures.scene import Drawing, Scene
from fogplay.pictures.sight import Sight
from fogplay.pictures.svg import rectangle, text

MOST = 8  # choices of each player that fit on the table
WIDE, TALL = 96.0, 34.0


def scene_of(sight: Sight) -> Scene | None:
    """The own payoffs: a row per own choice; at the end, the choices are marked."""
    game = sight.game
    if game.num_players() != 2 or max(map(len, game.actions)) > MOST:
        return None
    chosen = {event.seat: event.action for event in sight.seen} if sight.over else {}
    lines = sight.lines if sight.over else ("Rows are your choices, columns the other's; numbers are what you get.",)
    return Scene(places(sight), sight.seat, lines=lines, drawing=_table(game, sight.seat, chosen))


def _table(game: Any, seat: int, chosen: dict[int, int]) -> Drawing:
    rows, columns = game.names[seat], game.names[1 - seat]
    parts = [text(WIDE * (place + 1.5), TALL - 12, name, 14) for place, name in enumerate(columns)]
    for place, name in enumerate(rows):
        y = TALL * (place + 1)
        parts.append(text(WIDE - 10, y + 22, name, 14, anchor="end"))
        for other in range(len(columns)):
            here = chosen.get(seat) == place and chosen.get(1 - seat) == other
            payoff = game.table[seat][place][other] if seat == 0 else game.table[seat][other][place]
            x = WIDE * (other + 1)
            parts.append(rectangle(x, y, WIDE, TALL, "panel"))
            parts.append(text(x + WIDE / 2, y + 23, f"{payoff:g}", 17, "turn" if here else ""))
    words = f"your choices: {', '.join(rows)}"
    return Drawing("".join(parts), WIDE * (len(columns) + 1), TALL * (len(rows) + 1), words)
