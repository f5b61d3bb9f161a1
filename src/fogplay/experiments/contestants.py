"""The contestants of ``fogplay bench``: fogplay and its peers, behind one interface.

This file imports only the standard library until a contestant imports its package (``contest.py`` says why).
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

Facts = dict[str, int]


class Contestant(Protocol):
    """An algorithm of some package. The constructor imports what it needs, which does not count as building."""

    def build(self, game: str) -> Facts: ...  # from the game's name until ready to iterate; returns sizes

    def restart(self) -> None: ...  # forget what was learned, keep the game

    def iterate(self, count: int) -> None: ...  # in the entry's units

    def nash_conv(self) -> float: ...  # of the average strategy


def _sizes(flat: Any, tables: Iterable[Any]) -> Facts:
    return {
        "nodes": flat.num_nodes,
        "infosets": flat.num_infosets,
        "tree_bytes": flat.nbytes,
        "table_bytes": sum(array.nbytes for array in tables),
    }


class FogplayFullWidth:
    """fogplay's CFR+."""

    def __init__(self) -> None:
        from fogplay.evaluate import measure
        from fogplay.solvers.full_width import FullWidth
        from fogplay.trees import flatten

        self.flatten, self.measure, self.make = flatten, measure, FullWidth
        self.build("kuhn")  # compiles the kernels, or loads them from disk
        self.iterate(1)
        self.nash_conv()

    def build(self, game: str) -> Facts:
        self.flat = self.flatten(game)
        self.restart()
        tables = (*self.flat.sequences, *self.learner.learned, *self.learner.scratch)
        return _sizes(self.flat, tables)

    def restart(self) -> None:
        self.learner, self.done = self.make(self.flat, "cfr+", {}), 0

    def iterate(self, count: int) -> None:
        self.learner.advance(self.done + 1, count)
        self.done += count

    def nash_conv(self) -> float:
        return self.measure(self.flat, self.learner.average()).nash_conv


class OpenSpielFullWidth:
    """OpenSpiel's C++ CFR+: alternating updates, linear averaging."""

    def __init__(self) -> None:
        import pyspiel

        self.pyspiel = pyspiel

    def build(self, game: str) -> Facts:
        self.game = self.pyspiel.load_game(game)
        self.restart()
        return {"infosets": len(self.solver.tabular_average_policy().policy_table())}

    def restart(self) -> None:
        self.solver = self.pyspiel.CFRPlusSolver(self.game)

    def iterate(self, count: int) -> None:
        step = self.solver.evaluate_and_update_policy
        for _ in range(count):
            step()

    def nash_conv(self) -> float:
        return float(self.pyspiel.nash_conv(self.game, self.solver.average_policy()))


class LiteEFGFullWidth:
    """The CFR+ that LiteEFG ships as a baseline, run as its own training script runs it: update, then average."""

    def __init__(self) -> None:
        import LiteEFG
        import pyspiel

        self.folder = tempfile.TemporaryDirectory(prefix="fogplay-bench-")
        os.environ["HOME"] = self.folder.name  # it writes every game to the home folder, which must not be the user's
        baseline = importlib.import_module("LiteEFG.baselines.CFRplus")
        self.pyspiel, self.package, self.graph = pyspiel, LiteEFG, baseline.graph

    def build(self, game: str) -> Facts:
        self.game = self.pyspiel.load_game(game)
        self.restart()
        return {"infosets": len(self.environment.state_lookup)}

    def restart(self) -> None:
        self.environment: Any = self.package.OpenSpielEnv(self.game)
        self.algorithm = self.graph()
        self.environment.set_graph(self.algorithm)
        self.strategy = self.algorithm.current_strategy()

    def iterate(self, count: int) -> None:
        algorithm, environment, strategy = self.algorithm, self.environment, self.strategy
        for _ in range(count):
            algorithm.update_graph(environment)
            environment.update_strategy(strategy)

    def nash_conv(self) -> float:
        return float(sum(self.environment.exploitability(self.strategy, "linear-avg-iterate")))  # one gain per player


class FogplaySampling:
    """One of fogplay's samplers, as ``fogplay solve`` runs it."""

    def __init__(self, algorithm: str, threads: int = 1) -> None:
        from fogplay.evaluate import measure
        from fogplay.solvers.algorithms import ALGORITHMS
        from fogplay.trees import flatten

        self.flatten, self.measure, self.make = flatten, measure, ALGORITHMS[algorithm].make
        self.algorithm, self.threads = algorithm, threads
        self.build("kuhn")  # compiles the kernels, or loads them from disk
        self.iterate(1)
        self.nash_conv()

    def build(self, game: str) -> Facts:
        self.flat = self.flatten(game)
        self.restart()
        tables = (*self.learner.driver.games[0], *self.learner.tables().values())
        return _sizes(self.flat, tables)

    def restart(self) -> None:
        assert self.make is not None
        self.learner: Any = self.make(self.flat, self.algorithm, {"seed": 1, "threads": self.threads})
        self.done = 0

    def iterate(self, count: int) -> None:
        self.learner.advance(self.done + 1, count)
        self.done += count

    def nash_conv(self) -> float:
        return self.measure(self.flat, self.learner.average()).nash_conv

    def lost(self) -> float | None:
        """The share of episodes whose visit to the first decision was lost; None for algorithms without visits."""
        tree, visits = self.flat.tree, self.learner.tables().get("visits")
        if visits is None or not self.done:
            return None
        nodes, first = [0], set()
        for node in nodes:  # the list grows by the children of chance nodes
            if tree.player[node] >= 0:
                first.add(int(tree.row[node]))
            elif tree.num_children[node]:
                nodes.extend(range(tree.first_child[node], tree.first_child[node] + tree.num_children[node]))
        seen = sum(int(visits[tree.infoset_start[row] : tree.infoset_start[row + 1]].sum()) for row in first)
        return 1 - seen / self.done


class OpenSpielSampling:
    """OpenSpiel's C++ Monte Carlo CFR: one of its iterations plays once per player and counts as that many units."""

    def __init__(self, solver: str) -> None:
        import pyspiel

        self.pyspiel, self.make = pyspiel, getattr(pyspiel, solver)

    def build(self, game: str) -> Facts:
        self.game = self.pyspiel.load_game(game)
        self.restart()
        return {}

    def restart(self) -> None:
        self.solver, self.owed = self.make(self.game, seed=1), 0

    def iterate(self, count: int) -> None:
        iterations, self.owed = divmod(self.owed + count, self.game.num_players())
        step = self.solver.run_iteration
        for _ in range(iterations):
            step()

    def nash_conv(self) -> float:
        # by state, not by string: before a solver has seen the whole game, its average policy needs the state
        return float(self.pyspiel.nash_conv(self.game, self.solver.average_policy(), True))


class OpenSpielSearch:
    """OpenSpiel's C++ IS-MCTS: one search from the game's first decision, with random rollouts."""

    SHARE_OF_PAYOFF_RANGE = 0.6  # exploration, as fogplay's default

    def __init__(self) -> None:
        import pyspiel

        self.pyspiel = pyspiel

    def build(self, game: str) -> Facts:
        self.game = self.pyspiel.load_game(game)
        self.state = self.game.new_initial_state()
        while self.state.is_chance_node():
            self.state.apply_action(self.state.chance_outcomes()[0][0])
        return {}

    def restart(self) -> None:
        """Nothing to do: every search starts from scratch."""

    def iterate(self, count: int) -> None:
        exploration = self.SHARE_OF_PAYOFF_RANGE * (self.game.max_utility() - self.game.min_utility())
        evaluator = self.pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=1)
        self.pyspiel.ISMCTSBot(1, evaluator, exploration, max(count, 2)).step(self.state)  # a single simulation fails

    def nash_conv(self) -> float:
        raise NotImplementedError("a search for one decision has no strategy for the whole game")


@dataclass(frozen=True)
class Entry:
    """A contestant of a suite: a package, its algorithm, and how to construct it."""

    name: str
    algorithm: str  # unique in the suite together with the name
    module: str  # to import; if it is missing, the entry is skipped
    package: str  # as installed
    make: Callable[[], Contestant]
    race: str = ""  # contestants of the same race are compared
    unit: str = "iteration"  # what is counted
    solves: bool = True  # has a strategy whose nash_conv can be measured
    threads: int = 1  # that share tables, one core each
    processes: int = 1  # concurrent, each with its own tables


def _fogplay(algorithm: str, race: str, unit: str) -> Entry:
    return Entry(OURS, algorithm, "fogplay", "fogplay", functools.partial(FogplaySampling, algorithm), race, unit)


def _openspiel(solver: str, race: str, unit: str) -> Entry:
    make = functools.partial(OpenSpielSampling, solver)
    return Entry("OpenSpiel", f"{solver} (C++)", "pyspiel", "open_spiel", make, race, unit)


def _two_cores(algorithm: str) -> tuple[Entry, ...]:
    """One thread, two threads that share tables, and two concurrent runs."""
    one = _fogplay(algorithm, algorithm, "episode")
    share = functools.partial(FogplaySampling, algorithm, threads=2)
    return (
        one,
        dataclasses.replace(one, algorithm=f"{algorithm}, 2 threads", make=share, threads=2),
        dataclasses.replace(one, algorithm=f"{algorithm}, 2 runs", processes=2),
    )


OURS = "fogplay"
SUITES: dict[str, tuple[Entry, ...]] = {
    "full-width": (
        Entry(OURS, "cfr+", "fogplay", "fogplay", FogplayFullWidth),
        Entry("LiteEFG", "baselines.CFRplus", "LiteEFG", "LiteEFG", LiteEFGFullWidth),
        Entry("OpenSpiel", "CFRPlusSolver (C++)", "pyspiel", "open_spiel", OpenSpielFullWidth),
    ),
    "sampling": (
        _fogplay("os-mccfr", "outcome sampling", "episode"),
        _openspiel("OutcomeSamplingMCCFRSolver", "outcome sampling", "episode"),
        _fogplay("es-mccfr", "external sampling", "traversal"),
        _openspiel("ExternalSamplingMCCFRSolver", "external sampling", "traversal"),
        _fogplay("smooth-uct", "search", "episode"),
        Entry(
            "OpenSpiel",
            "ISMCTSBot (C++)",
            "pyspiel",
            "open_spiel",
            OpenSpielSearch,
            "search",
            "simulation",
            solves=False,
        ),
        _fogplay("uct", "UCT", "episode"),
        _fogplay("cs-mccfr", "chance sampling", "traversal"),
    ),
    "threads": (*_two_cores("smooth-uct"), *_two_cores("uct"), *_two_cores("os-mccfr")),
}
