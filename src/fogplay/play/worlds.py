"""Worlds: full states that a seat cannot tell from the real one, drawn at random.

A game may draw them itself (``determinise(player, rng)``, or OpenSpiel's ``resample_from_infostate``). Otherwise the
hand is replayed from its beginning: chance moves by its probabilities, the others move at random, the seat repeats its
own actions, and a replay counts if the seat would have seen the same throughout. Worlds therefore have their
probabilities under chance and uniform opponents, given all that the seat knows. If hardly any replay fits, a search
with backtracking finds one instead; its worlds are consistent too, but do not have exactly this distribution.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, SIMULTANEOUS
from fogplay.play.states import infoset_of, joint_child, legal_of

TRIES = 300  # replays from the beginning
STEPS = 100_000  # moves tried by the search with backtracking

Memory = tuple[tuple[str, int], ...]


def draw_world(game: Any, state: Any, seat: int, memory: Memory, rng: np.random.Generator, doubt: bool = False) -> Any:
    """A state that ``seat`` cannot tell from ``state``; ``memory`` holds its earlier infosets and actions.

    With ``doubt``, a state that another player cannot tell from such a state.
    """
    world = _world(game, state, seat, memory, rng)
    others = [other for other in range(int(game.num_players())) if other != seat]
    if not doubt or not others:
        return world
    return seen_by(world, others[int(rng.integers(len(others)))], rng)


def seen_by(world: Any, other: int, rng: np.random.Generator) -> Any:
    """A state that ``other`` cannot tell from ``world``, the same player to act; ``world`` if the game draws none."""
    try:
        drawn = determinised(world, other, rng)
    except Exception:  # rules that draw worlds only for the player to act
        return world
    return drawn if drawn is not None and drawn.current_player() == world.current_player() else world


def _world(game: Any, state: Any, seat: int, memory: Memory, rng: np.random.Generator) -> Any:
    drawn = determinised(state, seat, rng)
    if drawn is not None:
        return drawn
    replay = Replay(game, seat, (*memory, (infoset_of(state, seat), None)), rng)
    for _ in range(TRIES):
        found = replay.once()
        if found is not None:
            return found
    found = replay.search()
    if found is None:
        raise FogplayError(
            f"no world was found for seat {seat} at {infoset_of(state, seat)!r} in {STEPS:,} moves; let the game's "
            "state define determinise(player, rng)"
        )
    return found


def determinised(state: Any, seat: int, rng: np.random.Generator) -> Any:
    """A world that the game draws itself; None if it cannot."""
    if hasattr(state, "determinise"):
        return state.determinise(seat, rng)
    if hasattr(state, "resample_from_infostate"):
        try:
            return state.resample_from_infostate(seat, rng.random)
        except Exception:  # OpenSpiel's games that do not support it raise various errors
            pass
    return None


class Replay:
    """Replays a hand so that one seat sees and does the same as before."""

    def __init__(self, game: Any, seat: int, wanted: tuple[tuple[str, Any], ...], rng: np.random.Generator) -> None:
        self.game, self.seat, self.wanted, self.rng = game, seat, wanted, rng
        self.players = int(game.num_players())

    def once(self) -> Any:
        """One replay; None if the seat notices a difference."""
        state, met = self.game.new_initial_state(), 0
        while True:
            player = state.current_player()
            acts = self._acts(state, player)
            if acts:
                if not self._fits(state, met):
                    return None
                if met == len(self.wanted) - 1:
                    return state
            elif player < 0 and player not in (CHANCE, SIMULTANEOUS):
                return None
            state = self._random_child(state, player, met)
            met += acts

    def _acts(self, state: Any, player: int) -> bool:
        if player == SIMULTANEOUS:
            return bool(state.legal_actions(self.seat))
        return bool(player == self.seat)

    def _fits(self, state: Any, met: int) -> bool:
        infoset, action = self.wanted[met]
        if infoset_of(state, self.seat) != infoset:
            return False
        return action is None or action in legal_of(state, self.seat)

    def _random_child(self, state: Any, player: int, met: int) -> Any:
        if player == CHANCE:
            outcomes = state.chance_outcomes()
            left = float(self.rng.random())
            for action, probability in outcomes:
                left -= probability
                if left < 0:
                    return state.child(action)
            return state.child(next(action for action, probability in reversed(outcomes) if probability > 0))
        if player == SIMULTANEOUS:
            return self._joint(state, met)
        if player == self.seat:
            return state.child(self.wanted[met][1])
        legal = state.legal_actions()
        return state.child(legal[int(self.rng.integers(len(legal)))])

    def _joint(self, state: Any, met: int) -> Any:
        chosen = {}
        for seat in range(self.players):
            legal = state.legal_actions(seat)
            if legal:
                own = seat == self.seat
                chosen[seat] = self.wanted[met][1] if own else legal[int(self.rng.integers(len(legal)))]
        return joint_child(state, chosen, self.players)

    def search(self) -> Any:
        """A fitting state by depth-first search, moves in random order; None if there is none within the bound."""
        stack: list[tuple[Any, int]] = [(self.game.new_initial_state(), 0)]
        for _ in range(STEPS):
            if not stack:
                return None
            state, met = stack.pop()
            player = state.current_player()
            if self._acts(state, player):
                if not self._fits(state, met):
                    continue
                if met == len(self.wanted) - 1:
                    return state
                met += 1
                if player == self.seat:
                    stack.append((state.child(self.wanted[met - 1][1]), met))
                    continue
            if player == SIMULTANEOUS:
                stack.extend((self._joint(state, met - 1), met) for _ in range(8))
            elif player == CHANCE or player >= 0:
                moves = self._shuffled(state, player)
                stack.extend((state.child(action), met) for action in moves)
        return None

    def _shuffled(self, state: Any, player: int) -> list[int]:
        """All moves in random order; chance's likely ones tend to come last, where the search begins."""
        if player != CHANCE:
            return [int(action) for action in self.rng.permutation(state.legal_actions())]
        possible = [(action, probability) for action, probability in state.chance_outcomes() if probability > 0]
        keys = self.rng.random(len(possible)) ** (1.0 / np.array([probability for _, probability in possible]))
        return [possible[place][0] for place in np.argsort(keys)]
