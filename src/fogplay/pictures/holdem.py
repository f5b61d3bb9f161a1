"""The picture of limit hold'em."""

from __future__ import annotations

from fogplay.cards.deck import RANKS, SUITS
from fogplay.pictures.cards import Card
from fogplay.pictures.limit import limit_scene, state_seen
from fogplay.pictures.scene import Scene
from fogplay.pictures.sight import Sight


def scene_of(sight: Sight) -> Scene | None:
    """Hole cards, the board, chips, and the hands shown down."""
    game, state = sight.game, state_seen(sight)
    if len(state.cards) < game.players * game.hole:
        return None

    def face(card: int) -> Card:
        deck = game.deck_card(card)
        return Card(RANKS[deck // 4], SUITS[deck % 4])

    held = [state.hole_cards(seat) for seat in range(game.players)]
    return limit_scene(sight, state, held, state.board_cards(), face)
