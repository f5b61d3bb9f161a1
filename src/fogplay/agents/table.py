"""One hand of hold'em between agents, by the rules in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fogplay.agents.agent import Agent, observe
from fogplay.errors import FogplayError
from fogplay.games.holdem import LETTERS, Holdem, HoldemState


def play_hand(
    rules: Holdem,
    cards: Sequence[int],
    seats: Sequence[Agent],
    chances: Sequence[float],
    watch: Callable[[HoldemState], None] | None = None,
) -> HoldemState:
    """Play a hand to its end with given cards: the board in the order it is dealt, then each seat's hole cards.

    ``chances`` has a random number for every decision that may come; ``watch`` sees every state in which a player acts,
    and the last.
    """
    held = rules.players * rules.hole
    board = list(cards[: len(cards) - held])
    coming = [sorted(cards[at : at + rules.hole]) for at in range(len(board), len(cards), rules.hole)]
    for count in rules.board:
        coming.append(sorted(board[:count]))
        board = board[count:]
    order = [card for dealt in coming for card in dealt]
    state, decision = rules.new_initial_state(), 0
    while not state.is_terminal():
        if state.is_chance_node():
            state = state.child(order[len(state.cards)])
            continue
        if watch is not None:
            watch(state)
        seen = observe(state)
        action = seats[seen.seat].act(seen, chances[decision])
        if action not in seen.legal:
            allowed = ", ".join(LETTERS[each] for each in seen.legal)
            raise FogplayError(f"the agent at seat {seen.seat} answered {action!r}; it may {allowed} here")
        state, decision = state.child(action), decision + 1
    if watch is not None:
        watch(state)
    return state
