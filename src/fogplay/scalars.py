"""TensorBoard's scalars, written by the package ``tensorboard`` alone: neither torch nor TensorFlow is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fogplay.errors import FogplayError


def scalars_in(folder: Path) -> Any:
    """A writer with ``add_scalar(name, value, step)``, ``flush()`` and ``close()`` for a folder of TensorBoard's."""
    try:
        from tensorboard.summary import Writer
    except ImportError as error:
        raise FogplayError("--tensorboard needs an extra package: pip install tensorboard") from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FogplayError(f"--tensorboard {folder}: {error.strerror or error}") from error
    return Writer(str(folder))
