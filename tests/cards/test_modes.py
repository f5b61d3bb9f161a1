"""The kernels of cards as plain Python, and compiled with every index checked, on small cases."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fogplay.cards.evaluator import evaluator
from fogplay.cards.index import index
from fogplay.jit import user_cache
from tests.helpers import ROOT, checked_cache

# What takes long to make in plain Python is made here and handed over; it is made again only where that is quick.
SCRIPT = """
import sys
import numba
import numpy as np
from fogplay.cards import buckets, deals, evaluator, index, strength

ready = np.load(sys.argv[1])
tables = evaluator.Evaluator(*(ready[name] for name in evaluator.Evaluator._fields))
if not numba.config.DISABLE_JIT:
    again = evaluator.evaluator()
    assert all((mine == theirs).all() for mine, theirs in zip(tables, again))
    index.index()
strength.evaluator = lambda: tables
found, entries = index.boards(3)
print(entries.sum(), found.weight.sum())

rng = np.random.default_rng(1)
for size in (5, 6, 7):
    hands = np.array([rng.permutation(52)[:size] for _ in range(300)], np.uint8)
    hands[:40] = hands[:40] // 4 * 4  # flushes, though of cards that are there twice
    values = np.zeros(len(hands), np.uint16)
    evaluator.evaluate_hands(tables, hands, values)
    print(values.astype(int).sum())

rivers = np.array([[0, 1, 2, 3, 51], [3, 7, 11, 15, 19]], np.uint8)
scores = np.zeros((2, 1326), np.uint16)
strength.score(rivers, scores, 0, 2)
print(scores.astype(int).sum(axis=1), scores[:, 700])

turn = np.tile(np.arange(1326, dtype=np.uint32), (16432, 1))
sums = np.zeros((1755, 1326), np.uint64)
scratch = np.zeros(5, np.int64), np.zeros(52, np.uint64)
strength.add_next_card(ready["turn_entries"], found.cards, turn, True, 3, 4, sums, *scratch)
print(sums.sum())

def table(boards, values):
    return np.tile(np.arange(values).astype(np.uint16), boards * 1326 // values + 1)[: boards * 1326]

for width in (0, 500):
    signals = buckets.Signals(
        index.Index(ready["flop_entries"], ready["turn_entries"], ready["river_entries"]),
        np.arange(169, dtype=np.uint16), table(1755, 65536), table(16432, 65536), table(134459, 1981),
        np.uint64(width), np.uint64(width), *(np.arange(65536).astype(np.uint16) for _ in range(2)),
        np.arange(1981).astype(np.uint16),
    )
    batch = deals.deals_buffer(8, 3)
    for row in batch.cards:
        row[:] = rng.permutation(52)[: len(row)]
    batch.cards[0] = np.arange(51, 40, -1)
    batch.cards[1] = np.arange(11)
    deals.look_up_deals(signals, tables, batch)
    print(batch.bucket.tolist(), batch.strength.tolist())
    print(buckets.bucket_for(signals, (0, 51), (1, 2, 50)), buckets.bucket_for(signals, (50, 51)))
"""


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ready") / "arrays.npz"
    entries = {f"{name}_entries": each for name, each in index()._asdict().items()}
    np.savez(path, **evaluator()._asdict(), **entries)
    return path


def run(cache: Path, ready: Path, **mode: str) -> str:
    environment = {**os.environ, "FOGPLAY_CACHE": str(cache), **mode}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(ready)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_plain_python_and_checked_indices_agree(tmp_path: Path, ready: Path) -> None:
    compiled = run(user_cache(), ready)
    assert run(checked_cache(), ready, NUMBA_BOUNDSCHECK="1") == compiled
    assert run(tmp_path / "plain", ready, NUMBA_DISABLE_JIT="1") == compiled
