"""The kernels of profiles, bots and matches as plain Python, and compiled with every index checked, on small cases."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fogplay.games.registry import load
from fogplay.jit import user_cache
from fogplay.strategies.betting import betting_of
from tests.helpers import ROOT, checked_cache

# Betting trees are made here and handed over: what makes them is tested on its own.
RULES = {players: load(f"holdem(players={players},max_raises=[1,1,1,1],grid=ehs:3/3/3/3)") for players in (2, 3)}
SCRIPT = """
import sys
import numpy as np
from fogplay.bots import holdem as bots
from fogplay.strategies.policy import PLACE
from fogplay.simulators.holdem_duplicate import Player, deal_block, play_block
from fogplay.trees.betting import NODE
from fogplay.strategies.packing import average, best, heaviest

rng = np.random.default_rng(1)
ready = np.load(sys.argv[1])
for players in (2, 3):
    nodes = ready[f"nodes{players}"].view(NODE).reshape(-1)
    slots, deepest = ready[f"sizes{players}"].tolist()
    buckets = np.full(4, 3)
    visits, total = rng.integers(0, 5, slots), rng.normal(size=slots)
    share = np.zeros((3, slots), np.uint8)
    best(nodes, buckets, visits, total, 3, share[0])
    heaviest(nodes, buckets, total**2, 0.5, share[1])
    average(nodes, buckets, total**2, 0.5, 51, share[2])
    print((share.astype(int) @ np.arange(slots)).tolist())

    place = np.zeros(len(nodes), PLACE)
    scratch = np.zeros(len(nodes), np.int64), np.zeros((len(nodes), 2), np.int32)
    blinds = np.array([10, 5] if players == 2 else [5, 10, 0])
    bots._classify(nodes, np.array([10, 10, 20, 20]), blinds, *scratch, place)
    print(place["slot"].sum(), place["slot"].max())

    cards, chance = np.zeros((20, 5 + 2 * players), np.uint8), np.zeros((20, deepest))
    deal_block(np.zeros(52, np.uint8), np.array([1, 2], np.uint64), cards, chance)
    print(cards.astype(int).sum(axis=0).tolist(), float(chance.sum()).hex())
    bucket = rng.integers(0, 3, (20, players, 4)).astype(np.uint16)
    one = Player(nodes["slot"], nodes["stride"], share[2].copy(), bucket)
    two = Player(nodes["slot"], nodes["stride"], share[0].copy(), 2 - bucket)
    seating = np.array([[0, 1], [1, 0]]) if players == 2 else np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]])
    won, ends = np.zeros((20, players), np.int64), np.zeros((20, len(seating)), np.int32)
    strength = rng.integers(0, 3, (20, players)).astype(np.uint16)
    play_block(nodes, (one, two, one)[:players], seating, strength, chance, 20, won, ends)
    print(won.tolist(), ends.tolist())

share = np.zeros(bots._CLASSES * bots.RULES_BUCKETS * bots.WIDTH, np.uint8)
bots._CLASSES = 300 if sys.argv[2] == "plain" else bots._CLASSES
bots._decide(share)
print(share[:90_000].astype(int) @ np.arange(90_000))
"""


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, arrays = tmp_path_factory.mktemp("ready") / "arrays.npz", {}
    for players, rules in RULES.items():
        betting = betting_of(str(rules))
        arrays[f"nodes{players}"] = betting.nodes.view(np.uint8)
        arrays[f"sizes{players}"] = np.array([betting.num_slots, betting.deepest])
    np.savez(path, **arrays)
    return path


def run(cache: Path, ready: Path, how: str, **mode: str) -> str:
    environment = {**os.environ, "FOGPLAY_CACHE": str(cache), **mode}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(ready), how],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_plain_python_agrees(ready: Path) -> None:
    assert run(user_cache(), ready, "plain", NUMBA_DISABLE_JIT="1") == run(user_cache(), ready, "compiled")


@pytest.mark.slow
def test_no_index_is_out_of_range(ready: Path) -> None:
    assert run(checked_cache(), ready, "checked", NUMBA_BOUNDSCHECK="1") == run(user_cache(), ready, "compiled")
