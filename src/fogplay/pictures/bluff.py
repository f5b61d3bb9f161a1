"""The picture of Bluff: the own dice, the last bid, and all dice at the end."""

from __future__ import annotations

from fogplay.games.game import CHANCE
from fogplay.pictures.cards import Card
from fogplay.pictures.picture import won
from fogplay.pictures.scene import Place, Scene
from fogplay.pictures.sight import Sight


def scene_of(sight: Sight) -> Scene:
    """Dice in front of their owners, the bids in the middle."""
    game = sight.game
    rolls = [event.action for event in sight.seen if event.seat == CHANCE]
    said = [event for event in sight.seen if event.seat != CHANCE]
    places = []
    for seat, name in enumerate(sight.names):
        count = (game.dice1, game.dice2)[seat]
        roll = rolls[seat] if seat < len(rolls) else None
        faces = game.rolls[seat][roll] if roll is not None else (None,) * count
        dice = tuple(Card("" if face is None else str(face), die=True) for face in faces)
        mine = [event.name for event in said if event.seat == seat]
        last = ("called" if mine[-1] == "call" else f"bid {mine[-1]}") if mine else ""
        places.append(Place(name, dice, won(sight, seat) or last, seat in sight.to_act))
    bids = [event.name for event in said if event.name != "call"]
    caption = f"The bid: {bids[-1]}" if bids else "No bid yet"
    earlier = (f"Earlier: {', '.join(bids[:-1])}",) if len(bids) > 1 else ()
    return Scene(
        tuple(places), sight.seat, caption=caption, lines=(*earlier, *(sight.lines[-2:] if sight.over else ()))
    )
