"""Playing cards and dice, drawn plainly: a rank, a suit, and nothing that needs a font or a file.

Pages may hold a sheet of pictures as well (``FACES``): with ``faces``, every card that has one is there in both forms,
and the page's style chooses. The sheet comes as a whole, so that no request says which cards are in play.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fogplay.pictures.svg import number, rectangle, text

WIDTH, HEIGHT = 56.0, 78.0
FACES = Path(__file__).parent / "faces" / "cards.svg"  # Adrian Kennard's cards, in the public domain
RANKS = "23456789TJQKA"
SUIT_NAMES = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}
SHAPES = {  # in a box of 24 by 24
    "h": "M12 22C4 15 1 11 1 7A5.6 5.6 0 0 1 12 5.5 5.6 5.6 0 0 1 23 7C23 11 20 15 12 22Z",
    "d": "M12 1L21 12 12 23 3 12Z",
    "s": "M12 1C15 7 22.5 10 22.5 15.5A4.8 4.8 0 0 1 13.2 17.2L15.5 23H8.5L10.8 17.2"
    "A4.8 4.8 0 0 1 1.5 15.5C1.5 10 9 7 12 1Z",
    "c": "M12 1.5A4.8 4.8 0 0 1 15.6 9.6 5 5 0 1 1 13.3 16.8L15.5 23H8.5L10.7 16.8"
    "A5 5 0 1 1 8.4 9.6 4.8 4.8 0 0 1 12 1.5Z",
}
PIPS = {  # of a die, in thirds of its side
    1: ((1, 1),), 2: ((0, 0), (2, 2)), 3: ((0, 0), (1, 1), (2, 2)), 4: ((0, 0), (0, 2), (2, 0), (2, 2)),
    5: ((0, 0), (0, 2), (1, 1), (2, 0), (2, 2)), 6: ((0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)),
}  # fmt: skip


class Card(NamedTuple):
    """A card on the table; face down if it has no rank."""

    rank: str = ""
    suit: str = ""  # c, d, h or s; none in games without suits
    colour: str = "black"  # of a card without a suit
    die: bool = False  # drawn as a die with ``rank`` pips
    picture: str | None = None  # such as Kh or joker-red; none if empty; None: that of its rank and suit

    @property
    def words(self) -> str:
        if not self.rank:
            return "a hidden card"
        return f"{self.rank} of {SUIT_NAMES[self.suit]}" if self.suit else self.rank

    @property
    def face(self) -> str:
        """The name of its picture; empty if it has none."""
        if self.die:
            return ""
        if not self.rank:
            return "back"
        if self.picture is not None:
            return self.picture
        return self.rank + self.suit if self.suit and self.rank in RANKS else ""


def draw_card(card: Card, x: float, y: float, scale: float = 1.0, covered: bool = False, faces: bool = False) -> str:
    """One card with its upper left corner at a point; of a ``covered`` one only the corner can be seen."""
    inside = _die(card) if card.die else _card(card, covered)
    if faces and card.face:
        inside = f'<g class="drawn">{inside}</g>{_pictured(card)}'
    move = f"translate({number(x)} {number(y)})" + (f" scale({scale:.2f})" if scale != 1 else "")
    return f'<g transform="{move}">{inside}</g>'


def draw_row(
    cards: Sequence[Card], middle: float, y: float, room: float, scale: float = 1.0, faces: bool = False
) -> str:
    """Cards side by side around ``middle``; they overlap where ``room`` is too narrow."""
    if not cards:
        return ""
    width = (HEIGHT if cards[0].die else WIDTH) * scale
    step = min(width + 6 * scale, (room - width) / max(len(cards) - 1, 1))
    left = middle - (step * (len(cards) - 1) + width) / 2
    covered = [step < 0.8 * width and place < len(cards) - 1 for place in range(len(cards))]
    return "".join(
        draw_card(card, left + place * step, y, scale, covered[place], faces) for place, card in enumerate(cards)
    )


def _card(card: Card, covered: bool) -> str:
    if not card.rank:
        return rectangle(1, 1, WIDTH - 2, HEIGHT - 2, "back", 6)
    colour = f"suit-{card.suit}" if card.suit else card.colour
    face = rectangle(0.5, 0.5, WIDTH - 1, HEIGHT - 1, "face", 6)
    rank = "10" if card.rank == "T" else card.rank
    if not card.suit:
        size = 26 if len(rank) <= 2 else 90 / len(rank)
        corner = text(4, 17, rank, 16, colour, "start") if len(rank) <= 2 else ""
        return face + corner + ("" if covered else text(WIDTH / 2 + 2, HEIGHT / 2 + 17, rank, size, colour))
    shape = f'<path class="{colour}" d="{SHAPES[card.suit]}" transform="'
    large = f'{shape}translate(24 42) scale(1.2)"/>'
    small = f'{shape}translate(5 25) scale(.65)"/>'
    return face + text(4, 21, rank, 20, f"{colour} rank", "start") + small + ("" if covered else large)


def _pictured(card: Card) -> str:
    """The card's picture in the page's sheet, in the colour of its suit."""
    face = card.face
    colour = "backed" if not card.rank else f"suit-{face[1]}" if len(face) == len("Kh") else card.colour
    return f'<use class="pictured {colour}" href="#face-{face}" width="{number(WIDTH)}" height="{number(HEIGHT)}"/>'


def _die(card: Card) -> str:
    side = HEIGHT
    if not card.rank:
        return rectangle(1, 1, side - 2, side - 2, "back", 14)
    pips = PIPS.get(int(card.rank)) if card.rank.isdigit() else None
    face = rectangle(0.5, 0.5, side - 1, side - 1, "face", 14)
    if pips is None:
        return face + text(side / 2, side / 2 + 10, card.rank, 30, "black")
    places = [(side * (0.22 + 0.28 * column), side * (0.22 + 0.28 * row)) for column, row in pips]
    return face + "".join(f'<circle class="black" cx="{number(x)}" cy="{number(y)}" r="7"/>' for x, y in places)


def said(cards: Sequence[Card]) -> str:
    """Cards as a screen reader says them."""
    hidden = sum(not card.rank for card in cards)
    known = [card.words for card in cards if card.rank]
    words = [*known, *([f"{hidden} hidden card{'s' * (hidden > 1)}"] if hidden else [])]
    return ", ".join(words) if words else "no cards"
