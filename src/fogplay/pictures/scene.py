"""``Scene``: what is drawn of a table, as data; ``draw_scene`` turns it into SVG.

A game's picture is a function from a ``Sight`` to a ``Scene``. It names cards, bets and words, and leaves their places
to the drawing.
"""

from __future__ import annotations

from dataclasses import dataclass

from fogplay.pictures.cards import HEIGHT, Card, draw_row, said
from fogplay.pictures.svg import document, number, rectangle, text, wrapped

WIDTH = 480.0
LINE = 21.0
LETTERS = 52  # of a line of the middle
SMALL, MOST_SMALL = 0.7, 3  # cards of the others, and how many of them stand in a row of the table


@dataclass(frozen=True)
class Place:
    """A seat at the table."""

    name: str
    cards: tuple[Card, ...] = ()
    note: str = ""  # such as the chips paid, or the number of cards left
    turn: bool = False
    out: bool = False  # folded, or without a part in what follows
    played: tuple[Card, ...] = ()  # what lies in front of it


@dataclass(frozen=True)
class Drawing:
    """A game's own piece of SVG for the middle of the table; all names in it must be escaped."""

    svg: str
    width: float
    height: float
    words: str  # what a screen reader says


@dataclass(frozen=True)
class Scene:
    """One moment of a hand, as one seat sees it."""

    places: tuple[Place, ...]  # all seats, in order
    seat: int  # who looks on, drawn at the bottom
    middle: tuple[Card, ...] = ()  # cards on the table
    caption: str = ""  # such as the pot
    lines: tuple[str, ...] = ()  # words in the middle
    drawing: Drawing | None = None

    @property
    def words(self) -> str:
        """The scene in words, for a screen reader."""
        parts = []
        for number_, place in enumerate(self.places):
            who = "You" if number_ == self.seat else place.name
            held = f": {said(place.cards)}" if place.cards else ""
            more = [place.note, "to act" if place.turn else "", "out" if place.out else ""]
            front = f"played {said(place.played)}" if place.played else ""
            parts.append(", ".join([f"{who}{held}", *(word for word in (*more, front) if word)]))
        table = [f"On the table: {said(self.middle)}"] if self.middle else []
        shown = [self.drawing.words] if self.drawing else []
        return ". ".join([*parts, *table, *([self.caption] if self.caption else []), *shown, *self.lines])


def draw_scene(scene: Scene, four: bool = False, faces: bool = False) -> str:
    """A scene as SVG; ``four`` gives each suit a colour of its own, ``faces`` is for pages with pictures of cards."""
    parts, y = [], 14.0
    others = [place for number_, place in enumerate(scene.places) if number_ != scene.seat]
    height, held = _others_height(others), any(place.cards for place in others)
    for number_, place in enumerate(others):
        room = WIDTH / max(len(others), 1)
        parts.append(_other(place, room * (number_ + 0.5), y, room - 16, held, faces))
    y += height
    for piece, tall in _middle(scene, y, faces):
        parts.append(piece)
        y += tall
    own, tall = _own(scene.places[scene.seat], y, faces)
    total = y + tall + 10
    felt = rectangle(2, 2, WIDTH - 4, total - 4, "table", 18)
    return document(WIDTH, total, [felt, *parts, own], scene.words, kind="fp four" if four else "fp")


def _others_height(others: list[Place]) -> float:
    height = 30.0 if others else 0.0
    height += 20 if any(place.note for place in others) else 0
    height += SMALL * HEIGHT + 10 if any(place.cards for place in others) else 0
    return height + (SMALL * HEIGHT + 12 if any(place.played for place in others) else 0)


def _other(place: Place, x: float, y: float, room: float, held: bool, faces: bool) -> str:
    """Another seat's piece; what it played stands below its cards, or below those of others if any are ``held``."""
    parts = [text(x, y + 16, _short(place.name, room), 16, _kind(place))]
    y += 26
    if place.note:
        parts.append(text(x, y + 12, place.note, 14, "soft"))
        y += 20
    if place.cards:
        parts.append(_faded(draw_row(place.cards, x, y, room, SMALL, faces), place.out))
    y += SMALL * HEIGHT + 10 if held else 0
    if place.played:
        parts.append(draw_row(place.played, x, y, room, SMALL, faces))
    return "".join(parts)


def _middle(scene: Scene, y: float, faces: bool) -> list[tuple[str, float]]:
    found = []
    if scene.middle:
        scale = 0.95 if len(scene.middle) > 3 else 1.0
        found.append((draw_row(scene.middle, WIDTH / 2, y + 8, WIDTH - 40, scale, faces), HEIGHT * scale + 14))
    if scene.drawing is not None:
        shown = scene.drawing
        scale = min(1.0, (WIDTH - 40) / shown.width)
        left, top = (WIDTH - scale * shown.width) / 2, y + sum(tall for _, tall in found) + 8
        move = f"translate({number(left)} {number(top)}) scale({scale:.3f})"
        found.append((f'<g transform="{move}">{shown.svg}</g>', scale * shown.height + 16))
    for line, size, kind in [(scene.caption, 18.0, ""), *((line, 15.0, "soft") for line in scene.lines)]:
        for each in wrapped(line, LETTERS) if line else ():
            top = y + sum(tall for _, tall in found)
            found.append((text(WIDTH / 2, top + LINE - 4, each, size, kind), LINE + 2))
    return [*found, ("", 8.0)]


def _own(place: Place, y: float, faces: bool) -> tuple[str, float]:
    """The piece of the seat that looks on, and its height."""
    parts, top = [], y
    if place.played:
        parts.append(draw_row(place.played, WIDTH / 2, y, WIDTH - 60, SMALL, faces))
        y += SMALL * HEIGHT + 10
    if place.cards:
        scale = 1.0 if len(place.cards) > 8 else 1.15
        parts.append(_faded(draw_row(place.cards, WIDTH / 2, y, WIDTH - 30, scale, faces), place.out))
        y += HEIGHT * scale + 8
    note = f" · {place.note}" if place.note else ""
    parts.append(text(WIDTH / 2, y + 18, f"{place.name}{note}", 17, _kind(place)))
    return "".join(parts), y + 26 - top


def _kind(place: Place) -> str:
    return "turn" if place.turn else "soft" if place.out else ""


def _faded(piece: str, out: bool) -> str:
    return f'<g opacity=".45">{piece}</g>' if out else piece


def _short(name: str, room: float) -> str:
    most = max(int(room / 9), 4)
    return name if len(name) <= most else name[: most - 1] + "…"
