"""Networks as files, and their evaluation with numpy: nothing else is needed to play with one.

A file holds one network: its arrays as 16-bit floats, and its architecture, shape and origin. An architecture is a
shape that knows its arrays and how to evaluate them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.blas import one_thread
from fogplay.errors import FogplayError
from fogplay.strategies.convolution import ConvolutionShape
from fogplay.strategies.dense import DenseShape

KIND = "network"
Shape = DenseShape | ConvolutionShape
ARCHITECTURES: dict[str, Any] = {"dense": DenseShape, "convolution": ConvolutionShape}
_MOST = 1 << 14  # rows that are evaluated at a time, so that scratch stays small


def described(shape: Shape) -> dict[str, Any]:
    """A shape as a file has it."""
    (name,) = (name for name, kind in ARCHITECTURES.items() if isinstance(shape, kind))
    return {"architecture": name, "shape": list(shape)}


def shape_from(about: Mapping[str, Any]) -> Shape:
    """The shape that a file has."""
    try:
        sizes = [tuple(map(int, size)) if isinstance(size, list) else int(size) for size in about["shape"]]
        found: Shape = ARCHITECTURES[about.get("architecture", "dense")](*sizes)
    except (KeyError, TypeError, ValueError) as error:
        raise FogplayError("this is not a network that this version of fogplay knows") from error
    return found


class Network:
    """A network that is ready to be asked."""

    def __init__(self, shape: Shape, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
        self.shape, self.about = shape, dict(about)
        self.arrays = {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Network:
        """A network as it was written; other arrays are left out."""
        shape = shape_from(about)
        own = {name: arrays[name] for name in shape.arrays() if name in arrays}
        if {name: array.shape for name, array in own.items()} != shape.arrays():
            raise FogplayError("the arrays of this network do not fit its shape")
        return Network(shape, own, about)

    def outputs(self, seen: NDArray[np.int64]) -> NDArray[np.float32]:
        """[rows, outputs] for int64 words ``seen[rows, words]``."""
        starts = range(0, max(len(seen), 1), _MOST)
        with one_thread():
            parts = [self.shape.evaluate(self.arrays, seen[first : first + _MOST]) for first in starts]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file, as 16-bit floats."""
        arrays = {name: array.astype(np.float16) for name, array in self.arrays.items()}
        storage.write(path, KIND, arrays, {**self.about, **described(self.shape)})


def load(path: str | os.PathLike[str]) -> Network:
    """Read a network from a file; damaged and foreign files are refused."""
    arrays, about = storage.read(path, KIND)
    try:
        return Network.from_arrays(arrays, about)
    except FogplayError as error:
        raise FogplayError(f"{path}: {error}") from error
