"""Small things that many tests need."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.jit import user_cache
from fogplay.trees import FlatGame

ROOT = Path(__file__).parent.parent


def fogplay(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user would."""
    command = [sys.executable, "-m", "fogplay.cli", *arguments]
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=300
    )


def checked_cache() -> Path:
    """The folder of kernels compiled with every index checked, kept from run to run as the others are."""
    folder = user_cache() / "checked"
    for each in (folder, user_cache() / "tables"):
        each.mkdir(parents=True, exist_ok=True)
    tables = folder / "tables"
    if not tables.is_symlink():
        with contextlib.suppress(FileExistsError):
            tables.symlink_to(user_cache() / "tables")
    return folder


def refusal(call: Callable[..., Any], *arguments: Any) -> str:
    """What a call says when it refuses its arguments, which must be a line; nothing if it does not."""
    try:
        call(*arguments)
    except FogplayError as error:
        line = str(error)
    else:
        line = ""
    assert len(line) < 400
    assert "\n" not in line
    return line


def as_policy(flat: FlatGame, probabilities: NDArray[np.float64]) -> dict[str, list[float]]:
    """``probabilities[slots]`` as the dictionary that the oracles take."""
    return {name: probabilities[flat.slots(number)].tolist() for number, name in enumerate(flat.infosets)}


def random_probabilities(flat: FlatGame, seed: int, zeros: bool = True) -> NDArray[np.float64]:
    """A random joint strategy, with some actions never taken."""
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=flat.num_slots)
    if zeros:
        weights *= rng.random(flat.num_slots) < 0.8
    out = flat.uniform()
    for infoset in range(flat.num_infosets):
        share = weights[flat.slots(infoset)]
        if share.sum() > 0:
            out[flat.slots(infoset)] = share / share.sum()
    return out


def root_of(game: Any) -> Any:
    return game.new_initial_state()
