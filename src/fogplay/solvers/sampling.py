"""Self-play by sampling as learners: UCT, Smooth UCT, and Monte Carlo CFR in its three forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.kernels import outcome_sampling, traversal_sampling, uct
from fogplay.kernels.threads import Threads, Zeros
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
MOST_GPU_THREADS = 2**22
GPU_ROOM = 2**30  # bytes: more threads than can work in them only play if they are asked for
SCHEDULES = ("decay", "confidence", "slow-decay")
ROLLOUTS: dict[str, Any] = {"uniform": uct.Uniform(), "call-down": uct.CallDown(), "on-policy": uct.OnPolicy()}


class Sampler:
    """What all samplers share: tables, and a driver that plays episodes on them."""

    parameters: dict[str, Any]
    gpu_threads: tuple[int, int]  # by default one for each of the game's actions, within these bounds

    def __init__(
        self,
        arena: Arena,
        settings: dict[str, Any],
        run: Any,
        policy: Any,
        tables: Callable[..., Any],
        room: Any,
        exploring: Exploring | None = None,
    ) -> None:
        """The run's own settings are taken out of ``settings``; the rest of the arguments are the drivers'."""
        self.arena, self.flat, self.parameters = arena, arena.flat, settings
        seed, threads = settings.pop("seed"), settings.pop("threads", None)
        self.elsewhere = settings.pop("device", "cpu") == "cuda"
        self.driver: Any
        if self.elsewhere:
            from fogplay.kernels.grid import Grid

            least, most = self.gpu_threads
            default = min(max(arena.num_slots, least), most, _fitting(room))
            threads = default if threads is None else whole("threads", threads, 1, MOST_GPU_THREADS)
            (game,) = arena.simulators(exploring, 1, batch=1)
            self.driver = Grid(run, game, tables, policy, room, seed, threads)
        else:
            games = arena.simulators(exploring, 1 if threads is None else whole("threads", threads, 1, 1024))
            self.driver = Threads(run, games, tables, policy, room, seed)

    @property
    def threads(self) -> int:
        """How many play at once."""
        count: int = self.driver.threads
        return count

    def advance(self, first: int, count: int) -> None:
        self.driver.advance(first, count)

    def tables(self) -> dict[str, NDArray[Any]]:
        return self._all(*self.driver.read())

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        learned, rng = self.driver.read()
        for name, table in self._all(learned, rng).items():
            table[...] = arrays[name]
        self.driver.write(learned, rng)

    def _all(self, learned: Any, rng: NDArray[np.uint64]) -> dict[str, NDArray[Any]]:
        return {**self._named(learned), "rng": rng, **self.arena.under_way(self.driver.games)}

    def _named(self, learned: Any) -> dict[str, NDArray[Any]]:
        """The tables by their names, [slots] each."""
        raise NotImplementedError


class SelfPlay(Sampler):
    """UCT and Smooth UCT."""

    gpu_threads = 2**17, 2**17  # what the largest GPUs of 2025 can run

    def __init__(self, game: Any, algorithm: str, parameters: dict[str, Any]) -> None:
        arena = arena_of(game)
        settings = _self_play_defaults(arena, algorithm, "c" in parameters and "k" not in parameters) | parameters
        policy = uct.Policy(_schedule(algorithm, settings), _rollout(arena, settings))
        # On a CPU the largest tables hold the same numbers in three quarters of the memory; a GPU wants them aligned.
        self.small = arena.num_slots > LARGE and settings.get("device") != "cuda"
        cell = uct.SMALL_CELL if self.small else uct.CELL
        room = uct.Path.of(arena.deepest, arena.num_players)

        def tables(zeros: Zeros, way: Any) -> uct.Tables:
            return uct.Tables(zeros(arena.num_slots, cell), way)

        super().__init__(arena, settings, uct.run, policy, tables, room, _exploring(arena, settings))

    def advance(self, first: int, count: int) -> None:
        if self.small and first + count > MOST_IN_SMALL_CELLS:
            raise FogplayError(f"tables of {self.arena.num_slots:,} actions count to {MOST_IN_SMALL_CELLS:,} episodes")
        super().advance(first, count)

    def average(self) -> NDArray[np.float64]:
        return shares(require_tree(self.arena, "an average strategy"), self.kept()["visits"])

    def kept(self) -> dict[str, NDArray[Any]]:
        return self._named(uct.Tables(self.driver.table("cell")))

    def _named(self, learned: uct.Tables) -> dict[str, NDArray[Any]]:
        return {"visits": learned.cell["visits"], "total": learned.cell["total"]}


class MonteCarloCfr(Sampler):
    """Outcome, external and chance sampling."""

    gpu_threads = 2**10, 2**15  # regrets swing the wider the more of their updates are under way

    def __init__(self, game: Any, algorithm: str, parameters: dict[str, Any]) -> None:
        arena = arena_of(game)
        outcome: dict[str, Any] = {"epsilon": 0.6, "updates": "parallel", "averaging": "lazy"}
        defaults = outcome if algorithm == "os-mccfr" else {}
        settings = defaults | CALIBRATED.get((algorithm, arena.game), {}) | parameters
        run, policy, room = _form(arena, algorithm, settings)

        def tables(zeros: Zeros, way: Any) -> outcome_sampling.Tables:
            slots = arena.num_slots
            return outcome_sampling.Tables(zeros(slots), zeros(slots), zeros(slots, np.int64), way)

        super().__init__(arena, settings, run, policy, tables, room)

    def average(self) -> NDArray[np.float64]:
        return shares(require_tree(self.arena, "an average strategy"), self.kept()["weights"])

    def kept(self) -> dict[str, NDArray[Any]]:
        return {"weights": self.driver.table("average")}

    def _named(self, learned: outcome_sampling.Tables) -> dict[str, NDArray[Any]]:
        return {"regret": learned.regret, "average": learned.average, "updated": learned.updated}


def _fitting(room: Any) -> int:
    """How many threads of a GPU can work, each in a room of its own, where there is only so much."""
    each = sum(array.nbytes for array in room if isinstance(array, np.ndarray))
    return max(1, GPU_ROOM // max(each, 1))


def _form(arena: Arena, algorithm: str, settings: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The kernel, the policy and the room to work in of one form of Monte Carlo CFR."""
    players, width, depth = arena.num_players, arena.widest, arena.deepest + 1
    if algorithm == "os-mccfr":
        policy = outcome_sampling.Policy(
            epsilon=number("epsilon", settings["epsilon"], 0.001, 1.0),
            alternating=one_of("updates", settings["updates"], ("parallel", "alternating")) == "alternating",
            lazy=one_of("averaging", settings["averaging"], ("lazy", "stochastic")) == "lazy",
            players=players,
        )
        path = outcome_sampling.Path(
            width, np.zeros(depth, outcome_sampling.STEP), np.zeros(depth * width), np.zeros(players)
        )
        return outcome_sampling.run, policy, path
    apart = algorithm == "cs-mccfr"
    form = traversal_sampling.ChanceAlone if apart else traversal_sampling.External
    stack = traversal_sampling.Stack(
        width,
        np.zeros(depth, traversal_sampling.FRAME),
        np.zeros(depth * width),
        np.zeros(depth * width),
        np.zeros((depth + 1, players)),
        np.zeros(arena.num_slots if apart else 0),
        np.zeros(arena.decisions if apart else 0, traversal_sampling.TOUCHED),
        np.zeros(1, np.int64),
    )
    return traversal_sampling.run, form(players), stack


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
