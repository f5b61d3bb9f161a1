"""The picture of Kuhn poker and of One-Card Poker: one card each, and the bets."""

from __future__ import annotations

from typing import Any

from fogplay.games.game import CHANCE
from fogplay.notation.talk import HIDDEN
from fogplay.pictures.cards import Card
from fogplay.pictures.picture import won
from fogplay.pictures.scene import Place, Scene
from fogplay.pictures.sight import Sight


def scene_of(sight: Sight) -> Scene:
    """The own card, who bet, and the cards shown down."""
    game: Any = sight.game
    held = [event.action for event in sight.seen if event.seat == CHANCE]
    deeds = [[event.name for event in sight.seen if event.seat == seat] for seat in range(game.players)]
    bets = "".join(event.name[0] for event in sight.seen if event.seat != CHANCE)
    opened = bets.find("b")
    places = []
    for seat, name in enumerate(sight.names):
        card = held[seat] if seat < len(held) else None
        faces = (Card(game.card_to_string(card)) if card not in (None, HIDDEN) else Card(),)
        done = bool(deeds[seat]) and deeds[seat][-1] == "pass" and 0 <= opened < _last(bets, seat, game.players)
        last = ("folds" if done else "bets" if deeds[seat][-1] == "bet" else "passes") if deeds[seat] else ""
        places.append(Place(name, faces, won(sight, seat) or last, seat in sight.to_act, done))
    pot = game.pot + bets.count("b")
    return Scene(tuple(places), sight.seat, caption=f"Pot {pot:g}")


def _last(bets: str, seat: int, players: int) -> int:
    """The place of a seat's last deed among all."""
    return max((place for place in range(len(bets)) if place % players == seat), default=-1)
