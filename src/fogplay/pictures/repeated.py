"""The picture of a repeated matrix game: the payoffs of one hand, and the choices of the earlier ones."""

from __future__ import annotations

import dataclasses

from fogplay.games.matrix import Matrix
from fogplay.notation.repeated import BETWEEN
from fogplay.pictures import matrix
from fogplay.pictures.scene import Scene
from fogplay.pictures.sight import Sight


def scene_of(sight: Sight) -> Scene | None:
    """The table of payoffs; None if another game is repeated."""
    game = sight.game.game
    if not isinstance(game, Matrix):
        return None
    players = len(sight.names)
    if sight.over:
        hands = [sight.seen[first : first + players] for first in range(0, len(sight.seen), players)]
        past = [[event.name for event in hand] for hand in hands]
        last = hands[-1]
    else:
        past, last = [hand.split("; ") for hand in sight.infoset.split(BETWEEN)[:-1]], ()
    drawn = matrix.scene_of(dataclasses.replace(sight, game=game, seen=tuple(last), lines=()))
    if drawn is None:
        return None
    lines = [f"Round {number + 1} of {sight.game.hands}: {_choices(sight, names)}" for number, names in enumerate(past)]
    now = [] if sight.over else [f"Round {len(past) + 1} of {sight.game.hands}: choose."]
    return dataclasses.replace(drawn, lines=(*drawn.lines, *lines, *now))


def _choices(sight: Sight, names: list[str]) -> str:
    return ", ".join(f"{who} {name}" for who, name in zip(sight.names, names, strict=True)) + "."
