"""A dense residual network as a file, and its evaluation with numpy: nothing else is needed to play with one.

A file holds one network: its arrays as 16-bit floats, and its shape and origin. ``nets/dense.py`` has the formulas.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.jit import kernel, piece

KIND = "network"
EPSILON = 1e-6
_1 = np.uint64(1)
_ABOVE_32, _ABOVE_16 = np.uint64(0xFFFFFFFF00000000), np.uint64(0xFFFF0000FFFF0000)
_ABOVE_8, _ABOVE_4 = np.uint64(0xFF00FF00FF00FF00), np.uint64(0xF0F0F0F0F0F0F0F0)
_ABOVE_2, _ABOVE_1 = np.uint64(0xCCCCCCCCCCCCCCCC), np.uint64(0xAAAAAAAAAAAAAAAA)
_MOST = 1 << 16  # rows that are evaluated at a time, so that scratch stays small


class Shape(NamedTuple):
    """The size of a dense residual network."""

    words: int  # 64 inputs each
    outputs: int
    width: int = 512
    blocks: int = 4

    def arrays(self) -> dict[str, tuple[int, ...]]:
        """The names and sizes of its arrays."""
        inputs, width = 64 * self.words, self.width
        return {
            "in": (inputs, width),
            "in_bias": (1, width),
            "norm": (self.blocks, 1, width),
            "up": (self.blocks, width, width),
            "up_bias": (self.blocks, 1, width),
            "down": (self.blocks, width, width),
            "down_bias": (self.blocks, 1, width),
            "out_norm": (1, width),
            "out": (width, self.outputs),
            "out_bias": (1, self.outputs),
        }


class Network:
    """A network that is ready to be asked."""

    def __init__(self, shape: Shape, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
        self.shape, self.about = shape, dict(about)
        self.arrays = {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Network:
        """A network as it was written; other arrays are left out."""
        try:
            shape = Shape(*(int(number) for number in about["shape"]))
            own = {name: arrays[name] for name in shape.arrays()}
        except (KeyError, TypeError, ValueError) as error:
            raise FogplayError("this is not a network that this version of fogplay knows") from error
        if {name: array.shape for name, array in own.items()} != shape.arrays():
            raise FogplayError("the arrays of this network do not fit its shape")
        return Network(shape, own, about)

    def outputs(self, seen: NDArray[np.int64]) -> NDArray[np.float32]:
        """[rows, outputs] for int64 words ``seen[rows, words]``."""
        parts = [self._outputs(seen[first : first + _MOST]) for first in range(0, len(seen), _MOST)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _outputs(self, seen: NDArray[np.int64]) -> NDArray[np.float32]:
        own = self.arrays
        x = np.repeat(own["in_bias"], len(seen), axis=0)
        add_rows(np.ascontiguousarray(seen), own["in"], x)
        for block in range(self.shape.blocks):
            inner = _normed(x, own["norm"][block]) @ own["up"][block] + own["up_bias"][block]
            x += np.maximum(inner, 0.0, out=inner) @ own["down"][block] + own["down_bias"][block]
        found: NDArray[np.float32] = _normed(x, own["out_norm"]) @ own["out"] + own["out_bias"]
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file, as 16-bit floats."""
        arrays = {name: array.astype(np.float16) for name, array in self.arrays.items()}
        storage.write(path, KIND, arrays, {**self.about, "shape": list(self.shape)})


@kernel
def add_rows(seen, weights, sums):
    """Add to ``sums[rows, width]`` the rows of ``weights`` whose bits are set in ``seen[rows, words]``.

    About a tenth of the inputs are set, so this is faster than a product of matrices.
    """
    for row in range(len(seen)):
        for word in range(seen.shape[1]):
            left = np.uint64(seen[row, word])
            while left != 0:
                low = left & (~left + _1)
                left ^= low
                at = 64 * word + place_of(low)
                for output in range(sums.shape[1]):
                    sums[row, output] += weights[at, output]


@piece
def place_of(bit):
    """The place of the only bit that is set."""
    place = np.int64(bit & _ABOVE_32 != 0) << 5
    place += np.int64(bit & _ABOVE_16 != 0) << 4
    place += np.int64(bit & _ABOVE_8 != 0) << 3
    place += np.int64(bit & _ABOVE_4 != 0) << 2
    place += np.int64(bit & _ABOVE_2 != 0) << 1
    return place + np.int64(bit & _ABOVE_1 != 0)


def _normed(x: NDArray[np.float32], gain: NDArray[np.float32]) -> NDArray[np.float32]:
    mean = np.einsum("ij,ij->i", x, x)[:, None] / np.float32(x.shape[1])
    found: NDArray[np.float32] = x * (gain / np.sqrt(mean + np.float32(EPSILON)))
    return found


def load(path: str | os.PathLike[str]) -> Network:
    """Read a network from a file; damaged and foreign files are refused."""
    arrays, about = storage.read(path, KIND)
    try:
        return Network.from_arrays(arrays, about)
    except FogplayError as error:
        raise FogplayError(f"{path}: {error}") from error
