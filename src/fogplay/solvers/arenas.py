"""Arenas: what a sampler must know of a game to learn it, whether the game is a tree or only a simulator."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.cards import tables
from fogplay.errors import FogplayError
from fogplay.games.holdem import in_buckets
from fogplay.simulators import simulate_tree
from fogplay.simulators.betting import owners
from fogplay.simulators.holdem import BATCH, SimulatedHoldem, explored, simulate_holdem
from fogplay.simulators.profile import WHOLE, Profile
from fogplay.simulators.restricted import DataBiased, RestrictedNash
from fogplay.solvers.run import shares
from fogplay.strategy import Strategy
from fogplay.trees import FlatGame, flatten, named


@dataclass(frozen=True)
class Exploring:
    """The exploration parameter of UCB: ``c``, one a player, or with ``k`` what equation 3 of 2015 makes of the pot."""

    c: tuple[float, ...]
    k: float | None = None
    cap: float = np.inf


class Arena:
    """A game to play episodes of. A *slot* is one action of one infoset."""

    flat: FlatGame | None  # the whole game, where it fits; else nothing about it can be measured exactly
    name: str  # its spec
    game: str  # the same without what players may be bound to
    digest: str  # a number that changes with anything about it
    num_players: int
    num_slots: int
    widest: int  # the most actions of any infoset
    deepest: int  # the most moves of any history
    decisions: int  # the most decisions that a traversal of all players' moves can meet
    payoff_range: float
    calls: bool  # whether some action checks or calls
    has_pot: bool  # whether exploration can follow the pot
    defaults: Mapping[str, Any] = MappingProxyType({})  # of UCT's parameters, where the game asks for its own

    def simulators(self, exploring: Exploring | None, workers: int, batch: int = BATCH) -> list[Any]:
        """What kernels play on, one a worker; games that are dealt are dealt ``batch`` at a time."""
        raise NotImplementedError

    def under_way(self, simulators: Sequence[Any]) -> dict[str, NDArray[Any]]:
        """What a checkpoint must hold of the simulators."""
        return {}

    def strategy(self, learned: Mapping[str, NDArray[Any]], method: str, greedy: bool, **about: Any) -> Any:
        """What was learned, to keep: the average strategy, or the ``greedy`` one.

        ``learned`` has ``visits`` and ``total`` of UCT, or the ``weights`` of CFR, [slots] each.
        """
        raise NotImplementedError

    def model(self, to: Any) -> NDArray[np.float64]:
        """[slots] the probabilities of a strategy of this game."""
        raise NotImplementedError

    def joined(self, strategies: Sequence[Any], method: str, **about: Any) -> Any:
        """One strategy that at every seat is the one listed for it."""
        raise NotImplementedError


class TreeArena(Arena):
    """A flattened game."""

    def __init__(self, flat: FlatGame) -> None:
        self.flat = self.whole = flat
        self.name, self.game, self.digest = flat.name, flat.game, flat.digest
        self.num_players, self.num_slots = flat.num_players, flat.num_slots
        self.widest, self.deepest, self.payoff_range = flat.widest, flat.deepest, flat.payoff_range
        self.decisions = int((flat.tree.player >= 0).sum())
        self.calls, self.has_pot = flat.calling is not None, flat.outlook is not None

    def simulators(self, exploring: Exploring | None, workers: int, batch: int = BATCH) -> list[Any]:
        explored = None if exploring is None else self._exploration(exploring)
        return [simulate_tree(self.whole, explored, self.whole.calling)] * workers

    def _exploration(self, exploring: Exploring) -> NDArray[np.float64]:
        """[infosets] the exploration parameter."""
        if exploring.k is not None and self.whole.outlook is not None:
            pot, to_come = self.whole.outlook.T
            explored: NDArray[np.float64] = np.minimum(exploring.cap, pot + exploring.k * to_come)
            return explored
        by_player = np.array(exploring.c, np.float64)
        return by_player[self.whole.tree.infoset_player]

    def strategy(self, learned: Mapping[str, NDArray[Any]], method: str, greedy: bool, **about: Any) -> Strategy:
        if "visits" in learned:
            visits = learned["visits"].copy()
            about |= {"visits": visits, "values": learned["total"] / np.maximum(visits, 1)}
        weights = learned["weights"] if "weights" in learned else learned["visits"]
        average = Strategy.of(self.whole, shares(self.whole, weights), method, **about)
        return average.greedy() if greedy else average

    def model(self, to: Any) -> NDArray[np.float64]:
        if not isinstance(to, Strategy):
            raise FogplayError(f"a model of players of {self.name} is a strategy of that game, not of {to.game}")
        return to.on(self.whole)

    def joined(self, strategies: Sequence[Any], method: str, **about: Any) -> Strategy:
        probabilities = self.whole.uniform()
        for seat, each in enumerate(strategies):
            own = self.whole.slots_of(seat)
            probabilities[own] = each.probabilities[own]
        return Strategy.of(self.whole, probabilities, method, **about)


class HoldemArena(Arena):
    """Hold'em through its simulator: the betting tree times what players know of the cards."""

    flat = None
    calls = has_pot = True

    def __init__(self, simulated: SimulatedHoldem) -> None:
        self.simulated = simulated
        self.name = self.game = simulated.name
        self.digest = hashlib.sha256(f"{simulated.name} {tables.VERSION}".encode()).hexdigest()[:16]
        self.num_players, self.num_slots = simulated.num_players, simulated.num_slots
        self.widest, self.deepest, self.decisions = simulated.widest, simulated.deepest, simulated.num_decisions
        self.payoff_range = simulated.payoff_range
        self.defaults = {"k": 0.5, "cap": self.payoff_range / 2, "d": 1 / 20_000}  # 2015, section 4.3

    def simulators(self, exploring: Exploring | None, workers: int, batch: int = BATCH) -> list[Any]:
        simulated = self.simulated
        if exploring is not None:
            c = None if exploring.k is not None else exploring.c
            table = explored(simulated.rules, simulated.betting, c, exploring.k, exploring.cap)
            simulated = replace(simulated, exploration=table)
        return [simulated.worker(batch) for _ in range(workers)]

    def under_way(self, simulators: Sequence[Any]) -> dict[str, NDArray[Any]]:
        kept = {}
        for worker, each in enumerate(simulators):
            kept[f"next {worker}"], kept[f"deck {worker}"] = each.batch.next, each.batch.deck
            kept |= {f"{name} {worker}": array for name, array in each.batch.deals._asdict().items()}
        return kept

    def strategy(self, learned: Mapping[str, NDArray[Any]], method: str, greedy: bool, **about: Any) -> Profile:
        made: Any = {**learned, **about}
        return Profile.of(self.simulated, greedy=greedy, method=method, **made)

    def model(self, to: Any) -> NDArray[np.float64]:
        if not isinstance(to, Profile):
            raise FogplayError(f"a model of players of {self.name} is a profile of that game, not of {to.game}")
        to.require(self.simulated.rules)
        fixed: NDArray[np.float64] = to.share / WHOLE
        return fixed

    def joined(self, strategies: Sequence[Any], method: str, **about: Any) -> Profile:
        owner = owners(self.simulated.betting, np.array(self.simulated.rules.buckets(), np.int64))
        first: Profile = strategies[0]
        share = first.share.copy()
        for seat, each in enumerate(strategies[1:], start=1):
            np.copyto(share, each.share, where=owner == seat)
        return replace(first, share=share, method=method, **about)


class BoundArena(Arena):
    """An arena in which everybody but the responder is bound to a model, by one coin or by one at every infoset."""

    flat = None

    def __init__(
        self, arena: Arena, responder: int, model: NDArray[np.float64], confidence: float | NDArray[np.float64]
    ) -> None:
        self.__dict__.update(arena.__dict__)
        self.calls, self.has_pot = arena.calls, arena.has_pot
        self.inner, self.responder, self.fixed, self.confidence = arena, responder, model, confidence
        by = "rnr" if isinstance(confidence, float) else "dbr"
        self.name = f"{by}({arena.name},responder={responder})"
        digest = hashlib.sha256(arena.digest.encode() + np.asarray(confidence).tobytes())
        digest.update(np.ascontiguousarray(model).view(np.uint8).data)
        self.digest = digest.hexdigest()[:16]

    def simulators(self, exploring: Exploring | None, workers: int, batch: int = BATCH) -> list[Any]:
        kind: Any = RestrictedNash if isinstance(self.confidence, float) else DataBiased
        games = self.inner.simulators(exploring, workers, batch)
        return [kind(each, self.responder, self.confidence, self.fixed) for each in games]

    def under_way(self, simulators: Sequence[Any]) -> dict[str, NDArray[Any]]:
        return self.inner.under_way([each.inner for each in simulators])

    def strategy(self, learned: Mapping[str, NDArray[Any]], method: str, greedy: bool, **about: Any) -> Any:
        return self.inner.strategy(learned, method, greedy, **about)


def arena_of(game: Any) -> Arena:
    """Where episodes of a game are played: hold'em with buckets through its simulator, all else as a tree."""
    if isinstance(game, Arena):
        return game
    rules, name = named(game)
    if in_buckets(rules):
        return HoldemArena(simulate_holdem(rules))
    return TreeArena(flatten(rules, name=name))


def require_tree(arena: Arena, what: str) -> FlatGame:
    """The whole game, which ``what`` needs."""
    if arena.flat is None:
        raise FogplayError(
            f"{what} needs the whole tree, and {arena.game} has none; smooth-uct, uct, os-mccfr and es-mccfr do not"
        )
    return arena.flat
