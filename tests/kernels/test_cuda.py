"""The driver for GPUs. Runs on a GPU, and where there is none in numba's simulator: see test_cuda_simulated.py."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda

from fogplay import FogplayError, Progress, flatten, solve, storage
from fogplay.experiments.runner import Job, Runner
from fogplay.games.registry import load
from fogplay.kernels import cuda as driver
from fogplay.kernels import uct
from fogplay.simulators import HashedSimulator, Simulator, TreeSimulator
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.simulators.holdem_walk_gpu import on_gpu
from fogplay.simulators.restricted import BoundSimulator
from fogplay.solvers import respond
from fogplay.solvers.sampling import MonteCarloCfr, SelfPlay
from tests.simulators.test_holdem_walk import Player, earned, walk_of

ALGORITHMS = ("uct", "smooth-uct", "os-mccfr", "es-mccfr", "cs-mccfr")
SMALL_DECK = "holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1],raises=[1,2],max_raises=[2,2],blinds=[1,1],grid=exact)"

pytestmark = [
    pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU"),
    pytest.mark.filterwarnings("ignore:overflow encountered"),  # random numbers, in the simulator's plain Python
]


@pytest.fixture
def often() -> Iterator[None]:
    """The simulator's threads take turns often: more of them meet, and those that wait for one do not wait long."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


def holdem_simulator() -> HoldemSimulator:
    return HoldemSimulator.of(SMALL_DECK)


def simulators() -> dict[str, Simulator]:
    tree, holdem = TreeSimulator(flatten("kuhn")), holdem_simulator()
    uniform = np.full(holdem.num_slots, 0.5)
    return {
        "tree": tree,
        "three players": TreeSimulator(flatten("kuhn(players=3)")),
        "uneven chance": TreeSimulator(flatten("leduc(suits=unseen)")),
        "hold'em": holdem,
        "by key": HashedSimulator(tree, 12, 24),
        "bound by one coin": BoundSimulator(tree, 0, flatten("kuhn").uniform(), 0.5),
        "bound at every infoset": BoundSimulator(holdem, 1, uniform, np.full(holdem.num_slots, 0.5)),
    }


def learner(simulator: Simulator, algorithm: str, **settings: Any) -> Any:
    make = SelfPlay if algorithm.endswith("uct") else MonteCarloCfr
    return make(simulator, algorithm, {"seed": 5, "device": "cuda", **settings})


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", list(simulators()))
def test_one_thread_plays_what_the_processor_plays(kind: str, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same stream of random numbers, the same episodes: every number of every table is equal."""
    simulator, worker = simulators()[kind], HoldemSimulator.worker
    monkeypatch.setattr(HoldemSimulator, "worker", lambda self, batch=1: worker(self, 1))
    there, here = learner(simulator, algorithm, threads=1), learner(simulator, algorithm, device="cpu", threads=1)
    tables, rng = there.driver.read()
    rng[0] = here.driver.rng[0, :2]
    there.driver.write(tables, rng)
    for count in (0, 41):
        there.advance(1, count)
        here.advance(1, count)
    for name, expected in here.tables().items():
        if name in there.tables() and name != "rng":
            rounding = 0.0 if driver.SIMULATED else 1e-12  # a GPU multiplies and adds in one step: 9e-16 for zero
            np.testing.assert_allclose(there.tables()[name], expected, rtol=1e-9, atol=rounding, err_msg=name)
    assert there.driver.read()[1][0].tolist() == here.driver.rng[0, :2].tolist()


@pytest.mark.parametrize("algorithm", ["uct", "smooth-uct"])
@pytest.mark.parametrize("threads", [1, 7, 200])
def test_no_visit_is_lost(algorithm: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every episode of Kuhn visits one of player 0's first infosets, whoever else plays at the same time."""
    monkeypatch.setattr(driver, "PLAYED", 1)
    flat, playing = flatten("kuhn"), learner(TreeSimulator(flatten("kuhn")), algorithm, threads=threads)
    playing.advance(1, 250)
    playing.advance(251, 3)
    visits, total = playing.kept()["visits"], playing.kept()["total"]
    first = np.concatenate([range(24)[flat.slots(flat.infosets.index(name))] for name in ("J:", "Q:", "K:")])
    assert visits.dtype == np.int64
    assert visits[first].sum() == 253
    assert np.all(np.abs(total) <= 2 * visits)


@pytest.mark.parametrize("algorithm", ["smooth-uct", "os-mccfr", "es-mccfr"])
@pytest.mark.parametrize("threads", [7, 200])
def test_no_infoset_is_lost(algorithm: str, threads: int, monkeypatch: pytest.MonkeyPatch, often: None) -> None:
    """However many threads meet an infoset at the same time, it has one entry and slots of its own."""
    monkeypatch.setattr(driver, "PLAYED", 1)
    tree = TreeSimulator(flatten("leduc"))
    starts = flatten("leduc").tree.infoset_start
    playing = learner(HashedSimulator(tree, 936, tree.num_slots), algorithm, threads=threads)
    for first, count in ((1, 60), (61, 340)):
        playing.advance(first, count)
        tables = playing.tables()
        keys, slots = tables["keys"].astype(np.int64) - 1, tables["first"]
        assert len(set(keys.tolist())) == len(keys) > 10
        counts = np.diff(starts)[np.searchsorted(starts, keys)]
        assert slots.tolist() == (np.cumsum(counts) - counts).tolist()
        assert playing.stopped is None


def test_full_tables_stop_the_run_there_too(tmp_path: Path) -> None:
    tree = TreeSimulator(flatten("leduc"))
    small, large = HashedSimulator(tree, 20, 5_000), HashedSimulator(tree, 936, 5_000)
    settings: dict[str, Any] = {"device": "cuda", "threads": 4, "checkpoint": tmp_path / "run"}
    full = solve(small, "os-mccfr", 10**6, **settings)
    assert full.stopped is not None
    assert full.iterations < 10**6
    kept = len(storage.read(tmp_path / "run", "checkpoint")[0]["keys"])
    assert 20 <= kept <= 23  # threads that were on their way
    longer = solve(large, "os-mccfr", full.iterations + 50, resume=True, **settings)
    assert longer.stopped is None
    assert len(storage.read(tmp_path / "run", "checkpoint")[0]["keys"]) > kept


def test_threads_begin_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [driver.at_once(2**17, played) for played in (0, 767_999, 768_000, 10**9)] == [128, 128, 256, 2**17]
    assert driver.at_once(5, 10**9) == 5
    warp, flat = driver.WARP, flatten("kuhn")
    for name, value in (("BLOCK", 2 * warp), ("FEWEST", 2 * warp), ("PLAYED", 3)):
        monkeypatch.setattr(driver, name, value)
    playing = learner(TreeSimulator(flat), "uct", threads=20 * warp)
    kernel, launched = playing.driver.kernel, []

    class Spy:
        def __getitem__(self, shape: tuple[Any, ...]) -> Any:
            return lambda *given: launched.append((shape[0] * shape[1], *given[-3:])) or kernel[shape](*given)

    playing.driver.kernel = Spy()
    playing.advance(1, 0)
    playing.advance(1, 100 * warp)
    playing.advance(100 * warp + 1, 7 * warp)
    assert launched == [
        (threads * warp, threads * warp, played * warp + 1, count * warp)
        for threads, played, count in (
            (2, 0, 0), (2, 0, 12), (4, 12, 12), (8, 24, 24), (16, 48, 48), (20, 96, 4), (20, 100, 7)
        )
    ]  # fmt: skip
    pieces = learner(TreeSimulator(flat), "uct", threads=20 * warp)
    pieces.driver.kernel, whole = playing.driver.kernel, launched[1:6]
    launched.clear()
    for at in range(1, 100 * warp, 20 * warp):
        pieces.advance(at, 20 * warp)
    assert {each[0] for each in launched} == {each[0] for each in whole}
    for shape, _, at, count in launched:  # however the work is cut, as many play
        assert all(driver.at_once(20 * warp, played) == shape for played in range(at - 1, at + count - 1))
    first = np.concatenate([range(24)[flat.slots(flat.infosets.index(name))] for name in ("J:", "Q:", "K:")])
    assert [each.kept()["visits"][first].sum() for each in (playing, pieces)] == [107 * warp, 100 * warp]


def test_how_many_play_unless_it_is_said() -> None:
    def threads(game: str, algorithm: str) -> int:
        playing: int = learner(TreeSimulator(flatten(game)), algorithm).threads
        return playing

    assert [threads(game, "uct") for game in ("kuhn", "leduc")] == [2**17, 2**17]
    assert [threads(game, "os-mccfr") for game in ("kuhn", "leduc")] == [1024, 2184]
    assert threads("leduc", "cs-mccfr") == 2184


@pytest.mark.skipif(not driver.SIMULATED, reason="a GPU cannot tell when an episode began")
def test_who_is_slow_keeps_no_episodes_back() -> None:
    """Episodes begin in the order of their numbers, each once, whoever plays them."""
    began: list[int] = []
    threads, episodes = 12, 240

    def run(game: Any, tables: Any, policy: Any, rng: Any, scratch: Any, number: int, stride: int, count: int) -> None:
        began.append(number)
        if rng[0] % 3 == 0:
            time.sleep(0.001)

    playing = driver.CudaDriver(run, (), lambda zeros, way: uct.Tables(zeros(1), way), (), (), 1, threads)
    playing.advance(1, episodes)
    assert sorted(began) == list(range(1, episodes + 1))
    assert max(abs(number - place) for place, number in enumerate(began, 1)) <= threads


def test_lazy_averages_count_every_iteration_once() -> None:
    """Each first infoset is given the iterations since its last visit, so the weights of one add up to that visit's."""
    flat = flatten("kuhn")
    playing = learner(TreeSimulator(flat), "os-mccfr", threads=50)
    playing.advance(1, 400)
    tables = playing.tables()
    for name in ("J:", "Q:", "K:"):
        where = flat.slots(flat.infosets.index(name))
        assert tables["average"][where].sum() == pytest.approx(tables["updated"][where.start])


@pytest.mark.parametrize("algorithm", ["smooth-uct", "os-mccfr", "cs-mccfr"])
def test_arrays_too_large_for_a_thread_lie_in_device_memory(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    simulator = holdem_simulator()
    usual = learner(simulator, algorithm, threads=1)
    monkeypatch.setattr(driver, "LOCAL_BYTES", 8)
    large = learner(simulator, algorithm, threads=1)
    assert len(large.driver.rows) > len(usual.driver.rows)
    for each in (usual, large):
        each.advance(1, 30)
    for name, table in usual.tables().items():
        np.testing.assert_array_equal(large.tables()[name], table)


def test_a_run_is_watched_kept_and_resumed(tmp_path: Path) -> None:
    seen: list[Progress] = []
    snapshots: dict[int, Any] = {}
    settings: dict[str, Any] = {
        "device": "cuda",
        "threads": 5,
        "seed": 1,
        "curve": [50, 200],
        "checkpoint": tmp_path / "run",
    }
    result = solve(
        "kuhn",
        "smooth-uct",
        200,
        progress=seen.append,
        snapshot=lambda at, each: snapshots.update({at: each}),
        **settings,
    )
    assert [point.iteration for point in result.curve] == [50, 200]
    assert result.curve[-1].nash_conv == result.nash_conv == seen[-1].nash_conv
    assert list(snapshots) == [50, 200]
    assert snapshots[200].probabilities.tolist() == result.strategy.probabilities.tolist()
    arrays, about = storage.read(tmp_path / "run", "checkpoint")
    assert (about["iteration"], about["identity"]["device"], about["identity"]["threads"]) == (200, "cuda", 5)
    longer = solve("kuhn", "smooth-uct", 260, resume=True, **(settings | {"curve": [50, 200, 260]}))
    assert [point.iteration for point in longer.curve] == [50, 200, 260]
    assert longer.strategy.visits is not None
    assert np.all(longer.strategy.visits >= arrays["visits"])
    assert longer.strategy.visits.sum() > arrays["visits"].sum()
    with pytest.raises(FogplayError, match="a run with device 'cuda', not 'cpu'"):
        solve("kuhn", "smooth-uct", 300, resume=True, seed=1, threads=5, curve=[50], checkpoint=tmp_path / "run")


def test_what_goes_wrong_with_a_snapshot_ends_the_run() -> None:
    def full(_at: int, _strategy: Any) -> None:
        raise FogplayError("the disk is full")

    with pytest.raises(FogplayError, match="the disk is full"):
        solve("kuhn", "uct", 50, device="cuda", threads=2, curve=[10, 50], snapshot=full)


def test_responses_run_there_too() -> None:
    model = solve("kuhn", "cfr+", 100).strategy
    there = respond("kuhn", model, 0.9, algorithm="es-mccfr", iterations=300, device="cuda", threads=4)
    assert there.quality is not None
    assert there.strategy.method == "rnr"


def test_too_little_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def get_memory_info(self) -> Any:
            return type("Info", (), {"free": 100})

    monkeypatch.setattr(driver.cuda, "current_context", Full)
    with pytest.raises(FogplayError, match=r"3 threads need .* GB of GPU memory, and 0.0 GB are free"):
        learner(TreeSimulator(flatten("kuhn")), "uct", threads=3)


def test_the_source_is_kept_once() -> None:
    from fogplay.jit import cache_folder

    learner(TreeSimulator(flatten("kuhn")), "uct", threads=3)
    before = sorted(cache_folder().glob("grid_*.py"))
    learner(TreeSimulator(flatten("kuhn")), "uct", threads=4)
    assert sorted(cache_folder().glob("grid_*.py")) == before
    assert all("def grid(" in path.read_text() for path in before)


def test_the_laboratory_runs_there_what_can_run_there(tmp_path: Path) -> None:
    def job(algorithm: str) -> Job:
        return Job(algorithm, "kuhn", algorithm, 60, 1, (20, 60), keep="average")

    runner, jobs = (
        Runner(tmp_path / "runner", device="cuda", shared=tmp_path / "jobs"),
        [job("smooth-uct"), job("cfr+")],
    )
    points = runner.run(jobs)
    assert [(point.label, point.iteration) for point in points] == [
        ("smooth-uct", 20), ("smooth-uct", 60), ("cfr+", 20), ("cfr+", 60)
    ]  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "jobs").glob("*.csv")) == sorted(
        [f"{jobs[0].key}-cuda.csv", f"{jobs[1].key}.csv"]
    )
    assert all(runner.strategy_file(each, 60).exists() for each in jobs)
    other = Runner(tmp_path / "other", device="cuda", shared=tmp_path / "jobs")
    assert other.run(jobs) == points  # read, not run again


def test_where_one_run_fails_the_others_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And go on later from where they were."""
    from fogplay import solvers

    def solve_later(game: Any, algorithm: str, *more: Any, **options: Any) -> Any:
        """The run that fails begins when the other one has learned something."""
        progress = tmp_path / "jobs" / f"{endless.key}-cuda.progress"
        while algorithm == "uct" and not (progress.exists() and int(progress.read_text() or 0) > 0):
            time.sleep(0.01)
        return solve(game, algorithm, *more, **options)

    solve = solvers.solve
    monkeypatch.setattr(solvers, "solve", solve_later)

    def job(label: str, algorithm: str, iterations: int, **settings: Any) -> Job:
        return Job(label, "kuhn", algorithm, iterations, 1, (iterations,), parameters=settings)

    runner = Runner(tmp_path, device="cuda", workers=2)
    endless, wrong = job("endless", "smooth-uct", 10**12), job("wrong", "uct", 10, rollout="nowhere")
    with pytest.raises(FogplayError, match="rollout must be"):
        runner.run([endless, wrong])
    assert (tmp_path / "jobs" / f"{endless.key}-cuda.checkpoint").exists()
    assert not (tmp_path / "jobs" / f"{endless.key}-cuda.csv").exists()


@pytest.mark.parametrize("follows", [False, True])
def test_a_walk_through_all_hands_earns_the_same(follows: bool) -> None:
    """The last round on the GPU, in both precisions, against the CPU: a best response, and a second strategy."""
    rules = load("holdem(rounds=3,ranks=3,suits=2,board=[0,1,1],raises=[10,10,20],max_raises=[0,0,1])")
    theirs, own = Player(rules, True, 3), Player(rules, True, 5) if follows else None
    expected = earned(walk_of(theirs, own))
    assert earned(on_gpu(walk_of(theirs, own))) == pytest.approx(expected, rel=1e-12)
    assert earned(on_gpu(walk_of(theirs, own, np.float32))) == pytest.approx(expected, rel=1e-5)
