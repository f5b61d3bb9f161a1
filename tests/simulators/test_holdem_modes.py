"""Hold'em as a simulator in plain Python and with checked indices."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from fogplay.simulators.holdem import HoldemSimulator
from tests.helpers import ROOT, checked_cache
from tests.simulators.test_holdem import LEDUC, SMALL, learn

SCRIPT = """
import sys
from tests.simulators.test_holdem_modes import checksums
for spec in sys.argv[1:]:
    print(*(each.hex() for each in checksums(spec)))
"""


def checksums(spec: str) -> list[float]:
    """A number for every algorithm that changes with whatever it learned."""
    simulated = HoldemSimulator.of(spec)
    weights = [learn(simulated.worker(5), simulated, name, 40) for name in ("smooth-uct", "os-mccfr", "es-mccfr")]
    if simulated.decisions < 1000:
        weights.append(learn(simulated.worker(5), simulated, "cs-mccfr", 4))
    return [float((each * np.cos(np.arange(len(each)))).sum()) for each in weights]


def in_another_process(*specs: str, **mode: str) -> list[list[float]]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *specs],
        env={**os.environ, **mode}, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [[float.fromhex(word) for word in line.split()] for line in done.stdout.splitlines()]


def test_plain_python_agrees() -> None:
    specs = [LEDUC, SMALL[-1]]
    plain = in_another_process(*specs, NUMBA_DISABLE_JIT="1")
    for spec, found in zip(specs, plain, strict=True):
        assert found == pytest.approx(checksums(spec), rel=1e-9)


@pytest.mark.slow
def test_no_index_is_out_of_range() -> None:
    specs = [LEDUC, SMALL[2], SMALL[-1], "holdem(grid=ehs2:169/10/1000/10)", "holdem(grid=ehs-percentile:10/10/10/10)"]
    checked = in_another_process(*specs, NUMBA_BOUNDSCHECK="1", FOGPLAY_CACHE=str(checked_cache()))
    for spec, found in zip(specs, checked, strict=True):
        assert found == pytest.approx(checksums(spec), rel=1e-9)
