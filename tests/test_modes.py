"""The kernels as plain Python, and compiled with every index checked, on small cases."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT, checked_cache

SCRIPT = """
import numpy as np
import fogplay as fp
from fogplay.evaluate import equilibrium
from fogplay.opponents import record
for spec in ("kuhn", "kuhn(players=3)", "goofspiel(cards=3)", "biased-rps"):
    for algorithm in ("cfr", "pcfr+"):
        result = fp.solve(spec, algorithm, 20)
        print(spec, algorithm, result.nash_conv.hex())
    for algorithm, parameters in (
        ("uct", {"rollout": "on-policy"}),
        ("smooth-uct", {}),
        ("smooth-uct", {"schedule": "confidence"}),
        ("os-mccfr", {}),
        ("os-mccfr", {"updates": "alternating", "averaging": "stochastic"}),
        ("es-mccfr", {}),
        ("cs-mccfr", {}),
    ):
        result = fp.solve(spec, algorithm, 150, seed=3, **parameters)
        print(spec, algorithm, parameters, result.nash_conv.hex())
    flat = fp.flatten(spec)
    match = fp.match(flat, ["uniform"] * flat.num_players, 40, keep=True)
    print(spec, match.means[0].hex())
    names = ["ann", "bob", "eve"][: flat.num_players]
    model = fp.learn_model(flat, record(flat, match.ends, names, "ann"), "bob", rounds=3)
    print(spec, float((model.probabilities**2).sum()).hex())
"""


ONE_KERNEL = """
import fogplay as fp
print("kuhn", "cfr", fp.solve("kuhn", "cfr", 20).nash_conv.hex())
"""


def run(script: str = SCRIPT, **mode: str) -> str:
    environment = {**os.environ, **mode}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def compiled() -> str:
    return run()


def values(text: str) -> list[float]:
    return [float.fromhex(line.split()[-1]) for line in text.splitlines()]


def test_plain_python_agrees(compiled: str) -> None:
    assert values(run(NUMBA_DISABLE_JIT="1")) == pytest.approx(values(compiled), rel=1e-9)


def test_no_index_is_out_of_range(compiled: str) -> None:
    assert values(run(NUMBA_BOUNDSCHECK="1", FOGPLAY_CACHE=str(checked_cache()))) == pytest.approx(
        values(compiled), rel=1e-9
    )


def test_an_unwritable_cache_is_no_obstacle(tmp_path: Path, compiled: str) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert compiled.startswith(run(ONE_KERNEL, FOGPLAY_CACHE=str(blocked)))
