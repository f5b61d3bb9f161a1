"""What it costs to learn from statistics that are a little old, without a GPU.

    python benchmarks/late_updates.py 20000000
    python benchmarks/late_updates.py 1000000000 --save late.safetensors [--threads 16384] [--all-at-once]

One CPU thread plays Smooth UCT on Leduc as a GPU with so many threads does, in step: an episode's updates are made only
when so many others have begun after it. All threads play from the start, or they begin one after the other
(``kernels/grid.py``). nash_conv of the average, the mean of two runs. With ``--save`` it plays two-player hold'em,
a billion episodes in a quarter of an hour, and keeps the greedy profile, for ``fogplay match``.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.evaluate import measure
from fogplay.jit import kernel
from fogplay.kernels import uct
from fogplay.kernels.grid import BLOCK, PLAYED
from fogplay.simulators import advance, deal, is_terminal, num_actions, payoff, player_of, slot_of, start
from fogplay.solvers.arenas import arena_of
from fogplay.solvers.sampling import SelfPlay

GAME = "leduc"
SEEDS = (1, 2)
THREADS = (1, 1024, 4096, 16384, 65536, 131072)
WAYS = {"all at once": 0, "one after the other": PLAYED}  # episodes played for each of those that play


class Under(NamedTuple):
    """Episodes under way."""

    slot: NDArray[np.int64]  # [threads, depth] of the actions taken
    player: NDArray[np.int64]  # [threads, depth]
    won: NDArray[np.float64]  # [threads, players]
    depth: NDArray[np.int64]  # [threads]


@kernel
def run(game, cell, policy, rng, under, played, count, share):  # type: ignore[no-untyped-def]
    """``uct.episode``, cut in two: an episode ends when another begins in its place."""
    tables, mine = uct.Tables(cell, uct.Plain()), -1
    for number in range(played, played + count):
        threads = len(under.depth)
        if share > 0:
            threads = min(threads, max(BLOCK, number // share))
        mine = mine + 1 if mine + 1 < threads else 0
        for step in range(under.depth[mine]):
            slot = under.slot[mine, step]
            cell[slot].visits += 1
            cell[slot].total += under.won[mine, under.player[mine, step]]
        signals = deal(game, rng)
        node = start(game, signals, rng)
        out_of_tree, depth = 0, 0
        while not is_terminal(game, node):
            player, slot, actions = player_of(game, node), slot_of(game, node, signals), num_actions(game, node)
            visits = 0
            for action in range(actions):
                visits += cell[slot + action].visits
            if out_of_tree >> player & 1 or visits == 0:
                choice = uct.roll(policy.rollout, game, tables, node, signals, slot, actions, visits, rng)
            else:
                choice = uct.select(game, tables, policy.schedule, node, signals, slot, actions, visits, rng)
            if not out_of_tree >> player & 1:
                under.slot[mine, depth], under.player[mine, depth] = slot + choice, player
                depth += 1
                if visits == 0:
                    out_of_tree |= 1 << player
            node = advance(game, node, choice, signals, rng)
        for player in range(under.won.shape[1]):
            under.won[mine, player] = payoff(game, node, signals, player)
        under.depth[mine] = depth


def learned(game: str, episodes: int, threads: int, share: int, seed: int) -> Any:
    """The learner after so many episodes; those still under way are not waited for."""
    arena = arena_of(game)
    learner: Any = SelfPlay(arena, "smooth-uct", {"seed": seed})
    driver, depth = learner.driver, arena.deepest + 1
    under = Under(
        np.zeros((threads, depth), np.int64),
        np.zeros((threads, depth), np.int64),
        np.zeros((threads, arena.num_players)),
        np.zeros(threads, np.int64),
    )
    run(driver.games[0], driver.tables.cell, driver.policy, driver.rng[0], under, 0, episodes, share)
    return learner


def nash_conv(learner: Any) -> float:
    return measure(learner.flat, learner.average()).nash_conv


def save(episodes: int, threads: int, share: int, path: str) -> None:
    learner = learned("holdem", episodes, threads, share, SEEDS[0])
    about = {"parameters": learner.parameters, "iterations": episodes, "seed": SEEDS[0]}
    learner.arena.strategy(learner.kept(), "smooth-uct", True, **about).save(path)


def compare(episodes: int) -> None:
    print(f"Smooth UCT, {GAME}, nash_conv after {episodes:,} episodes")
    print("| threads | " + " | ".join(WAYS) + " |")
    print("|---:|" + "---:|" * len(WAYS))
    for threads in THREADS:
        found = [
            np.mean([nash_conv(learned(GAME, episodes, threads, share, seed)) for seed in SEEDS])
            for share in WAYS.values()
        ]
        print(f"| {threads:,} | " + " | ".join(f"{each:.4f}" for each in found) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("episodes", type=int)
    parser.add_argument("--save", metavar="FILE")
    parser.add_argument("--threads", type=int, default=THREADS[-1])
    parser.add_argument("--all-at-once", action="store_true")
    given = parser.parse_args()
    if min(given.episodes, given.threads) < 1:
        parser.error("episodes and threads must be 1 or more")
    if given.save:
        save(given.episodes, given.threads, 0 if given.all_at_once else PLAYED, given.save)
    else:
        compare(given.episodes)
