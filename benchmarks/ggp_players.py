"""Players of rule sheets against each other, computed exactly: no clock, no luck, no error bars.

    python benchmarks/ggp_players.py [SHEET ...] [--iterations 450] [--seconds 60] [--uct RUNS]

For sheets of two roles whose states fit in memory. ``cfr`` is the average strategy after so many iterations of CFR+,
as ``ggp:cfr`` plays it; ``flat`` takes the move with the best mean over all random plays, as ``ggp:flat`` does with
many of them; ``uniform`` takes any move. The mean goal of the first player is over both ways to seat them.

With ``--uct``, UCT is run so many times in every state, first with 100 simulations, then with 100 more each time: its
player takes a move as often as these runs chose it. Best responses are to what other runs chose, as ``ggp:exploit``
models UCT, and to how often they tried the moves. ``itself`` is the best response to that player.
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
from fogplay.search.sheet_exploiting import Choices
from fogplay.search.sheet_networked import Networked
from fogplay.search.sheet_uct import root_slot

SHEETS = ("goofspiel.kif(cards=4)", "goofspiel.kif", "goofspiel.kif(cards=6)", "rps-repeated.kif")
PAIRS = (("cfr", "flat"), ("cfr", "uniform"), ("flat", "uniform"))
Strategy = NDArray[np.float64]  # [slots] the probability of a move of a role in a state


def grown(sheet: str, seconds: float) -> tuple[Networked, Stages]:
    """All states of a sheet of two roles, and the search that found them."""
    machine = GdlGame(sheet).machine
    if not isinstance(machine, NetworkMachine) or len(machine.roles) != 2:
        raise FogplayError(f"{sheet} has no network or not two roles")
    network = Networked(machine, False, 1)
    tree = network.stages(machine.initial(), time.monotonic() + seconds)
    assert network.tree is not None
    if network.tree.counts[EXPANDED] < network.tree.counts[NODES]:
        raise FogplayError(f"{sheet} has more states than can be visited in {seconds:g} seconds")
    return network, tree


def slots_of(tree: Stages, node: int) -> list[slice]:
    """The slots of both roles' moves."""
    return [slice(tree.first_slot[node, role], tree.first_slot[node, role + 1]) for role in range(2)]


def joint(tree: Stages, node: int) -> tuple[NDArray[np.int32], list[slice]]:
    """[moves, moves] the states after a node's joint moves, and the slots of both roles' moves."""
    slots = slots_of(tree, node)
    shape = [each.stop - each.start for each in slots]
    return tree.child[tree.first_child[node] : tree.first_child[node + 1]].reshape(shape), slots


def inner(tree: Stages) -> list[int]:
    """The states in which moves are made, children first."""
    return [int(each) for each in np.flatnonzero(np.diff(tree.first_child))[::-1]]


def values(tree: Stages, first: Strategy, second: Strategy) -> NDArray[np.float64]:
    """[states, roles] the mean goals if the roles play these strategies."""
    found = np.array(tree.value, np.float64)
    for node in inner(tree):
        after, slots = joint(tree, node)
        found[node] = np.einsum("i,j,ijr->r", first[slots[0]], second[slots[1]], found[after])
    return found


def uniform(tree: Stages) -> Strategy:
    made = np.zeros(len(tree.average))
    for node in inner(tree):
        for own in joint(tree, node)[1]:
            made[own] = 1.0 / (own.stop - own.start)
    return made


def flat(tree: Stages) -> Strategy:
    """The best moves against a random opponent, if both go on at random."""
    anything = uniform(tree)
    mean, made = values(tree, anything, anything), np.zeros(len(tree.average))
    for node in inner(tree):
        after, slots = joint(tree, node)
        for role, own in enumerate(slots):
            worth = mean[after][:, :, role].mean(axis=1 - role)
            best = worth > worth.max() - 1e-9
            made[own] = best / best.sum()
    return made


def cfr(tree: Stages, iterations: int) -> Strategy:
    kernels.iterate(tree, 1, iterations)
    made = np.array(tree.average, np.float64)
    for node in inner(tree):
        for own in joint(tree, node)[1]:
            total = made[own].sum()
            made[own] = made[own] / total if total > 0 else 1.0 / (own.stop - own.start)
    return made


def of_uct(network: Networked, tree: Stages, runs: int, seed: int) -> tuple[Strategy, Strategy]:
    """How often UCT chose each move in some runs, and how often it tried it."""
    network.reseed(seed)
    choices, chosen, tried = Choices(network), uniform(tree), uniform(tree)
    assert network.tree is not None
    for node in inner(tree):
        state, slots = network.tree.states[node], slots_of(tree, node)
        if all(own.stop - own.start == 1 for own in slots):
            continue
        tries = [np.zeros(own.stop - own.start) for own in slots]
        for number in range(1, runs + 1):
            choices.run(state, [len(each) for each in tries], number)
            for role, each in enumerate(tries):
                first = root_slot(network.game, network.position, choices.learned, state, network.no_keys()[0], role)
                if len(each) > 1 and first >= 0:
                    visits = choices.learned.tables.cell["visits"][first : first + len(each)]
                    tries[role] = each + visits / visits.sum()
        for role, own in enumerate(slots):
            if len(tries[role]) > 1:
                chosen[own], tried[own] = choices.found[state.tobytes()][1][role] / runs, tries[role] / runs
    return chosen, tried


def best_response(tree: Stages, role: int, others: Strategy) -> Strategy:
    """The best moves of a role against the other's strategy; the other's own are left as they are."""
    found, made = np.array(tree.value, np.float64), others.copy()
    for node in inner(tree):
        after, slots = joint(tree, node)
        worth = np.einsum("ij,j->i" if role == 0 else "ji,j->i", found[after][:, :, role], others[slots[1 - role]])
        made[slots[role]] = worth == worth.max()
        made[slots[role]] /= made[slots[role]].sum()
        found[node, role] = worth.max()
    return made


def against_uct(sheet: str, runs: int, seconds: float, iterations: int) -> None:
    """What an equilibrium and best responses to models win from UCT."""
    network, tree = grown(sheet, seconds)
    uct, _ = of_uct(network, tree, runs, 1)
    chosen, tried = of_uct(network, tree, runs, 2)
    models = {"its choices": chosen, "its tries": tried, "itself": uct}
    strategies = {"cfr": (cfr(tree, iterations),) * 2}
    strategies |= {
        f"response to {of}": (best_response(tree, 0, made), best_response(tree, 1, made)) for of, made in models.items()
    }
    for name, (first, second) in strategies.items():
        won = values(tree, first, uct)[0, 0], values(tree, uct, second)[0, 1]
        print(f"| `{sheet}` | {name} | {won[0]:.1f} | {won[1]:.1f} | {np.mean(won):.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sheets", nargs="*", default=SHEETS)
    parser.add_argument("--iterations", type=int, default=450)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--uct", type=int, metavar="RUNS")
    given = parser.parse_args()
    if given.uct is not None:
        print("| sheet | player | first, against UCT | second | mean |\n|---|---|---:|---:|---:|")
        for sheet in given.sheets:
            against_uct(sheet, given.uct, given.seconds, given.iterations)
        return
    print("| sheet | states | " + " | ".join(f"{one} against {other}" for one, other in PAIRS) + " |")
    print("|---|---:|---:|---:|---:|")
    for sheet in given.sheets:
        _, tree = grown(sheet, given.seconds)
        players = {"flat": flat(tree), "uniform": uniform(tree), "cfr": cfr(tree, given.iterations)}
        means = []
        for one, other in PAIRS:
            seated = values(tree, players[one], players[other])[0, 0], values(tree, players[other], players[one])[0, 1]
            means.append(f"{np.mean(seated):.1f}")
        print(f"| `{sheet}` | {len(tree.value):,} | {' | '.join(means)} |", flush=True)


if __name__ == "__main__":
    main()
