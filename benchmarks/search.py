"""How strong search at the table is: more simulations against fewer, an exact equilibrium, and OpenSpiel's IS-MCTS.

    python benchmarks/search.py                # all of it, about half an hour on one core
    python benchmarks/search.py leduc          # against Leduc's equilibrium, exactly: no cards, no luck
    python benchmarks/search.py goofspiel bluff --hands 200
    python benchmarks/search.py peer           # against OpenSpiel's ISMCTSBot in Leduc at equal time per decision

Against the equilibrium, the search decides once at every infoset; the strategy that this makes is measured over the
whole tree. Its loss comes with a standard error over seeds of the search. The other parts are matches.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import fogplay as fp
from fogplay.evaluate import equilibrium, measure
from fogplay.search import SearchAgent

SEEDS = (1, 2, 3, 4, 5)
LARGE = {"goofspiel": "goofspiel(13)", "bluff": "bluff(2,2,6)"}


@dataclass
class Point:
    """An infoset as a search sees it."""

    seat: int
    legal: tuple[int, ...]
    infoset: str
    observation: Any = None
    luck: float = 0.5
    memory: tuple[tuple[str, int], ...] = ()
    deadline: float | None = None


def leduc() -> None:
    """What a search loses to the equilibrium per hand, by simulations per decision."""
    flat = fp.flatten("leduc")
    _, exact = equilibrium(flat)
    print(
        "| algorithm | simulations | milli-chips per hand against the equilibrium | nash_conv |\n|---|---:|---:|---:|"
    )
    for algorithm in ("uct", "smooth-uct"):
        for simulations in (30, 100, 300, 1_000, 3_000, 10_000, 30_000):
            found = [searched(flat, exact, algorithm, simulations, seed) for seed in SEEDS]
            won, conv = np.array(found).T
            error = 1000 * won.std(ddof=1) / math.sqrt(len(won))
            print(
                f"| {algorithm} | {simulations:,} | {1000 * won.mean():+.1f} ± {error:.1f} | {conv.mean():.2f} |",
                flush=True,
            )


def searched(flat: fp.FlatGame, exact: Any, algorithm: str, simulations: int, seed: int) -> tuple[float, float]:
    """The mean of both seats against the equilibrium, and nash_conv, of deciding by search at every infoset."""
    agent = SearchAgent(flat, algorithm, simulations=simulations, seed=seed)
    chosen = np.zeros(flat.num_slots)
    for number, name in enumerate(flat.infosets):
        where = flat.slots(number)
        legal = tuple(range(where.stop - where.start))
        point: Any = Point(int(flat.tree.infoset_player[number]), legal, name)
        chosen[where.start + agent.act(point)] = 1.0
    won = 0.0
    for seat in range(2):
        both, own = exact.copy(), flat.slots_of(seat)
        both[own] = chosen[own]
        won += measure(flat, both).values[seat] / 2
    return won, measure(flat, chosen).nash_conv


def large(name: str, hands: int) -> None:
    """A game that no tree holds: against uniform play, and four times the simulations against once."""
    game = LARGE[name]
    print(f"\n{game}\n\n| player | against | per hand | hands | seconds per decision |\n|---|---|---:|---:|---:|")
    budgets = (50, 200, 800)
    for algorithm in ("uct", "smooth-uct"):
        for simulations in budgets:
            show(game, Timed(game, algorithm, simulations), "uniform", hands)
        for fewer, more in itertools.pairwise(budgets):
            show(game, Timed(game, algorithm, more), Timed(game, algorithm, fewer, seed=2), hands)


def show(game: str, player: Any, other: Any, hands: int) -> None:
    fp.match(game, [player, other], 4, seed=2)  # compiles
    for each in (player, other):
        if not isinstance(each, str):
            each.seconds, each.decisions = 0.0, 0
    result = fp.match(game, [player, other], hands, seed=1)
    row = f"| {player} | {other} | {result.means[0]:+.3f} ± {result.standard_errors[0]:.3f} | {result.hands} |"
    theirs = f" {other.per_decision():.4f} |" if isinstance(other, Peer) else ""
    print(f"{row} {player.per_decision():.4f} |{theirs}", flush=True)


class Timed:
    """An agent that counts its seconds."""

    def __init__(self, game: str, algorithm: str, simulations: int | None = None, seed: int = 1, **budget: Any) -> None:
        self.agent = SearchAgent(game, algorithm, simulations=simulations, seed=seed, **budget)
        amount = f"{simulations} simulations" if simulations else f"{budget['seconds'] * 1000:.1f} ms"
        self.name, self.seconds, self.decisions = f"{algorithm}, {amount}", 0.0, 0

    def act(self, view: Any) -> int:
        began = time.perf_counter()
        chosen = self.agent.act(view)
        self.seconds += time.perf_counter() - began
        self.decisions += 1
        return chosen

    def per_decision(self) -> float:
        return self.seconds / max(self.decisions, 1)

    def __str__(self) -> str:
        return self.name


class Peer:
    """OpenSpiel's ISMCTSBot: it treats all states of an infoset alike, so it gets one drawn at random."""

    def __init__(self, simulations: int, seed: int = 1) -> None:
        import pyspiel

        self.simulations, self.seconds, self.decisions = simulations, 0.0, 0
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        self.bot = pyspiel.ISMCTSBot(seed, evaluator, 0.6 * 26, simulations)
        self.rng = np.random.default_rng(seed)

    def act(self, view: Any) -> int:
        world = view.world(self.rng)
        began = time.perf_counter()
        chosen = self.bot.step(world)
        self.seconds += time.perf_counter() - began
        self.decisions += 1
        return int(chosen)

    def per_decision(self) -> float:
        return self.seconds / max(self.decisions, 1)

    def __str__(self) -> str:
        return f"ISMCTSBot, {self.simulations} simulations"


def peer(hands: int) -> None:
    """Fogplay's search against OpenSpiel's in OpenSpiel's Leduc, at equal time per decision."""
    game = "pyspiel:leduc_poker"
    head = "| player | against | per hand | hands | seconds per decision | theirs |\n|---|---|---:|---:|---:|---:|"
    print(f"\n{game}\n\n{head}")
    for simulations in (1_000, 10_000):
        trial = Peer(simulations)
        fp.match(game, [trial, "uniform"], 200, seed=3)
        for algorithm in ("uct", "smooth-uct"):
            show(game, Timed(game, algorithm, seconds=max(trial.per_decision() / 2, 0.001)), Peer(simulations), hands)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["leduc", "peer", *LARGE], help="leduc, peer, goofspiel, bluff")
    parser.add_argument(
        "--hands", type=int, default=400, help="per match of the large games; five times as many of Leduc"
    )
    given = parser.parse_args()
    for part in given.parts:
        if part == "leduc":
            leduc()
        elif part == "peer":
            peer(5 * given.hands)
        else:
            large(part, given.hands)


if __name__ == "__main__":
    main()
