"""``SearchAgent``: UCT and Smooth UCT from the current information set.

Before each of its decisions the agent plays simulations of the rest of the hand against itself. Each begins in a world
drawn at random among those that the player cannot tell from the real one (determinisation), and every player in it
learns on its own information states, by the same kernel as in self-play (``kernels/uct.py``). What was learned is kept
until the next hand begins, so later decisions build on earlier ones.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay import checks
from fogplay.checks import number, one_of, whole
from fogplay.errors import FogplayError, did_you_mean
from fogplay.jit import kernel
from fogplay.play import View
from fogplay.play.advice import Advice, Candidate
from fogplay.simulators import Simulator, simulator_for
from fogplay.simulators.hashed import HashedSimulator, refill
from fogplay.simulators.questions import deal, slot_of, start
from fogplay.simulators.streams import streams
from fogplay.solvers.sampling import SelfPlay
from fogplay.strategies.strategy import drawn

ALGORITHMS = ("smooth-uct", "uct")
FINAL = ("average", "greedy")
LEFT_OUT = 0.1  # an action tried less than this share of the most frequent one is left out of the average
SHARE_OF_PAYOFF_RANGE = 0.4  # exploration c: less than in self-play of the whole game, since budgets are small
SIMULATIONS = 2000
MOST_SIMULATIONS = 10**12
STRETCH_SECONDS = 0.01  # between two looks at the clock
MARGIN_SECONDS = 0.02  # kept before a deadline
MEMORY = 1 << 20  # infosets that are kept within a hand at most
FASTEST = 1_000_000  # simulations per second, about: for which there is memory
DECISIONS = 16  # per hand for which there is always memory
NO_KEYS, NO_SLOTS = np.zeros(0, np.uint64), np.zeros(0, np.int64)


class SearchAgent:
    """An agent that searches before each of its decisions, for so many simulations or seconds.

    It draws its action in proportion to the tries, leaving out those tried less than a tenth as often as the most
    frequent one: hidden information calls for mixed play, and rare tries are exploration. With ``final="greedy"`` it
    takes the action tried most often. A deadline in the view ends the search early, whatever the budget.
    """

    def __init__(
        self,
        game: Any,
        algorithm: str = "smooth-uct",
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        final: str = "average",
        seed: int = 0,
        **parameters: Any,
    ) -> None:
        if simulations is None and seconds is None:
            simulations = SIMULATIONS
        self.simulations = None if simulations is None else whole("simulations", simulations, 1, MOST_SIMULATIONS)
        self.seconds = None if seconds is None else number("seconds", seconds, 1e-3, 86400.0)
        self.final = one_of("final", final, FINAL)
        self.algorithm = one_of("algorithm", algorithm, ALGORITHMS)
        self.simulator = _bare(simulator_for(game))
        expected = self.simulations if self.simulations is not None else int(FASTEST * (self.seconds or 0.0)) + 1
        most = min(MEMORY, expected * DECISIONS)
        infosets = most * self.simulator.num_players
        sized = HashedSimulator(self.simulator, infosets, infosets * self.simulator.actions_per_infoset())
        if not {"c", "k"} & {*parameters, *self.simulator.defaults}:
            parameters["c"] = SHARE_OF_PAYOFF_RANGE * self.simulator.payoff_range
        self.learner = SelfPlay(sized, algorithm, {"seed": checks.seed(seed), **parameters})
        self.rng = np.random.default_rng(seed)
        self.done = 0  # simulations for the last decision

    def act(self, view: View) -> int:
        """An action drawn by what the search prefers."""
        return drawn(self.distribution(view), view.luck, view.legal)

    def distribution(self, view: View) -> list[float]:
        """The probability of each of ``view.legal`` after a search."""
        if len(view.legal) == 1:
            return [1.0]
        if not view.memory:
            self.forget()
        driver = self.learner.driver
        here = driver.games[0]._replace(inner=self.simulator.rooted(view, self.rng))
        slot = int(root_slot(here, driver.rng[0]))
        driver.games[0] = driver.games[0]._replace(inner=self.simulator.rooted(view, self.rng, doubt=True))
        self._spend(view.deadline)
        tries = driver.table("cell")["visits"][slot : slot + len(view.legal)].astype(np.float64)
        return mixed(tries) if self.final == "average" else greedy(tries)

    def explain(self, view: View) -> Advice:
        """What it would do, with the tries of each action and their mean result."""
        chosen = self.distribution(view)
        driver = self.learner.driver
        if len(view.legal) == 1:
            only = Candidate(view.legal[0], view.names[0], None, 0, "there is nothing else to do", None)
            return Advice(only.action, (only,))
        slot = int(root_slot(driver.games[0]._replace(inner=self.simulator.rooted(view, self.rng)), driver.rng[0]))
        cells = driver.table("cell")[slot : slot + len(view.legal)]
        order = sorted(range(len(chosen)), key=lambda place: (-chosen[place], -int(cells["visits"][place])))
        total = max(1, int(cells["visits"].sum()))
        found = []
        for place in order:
            tried = int(cells["visits"][place])
            mean = float(cells["total"][place]) / tried if tried else None
            why = f"{tried / total:.1%} of {total:,} tries"
            found.append(Candidate(view.legal[place], view.names[place], None, tried, why, mean))
        return Advice(found[0].action, tuple(found))

    def reseed(self, seed: int) -> None:
        """Begin the random numbers anew, so that the next hand does not depend on earlier ones."""
        self.forget()
        self.learner.driver.rng[0] = streams(seed, 1)[0]
        self.rng = np.random.default_rng(seed)

    def forget(self) -> None:
        """Clear what was learned, as at the beginning of a hand."""
        index, cells = self.learner.driver.games[0].by_key, self.learner.driver.table("cell")
        cells[: int(index.counters[0])] = 0
        cells[index.slots :] = 0
        refill(index, NO_KEYS, NO_SLOTS, 0)
        self.learner.stopped = None

    def _spend(self, deadline: float | None) -> None:
        """Play simulations until the budget is spent, the deadline is near, or the memory is full."""
        learner, began = self.learner, time.monotonic()
        end = min(
            math.inf if self.seconds is None else began + self.seconds,
            math.inf if deadline is None else deadline - MARGIN_SECONDS,
        )
        left = MOST_SIMULATIONS if self.simulations is None else self.simulations
        self.done, stretch, longest = 0, 1, 0.0
        while left > 0 and (self.done == 0 or time.monotonic() + longest < end):
            count = min(stretch, left)
            before = time.monotonic()
            learner.advance(self.done + 1, count)
            took = time.monotonic() - before
            longest = max(longest, took) if self.done else 0.0  # the first stretch may have compiled the kernel
            self.done, left = self.done + count, left - count
            stretch = max(1, min(4 * stretch, int(count * STRETCH_SECONDS / max(took, 1e-9))))
            failure = learner.simulator.failure(learner.driver.games)
            if failure is not None:
                raise FogplayError(failure.line)
            if learner.stopped is not None:
                break

    def __str__(self) -> str:
        budget = f"{self.simulations}" if self.simulations is not None else f"{self.seconds:g}s"
        return f"search:{self.algorithm}:{budget}" + (f":{self.final}" if self.final != FINAL[0] else "")


def mixed(tries: NDArray[np.float64], left_out: float = LEFT_OUT) -> list[float]:
    """The average strategy without what was tried rarely."""
    kept = np.where(tries < left_out * tries.max(), 0.0, tries)
    return (kept / kept.sum()).tolist()  # type: ignore[no-any-return]


def greedy(tries: NDArray[np.float64]) -> list[float]:
    """The action tried most often."""
    most = int(np.argmax(tries))
    return [float(action == most) for action in range(len(tries))]


@kernel
def root_slot(game, rng):
    """The first slot of the infoset that the episodes of ``game`` begin at; ``rng`` changes."""
    signals = deal(game, rng)
    return slot_of(game, start(game, signals, rng), signals)


def _bare(simulator: Simulator) -> Simulator:
    """A simulator without a hash table that is sized for learning the whole game."""
    return simulator.inner if isinstance(simulator, HashedSimulator) else simulator


def agent(settings: str, rules: Any) -> SearchAgent:
    """The agent that ``search:[ALGORITHM[:BUDGET[:FINAL]]]`` names; a budget is 2000 simulations, or 0.5s."""
    algorithm, _, rest = settings.partition(":")
    budget, _, final = rest.partition(":")
    final = final or FINAL[0]
    form = f"write search:ALGORITHM:BUDGET:FINAL, such as search:smooth-uct:{SIMULATIONS} or search:uct:0.5s:greedy"
    algorithm = algorithm or ALGORITHMS[0]
    if algorithm not in ALGORITHMS:
        raise FogplayError(f"no search is called {algorithm!r}; {did_you_mean(algorithm, ALGORITHMS)}{form}")
    try:
        if budget.endswith("s"):
            return SearchAgent(rules, algorithm, seconds=float(budget[:-1]), final=final)
        simulations = int(float(budget)) if budget else SIMULATIONS
        return SearchAgent(rules, algorithm, simulations=simulations, final=final)
    except (ValueError, OverflowError) as error:
        why = str(error) if isinstance(error, FogplayError) else f"{budget!r} is not a number"
        raise FogplayError(f"{why}; {form}") from None
