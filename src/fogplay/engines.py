"""Spreading work over processes: those of this machine (``loky``), of a cluster (``ray``), or none (``sequential``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fogplay.errors import FogplayError

ENGINES = ("loky", "ray", "sequential")


def require_engine(engine: str, known: tuple[str, ...] = ENGINES) -> None:
    """Refuse an engine that there is not."""
    if engine not in known:
        raise FogplayError(f"engine must be {' or '.join(known)}, not {engine!r}")


def spread(function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], engine: str, workers: int = 0) -> list[Any]:
    """The results of all tasks in their order; 0 workers: one per core, of the whole cluster with ``ray``."""
    require_engine(engine)
    if engine == "sequential":
        return [function(*task) for task in tasks]
    import joblib

    if engine == "ray":
        _start_ray()
    with joblib.parallel_config(backend=engine, n_jobs=workers or -1):
        found: list[Any] = joblib.Parallel(batch_size=1)(joblib.delayed(function)(*task) for task in tasks)
    return found


def _start_ray() -> None:
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError as error:
        raise FogplayError("--engine ray needs Ray: pip install 'fogplay[cluster]'") from error
    register_ray()  # type: ignore[no-untyped-call]
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
