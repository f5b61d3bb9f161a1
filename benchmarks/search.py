"""How strong search at the table is: more simulations against fewer, an exact equilibrium, and OpenSpiel's IS-MCTS.

    python benchmarks/search.py                # all of it, about half an hour on one core
    python benchmarks/search.py leduc          # against Leduc's equilibrium, exactly: no cards, no luck
    python benchmarks/search.py goofspiel bluff --hands 200 --workers 8     # matches in eight processes
    python benchmarks/search.py peer           # against OpenSpiel's ISMCTSBot in Leduc at equal time per decision

Against the equilibrium, the search decides once at every infoset; the strategy that this makes is measured over the
whole tree. Its loss comes with a standard error over seeds of the search. The other parts are matches.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
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
        "| algorithm | simulations | average: milli-chips per hand against the equilibrium | nash_conv "
        "| greedy: the same | nash_conv |\n|---|---:|---:|---:|---:|---:|"
    )
    for algorithm in ("uct", "smooth-uct"):
        for simulations in (30, 100, 300, 1_000, 3_000, 10_000, 30_000):
            row = f"| {algorithm} | {simulations:,} |"
            for final in ("average", "greedy"):
                found = [searched(flat, exact, algorithm, simulations, seed, final) for seed in SEEDS]
                won, conv = np.array(found).T
                error = 1000 * won.std(ddof=1) / math.sqrt(len(won))
                row += f" {1000 * won.mean():+.1f} ± {error:.1f} | {conv.mean():.2f} |"
            print(row, flush=True)


def searched(
    flat: fp.FlatGame, exact: Any, algorithm: str, simulations: int, seed: int, final: str
) -> tuple[float, float]:
    """The mean of both seats against the equilibrium, and nash_conv, of searching at every infoset."""
    agent = SearchAgent(flat, algorithm, simulations=simulations, seed=seed, final=final)
    chosen = np.zeros(flat.num_slots)
    for number, name in enumerate(flat.infosets):
        where = flat.slots(number)
        legal = tuple(range(where.stop - where.start))
        point: Any = Point(int(flat.tree.infoset_player[number]), legal, name)
        chosen[where] = agent.distribution(point)
    won = 0.0
    for seat in range(2):
        both, own = exact.copy(), flat.slots_of(seat)
        both[own] = chosen[own]
        won += measure(flat, both).values[seat] / 2
    return won, measure(flat, chosen).nash_conv


def large(names: list[str], hands: int, workers: int) -> None:
    """Games that no tree holds: against uniform play, and four times the simulations against once."""
    rows = [
        (LARGE[name], algorithm, more, fewer, hands)
        for name in names
        for algorithm in ("uct", "smooth-uct")
        for more, fewer in ((50, 0), (200, 0), (800, 0), (200, 50), (800, 200))
    ]
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        costly_first = sorted(rows, key=lambda row: (row[0] != LARGE["goofspiel"], -row[2] - row[3]))
        found = {row: pool.submit(large_row, *row) for row in costly_first}
        for row in rows:
            if row[1:4] == ("uct", 50, 0):
                head = "| player | against | per hand | hands | seconds per decision |\n|---|---|---:|---:|---:|"
                print(f"\n{row[0]}\n\n{head}")
            print(found[row].result(), flush=True)


def large_row(game: str, algorithm: str, more: int, fewer: int, hands: int) -> str:
    other = Timed(game, algorithm, fewer, seed=2) if fewer else "uniform"
    return played(game, Timed(game, algorithm, more), other, hands)


def played(game: str, player: Any, other: Any, hands: int) -> str:
    """A match as one line of a table."""
    fp.match(game, [player, other], 4, seed=2)  # compiles
    for each in (player, other):
        if not isinstance(each, str):
            each.seconds, each.decisions = 0.0, 0
    result = fp.match(game, [player, other], hands, seed=1)
    row = f"| {player} | {other} | {result.means[0]:+.3f} ± {result.standard_errors[0]:.3f} | {result.hands} |"
    theirs = f" {other.per_decision():.4f} |" if isinstance(other, Peer) else ""
    return f"{row} {player.per_decision():.4f} |{theirs}"


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
    """Fogplay's search against OpenSpiel's in OpenSpiel's Leduc: both greedy, fogplay in half of the time."""
    game = "pyspiel:leduc_poker"
    head = "| player | against | per hand | hands | seconds per decision | theirs |\n|---|---|---:|---:|---:|---:|"
    print(f"\n{game}\n\n{head}")
    for simulations in (1_000, 10_000):
        trial = Peer(simulations)
        fp.match(game, [trial, "uniform"], 200, seed=3)
        for algorithm in ("uct", "smooth-uct"):
            ours = Timed(game, algorithm, seconds=max(trial.per_decision() / 2, 0.001), final="greedy")
            print(played(game, ours, Peer(simulations), hands), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["leduc", "peer", *LARGE], help="leduc, peer, goofspiel, bluff")
    parser.add_argument(
        "--hands", type=int, default=400, help="per match of the large games; five times as many of Leduc"
    )
    parser.add_argument("--workers", type=int, default=1, help="matches of the large games at once")
    given = parser.parse_args()
    if "leduc" in given.parts:
        leduc()
    if "peer" in given.parts:
        peer(5 * given.hands)
    names = [part for part in given.parts if part in LARGE]
    if names:
        large(names, given.hands, given.workers)


if __name__ == "__main__":
    main()
