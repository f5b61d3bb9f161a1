"""The last round of hold'em as a program, by rows and on a GPU: on small decks, and compiled for the whole deck."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fogplay.games.registry import load
from fogplay.simulators.holdem_lines import rounds_of
from fogplay.simulators.holdem_river import Layout, branches
from fogplay.simulators.holdem_vectors import LARGEST, MIXED
from fogplay.simulators.holdem_walk_rows import by_rows
from fogplay.trees.betting import betting_tree
from tests.simulators.test_holdem_walk import Player, walk_of

HERE = Path(__file__).parent

ON_A_GPU = """
import sys
import numpy as np
from fogplay.games.registry import load
from fogplay.simulators.holdem_walk_gpu import on_gpu
from fogplay.simulators.holdem_walk_rows import by_rows
from test_holdem_walk import Player, earned, walk_of
kind = getattr(np, sys.argv[1])
rules = load(sys.argv[2])
player, other = Player(rules, True, 3), Player(rules, True, 4)
for own in (None, other):
    walk = walk_of(player, own, kind)
    expected = earned(walk)
    rows = by_rows(walk)
    print(*expected, *earned(rows))
    print(*expected, *earned(on_gpu(rows, lines=3, turns=2, ahead=int(sys.argv[3]))))
"""


@pytest.mark.parametrize(
    ("kind", "spec", "ahead", "tolerance"),
    [
        ("float64", "holdem(rounds=3,ranks=3,suits=2,board=[0,1,1],raises=[10,10,20],max_raises=[0,0,4])", 2, 1e-12),
        ("float32", "holdem(rounds=2,ranks=3,suits=2,board=[0,1],raises=[10,20],max_raises=[1,3])", 4, 1e-5),
    ],
)
def test_a_gpu_finds_the_same_values(tmp_path: Path, kind: str, spec: str, ahead: int, tolerance: float) -> None:
    """By plain Python, which takes the cards of three turns in batches of two, and lines in blocks of three."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "FOGPLAY_CACHE": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", "-c", ON_A_GPU, kind, spec, str(ahead)]
    done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        *expected, first, second = map(float, line.split())
        assert [first, second] == pytest.approx(expected, rel=tolerance, abs=tolerance)
        assert max(map(abs, expected)) > 1
    assert len(done.stdout.splitlines()) == 4


@pytest.mark.parametrize("how", [LARGEST, MIXED])
def test_the_last_round_compiles_for_a_gpu(monkeypatch: pytest.MonkeyPatch, how: int) -> None:
    """To assembly, which needs no GPU: numbers by card are in shared memory, none in local memory."""
    pytest.importorskip("numba_cuda", reason="the extra gpu is not installed")
    import numba
    import numba.cuda.compiler
    import numba.cuda.dispatcher

    from fogplay.simulators.holdem_vectors_gpu import walk_boards

    some = type("Device", (), {"compute_capability": (9, 0)})
    for module in (numba.cuda.compiler, numba.cuda.dispatcher):
        monkeypatch.setattr(module, "get_current_device", lambda: some, raising=False)
    made = walk_boards(_branches(how), Layout(1326, 1081, 47, 32, np.float32), 13, 576)
    shapes = (2, np.uint64), (3, np.float32), (2, np.float32), (2, np.float32), (2, np.float32), (3, np.float32)
    types = tuple(numba.typeof(np.zeros((1,) * rank, kind)) for rank, kind in shapes)
    cuda: Any = numba.cuda
    text = cuda.compile_ptx(made.py_func, types, cc=(9, 0))[0]
    assert "ld.shared.f32" in text
    assert ".local" not in text
    assert ".f64" not in text


def _branches(how: int) -> Any:
    betting = betting_tree(load("holdem(grid=ehs2:169/10/10/10)"))
    return branches(rounds_of(betting, 4)[-1], 0, how)


def test_nine_showdowns_and_eight_folds_make_nine_forms() -> None:
    found = _branches(LARGEST)
    layout = Layout(1326, 1081, 47, 32, np.float32)
    assert [(each.rows, len(each.terms)) for each in found] == [(5, 9), (4, 8)]
    assert 7 * (max(layout.shared_bytes(each) for each in found) + 1024) <= 228 * 1024  # seven blocks fit


def test_compiled_programs_can_be_read_from_disk() -> None:
    """Numba looks for the module of what it reads there by its name."""
    rules = load("holdem(rounds=2,ranks=3,suits=2,board=[0,1],raises=[10,20],max_raises=[1,3])")
    for seat in by_rows(walk_of(Player(rules, True, 3))).seats:
        assert sys.modules[seat.program.__module__].walk_boards is seat.program
