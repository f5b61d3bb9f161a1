"""What becomes of a checkpoint when another run begins under its name: the further one is never lost in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fogplay import storage


def set_aside(path: Path) -> str | None:
    """Make room for a new run's checkpoint at ``path``; return in one line what became of the one that was there.

    It gets the suffix ``.previous``. Of two checkpoints of the same game and algorithm the one with more iterations
    keeps that name, and the other is deleted; checkpoints that cannot be compared get names with a number.
    """
    if not path.exists() or storage.is_stream(path):
        return None
    kept = path.with_name(f"{path.name}.previous")
    here, there = _known(path), _known(kept)
    if kept.exists() and (here is None or there is None or here[:2] != there[:2]):
        number = 2
        while (kept := path.with_name(f"{path.name}.previous-{number}")).exists():
            number += 1
        there = None
    if here is not None and there is not None and here[2] < there[2]:
        path.unlink()
        return f"dropped the checkpoint of an earlier run, at iteration {here[2]:,}: {kept} is at {there[2]:,}"
    path.replace(kept)
    at = f", at iteration {here[2]:,}," if here is not None else ""
    over = f", in place of one at {there[2]:,}" if there is not None else ""
    return f"kept the checkpoint of an earlier run{at} as {kept}{over}"


def _known(path: Path) -> tuple[Any, Any, int] | None:
    """The game, the algorithm and the iteration of a checkpoint."""
    about = storage.about(path)
    if about is None or "identity" not in about:
        return None
    return about["identity"].get("game"), about["identity"].get("algorithm"), int(about["iteration"])
