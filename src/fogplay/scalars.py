"""What a run of training logs: rows in files, and TensorBoard's scalars, without torch or TensorFlow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fogplay.errors import FogplayError

LOG, CURVE = "log.jsonl", "curve.jsonl"  # in the folder of a run: rounds of learning, and judgements
Row = dict[str, Any]


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


def add_scalars(writer: Any, row: Row, names: tuple[str, ...], step: int) -> None:
    """Write a row of a log, if there is a writer: one scalar per number, or per number and network."""
    for name, value in row.items() if writer is not None else ():
        for place, number in enumerate(value if isinstance(value, list) else [value]):
            tag = f"{name}/{names[place]}" if isinstance(value, list) else name
            writer.add_scalar(tag, number, step)


def read_rows(path: Path) -> list[Row]:
    """The rows of a log; a line that was cut off by a kill is left out."""
    rows = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("decisions"), int):
            rows.append(row)
    return rows
