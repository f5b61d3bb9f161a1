"""The picture of Goofspiel: the prize, the rounds so far, and the own cards."""

from __future__ import annotations

import re

from fogplay.pictures.cards import Card
from fogplay.pictures.picture import won
from fogplay.pictures.scene import Place, Scene
from fogplay.pictures.sight import Sight

RESULTS = {">": "won", "<": "lost", "=": "discarded"}


def scene_of(sight: Sight) -> Scene | None:
    """The own cards left, and the prize of this round."""
    if sight.over:
        places = tuple(Place(name, note=won(sight, seat)) for seat, name in enumerate(sight.names))
        return Scene(places, sight.seat, lines=sight.lines)
    if sight.seat not in sight.to_act:
        return None
    rounds = re.findall(r"(\d+)([<>=])(\d*)", sight.infoset)
    prizes, left = sight.game.prizes, len(sight.legal)
    own = tuple(Card(str(action + 1)) for action in sight.legal)
    places = tuple(
        Place(name, own if seat == sight.seat else (Card(),) * left, turn=seat == sight.seat)
        for seat, name in enumerate(sight.names)
    )
    lines = [
        f"Prize {prize}: you bid {bid}{f' against {other}' if other else ''}, {RESULTS[sign]}"
        for prize, (bid, sign, other) in zip(prizes, rounds, strict=False)
    ]
    prize = (Card(str(prizes[len(rounds)]), colour="red"),)
    return Scene(places, sight.seat, prize, f"{sight.situation}.", tuple(lines))
