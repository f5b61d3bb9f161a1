"""How large a game is, before it is walked."""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from fogplay.games.game import CHANCE

PROBES = 64
MANY_PROBES = 1024  # of a game whose size is near a limit
FEWEST_PROBES = 4  # enough for a game that they show to be small:
SMALL = 200_000  # nodes, which are walked within a few seconds
LOOKS = 200_000  # states that an estimate looks at, at most
SECONDS = 20.0  # of processor time that an estimate takes, at most
HOPELESS = 10**15
DEEPEST = 2_000  # moves of one history

# The nodes of one depth, by who acts and how many moves there are: how many, one of them, its moves.
Level = dict[tuple[int, int], tuple[float, Any, Sequence[Any]]]


class Estimate(NamedTuple):
    """How large a game is."""

    nodes: int  # about
    endless: bool  # some history is not over after DEEPEST moves
    error: float = 0.0  # the standard error of nodes
    slow: bool = False  # no probe came to its end within SECONDS


def estimate_nodes(root: Any, probes: int = PROBES, seed: int = 1) -> int:
    """About how many nodes a game has."""
    return estimate(root, probes, seed).nodes


def estimate(root: Any, probes: int = PROBES, seed: int = 1, enough: int = 0) -> Estimate:
    """How large a game is, by heterogeneous sampling (Chen 1992): unbiased, and exact on even trees.

    A probe goes down level by level. Of all nodes of a level where the same player has as many moves, it keeps one at
    random, which stands for them all. So unlike a random play, which ends early where many moves end the game, it
    follows the rare long histories too. A game that a few probes show to have under ``enough`` nodes gets no more.
    A probe that is cut short counts only if it is the first.
    """
    rng, total, looks, endless = random.Random(seed), 0.0, 0, False
    end, cut, late = time.process_time() + SECONDS, False, False
    sizes: list[float] = []  # by probe
    done = 0
    while done < probes:
        done, before = done + 1, total
        level: Level = {}
        _keep(level, 1.0, root, rng)
        for _ in range(DEEPEST):
            total += sum(weight for weight, _, _ in level.values())
            below: Level = {}
            for weight, state, moves in level.values():
                looks += len(moves)
                for move in moves:
                    _keep(below, weight, state.child(move), rng)
                    if late := time.process_time() > end:
                        break
                if late:
                    break
            level, cut = below, late or looks > LOOKS
            if not level or total > HOPELESS * probes or cut:
                break
        else:
            endless = True
        sizes.append(total - before)
        small = done >= FEWEST_PROBES and total < enough * done
        if endless or small or total > HOPELESS * probes or cut:
            break
    if cut and done > 1:
        sizes.pop()  # cut short
    error = statistics.stdev(sizes) / math.sqrt(len(sizes)) if len(sizes) > 1 else 0.0
    return Estimate(int(statistics.fmean(sizes)), endless, error, late and done == 1)


def _keep(level: Level, weight: float, state: Any, rng: random.Random) -> None:
    """Add a node to those of its kind, and let it stand for them with the probability that is its share."""
    player = state.current_player()
    if player == CHANCE:
        moves = [outcome[0] for outcome in state.chance_outcomes()]
    else:
        moves = state.legal_actions() if player >= 0 else []
    kind = (player, len(moves))
    before, kept, its_moves = level.get(kind, (0.0, state, moves))
    both = before + weight
    if before == 0.0 or rng.random() * both < weight:
        kept, its_moves = state, moves
    level[kind] = (both, kept, its_moves)
