"""Players of rule sheets (Shafiei, Sturtevant & Schaeffer 2009, sections 2, 5 and 6).

UCT and Smooth UCT keep values per role and move in every infoset that they have met. CFR expands the states within
reach as far as the clock allows, estimates those at the edge by many random plays, and iterates until the clock. The
exploiting player responds to a model of UCT. All run on the sheet's network; without one, on the interpreter.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from fogplay.checks import number, one_of, whole
from fogplay.errors import FogplayError, did_you_mean
from fogplay.games.gdl import GdlGame, GdlState
from fogplay.gdl.networked import NetworkMachine
from fogplay.kernels import stages as kernels
from fogplay.play import View
from fogplay.search.searching import SearchAgent, greedy, mixed
from fogplay.search.sheet_beliefs import LaneBelief, history_of
from fogplay.search.sheet_exploiting import CONFIDENCE, Choices, response
from fogplay.search.sheet_interpreted import Interpreted
from fogplay.search.sheet_networked import EXPANDING, Networked, until
from fogplay.simulators.rules import RulesSimulator
from fogplay.strategies.strategy import drawn

AUTO, EXPLOIT = "auto", "exploit"
ALGORITHMS = (AUTO, "uct", "smooth-uct", "cfr", EXPLOIT, "flat")
SECONDS = 1.0
MARGIN = 0.05  # seconds kept before a deadline
FILTERING = 0.3  # share of the time in which states are looked for that agree with all percepts
EXPLORED = 0.5  # share of the most frequent move's tries below which, with percepts, a move was only looked into
COVERING = 0.2  # share of the time in which the tree may grow to the whole rest of the game
COUNTING = ("uct", "smooth-uct", "flat")  # algorithms that can make so many simulations, whatever the clock says
FORM = (
    "write ggp:ALGORITHM:SECONDS, such as ggp:auto:1s, ggp:exploit:CONFIDENCE:SECONDS, or a number of simulations, "
    "such as ggp:uct:5000"
)


class SheetPlayer:
    """An agent for rule sheets that thinks for some seconds, or until the view's deadline if that is earlier.

    With ``simulations``, it makes so many instead, and the same ones on any machine.
    """

    def __init__(
        self,
        game: GdlGame,
        algorithm: str = AUTO,
        seconds: float = SECONDS,
        seed: int = 0,
        confidence: float = CONFIDENCE,
        simulations: int | None = None,
    ) -> None:
        if not isinstance(game, GdlGame):
            raise FogplayError(f"ggp: plays rule sheets only, such as rules.kif, not {game}; write search:uct:0.5s")
        self.game = game
        self.algorithm = one_of("algorithm", algorithm, ALGORITHMS)
        self.seconds = number("seconds", seconds, 1e-3, 86400.0)
        self.confidence = number("confidence", confidence, 0.0, 1.0)
        self.simulations = None if simulations is None else whole("simulations", simulations, 1)
        if simulations is not None and (algorithm not in COUNTING or not isinstance(game.machine, NetworkMachine)):
            raise FogplayError(f"{simulations} simulations are for {', '.join(COUNTING)} on a network; {FORM}")
        self.iterations = 0  # of the last decision
        self._hidden: SearchAgent | None = None
        self.networked: Networked | None = None
        self.reseed(whole("seed", seed, 0))
        self._compile()

    def reseed(self, seed: int) -> None:
        """Begin anew, with other random numbers."""
        self.rng = np.random.default_rng(seed)
        self.machine = machine = self.game.machine
        self.interpreted = Interpreted(machine, seed)
        self.beliefs: dict[int, tuple[LaneBelief, list[Any]]] = {}  # by role, with the history it knows
        if isinstance(machine, NetworkMachine):
            if self.networked is None:
                self.networked = Networked(machine, self.game.sheet.has_percepts, seed)
            self.networked.reseed(seed)
            self.choices = Choices(self.networked)
            return
        self.networked = None
        if self.game.sheet.has_percepts:  # by its rules: a tree would take too long to build
            if self._hidden is None:
                self._hidden = SearchAgent(RulesSimulator(self.game), "smooth-uct", seconds=self.seconds)
            self._hidden.reseed(seed)

    def _compile(self) -> None:
        """Compile what thinking needs, before any clock runs."""
        machine, now, networked = self.machine, time.monotonic(), self.networked
        state = machine.initial()
        legal = machine.legal(state)
        if machine.is_terminal(state) or not all(legal):
            return
        if networked is None:
            if self.algorithm not in COUNTING:
                kernels.iterate(self.interpreted.expand(state, now), 1, 1)
            machine.percepts(state, [options[0] for options in legal])
            return
        world = np.frombuffer(state, np.uint8)[None, :]
        for algorithm in ("uct", "smooth-uct"):
            networked.tries(algorithm, world, networked.no_keys(), self.game.players[0], now)
        if not self.game.sheet.has_percepts:
            kernels.iterate(networked.stages(state, now), 1, 1)
            networked.stages(machine.next(state, [options[0] for options in legal]), now)  # keeps a part of the tree
            if self.algorithm == EXPLOIT:
                response(self.choices, state, self.game.players[0], self.confidence, now)
        else:
            belief = LaneBelief(networked.machine, self.game.players[0], 0)
            belief.see(legal[self.game.players[0]][0], (), now)
        networked.reseed(0)
        self.choices.found.clear()

    def act(self, view: View) -> int:
        return drawn(self.distribution(view), view.luck, view.legal)

    def distribution(self, view: View) -> list[float]:
        """The probability of each of ``view.legal``."""
        if len(view.legal) == 1:
            return [1.0]
        if self.machine is not self.game.machine:  # a match that left the network's states
            self.reseed(0)
        end = time.monotonic() + self.seconds
        if view.deadline is not None:
            end = min(end, view.deadline - MARGIN)
        role = self.game.players[view.seat]
        if self.game.sheet.has_percepts:
            return self._by_belief(view, role, end)
        state: GdlState = view.world(self.rng)
        algorithm = self.algorithm
        if algorithm == AUTO:
            algorithm = "uct" if len(self.game.acting(state.legal)) == 1 else self._for_mixing(state.position, end)
        if self.networked is None:
            return self._interpreted(algorithm, state.position, role, end)
        if algorithm == "cfr":
            found, self.iterations = self.networked.cfr(state.position, role, end)
            return found
        if algorithm == EXPLOIT:
            return response(self.choices, state.position, role, self.confidence, end)
        world = np.frombuffer(state.position, np.uint8)[None, :]
        return self._tried(algorithm, world, self.networked.no_keys(), role, end)

    def _for_mixing(self, state: Any, end: float) -> str:
        """CFR if the rest of the game fits into its tree, else Smooth UCT: estimates of random plays mislead CFR."""
        now = time.monotonic()
        if self.networked is None or self.networked.covers(state, now + COVERING * (end - now)):
            return "cfr"
        return "smooth-uct"

    def _tried(self, algorithm: str, worlds: Any, keys: Any, role: int, end: float) -> list[float]:
        """The move that UCT has tried most often, or Smooth UCT's average; the best mean of flat Monte Carlo.

        A search from many states explores much, which is not meant to be played.
        """
        assert self.networked is not None
        cells, self.iterations = self.networked.tries(algorithm, worlds, keys, role, end, self.simulations)
        tried = cells["visits"].astype(np.float64)
        if algorithm == "flat":
            return greedy(cells["total"] / np.maximum(tried, 1.0))
        if algorithm == "smooth-uct":
            return mixed(tried, EXPLORED) if self.game.sheet.has_percepts else mixed(tried)
        return greedy(tried)

    def _by_belief(self, view: View, role: int, end: float) -> list[float]:
        """A search from states that agree with what the role has seen."""
        if self.networked is None:
            assert self._hidden is not None
            return self._hidden.distribution(view)
        began = time.monotonic()
        belief = self._belief(role, history_of(view.infoset), began + FILTERING * (end - began))
        if belief is None:
            return [1.0 / len(view.legal)] * len(view.legal)
        algorithm = self.algorithm if self.algorithm in ("uct", "flat") else "smooth-uct"
        return self._tried(algorithm, belief.now.states, belief.now.keys, role, end)

    def _belief(self, role: int, history: list[Any], end: float) -> LaneBelief | None:
        """The states that a role holds possible after some steps; None if there are none."""
        assert self.networked is not None
        belief, known = self.beliefs.get(role, (None, []))
        if belief is None or known != history[: len(known)]:
            belief, known = LaneBelief(self.networked.machine, role, int(self.rng.integers(2**31))), []
        self.beliefs[role] = belief, known
        for step in history[len(known) :]:
            if not belief.see(step.own, step.percepts, end):
                return None
            known.append(step)
        return belief

    def _interpreted(self, algorithm: str, state: Any, role: int, end: float) -> list[float]:
        """CFR for those who mix, UCT for the others, without a network."""
        if algorithm in ("cfr", EXPLOIT, "smooth-uct"):
            began = time.monotonic()
            made = self.interpreted.expand(state, began + EXPANDING * (end - began))
            done = [0]

            def iterate(count: int) -> None:
                kernels.iterate(made, done[0] + 1, count)
                done[0] += count

            self.iterations = until(end, iterate)
            average = made.average[made.first_slot[0, role] : made.first_slot[0, role + 1]]
            return [float(each) for each in average / average.sum()]
        visits, self.iterations = self.interpreted.visits(state, role, end)
        return greedy(np.array(visits, np.float64))

    def __str__(self) -> str:
        if self.simulations is not None:
            return f"ggp:{self.algorithm}:{self.simulations}"
        said = f":{self.confidence:g}" if self.algorithm == EXPLOIT else ""
        return f"ggp:{self.algorithm}{said}:{self.seconds:g}s"


def agent(settings: str, rules: Any) -> SheetPlayer:
    """The agent that ``ggp:[ALGORITHM[:CONFIDENCE][:SECONDS]]`` names, such as ``ggp:uct:0.5s``, ``ggp:uct:5000``."""
    algorithm, _, rest = settings.partition(":")
    if algorithm and algorithm not in ALGORITHMS:
        raise FogplayError(
            f"no player of rule sheets is called {algorithm!r}; {did_you_mean(algorithm, ALGORITHMS)}{FORM}"
        )
    parts = rest.split(":") if rest else []
    confidence = CONFIDENCE
    if algorithm == EXPLOIT and parts and not parts[0].endswith("s"):
        confidence = _number(parts.pop(0), "a confidence from 0 to 1")
    if len(parts) > 1:
        raise FogplayError(f"{parts[1]!r} is one setting too many; {FORM}")
    if parts and parts[0].isdecimal() and algorithm != EXPLOIT:
        return SheetPlayer(rules, algorithm or AUTO, simulations=int(parts[0]))
    seconds = _number(parts[0].removesuffix("s"), "a number of seconds") if parts else SECONDS
    return SheetPlayer(rules, algorithm or AUTO, seconds, confidence=confidence)


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise FogplayError(f"{text!r} is not {what}; {FORM}") from None
