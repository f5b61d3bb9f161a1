"""The residual network of convolutions over ranks, evaluated with numpy; ``nets/convolution.py`` trains it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

EPSILON = 1e-5


class ConvolutionShape(NamedTuple):
    """The size of a network, and which of the words that it sees are planes of cards, and which are facts."""

    words: int
    outputs: int
    planes: tuple[int, ...]
    facts: tuple[int, ...]
    ranks: int = 15
    width: int = 128
    blocks: int = 10

    def arrays(self) -> dict[str, tuple[int, ...]]:
        """The names and sizes of its arrays, with batch normalisation as a scale and a shift."""
        width, layers = self.width, 2 * self.blocks
        return {
            "in": (12 * len(self.planes), width),
            "facts": (64 * len(self.facts), width),
            "in_scale": (1, width),
            "in_shift": (1, width),
            "conv": (layers, 3 * width, width),
            "scale": (layers, 1, width),
            "shift": (layers, 1, width),
            "out": (self.ranks * width, self.outputs),
            "out_bias": (1, self.outputs),
        }

    def trained_arrays(self) -> dict[str, tuple[int, ...]]:
        """The same with the parameters and statistics of batch normalisation."""
        folded, found = self.arrays(), dict[str, tuple[int, ...]]()
        for name, size in folded.items():
            if not name.endswith(("scale", "shift")):
                found[name] = size
            elif name.endswith("scale"):
                prefix = name.removesuffix("scale")
                found |= {f"{prefix}{part}": size for part in ("gain", "bias", "mean", "variance")}
        return found

    def evaluate(self, own: Mapping[str, NDArray[np.float32]], seen: NDArray[np.int64]) -> NDArray[np.float32]:
        """[rows, outputs] for int64 words ``seen[rows, words]``; ``own`` are the arrays."""
        rows = len(seen)
        planes = _bits(seen[:, list(self.planes)]).reshape(rows, len(self.planes), 16, 4)[:, :, : self.ranks]
        x = np.ascontiguousarray(planes.transpose(0, 2, 1, 3)).reshape(rows, self.ranks, -1)
        facts = _bits(seen[:, list(self.facts)]) @ own["facts"]
        x = _product(x, own["in"]) + facts[:, None]
        x = np.maximum(x * own["in_scale"] + own["in_shift"], 0.0)
        for block in range(self.blocks):
            first, second = 2 * block, 2 * block + 1
            inner = np.maximum(_product(x, own["conv"][first]) * own["scale"][first] + own["shift"][first], 0.0)
            x = np.maximum(x + _product(inner, own["conv"][second]) * own["scale"][second] + own["shift"][second], 0.0)
        found: NDArray[np.float32] = x.reshape(rows, -1) @ own["out"] + own["out_bias"]
        return found


def folded(shape: ConvolutionShape, trained: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays with batch normalisation as a scale and a shift."""
    found = {name: trained[name] for name in shape.arrays() if name in trained}
    for prefix in ("in_", ""):
        scale = trained[f"{prefix}gain"] / np.sqrt(trained[f"{prefix}variance"] + EPSILON)
        found[f"{prefix}scale"] = scale
        found[f"{prefix}shift"] = trained[f"{prefix}bias"] - trained[f"{prefix}mean"] * scale
    return found


def _product(x: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """The convolution of ``x[rows, ranks, channels]`` over a rank and its two neighbours."""
    rows, ranks, channels = x.shape
    around = np.zeros((rows, ranks, 3 * channels), np.float32)
    around[:, 1:, :channels] = x[:, :-1]
    around[:, :, channels : 2 * channels] = x
    around[:, :-1, 2 * channels :] = x[:, 1:]
    found: NDArray[np.float32] = (around.reshape(rows * ranks, -1) @ weights).reshape(rows, ranks, -1)
    return found


def _bits(words: NDArray[np.int64]) -> NDArray[np.float32]:
    raw = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(raw, axis=1, bitorder="little").astype(np.float32)
