"""The picture of any game: its own, if it has one, else one made of its words.

``pictures/<game>.py`` of a registered game defines ``scene_of(sight)``. ``register_picture`` gives one to a game of
your own, by its class. A function that returns None leaves that moment to the default.
"""

from __future__ import annotations

from collections.abc import Callable

from fogplay.errors import FogplayError
from fogplay.games.parts import part_of
from fogplay.pictures.scene import Place, Scene, draw_scene
from fogplay.pictures.sight import Sight

PICTURES = "fogplay.pictures"
MOST_LINES = 14
LAST = 6  # lines of what happened

Maker = Callable[[Sight], Scene | None]
_OWN: dict[type, Maker] = {}


def register_picture(game: type, maker: Maker) -> None:
    """Draw a class of games by ``maker``, which turns a sight into a scene."""
    if not isinstance(game, type) or not callable(maker):
        raise FogplayError("register_picture takes a game's class and a function from a Sight to a Scene")
    _OWN[game] = maker


def draw_sight(sight: Sight, four: bool = False, faces: bool = False) -> str:
    """What a seat sees, as SVG; see ``draw_scene``."""
    return draw_scene(scene_for(sight), four, faces)


def scene_for(sight: Sight) -> Scene:
    """The scene by the game's own picture, or the default one."""
    own = next((_OWN[each] for each in type(sight.game).__mro__ if each in _OWN), None)
    maker: Maker | None = own or part_of(sight.game, "scene_of", PICTURES)
    made = maker(sight) if maker is not None else None
    return made or default_scene(sight)


def default_scene(sight: Sight) -> Scene:
    """Names, whose turn it is, and what the seat knows in words."""
    if sight.over:
        lines = sight.lines[-MOST_LINES:] or ("The hand is over.",)
    elif sight.seat in sight.to_act:
        known = sight.infoset.splitlines()
        shown = known[:MOST_LINES] if sight.situation.startswith("You see") else [sight.situation]
        lines = (*sight.lines[-LAST:], *shown)
    else:
        lines = sight.lines[-LAST:]
    return Scene(places(sight), sight.seat, lines=tuple(line for line in lines if line.strip()))


def places(sight: Sight) -> tuple[Place, ...]:
    """Every seat with its name and turn, and at the end its winnings."""
    return tuple(Place(name, note=won(sight, seat), turn=seat in sight.to_act) for seat, name in enumerate(sight.names))


def won(sight: Sight, seat: int) -> str:
    """``won 3``, at the end."""
    if not sight.scores:
        return ""
    score = sight.scores[seat]
    return f"won {score:g}" if score > 0 else f"lost {-score:g}" if score < 0 else "won nothing"
