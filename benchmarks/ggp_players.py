"""Players of rule sheets against each other, computed exactly: no clock, no luck, no error bars.

    python benchmarks/ggp_players.py [SHEET ...] [--iterations 450] [--seconds 60]

For sheets of two roles whose states fit in memory. ``cfr`` is the average strategy after so many iterations of CFR+,
as ``ggp:cfr`` plays it; ``flat`` takes the move with the best mean over all random plays, as ``ggp:flat`` does with
many of them; ``uniform`` takes any move. The mean goal of the first player is over both ways to seat them.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.gdl import GdlGame
from fogplay.gdl.networked import NetworkMachine
from fogplay.kernels import stages as kernels
from fogplay.kernels.stages import Stages
from fogplay.search.sheet_cfr import EXPANDED, NODES
from fogplay.search.sheet_networked import Networked

SHEETS = ("goofspiel.kif(cards=4)", "goofspiel.kif", "goofspiel.kif(cards=6)", "rps-repeated.kif")
PAIRS = (("cfr", "flat"), ("cfr", "uniform"), ("flat", "uniform"))
Strategy = NDArray[np.float64]  # [slots] the probability of a move of a role in a state


def whole_tree(sheet: str, seconds: float) -> Stages:
    """All states of a sheet of two roles."""
    machine = GdlGame(sheet).machine
    if not isinstance(machine, NetworkMachine) or len(machine.roles) != 2:
        raise FogplayError(f"{sheet} has no network or not two roles")
    network = Networked(machine, False, 1)
    tree = network.stages(machine.initial(), time.monotonic() + seconds)
    assert network.tree is not None
    if network.tree.counts[EXPANDED] < network.tree.counts[NODES]:
        raise FogplayError(f"{sheet} has more states than can be visited in {seconds:g} seconds")
    return tree


def choices(tree: Stages, node: int) -> tuple[NDArray[np.int32], list[slice]]:
    """[moves, moves] the states after a node's joint moves, and the slots of both roles' moves."""
    slots = [slice(tree.first_slot[node, role], tree.first_slot[node, role + 1]) for role in range(2)]
    shape = [each.stop - each.start for each in slots]
    return tree.child[tree.first_child[node] : tree.first_child[node + 1]].reshape(shape), slots


def inner(tree: Stages) -> list[int]:
    """The states in which moves are made, children first."""
    return [int(each) for each in np.flatnonzero(np.diff(tree.first_child))[::-1]]


def values(tree: Stages, first: Strategy, second: Strategy) -> NDArray[np.float64]:
    """[states, roles] the mean goals if the roles play these strategies."""
    found = np.array(tree.value, np.float64)
    for node in inner(tree):
        after, slots = choices(tree, node)
        found[node] = np.einsum("i,j,ijr->r", first[slots[0]], second[slots[1]], found[after])
    return found


def uniform(tree: Stages) -> Strategy:
    made = np.zeros(len(tree.average))
    for node in inner(tree):
        for own in choices(tree, node)[1]:
            made[own] = 1.0 / (own.stop - own.start)
    return made


def flat(tree: Stages) -> Strategy:
    """The best moves against a random opponent, if both go on at random."""
    anything = uniform(tree)
    mean, made = values(tree, anything, anything), np.zeros(len(tree.average))
    for node in inner(tree):
        after, slots = choices(tree, node)
        for role, own in enumerate(slots):
            worth = mean[after][:, :, role].mean(axis=1 - role)
            best = worth > worth.max() - 1e-9
            made[own] = best / best.sum()
    return made


def cfr(tree: Stages, iterations: int) -> Strategy:
    kernels.iterate(tree, 1, iterations)
    made = np.array(tree.average, np.float64)
    for node in inner(tree):
        for own in choices(tree, node)[1]:
            total = made[own].sum()
            made[own] = made[own] / total if total > 0 else 1.0 / (own.stop - own.start)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sheets", nargs="*", default=SHEETS)
    parser.add_argument("--iterations", type=int, default=450)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    print("| sheet | states | " + " | ".join(f"{one} against {other}" for one, other in PAIRS) + " |")
    print("|---|---:|---:|---:|---:|")
    for sheet in given.sheets:
        tree = whole_tree(sheet, given.seconds)
        players = {"flat": flat(tree), "uniform": uniform(tree), "cfr": cfr(tree, given.iterations)}
        means = []
        for one, other in PAIRS:
            seated = values(tree, players[one], players[other])[0, 0], values(tree, players[other], players[one])[0, 1]
            means.append(f"{np.mean(seated):.1f}")
        print(f"| `{sheet}` | {len(tree.value):,} | {' | '.join(means)} |", flush=True)


if __name__ == "__main__":
    main()
