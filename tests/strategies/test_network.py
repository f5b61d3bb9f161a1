"""Networks evaluated with numpy: the same as the formulas, whatever the batch."""

from __future__ import annotations

import numpy as np
import pytest

from fogplay.strategies.dense import EPSILON, DenseShape
from fogplay.strategies.network import Network


def slow_outputs(network: Network, seen: np.ndarray) -> np.ndarray:
    """The formulas of ``nets/dense.py``, in 64 bits."""
    own = {name: array.astype(np.float64) for name, array in network.arrays.items()}
    bits = np.array([[word >> place & 1 for word in row for place in range(64)] for row in seen.tolist()], np.float64)

    def normed(x: np.ndarray, gain: np.ndarray) -> np.ndarray:
        return x * gain / np.sqrt((x**2).mean(1, keepdims=True) + EPSILON)

    x = bits @ own["in"] + own["in_bias"]
    for block in range(network.shape.blocks):
        inner = normed(x, own["norm"][block]) @ own["up"][block] + own["up_bias"][block]
        x = x + np.maximum(inner, 0) @ own["down"][block] + own["down_bias"][block]
    return normed(x, own["out_norm"]) @ own["out"] + own["out_bias"]


def test_outputs_follow_the_formulas() -> None:
    shape, rng = DenseShape(3, 7, 16, 2), np.random.default_rng(1)
    network = Network(shape, {name: rng.standard_normal(size) for name, size in shape.arrays().items()}, {})
    seen = rng.integers(-(2**63), 2**63 - 1, (20, 3), endpoint=True)
    seen[0], seen[1] = 0, -1
    assert network.outputs(seen) == pytest.approx(slow_outputs(network, seen), rel=1e-3, abs=1e-3)
    assert network.outputs(seen[3:4]) == pytest.approx(network.outputs(seen)[3:4], rel=1e-4, abs=1e-4)
