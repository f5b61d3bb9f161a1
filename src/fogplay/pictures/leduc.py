"""The picture of Leduc hold'em: one card each, one on the table."""

from __future__ import annotations

from fogplay.pictures.cards import SUIT_NAMES, Card
from fogplay.pictures.limit import limit_scene, state_seen
from fogplay.pictures.scene import Scene
from fogplay.pictures.sight import Sight


def scene_of(sight: Sight) -> Scene | None:
    """The own card, the public one, chips, and the cards shown down."""
    game, state = sight.game, state_seen(sight)
    if len(state.cards) < game.players:
        return None
    held = [state.cards[seat : seat + 1] for seat in range(game.players)]

    def face(card: int) -> Card:
        suit, rank = game.card_to_string(card)[-1], game.rank_to_string(card)
        return Card(rank, suit if suit in SUIT_NAMES else "", picture="" if rank.isdigit() else None)

    return limit_scene(sight, state, held, state.cards[game.players :], face)
