"""What is used of numba beyond its documentation.

The package itself is not imported: where the option is missing, that fails.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

JIT = Path(__file__).parent.parent / "src" / "fogplay" / "jit.py"
ADVICE = f"""numba {numba.__version__} {{}} the option _nrt, by which kernels are compiled without reference counts.
To support this version:
1. set UNCOUNTED = {{{{}}}} in src/fogplay/jit.py (everything still works; `fogplay bench --suite sampling` shows the
   cost, which was a factor of two for es-mccfr), or look in numba/core/options.py for what has replaced it;
2. raise the bound on numba's version in pyproject.toml only after this test passes or is removed."""


class Pair(NamedTuple):
    first: Any
    second: Any


def jit_module() -> Any:
    """``fogplay.jit`` alone."""
    spec = importlib.util.spec_from_file_location("jit_alone", JIT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def counted(**options: Any) -> int:
    """How many reference counts change in a function that hands over arrays."""

    @numba.njit(**options)
    def add(pair: Any, place: int) -> Any:
        return pair.first[place] + pair.second[place]

    @numba.njit(**options)
    def run(pair: Any, place: int) -> Any:
        chosen = pair.first if place > 3 else pair.second
        return chosen[place] + add(pair, place)

    assert run(Pair(np.arange(9.0), 2 * np.arange(9.0)), 4) == 16.0
    return sum(code.count("NRT_incref") + code.count("NRT_decref") for code in run.inspect_llvm().values())


def test_kernels_are_compiled_without_reference_counts() -> None:
    options = jit_module().UNCOUNTED
    try:
        found = counted(**options)
    except KeyError:
        pytest.fail(ADVICE.format("no longer has"))
    assert found == 0, ADVICE.format("ignores")
    assert counted() > 0, "this numba counts nothing either way: the option can go"
