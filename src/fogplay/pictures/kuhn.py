"""The picture of Kuhn poker and of One-Card Poker: one card each, and the bets."""

from __future__ import annotations

from typing import Any

from fogplay.games.game import CHANCE
from fogplay.notation.talk import HIDDEN
from fogplay.pictures.cards import Card
from fogplay.pictures.picture import won
from fogplay.pictures.scene import Place, Scene
from fogplay.pictures.sight import Sight

OPENED, FACED = {"p": "checked", "b": "bet"}, {"p": "folded", "b": "called"}  # a deed before and after a bet


def scene_of(sight: Sight) -> Scene:
    """The own card, who bet, and the cards shown down."""
    game: Any = sight.game
    held = [event.action for event in sight.seen if event.seat == CHANCE]
    bets = "".join(event.name[0] for event in sight.seen if event.seat != CHANCE)
    opened = bets.find("b")
    places = []
    for seat, name in enumerate(sight.names):
        card = held[seat] if seat < len(held) else None
        faces = (_face(game.card_to_string(card)) if card not in (None, HIDDEN) else Card(),)
        at = _last(bets, seat, game.players)
        last = "" if at < 0 else (FACED if 0 <= opened < at else OPENED)[bets[at]]
        places.append(Place(name, faces, won(sight, seat) or last, seat in sight.to_act, last == FACED["p"]))
    pot = game.pot + bets.count("b")
    return Scene(tuple(places), sight.seat, caption=f"Pot {pot:g}")


def _face(name: str) -> Card:
    return Card(name, picture="" if name.isdigit() else f"{name}s")


def _last(bets: str, seat: int, players: int) -> int:
    """The place of a seat's last deed among all; -1 if it has done nothing."""
    return max((place for place in range(len(bets)) if place % players == seat), default=-1)
