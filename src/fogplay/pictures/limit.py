"""What the pictures of limit poker games share: a state with hidden cards as HIDDEN, chips and folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fogplay.notation.talk import HIDDEN
from fogplay.pictures.cards import Card
from fogplay.pictures.picture import won
from fogplay.pictures.scene import Place, Scene
from fogplay.pictures.sight import Sight


def state_seen(sight: Sight) -> Any:
    """The state after all that was seen, with cards that are not seen as HIDDEN."""
    state: Any = sight.game.new_initial_state()
    for event in sight.seen:
        state = state.child(HIDDEN if event.action is None else event.action)
    return state


def limit_scene(
    sight: Sight,
    state: Any,
    held: Sequence[Sequence[int]],
    public: Sequence[int],
    face: Callable[[int], Card],
) -> Scene:
    """Cards, chips paid and whose turn it is; ``held`` by seat and ``public`` are cards of the state."""
    places = []
    button = len(sight.names) - 1
    for seat, name in enumerate(sight.names):
        cards = tuple(Card() if card == HIDDEN else face(card) for card in held[seat])
        called = f"{name} (button)" if seat == button and len(sight.names) > 1 else name
        note = won(sight, seat) or f"paid {state.paid[seat]:g}"
        places.append(Place(called, cards, note, seat in sight.to_act, not state.in_hand[seat]))
    return Scene(tuple(places), sight.seat, tuple(map(face, public)), caption=f"Pot {sum(state.paid):g}")
