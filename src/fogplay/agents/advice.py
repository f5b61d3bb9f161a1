"""Advice to a person at a table: what a strategy would do at a decision, and what each choice earns.

The reference is a strategy, a bot, a search: it has ``distribution(view)``, or else always does the same. Where the
game is a small tree, what a choice earns is exact.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.agents.resolve import BOTS, UNIFORM, resolve
from fogplay.evaluate.situations import situations
from fogplay.games.game import fits_in_tree
from fogplay.play import Uniform, View
from fogplay.simulators import part_of
from fogplay.simulators.find import by_rules
from fogplay.solvers import solve
from fogplay.strategies import TabularStrategy
from fogplay.strategies.tabular import at_seat
from fogplay.trees import FlatGame, NoTreeError, flatten
from fogplay.trees.estimate import estimate_nodes

EQUILIBRIUM, SEARCH = "equilibrium", "search:smooth-uct:2000"
SHEETS = "ggp:auto:0.5s"  # a search for rule sheets
SMALL_TREE = 300_000  # nodes that are built and solved within seconds
MOST_TREE = 200_000  # nodes that are built for a search
NODE_VISITS = 40_000_000  # of the solver, a second or so
MOST_ITERATIONS, FEWEST_ITERATIONS = 2_000, 100
MOST_SHOWN = 4  # actions of an advice in words
CLOSE = 0.01  # of the payoffs' range: the most nash_conv of what is called an equilibrium
NOTHING = 0.0005  # a cost that is shown as none


@dataclass(frozen=True)
class Advice:
    """What a reference would do at a decision."""

    by: str  # its name
    probabilities: tuple[float, ...]  # of each of ``view.legal``
    values: tuple[float, ...] | None  # what each earns if everybody follows the reference from there; None: unknown

    def cost(self, place: int) -> float | None:
        """How much less the choice at this place of ``view.legal`` earns than the best one."""
        return None if self.values is None else max(self.values) - self.values[place]

    def words(self, options: Sequence[str]) -> str:
        """``67 % fold, 33 % call``: the most likely of the actions, which are called ``options``."""
        order = sorted(range(len(options)), key=lambda place: -self.probabilities[place])
        percent = [(round(100 * self.probabilities[place]), options[place]) for place in order[:MOST_SHOWN]]
        return ", ".join(f"{share} % {name}" for share, name in percent if share > 0)


@dataclass(frozen=True)
class Reference:
    """A player to learn from: an agent with ``distribution(view)``, and the whole game if it is small."""

    name: str
    agent: Any
    flat: FlatGame | None = None  # the game on which ``agent``, then a TabularStrategy, can be evaluated exactly
    how: str = ""  # where it came from, in words

    def seated(self, rules: Any, seats: int) -> list[Any]:
        """Agents that play like it at so many seats; each search has its own memory, which knows its own cards."""
        return searchers(rules, seats, self.name) if self.name in (SEARCH, SHEETS) else [self.agent] * seats

    def advise(self, view: View) -> Advice:
        """What it would do with this view, and what the choices earn."""
        if hasattr(self.agent, "distribution"):
            shares = tuple(map(float, self.agent.distribution(view)))
        else:
            chosen = self.agent.act(view)
            shares = tuple(float(action == chosen) for action in view.legal)
        return Advice(self.name, shares, self._values(view))

    def _values(self, view: View) -> tuple[float, ...] | None:
        if self.flat is None or not isinstance(self.agent, TabularStrategy):
            return None
        name = view.infoset if view.infoset in self.agent else at_seat(view.infoset, view.seat)
        if name not in self.agent:
            return None
        found = tuple(self._worth[self.flat.slots(self.flat.infoset_number(name))].tolist())
        return found if all(map(math.isfinite, found)) else None

    @functools.cached_property
    def _worth(self) -> NDArray[np.float64]:
        assert self.flat is not None
        return situations(self.flat, self.agent.on(self.flat)).value


def sensible(rules: Any, spec: str, flatten: Callable[..., FlatGame] = flatten) -> Reference:
    """A good player of a game that needs no file and no patience.

    It is the game's best bot (``default(rules)`` in ``bots/<game>.py``); else an equilibrium that is solved now, if the
    game is small; else a search before every decision; and if the game cannot be searched either, ``uniform``.
    """
    default = part_of(rules, "default", BOTS)
    bot = default(rules) if default is not None else None
    if bot is not None:
        return Reference(bot, resolve([bot], rules)[0], how="the best bot of this game")
    solved = _solved(rules, spec, flatten)
    if solved is not None:
        return solved
    try:
        if hasattr(rules, "sheet") and _tree_takes_long(rules):
            return Reference(SHEETS, searchers(rules, 1, SHEETS)[0], how="half a second before every move")
        return Reference(SEARCH, searchers(rules, 1)[0], how="2,000 simulations before every move")
    except Exception:  # the game's own code cannot be searched
        return Reference(UNIFORM, Uniform(), how="every move with the same probability")


def searchers(rules: Any, seats: int, kind: str = SEARCH) -> list[Any]:
    """Search agents that are ready within seconds: on the rules as they are where a tree would take longer to build."""
    played: Any = rules
    if kind != SHEETS and part_of(rules, "simulator") is None and _tree_takes_long(rules):
        played = by_rules(rules, str(rules), f"over {MOST_TREE:,} nodes")
    return resolve([kind] * seats, played)


def _tree_takes_long(rules: Any) -> bool:
    return fits_in_tree(rules) and _estimated(rules) > MOST_TREE


def _estimated(rules: Any) -> int:
    """About how many nodes a game has; none if its own code fails, which flattening then reports with the history."""
    try:
        return estimate_nodes(rules.new_initial_state())
    except Exception:  # of any kind: the game is a person's own
        return 0


def evaluated(name: str, agent: Any, rules: Any, spec: str, flatten: Callable[..., FlatGame] = flatten) -> Reference:
    """A saved strategy as a reference; with the whole game if that is small."""
    flat = _small(rules, spec, flatten) if isinstance(agent, TabularStrategy) else None
    fits = flat is not None and set(flat.infosets) == set(agent.infosets)
    return Reference(name, agent, flat if fits else None)


def _solved(rules: Any, spec: str, flatten: Callable[..., FlatGame]) -> Reference | None:
    flat = _small(rules, spec, flatten)
    if flat is None or flat.num_infosets == 0:
        return None
    iterations = max(FEWEST_ITERATIONS, min(MOST_ITERATIONS, NODE_VISITS // flat.num_nodes))
    result = solve(flat, "cfr+", iterations, watch=False)
    quality = "" if result.nash_conv is None else f", nash_conv {result.nash_conv:.2g}"
    found = result.nash_conv is not None and result.nash_conv <= CLOSE * float(np.ptp(flat.tree.payoffs))
    return Reference(EQUILIBRIUM if found else "cfr+", result.strategy, flat, f"solved just now by cfr+{quality}")


def _small(rules: Any, spec: str, flatten: Callable[..., FlatGame]) -> FlatGame | None:
    """The game as a tree, if that is small."""
    if not fits_in_tree(rules):
        return None
    try:
        if _estimated(rules) > SMALL_TREE:
            return None
        return flatten(rules, name=spec)
    except (NoTreeError, TypeError, AttributeError, NotImplementedError):  # players who move at the same time
        return None
