"""The algorithms by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fogplay.errors import FogplayError, did_you_mean
from fogplay.kernels import outcome_sampling, traversal_sampling, uct
from fogplay.kernels.cfr import iterate
from fogplay.simulators import Simulator
from fogplay.solvers.full_width import WEIGHTINGS, FullWidth, weighting_of
from fogplay.solvers.public_sampling import PublicSampling
from fogplay.solvers.run import Learner
from fogplay.solvers.sampling import MonteCarloCfr, SelfPlay, check_sampling, countable


@dataclass(frozen=True)
class Algorithm:
    """An algorithm: its name, description, learner and parameters."""

    name: str
    summary: str
    make: Callable[[Any, str, dict[str, Any]], Learner] | None  # None: the linear program, which solves in one step
    parameters: tuple[str, ...]
    iterations: int  # by default
    kernels: tuple[Any, ...] = ()  # compiled by the first run; none: those of the game
    bytes_per_action: int = 24  # of its tables
    countable: Callable[[int, str], int | None] | None = (
        None  # the most iterations, by slots and device; None: no limit
    )
    seeded: bool = False  # it draws random numbers, and can use several threads
    on_gpu: bool = False
    by_tensors: bool = False  # on a GPU by torch, not by the kernels of a CPU
    steady: bool = False  # the same bits on any number of threads


AUTO = "auto"
LARGE_TREE = 2_000_000  # nodes from which sampling is preferred
VISITS = 2_000_000_000  # node visits by default, about a minute
FEWEST = 200

_FULL_WIDTH = {
    "cfr": "counterfactual regret minimisation (Zinkevich et al. 2007)",
    "cfr+": "CFR with regrets floored at 0 and linear averaging (Tammelin 2014)",
    "lcfr": "linear CFR (Brown & Sandholm 2019)",
    "dcfr": "discounted CFR (Brown & Sandholm 2019)",
    "pcfr+": "predictive CFR+ (Farina, Kroer & Sandholm 2021)",
}

_UCT = ("c", "k", "cap", "rollout", "growth")
_SAMPLING = (
    Algorithm(
        "smooth-uct",
        "Smooth UCT: UCB mixed with the average strategy (Heinrich & Silver 2015)",
        SelfPlay,
        (*_UCT, "schedule", "gamma", "eta", "d", "threshold"),
        iterations=50_000_000,
        kernels=(uct.run,),
        bytes_per_action=16,
        countable=countable,
        seeded=True,
        on_gpu=True,
    ),
    Algorithm(
        "uct",
        "self-play UCT over information states",
        SelfPlay,
        _UCT,
        iterations=50_000_000,
        kernels=(uct.run,),
        bytes_per_action=16,
        countable=countable,
        seeded=True,
        on_gpu=True,
    ),
    Algorithm(
        "os-mccfr",
        "Monte Carlo CFR by outcome sampling (Lanctot et al. 2009; Ponsen et al. 2011)",
        MonteCarloCfr,
        ("epsilon", "updates", "averaging", "explore"),
        iterations=50_000_000,
        kernels=(outcome_sampling.run,),
        seeded=True,
        on_gpu=True,
    ),
    Algorithm(
        "es-mccfr",
        "by external sampling",
        MonteCarloCfr,
        ("averaging",),
        iterations=20_000_000,
        kernels=(traversal_sampling.run,),
        seeded=True,
        on_gpu=True,
    ),
    Algorithm(
        "cs-mccfr",
        "by chance sampling",
        MonteCarloCfr,
        (),
        iterations=10_000_000,
        kernels=(traversal_sampling.run,),
        seeded=True,
        on_gpu=True,
    ),
    Algorithm(
        "pcs-mccfr",
        "by public chance sampling, all hands at once (Johanson et al. 2012)",
        PublicSampling,
        (),
        iterations=10_000,
        bytes_per_action=8,
        seeded=True,
        steady=True,
        on_gpu=True,
        by_tensors=True,
    ),
    Algorithm(
        "cfr-br",
        "against an opponent that answers best in the last round (Johanson et al. 2012)",
        PublicSampling,
        ("opponent",),
        iterations=10_000,
        bytes_per_action=8,
        seeded=True,
        steady=True,
        on_gpu=True,
        by_tensors=True,
    ),
)

ALGORITHMS: dict[str, Algorithm] = (
    {each.name: each for each in _SAMPLING}
    | {
        name: Algorithm(name, summary, FullWidth, WEIGHTINGS[name]._fields, 10_000, (iterate,))
        for name, summary in _FULL_WIDTH.items()
    }
    | {"lp": Algorithm("lp", "the sequence-form linear program, by HiGHS: exact", None, (), iterations=1)}
)


def suited(simulator: Simulator, device: str = "cpu", threads: int | None = None) -> tuple[str, str]:
    """The default algorithm for a game, and the reason for it."""
    if device != "cpu":
        return "smooth-uct", "the fastest on a GPU"
    if simulator.flat is None:
        if simulator.compiled:
            return "es-mccfr", "the strongest by sampling for a game without a tree"
        return "smooth-uct", "needs nothing but playouts of the game's rules"
    if threads not in (None, 1):
        return "es-mccfr", "the strongest of those that threads can share"
    if simulator.flat.num_nodes > LARGE_TREE:
        return "es-mccfr", "the strongest by sampling, for a tree this large"
    return "cfr+", "for a tree that is small enough to visit whole"


def suited_parameters(algorithm: str, simulator: Simulator) -> dict[str, Any]:
    """The parameters of an algorithm that ``suited`` chose, where they are not the algorithm's defaults.

    In a game without a tree, linear averaging makes external sampling stronger at the same cost.
    """
    return {"averaging": "linear"} if algorithm == "es-mccfr" and simulator.flat is None else {}


def default_iterations(algorithm: Algorithm, simulator: Simulator) -> int:
    """The default number of iterations: the larger the tree, the more a full-width iteration costs."""
    if algorithm.seeded or simulator.flat is None or algorithm.make is None:
        return algorithm.iterations
    return max(FEWEST, min(algorithm.iterations, VISITS // simulator.flat.num_nodes))


def algorithm_called(name: str) -> Algorithm:
    """The algorithm of this name; refuses an unknown name and lists the known ones."""
    if name in ALGORITHMS:
        return ALGORITHMS[name]
    hint = did_you_mean(str(name), ALGORITHMS)
    raise FogplayError(f"no algorithm is called {name!r}; {hint}there are {', '.join(ALGORITHMS)}")


def check_parameters(algorithm: Algorithm, parameters: dict[str, Any]) -> None:
    """Refuse parameters that the algorithm does not have, and values that it cannot take in any game."""
    for name in parameters:
        if name not in algorithm.parameters:
            has = f"it has {', '.join(algorithm.parameters)}" if algorithm.parameters else "it has none"
            raise FogplayError(f"{algorithm.name} has no parameter {name!r}; {has}")
    if algorithm.seeded:
        check_sampling(algorithm.name, parameters)
    elif algorithm.make is not None:
        weighting_of(algorithm.name, parameters)
