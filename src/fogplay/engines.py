"""Spreading work over processes: those of this machine (``loky``), of a cluster (``ray``), or none (``sequential``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fogplay.errors import FogplayError

ENGINES = ("loky", "ray", "sequential")
NODES_LOST = 3  # a task starts again so many times


def require_engine(engine: str, known: tuple[str, ...] = ENGINES) -> None:
    """Refuse an engine that there is not."""
    if engine not in known:
        raise FogplayError(f"engine must be {' or '.join(known)}, not {engine!r}")


def spread(function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], engine: str, workers: int = 0) -> list[Any]:
    """The results of all tasks in their order; 0 workers: one per core, of the whole cluster with ``ray``."""
    require_engine(engine)
    if engine == "sequential":
        return [function(*task) for task in tasks]
    if engine == "ray":
        return _on_cluster(function, list(tasks), workers)
    import joblib

    with joblib.parallel_config(backend=engine, n_jobs=workers or -1):
        found: list[Any] = joblib.Parallel(batch_size=1)(joblib.delayed(function)(*task) for task in tasks)
    return found


def _on_cluster(function: Callable[..., Any], tasks: list[tuple[Any, ...]], workers: int) -> list[Any]:
    """Tasks of a Ray cluster, one core each; what ran on a node that died starts again on another."""
    ray = _connected()
    remote = ray.remote(num_cpus=1, max_retries=NODES_LOST)(function)
    found: list[Any] = [None] * len(tasks)
    left, running = list(enumerate(tasks))[::-1], dict[Any, int]()
    try:
        while left or running:
            while left and (workers == 0 or len(running) < workers):
                place, task = left.pop()
                running[remote.remote(*task)] = place
            (done, *_), _ = ray.wait(list(running))
            found[running.pop(done)] = ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        said = str(error).partition("\n")[0]
        raise FogplayError(
            f"the cluster lost a run {NODES_LOST + 1} times ({said}); start the command again"
        ) from error
    finally:  # after success nothing is left to stop
        for task in running:
            ray.cancel(task)
    return found


def _connected() -> Any:
    """Ray, connected to the cluster of this machine, or to one of its own if there is none."""
    try:
        import ray
    except ImportError as error:
        raise FogplayError("--engine ray needs Ray: pip install 'fogplay[cluster]'") from error
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
    return ray
