"""Self-play by sampling as learners: UCT, Smooth UCT, and Monte Carlo CFR in its three forms."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.kernels import outcome_sampling, traversal_sampling, uct
from fogplay.simulators.random import streams
from fogplay.solvers.arenas import Arena, Exploring, arena_of, require_tree
from fogplay.solvers.checks import number, one_of, whole
from fogplay.solvers.run import shares

# The papers' own calibrations on their games; elsewhere constants follow the payoffs.
CALIBRATED: dict[tuple[str, str], dict[str, Any]] = {
    ("uct", "kuhn(players=2,pot=2)"): {"c": 2.0},
    ("uct", "leduc(players=2,suits=seen)"): {"c": 20.0},
    ("smooth-uct", "kuhn(players=2,pot=2)"): {"c": 1.75, "d": 0.001},
    ("smooth-uct", "leduc(players=2,suits=seen)"): {"c": 18.0, "d": 0.002},
    ("os-mccfr", "leduc(players=2,suits=seen)"): {"epsilon": 0.5},
}
CALIBRATED |= {(name, game.replace("suits=seen", "suits=unseen")): found for (name, game), found in CALIBRATED.items()}
SHARE_OF_PAYOFF_RANGE = 0.6  # between the papers' 0.44 to 0.5 on Kuhn and 0.69 to 0.77 on Leduc
LARGE = 250_000_000  # slots from which on UCT counts visits in 32 bits ...
MOST_IN_SMALL_CELLS = 2**32 - 1  # ... which no more episodes than this can pass
SCHEDULES = ("decay", "confidence", "slow-decay")
ROLLOUTS: dict[str, Any] = {"uniform": uct.Uniform(), "call-down": uct.CallDown(), "on-policy": uct.OnPolicy()}


class Sampler:
    """What all samplers share: random streams, and threads that work on the same tables."""

    def __init__(self, arena: Arena, seed: int, threads: int) -> None:
        self.arena, self.flat = arena, arena.flat
        self.threads = whole("threads", threads, 1, 1024)
        self.rng = streams(seed, self.threads)
        self.pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def share_out(self, first: int, count: int, work: Callable[[int, int, int], None]) -> None:
        """Call ``work(thread, first, count)`` so that the threads take every ``threads``-th iteration each."""
        if self.pool is None:
            work(0, first, count)
            return
        parts = [(thread, first + thread, len(range(thread, count, self.threads))) for thread in range(self.threads)]
        list(self.pool.map(lambda part: work(*part), parts))


class SelfPlay(Sampler):
    """UCT and Smooth UCT."""

    def __init__(self, game: Any, algorithm: str, parameters: dict[str, Any]) -> None:
        arena = arena_of(game)
        settings = _self_play_defaults(arena, algorithm, "c" in parameters and "k" not in parameters) | parameters
        super().__init__(arena, settings.pop("seed"), settings.pop("threads", 1))
        self.parameters = settings
        self.policy = uct.Policy(_schedule(algorithm, settings), _rollout(arena, settings))
        self.games = arena.simulators(_exploring(arena, settings), self.threads)
        self.small = arena.num_slots > LARGE  # the same numbers in three quarters of the memory
        self.learned = uct.Tables(np.zeros(arena.num_slots, uct.SMALL_CELL if self.small else uct.CELL))
        self.paths = [np.zeros(arena.deepest + 1, uct.STEP) for _ in range(self.threads)]

    def tables(self) -> dict[str, NDArray[Any]]:
        return {"visits": self.visits, "total": self.total, "rng": self.rng, **self.arena.under_way(self.games)}

    @property
    def visits(self) -> NDArray[Any]:
        return self.learned.cell["visits"]  # [slots]

    @property
    def total(self) -> NDArray[np.float64]:
        return self.learned.cell["total"]  # [slots]

    def advance(self, first: int, count: int) -> None:
        if self.small and first + count > MOST_IN_SMALL_CELLS:
            raise FogplayError(f"tables of {self.arena.num_slots:,} actions count to {MOST_IN_SMALL_CELLS:,} episodes")
        self.share_out(first, count, self._play)

    def _play(self, thread: int, _first: int, count: int) -> None:
        uct.run(self.games[thread], self.learned, self.policy, self.rng[thread], self.paths[thread], count)

    def average(self) -> NDArray[np.float64]:
        return shares(require_tree(self.arena, "an average strategy"), self.visits)

    def kept(self) -> dict[str, NDArray[Any]]:
        return {"visits": self.visits, "total": self.total}


class MonteCarloCfr(Sampler):
    """Outcome, external and chance sampling."""

    def __init__(self, game: Any, algorithm: str, parameters: dict[str, Any]) -> None:
        arena = arena_of(game)
        outcome: dict[str, Any] = {"epsilon": 0.6, "updates": "parallel", "averaging": "lazy"}
        defaults = outcome if algorithm == "os-mccfr" else {}
        settings = defaults | CALIBRATED.get((algorithm, arena.game), {}) | parameters
        super().__init__(arena, settings.pop("seed"), settings.pop("threads", 1))
        self.parameters = settings
        self.games = arena.simulators(None, self.threads)
        slots = arena.num_slots
        self.learned = outcome_sampling.Tables(np.zeros(slots), np.zeros(slots), np.zeros(slots, np.int64))
        self.kernel, self.policy, room = _form(arena, algorithm, settings)
        self.rooms = [room() for _ in range(self.threads)]

    def tables(self) -> dict[str, NDArray[Any]]:
        return {**self.learned._asdict(), "rng": self.rng, **self.arena.under_way(self.games)}

    def advance(self, first: int, count: int) -> None:
        self.share_out(first, count, self._play)

    def _play(self, thread: int, first: int, count: int) -> None:
        room, stride = self.rooms[thread], self.threads
        self.kernel(self.games[thread], self.learned, self.policy, self.rng[thread], room, first, stride, count)

    def average(self) -> NDArray[np.float64]:
        return shares(require_tree(self.arena, "an average strategy"), self.learned.average)

    def kept(self) -> dict[str, NDArray[Any]]:
        return {"weights": self.learned.average}


def _form(arena: Arena, algorithm: str, settings: dict[str, Any]) -> tuple[Any, Any, Callable[[], Any]]:
    """The kernel, the policy and the room to work in of one form of Monte Carlo CFR."""
    players, width, depth = arena.num_players, arena.widest, arena.deepest + 1
    if algorithm == "os-mccfr":
        policy = outcome_sampling.Policy(
            epsilon=number("epsilon", settings["epsilon"], 0.001, 1.0),
            alternating=one_of("updates", settings["updates"], ("parallel", "alternating")) == "alternating",
            lazy=one_of("averaging", settings["averaging"], ("lazy", "stochastic")) == "lazy",
            players=players,
        )
        steps = outcome_sampling.STEP
        return (
            outcome_sampling.run,
            policy,
            lambda: outcome_sampling.Path(width, np.zeros(depth, steps), np.zeros(depth * width), np.zeros(players)),
        )
    apart = algorithm == "cs-mccfr"
    form = traversal_sampling.ChanceAlone if apart else traversal_sampling.External
    return (
        traversal_sampling.run,
        form(players),
        lambda: traversal_sampling.Stack(
            width,
            np.zeros(depth, traversal_sampling.FRAME),
            np.zeros(depth * width),
            np.zeros(depth * width),
            np.zeros((depth + 1, players)),
            np.zeros(arena.num_slots if apart else 0),
            np.zeros(arena.decisions if apart else 0, traversal_sampling.TOUCHED),
            np.zeros(1, np.int64),
        ),
    )


def _self_play_defaults(arena: Arena, algorithm: str, constant: bool) -> dict[str, Any]:
    """What is not set: the papers' values on their games; ``constant`` exploration has no use for the pot's."""
    defaults: dict[str, Any] = {"c": SHARE_OF_PAYOFF_RANGE * arena.payoff_range, "k": None, "cap": None}
    defaults["rollout"] = "uniform"
    if algorithm == "smooth-uct":
        defaults |= {"schedule": "decay", "gamma": 0.1, "eta": 0.9, "d": 0.002, "threshold": 0}
    own = {name: value for name, value in arena.defaults.items() if name in defaults}
    if constant:
        own |= {"k": None, "cap": None}
    return defaults | own | CALIBRATED.get((algorithm, arena.game), {})


def _exploring(arena: Arena, settings: dict[str, Any]) -> Exploring:
    """``c``, one for all or one a player, or equation 3 of 2015 if ``k`` is set.

    With ``k``: min(cap, pot + k * betting to come), both at the beginning of the betting round; without a cap this is
    equation 5 of 2014.
    """
    if settings["k"] is not None:
        share = number("k", settings["k"], 0.0, 1.0)
        if not arena.has_pot:
            raise FogplayError(f"{arena.name} has no pot for exploration to follow: leave k out and set c")
        cap = number("cap", settings["cap"], 0.0, 1e150) if settings["cap"] is not None else np.inf
        return Exploring((0.0,) * arena.num_players, share, cap)
    if settings["cap"] is not None:
        raise FogplayError("cap limits exploration that follows the pot: set k too, or set c alone")
    given = settings["c"]
    each = list(given) if isinstance(given, list | tuple) else [given] * arena.num_players
    if len(each) != arena.num_players:
        raise FogplayError(f"c must be one number, or one for each of {arena.num_players} players, not {given!r}")
    by_player = tuple(number("c", value, 0.0, 1e150) for value in each)
    settings["c"] = by_player[0] if len(set(by_player)) == 1 else list(by_player)
    return Exploring(by_player)


def _schedule(algorithm: str, settings: dict[str, Any]) -> Any:
    if algorithm == "uct":
        return uct.Always()
    kind = one_of("schedule", settings["schedule"], SCHEDULES)
    eta, gamma = number("eta", settings["eta"], 0.0, 1.0), number("gamma", settings["gamma"], 0.0, 1.0)
    decay = number("d", settings["d"], 0.0, 1e6)
    threshold = whole("threshold", settings["threshold"], 0, 2**62)
    if kind == "decay":
        return uct.Decay(gamma, eta, decay)
    return uct.Confidence(threshold) if kind == "confidence" else uct.SlowDecay()


def _rollout(arena: Arena, settings: dict[str, Any]) -> Any:
    name = one_of("rollout", settings["rollout"], ROLLOUTS)
    if name == "call-down" and not arena.calls:
        raise FogplayError(f"{arena.name} has no action that calls, so no call-down rollouts: use uniform or on-policy")
    return ROLLOUTS[name]
