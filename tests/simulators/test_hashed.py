"""Infosets found by key learn what numbered ones learn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from fogplay import FogplayError, solve
from fogplay.atomics import Plain, Shared
from fogplay.jit import kernel
from fogplay.simulators import HashedSimulator, hashed, simulator_for
from fogplay.simulators.policies import ByPlayer
from fogplay.solvers.sampling import MonteCarloCfr, SelfPlay
from tests.helpers import ROOT, checked_cache

ALGORITHMS = {"uct": 20_000, "smooth-uct": 20_000, "os-mccfr": 20_000, "es-mccfr": 5_000, "cs-mccfr": 50}
if numba.config.DISABLE_JIT:
    ALGORITHMS = {name: max(count // 20, 50) for name, count in ALGORITHMS.items()}


def wrapped(game: str, infosets: int | None = None, slots: int | None = None) -> HashedSimulator:
    tree = simulator_for(game)
    assert tree.flat is not None
    return HashedSimulator(tree, infosets or tree.flat.num_infosets, slots or tree.num_slots)


def learner(simulator: Any, algorithm: str, **settings: Any) -> Any:
    constant = {"c": 2.0} if algorithm.endswith("uct") else {}
    make = SelfPlay if algorithm.endswith("uct") else MonteCarloCfr
    return make(simulator, algorithm, {"seed": 5, "threads": 1, **constant, **settings})


@pytest.mark.parametrize("game", ["kuhn", "leduc", "kuhn(players=3)", "goofspiel(4)"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_stream_gives_the_same_numbers(game: str, algorithm: str) -> None:
    """Every table, infoset by infoset, to the last bit."""
    here, there = learner(simulator_for(game), algorithm), learner(wrapped(game), algorithm)
    for count in (0, ALGORITHMS[algorithm] // 3, ALGORITHMS[algorithm]):
        here.advance(1, count)
        assert there.advance(1, count) == count
    assert there.stopped is None
    expected, found = here.tables(), there.tables()
    assert found["rng"].tolist() == here.driver.rng.tolist()
    starts = here.flat.tree.infoset_start
    met = np.zeros(here.flat.num_slots, bool)
    for key, first in zip(found["keys"].tolist(), found["first"].tolist(), strict=True):
        count = np.diff(starts)[np.searchsorted(starts, key - 1)]
        met[key - 1 : key - 1 + count] = True
        for name in set(expected) - {"rng"}:
            assert expected[name][key - 1 : key - 1 + count].tobytes() == found[name][first : first + count].tobytes()
    assert met.any()
    for name in set(expected) - {"rng"}:
        assert not expected[name][~met].any()  # what has no key was not learned


def test_infosets_beyond_the_tree_of_uct_take_no_memory() -> None:
    """An episode adds at most one infoset per player; the rest of it is a rollout, which only looks."""
    there = learner(wrapped("goofspiel(5)"), "uct")
    there.advance(1, 100)
    assert len(there.tables()["keys"]) <= 200


@pytest.mark.parametrize("algorithm", ["smooth-uct", "os-mccfr", "es-mccfr"])
def test_threads_lose_no_infoset(algorithm: str) -> None:
    """Each infoset has one entry and slots of its own, whoever met it first."""
    tree = simulator_for("goofspiel(5)")
    assert tree.flat is not None
    starts = tree.flat.tree.infoset_start
    there = learner(HashedSimulator(tree, tree.flat.num_infosets, tree.num_slots), algorithm, threads=4)
    for count in (1, 200, 20_000):
        there.advance(1, count)
        keys, first = there.tables()["keys"], there.tables()["first"]
        assert len(set(keys.tolist())) == len(keys)
        counts = np.diff(starts)[np.searchsorted(starts, keys.astype(np.int64) - 1)]
        assert first.tolist() == (np.cumsum(counts) - counts).tolist()
        assert there.driver.fetch(there._index.counters).tolist() == [counts.sum(), len(keys), 0]


def test_workers_that_share_a_table_count_together() -> None:
    """One after the other, so that no addition is lost: every episode visits the first infoset once."""
    tree = simulator_for("goofspiel(5)")
    assert tree.flat is not None
    there = learner(HashedSimulator(tree, tree.flat.num_infosets, tree.num_slots), "smooth-uct", threads=4)
    for worker in range(4):
        there.driver._play(worker, 1, 20_000)
    strategy = there.simulator.strategy(there.kept(), "smooth-uct", greedy=False)
    first_moves = [number for number, name in enumerate(strategy.infosets) if strategy.infoset_player[number] == 0]
    root = strategy.slots(strategy.infosets[first_moves[0]])
    assert strategy.visits[root].sum() == 20_000


@kernel
def _meet(index: Any, keys: Any, found: Any) -> None:
    for number in range(len(keys)):
        at, known = hashed.find(index, keys[number])
        found[number] = hashed.slot_at(index, at) if known else hashed.insert(index, keys[number], 3, at)[0]


def test_threads_that_meet_the_same_keys_agree() -> None:
    from concurrent.futures import ThreadPoolExecutor

    keys = np.random.default_rng(1).permutation(np.arange(1, 50_001, dtype=np.uint64))
    for _ in range(5):
        index = hashed.new_index(len(keys), 3 * len(keys), 3, Shared())
        found = np.zeros((4, len(keys)), np.int64)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda thread, to=found, into=index: _meet(into, keys, to[thread]), range(4)))
        assert all(row.tolist() == found[0].tolist() for row in found)
        assert sorted(found[0].tolist()) == list(range(0, 3 * len(keys), 3))
        assert index.counters.tolist() == [3 * len(keys), len(keys), 0]


@pytest.mark.parametrize(("infosets", "slots"), [(100, 10_000), (10_000, 300)])
@pytest.mark.parametrize("algorithm", ["smooth-uct", "os-mccfr", "es-mccfr"])
def test_full_tables_end_the_run_and_keep_what_was_learned(algorithm: str, infosets: int, slots: int) -> None:
    full = solve(wrapped("leduc", infosets, slots), algorithm, 10**9, **({"c": 2.0} if "uct" in algorithm else {}))
    assert full.interrupted
    assert full.iterations < 10**9
    assert full.stopped is not None
    fitted = int(full.stopped.split(": ")[1].split(" ")[0])
    assert fitted == infosets or 80 < fitted <= 150
    assert f"--infosets {4 * infosets}" in full.stopped
    assert len(full.strategy) == 936  # the others are uniform
    assert np.isfinite(full.strategy.probabilities).all()


def test_nothing_is_written_where_it_should_stay_empty() -> None:
    playing = learner(wrapped("leduc", 50, 10_000), "uct")
    playing.advance(1, 10_000)
    blank = playing._index.slots
    assert not playing.driver.tables.cell["visits"][blank : blank + 3].any()
    assert playing.driver.tables.cell["visits"][blank + 3 :].any()
    assert len(playing.tables()["keys"]) == 50


@pytest.mark.parametrize("algorithm", ["smooth-uct", "es-mccfr"])
def test_resuming_ends_in_the_same_bits(algorithm: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"c": 2.0} if "uct" in algorithm else {}
    whole = solve(wrapped("leduc"), algorithm, 9_000, checkpoint=tmp_path / "whole", **settings)
    solve(wrapped("leduc"), algorithm, 500, checkpoint=tmp_path / "parts", **settings)
    small = (tmp_path / "parts").stat().st_size
    more = wrapped("leduc", 5_000, 50_000)  # with more room than before
    parts = solve(more, algorithm, 9_000, checkpoint=tmp_path / "parts", resume=True, **settings)
    assert whole.strategy.probabilities.tobytes() == parts.strategy.probabilities.tobytes()
    sizes = [(tmp_path / name).stat().st_size for name in ("whole", "parts")]
    assert abs(sizes[0] - sizes[1]) < 64  # the digits of the seconds
    assert min(sizes) > small
    with pytest.raises(FogplayError, match=r"holds .* infosets, more than the tables: resume it with --infosets"):
        solve(wrapped("leduc", 20, 50), algorithm, 9_500, checkpoint=tmp_path / "parts", resume=True, **settings)


def test_policies_that_go_by_numbers_are_not_taken_over() -> None:
    tree, there = simulator_for("leduc"), wrapped("leduc")
    assert tree.exploration(0.5, 10.0) is not None
    assert tree.calls() is not None
    assert there.exploration(0.5, 10.0) is None
    assert there.calls() is None
    assert isinstance(learner(there, "uct").driver.policy.exploration, ByPlayer)


def test_one_key_after_the_other() -> None:
    index = hashed.new_index(3, 100, 4, Plain())
    found = np.zeros(5, np.int64)
    _meet(index, np.array([7, 9, 7, 2**64 - 1, 5], np.uint64), found)
    assert found.tolist() == [0, 3, 0, 6, 104]  # the fourth did not fit
    keys, first = hashed.in_order(index)
    assert (keys.tolist(), first.tolist()) == ([7, 9, 2**64 - 1], [0, 3, 6])
    assert index.counters.tolist() == [9, 3, 1]


@pytest.mark.parametrize("switch", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_without_the_compiler_and_with_checked_bounds(switch: str, tmp_path: Path) -> None:
    chosen = ["test_one_key_after_the_other", "test_nothing_is_written_where_it_should_stay_empty"]
    tests = [f"tests/simulators/test_hashed.py::{name}" for name in chosen]
    tests += ["tests/simulators/test_hashed.py::test_the_same_stream_gives_the_same_numbers[os-mccfr-kuhn]"]
    cache = checked_cache() if switch == "NUMBA_BOUNDSCHECK" else tmp_path
    environment = {**os.environ, switch: "1", "FOGPLAY_CACHE": str(cache)}
    command = [sys.executable, "-m", "pytest", "-n0", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning", *tests]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
