"""Self-play by sampling as learners: UCT, Smooth UCT, and Monte Carlo CFR in its three forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.atomics import Plain, Shared
from fogplay.checks import number, one_of, whole
from fogplay.errors import FogplayError
from fogplay.kernels import outcome_sampling, traversal_sampling, uct
from fogplay.kernels.cpu import CpuDriver, Zeros
from fogplay.simulators import Simulator, hashed, simulator_for
from fogplay.simulators.interface import require_tree
from fogplay.simulators.policies import ByPlayer

SHARE_OF_PAYOFF_RANGE = 0.6  # between the papers' calibrations, 0.44 to 0.77 of the range
LARGE = 250_000_000  # slots from which UCT counts visits in 32 bits ...
MOST_IN_SMALL_CELLS = 2**32 - 1  # ... which limits the number of episodes
MOST_THREADS, MOST_GPU_THREADS = 1024, 2**22
GPU_SCRATCH = 2**30  # bytes of scratch buffers, which limit the default number of threads
MOST_PLAYERS = 64  # a kernel keeps one bit per player
CHUNK = 1 << 14  # slots that are restored together
SCHEDULES = ("decay", "confidence", "slow-decay")
ROLLOUTS = ("uniform", "call-down", "on-policy")
UPDATES = ("parallel", "alternating")
EXPLORE = ("learner", "all")
GROWTH = ("one", "all")
AVERAGING = {"os-mccfr": ("lazy", "stochastic"), "es-mccfr": ("even", "linear")}
CHOICES = {"schedule": SCHEDULES, "rollout": ROLLOUTS, "growth": GROWTH, "updates": UPDATES, "explore": EXPLORE}
RANGES = {
    "c": (0.0, 1e150), "k": (0.0, 1.0), "cap": (0.0, 1e150),
    "eta": (0.0, 1.0), "gamma": (0.0, 1.0), "d": (0.0, 1e6), "epsilon": (0.001, 1.0),
}  # fmt: skip


class Sampler:
    """The base of all samplers: tables, and a driver that plays episodes on them."""

    parameters: dict[str, Any]
    gpu_threads: tuple[int, int]  # by default one for each of the game's actions, within these bounds

    def __init__(
        self,
        simulator: Simulator,
        settings: dict[str, Any],
        run: Any,
        policy: Any,
        tables: Callable[..., Any],
        scratch: Any,
    ) -> None:
        """Pops the run's own settings from ``settings``; the other arguments are for the drivers."""
        self.simulator, self.flat, self.parameters = simulator, simulator.flat, settings
        seed, threads = settings.pop("seed"), settings.pop("threads", None)
        self.elsewhere = settings.pop("device", "cpu") == "cuda"
        self.driver: Any
        self.stopped: str | None = None
        if self.elsewhere:
            if not simulator.compiled:
                raise FogplayError(
                    f"{simulator.game} is played by its Python rules, which a GPU cannot ask: use the CPU"
                )
            from fogplay.kernels.cuda import Atomic, CudaDriver

            least, most = self.gpu_threads
            default = min(max(simulator.num_slots, least), most, _fitting(scratch))
            threads = default if threads is None else whole("threads", threads, 1, MOST_GPU_THREADS)
            games = simulator.workers(1, batch=1, writing=Atomic())
            self.driver = CudaDriver(run, games[0], tables, policy, scratch, seed, threads)
        else:
            count = 1 if threads is None else whole("threads", threads, 1, MOST_THREADS)
            games = simulator.workers(count, writing=Plain() if count == 1 else Shared())
            self.driver = CpuDriver(run, games, tables, policy, scratch, seed)
        self._index = simulator.index_of(games[0])

    @property
    def threads(self) -> int:
        """The number of concurrent episodes."""
        count: int = self.driver.threads
        return count

    def advance(self, first: int, count: int) -> int:
        self.driver.advance(first, count)
        failure = self.simulator.failure(self.driver.games)
        if failure is not None:
            self.stopped = failure.line
            return count - min(count, failure.unplayed)
        if self._index is not None and self.driver.fetch(self._index.counters)[hashed.FULL]:
            self.stopped = hashed.full(self.simulator.game, self._index, len(self._found()[0]))
        return count

    def tables(self) -> dict[str, NDArray[Any]]:
        learned, rng = self.driver.read()
        return {**self._in_use(self._named(learned)), "rng": rng, **self.simulator.in_progress(self.driver.games)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        learned, rng = self.driver.read()
        named = self._named(learned)
        slots = len(arrays[next(iter(named))])
        if self._index is not None:
            hashed.require_fit(self._index, len(arrays["keys"]), slots)
            hashed.refill(self._index, arrays["keys"], arrays["first"], slots)
            for array in (self._index.entries, self._index.counters):
                self.driver.store(array)
        for name, table in named.items():
            _fill(table[:slots], arrays[name])
        rng[...] = arrays["rng"]
        self.simulator.resume(self.driver.games, arrays)
        self.driver.write(learned, rng)

    def _in_use(self, named: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The tables without unused slots; if infosets have keys, also the keys and their first slots."""
        if self._index is None:
            return named
        keys, first = self._found()
        slots = min(int(self._index.counters[hashed.SLOTS]), self._index.slots)
        return {name: table[:slots] for name, table in named.items()} | {"keys": keys, "first": first}

    def _found(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """[infosets] the keys of the infosets met, and their first slots."""
        for array in (self._index.entries, self._index.counters):
            self.driver.fetch(array)
        return hashed.in_order(self._index)

    def _named(self, learned: Any) -> dict[str, NDArray[Any]]:
        """The tables by their names, [slots] each."""
        raise NotImplementedError


def countable(slots: int, device: str) -> int | None:
    """The most episodes that UCT's tables of so many slots can count; None if there is no limit."""
    return MOST_IN_SMALL_CELLS if slots > LARGE and device == "cpu" else None


class SelfPlay(Sampler):
    """UCT and Smooth UCT."""

    gpu_threads = 2**17, 2**17  # what the largest GPUs of 2025 can run

    def __init__(self, game: Any, algorithm: str, parameters: dict[str, Any]) -> None:
        simulator = simulator_for(game)
        if simulator.num_players > MOST_PLAYERS:
            raise FogplayError(f"{algorithm} is for at most {MOST_PLAYERS} players, not {simulator.num_players}")
        constant = parameters.get("c") is not None
        if constant and parameters.get("k") is not None:
            raise FogplayError("exploration is c alone, or k with or without a cap: leave one of c and k out")
        settings = _self_play_defaults(simulator, algorithm, constant) | parameters
        exploration = _exploration(simulator, settings)
        whole = one_of("growth", settings["growth"], GROWTH) == "all"
        selection = uct.Selection(_schedule(algorithm, settings), _rollout(simulator, settings), exploration, whole)
        # On a CPU the largest tables hold the same numbers in three quarters of the memory; a GPU wants them aligned.
        self.most_iterations = countable(simulator.num_slots, settings.get("device", "cpu"))
        cell = uct.CELL if self.most_iterations is None else uct.SMALL_CELL
        scratch = uct.Path.of(simulator.deepest, simulator.num_players)

        def tables(zeros: Zeros, writing: Any) -> uct.Tables:
            return uct.Tables(zeros(simulator.num_slots, cell), writing)

        super().__init__(simulator, settings, uct.run, selection, tables, scratch)

    def advance(self, first: int, count: int) -> int:
        if self.most_iterations is not None and first + count - 1 > self.most_iterations:
            count = max(0, self.most_iterations - first + 1)
            done = super().advance(first, count)
            self.stopped = self.stopped or f"{self.counting()}; the run ended there"
            return done
        return super().advance(first, count)

    def counting(self) -> str:
        """How far the tables count."""
        return f"tables of {self.simulator.num_slots:,} actions count to {MOST_IN_SMALL_CELLS:,} episodes on a CPU"

    def average(self) -> NDArray[np.float64]:
        return require_tree(self.simulator, "an average strategy").shares(self.kept()["visits"])

    def kept(self) -> dict[str, NDArray[Any]]:
        return self._in_use(self._named(uct.Tables(self.driver.table("cell"))))

    def _named(self, learned: uct.Tables) -> dict[str, NDArray[Any]]:
        return {"visits": learned.cell["visits"], "total": learned.cell["total"]}


class MonteCarloCfr(Sampler):
    """Outcome, external and chance sampling."""

    gpu_threads = 2**10, 2**15  # more concurrent updates make regrets swing more widely

    def __init__(self, game: Any, algorithm: str, parameters: dict[str, Any]) -> None:
        simulator = simulator_for(game)
        outcome: dict[str, Any] = {"epsilon": 0.6, "updates": "parallel", "averaging": "lazy", "explore": "learner"}
        defaults = outcome if algorithm == "os-mccfr" else {}
        settings = defaults | dict(simulator.calibration.get(algorithm, {})) | parameters
        run, policy, scratch = _form(simulator, algorithm, settings)
        # The table whose sums are the visits of each infoset, if there is one: evenly averaged strategies add up to 1.
        even = isinstance(policy, traversal_sampling.External) and simulator.num_players == 2
        linear = isinstance(policy, traversal_sampling.LinearExternal)
        self.counted = "average" if even else "updated" if linear else None

        def tables(zeros: Zeros, writing: Any) -> outcome_sampling.Tables:
            slots = simulator.num_slots
            return outcome_sampling.Tables(zeros(slots), zeros(slots), zeros(slots, np.int64), writing)

        super().__init__(simulator, settings, run, policy, tables, scratch)

    def average(self) -> NDArray[np.float64]:
        return require_tree(self.simulator, "an average strategy").shares(self.kept()["weights"])

    def kept(self) -> dict[str, NDArray[Any]]:
        weights = self.driver.table("average")
        kept = {"weights": weights}
        if self.counted is not None:
            kept["counts"] = weights if self.counted == "average" else self.driver.table(self.counted)
        return self._in_use(kept)

    def _named(self, learned: outcome_sampling.Tables) -> dict[str, NDArray[Any]]:
        return {"regret": learned.regret, "average": learned.average, "updated": learned.updated}


def _fill(table: NDArray[Any], found: NDArray[Any]) -> None:
    """Copy ``found`` to a new table, which is zero, and leave pages of memory alone that stay zero."""
    for first in range(0, len(found), CHUNK):
        part = found[first : first + CHUNK]
        if np.count_nonzero(part.view(f"u{part.itemsize}")):
            table[first : first + CHUNK] = part


def _fitting(scratch: Any) -> int:
    """How many GPU threads fit into the memory for scratch buffers."""
    each = sum(array.nbytes for array in scratch if isinstance(array, np.ndarray))
    return max(1, GPU_SCRATCH // max(each, 1))


def _form(simulator: Simulator, algorithm: str, settings: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The kernel, the form and the scratch buffers of one form of Monte Carlo CFR."""
    players, width, depth = simulator.num_players, simulator.widest, simulator.deepest + 1
    if algorithm == "os-mccfr":
        policy = outcome_sampling.Form(
            epsilon=number("epsilon", settings["epsilon"], *RANGES["epsilon"]),
            alternating=one_of("updates", settings["updates"], UPDATES) == "alternating",
            lazy=one_of("averaging", settings["averaging"], AVERAGING[algorithm]) == "lazy",
            players=players,
            together=one_of("explore", settings["explore"], EXPLORE) == "all",
        )
        path = outcome_sampling.Path(
            width, np.zeros(depth, outcome_sampling.STEP), np.zeros(depth * width), np.zeros(players)
        )
        return outcome_sampling.run, policy, path
    apart = algorithm == "cs-mccfr"
    if apart and simulator.decisions < 0:
        raise FogplayError(
            f"cs-mccfr tries all actions of all players in one traversal, too many in {simulator.game}; use es-mccfr, "
            "os-mccfr, smooth-uct or uct"
        )
    form: Any = traversal_sampling.ChanceAlone
    if not apart:
        linear = one_of("averaging", settings.get("averaging", "even"), ("even", "linear")) == "linear"
        form = traversal_sampling.LinearExternal if linear else traversal_sampling.External
    stack = traversal_sampling.Stack(
        width,
        np.zeros(depth, traversal_sampling.FRAME),
        np.zeros(depth * width),
        np.zeros(depth * width),
        np.zeros((depth + 1, players)),
        np.zeros(simulator.num_slots if apart else 0),
        np.zeros(simulator.decisions if apart else 0, traversal_sampling.TOUCHED),
        np.zeros(1, np.int64),
    )
    return traversal_sampling.run, form(players), stack


def _self_play_defaults(simulator: Simulator, algorithm: str, constant: bool) -> dict[str, Any]:
    """Default parameters: the papers' values on their games; ``constant`` exploration omits those of the pot."""
    defaults: dict[str, Any] = {"c": SHARE_OF_PAYOFF_RANGE * simulator.payoff_range, "k": None, "cap": None}
    defaults |= {"rollout": "uniform", "growth": "one"}
    if algorithm == "smooth-uct":
        defaults |= {"schedule": "decay", "gamma": 0.1, "eta": 0.9, "d": 0.002, "threshold": 0}
    own = {name: value for name, value in simulator.defaults.items() if name in defaults}
    if constant:
        own |= {"k": None, "cap": None}
    return defaults | own | dict(simulator.calibration.get(algorithm, {}))


def check_sampling(algorithm: str, settings: dict[str, Any]) -> None:
    """Refuse invalid values of parameters, as far as they can be judged without a game."""
    given = {name: value for name, value in settings.items() if value is not None}
    for name, choices in (CHOICES | {"averaging": AVERAGING.get(algorithm, ())}).items():
        if name in given:
            one_of(name, given[name], choices)
    for name, (low, high) in RANGES.items():
        for value in given[name] if isinstance(given.get(name), list | tuple) else [given.get(name, low)]:
            number(name, value, low, high)
    if "threshold" in given:
        whole("threshold", given["threshold"], 0, 2**62)
    if "c" in given and "k" in given:
        raise FogplayError("exploration is c alone, or k with or without a cap: leave one of c and k out")


def _exploration(simulator: Simulator, settings: dict[str, Any]) -> Any:
    """``c``, one for all or one per player, or equation 3 of 2015 if ``k`` is set.

    With ``k``: min(cap, pot + k * betting to come), both at the beginning of the betting round; without a cap this is
    equation 5 of 2014.
    """
    if settings["k"] is not None:
        share = number("k", settings["k"], *RANGES["k"])
        cap = number("cap", settings["cap"], *RANGES["cap"]) if settings["cap"] is not None else np.inf
        by_pot = simulator.exploration(share, cap)
        if by_pot is None:
            raise FogplayError(f"{simulator.name} has no pot for exploration to follow: leave k out and set c")
        return by_pot
    if settings["cap"] is not None:
        raise FogplayError("cap limits exploration that follows the pot: set k too, or set c alone")
    given = settings["c"]
    each = list(given) if isinstance(given, list | tuple) else [given] * simulator.num_players
    if len(each) != simulator.num_players:
        raise FogplayError(f"c must be one number, or one for each of {simulator.num_players} players, not {given!r}")
    by_player = tuple(number("c", value, *RANGES["c"]) for value in each)
    settings["c"] = by_player[0] if len(set(by_player)) == 1 else list(by_player)
    return ByPlayer(np.array(by_player, np.float64))


def _schedule(algorithm: str, settings: dict[str, Any]) -> Any:
    if algorithm == "uct":
        return uct.Always()
    kind = one_of("schedule", settings["schedule"], SCHEDULES)
    eta, gamma, decay = (number(name, settings[name], *RANGES[name]) for name in ("eta", "gamma", "d"))
    threshold = whole("threshold", settings["threshold"], 0, 2**62)
    if kind == "decay":
        return uct.Decay(gamma, eta, decay)
    return uct.Confidence(threshold) if kind == "confidence" else uct.SlowDecay()


def _rollout(simulator: Simulator, settings: dict[str, Any]) -> Any:
    name = one_of("rollout", settings["rollout"], ROLLOUTS)
    if name == "uniform":
        return uct.Uniform()
    if name == "on-policy":
        return uct.OnPolicy()
    calls = simulator.calls()
    if calls is None:
        raise FogplayError(
            f"{simulator.name} has no action that calls, so no call-down rollouts: use uniform or on-policy"
        )
    return uct.CallDown(calls)
