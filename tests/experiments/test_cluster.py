"""Runs on a Ray cluster of several nodes, one of which dies: what was finished stays, and the rest runs elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fogplay import FogplayError
from fogplay.engines import spread
from fogplay.experiments.runner import Job, Runner

pytestmark = pytest.mark.slow
RUNS, ITERATIONS = 6, 2_000_000


@pytest.fixture
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    from ray._common.utils import reset_ray_address
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [made.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=made.address, log_to_driver=False)
    yield made, nodes
    ray.shutdown()
    made.shutdown()
    reset_ray_address()  # else later programs look for this cluster


def jobs() -> list[Job]:
    return [Job("cluster", "leduc", "es-mccfr", ITERATIONS, seed, (ITERATIONS,)) for seed in range(1, RUNS + 1)]


def test_a_node_dies(cluster: Any, tmp_path: Path) -> None:
    made, nodes = cluster
    kept: dict[Path, bytes] = {}
    over = threading.Event()

    def kill_a_node() -> None:
        """As soon as runs are finished and others have begun."""
        while not over.wait(0.02):
            done = list((tmp_path / "jobs").glob("*.csv"))
            if len(done) >= 2 and list((tmp_path / "jobs").glob("*.progress")):
                kept.update((file, file.read_bytes()) for file in done)
                made.remove_node(nodes[0], allow_graceful=False)
                return

    killer = threading.Thread(target=kill_a_node)
    killer.start()
    points = Runner(tmp_path, "ray").run(jobs())
    over.set()
    killer.join()
    assert 2 <= len(kept) < RUNS, "the node died between the first run and the last"
    assert all(file.read_bytes() == content for file, content in kept.items()), "finished runs are not run again"
    alone = Runner(tmp_path / "alone", "sequential").run(jobs())
    assert [(point.seed, point.value) for point in points] == [(point.seed, point.value) for point in alone]


def _refuse(number: int) -> int:
    if number == 2:
        raise FogplayError("two is too much")
    return number


def test_errors_of_a_task_are_raised_as_they_are(cluster: Any) -> None:
    assert spread(_refuse, [(0,), (1,), (3,)], "ray", workers=1) == [0, 1, 3]
    with pytest.raises(FogplayError, match=r"^two is too much$"):
        spread(_refuse, [(each,) for each in range(4)], "ray")
