"""The tests of the driver for GPUs in numba's simulator of one; and what is said where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import cuda

from fogplay import FogplayError, solve
from tests.helpers import ROOT, fogplay


def test_in_the_simulator(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n0", "tests/kernels/test_cuda.py"]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "FOGPLAY_CACHE": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout
    assert " passed" in done.stdout


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_is_one_line(tmp_path: Path) -> None:
    done = fogplay("solve", "leduc", "--device", "cuda", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("fogplay: device cuda needs an NVIDIA GPU")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_only_samplers_and_only_known_devices() -> None:
    with pytest.raises(FogplayError, match=r"cfr\+ runs on the CPU; a GPU is for sampling algorithms"):
        solve("kuhn", "cfr+", 10, device="cuda")
    with pytest.raises(FogplayError, match="device must be cpu or cuda, not 'gpu'"):
        solve("kuhn", "uct", 10, device="gpu")
