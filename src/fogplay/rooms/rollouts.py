"""What each option earns, by rollouts: worlds that the person could not tell from the real one, played to their ends.

The reference plays all seats. A world weighs as much as the reference is likely to have made the others' moves in it,
with some doubt, so that nothing is impossible. All options are tried in the same worlds with the same random numbers,
so that their differences are less noisy than they are themselves.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.games.game import CHANCE, TERMINAL
from fogplay.games.parts import part_of
from fogplay.play.luck import drawn_outcome
from fogplay.play.states import infoset_of
from fogplay.rooms.company import looks_up
from fogplay.rooms.replays import Decision
from fogplay.strategies.strategy import drawn

WORLDS = 400
SECONDS = 0.3  # after which no more worlds are tried
FEWEST = 16
DOUBT = 0.05  # the part of every move that is made at random


@dataclass(frozen=True)
class Estimate:
    """What the options of a decision earn."""

    weights: NDArray[np.float64]  # [worlds]
    results: NDArray[np.float64]  # [worlds, options]
    exact: bool = False  # whether these are all worlds, and the results expectations

    @property
    def values(self) -> tuple[float, ...]:
        """[options] the means."""
        return tuple((self.weights @ self.results / self.weights.sum()).tolist())

    def cost(self, place: int) -> tuple[float, float]:
        """How much less an option earns than the best one, and the standard error of that."""
        best = int(np.argmax(self.values))
        less = self.results[:, best] - self.results[:, place]
        shares = self.weights / self.weights.sum()
        mean = float(shares @ less)
        return mean, 0.0 if self.exact else float(np.sqrt((shares**2) @ (less - mean) ** 2))


@dataclass(frozen=True)
class _Spot:
    """A decision of any seat in a world: what a strategy needs to know."""

    seat: int
    legal: tuple[int, ...]
    infoset: str
    observation: Any
    luck: float = 0.0


def possible(reference: Any, made: Decision) -> bool:
    """Whether rollouts are quick enough: the reference is a table of numbers, and the game draws worlds itself."""
    return looks_up(reference) and bool(made.path) and hasattr(made.path[0][0], "determinise")


def estimate(game: Any, reference: Any, made: Decision, rng: np.random.Generator) -> Estimate:
    """Try the options of a decision in worlds, as many as there is time for.

    A game may do this in compiled code: ``option_results`` in ``simulators/<game>.py``.
    """
    own = part_of(game, "option_results")
    found = own(game, reference, made.view, rng, DOUBT) if own is not None else None
    if found is not None:
        return Estimate(*found)
    weights: list[float] = []
    results: list[list[float]] = []
    until = time.monotonic() + SECONDS
    while len(weights) < WORLDS and (len(weights) < FEWEST or time.monotonic() < until):
        world = made.view.world(rng)
        weights.append(_weight(reference, made, world))
        seed = int(rng.integers(2**62))
        results.append([_played(reference, world.child(action), made.view.seat, seed) for action in made.view.legal])
    return Estimate(np.array(weights), np.array(results))


def _spot(state: Any, seat: int) -> _Spot:
    observed = state.observation(seat) if hasattr(state, "observation") else None
    named = "" if observed is not None else infoset_of(state, seat)
    return _Spot(seat, tuple(state.legal_actions()), named, observed)


def _weight(reference: Any, made: Decision, world: Any) -> float:
    """How likely the reference made the others' moves with the cards of this world."""
    if not hasattr(world, "with_cards"):
        return 1.0
    weight = 1.0
    for state, who, action in made.path:
        if who in (CHANCE, made.view.seat):
            continue
        spot = _spot(state.with_cards(world.cards[: len(state.cards)]), who)
        share = reference.distribution(spot)[spot.legal.index(action)]
        weight *= (1 - DOUBT) * share + DOUBT / len(spot.legal)
    return weight


def _played(reference: Any, state: Any, seat: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    while (player := state.current_player()) != TERMINAL:
        if player == CHANCE:
            state = state.child(drawn_outcome(state, rng.random))
            continue
        spot = _spot(state, player)
        state = state.child(drawn(reference.distribution(spot), rng.random(), spot.legal))
    return float(state.returns()[seat])
