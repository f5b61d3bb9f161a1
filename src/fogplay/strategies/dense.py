"""The dense residual network, evaluated with numpy and a kernel; ``nets/dense.py`` has the formulas and trains it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel, piece

EPSILON = 1e-6
_1 = np.uint64(1)
_ABOVE_32, _ABOVE_16 = np.uint64(0xFFFFFFFF00000000), np.uint64(0xFFFF0000FFFF0000)
_ABOVE_8, _ABOVE_4 = np.uint64(0xFF00FF00FF00FF00), np.uint64(0xF0F0F0F0F0F0F0F0)
_ABOVE_2, _ABOVE_1 = np.uint64(0xCCCCCCCCCCCCCCCC), np.uint64(0xAAAAAAAAAAAAAAAA)


class DenseShape(NamedTuple):
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

    def evaluate(self, own: Mapping[str, NDArray[np.float32]], seen: NDArray[np.int64]) -> NDArray[np.float32]:
        """[rows, outputs] for int64 words ``seen[rows, words]``; ``own`` are the arrays."""
        x = np.repeat(own["in_bias"], len(seen), axis=0)
        add_rows(np.ascontiguousarray(seen), own["in"], x, np.empty(64 * self.words, np.int64))
        for block in range(self.blocks):
            inner = _normed(x, own["norm"][block]) @ own["up"][block] + own["up_bias"][block]
            x += np.maximum(inner, 0.0, out=inner) @ own["down"][block] + own["down_bias"][block]
        found: NDArray[np.float32] = _normed(x, own["out_norm"]) @ own["out"] + own["out_bias"]
        return found


@kernel
def add_rows(seen, weights, sums, places):
    """Add to ``sums[rows, width]`` the rows of ``weights`` whose bits are set in ``seen[rows, words]``.

    About a tenth of the inputs are set, so this is faster than a product of matrices. Four rows are added at a time,
    since sums are written more slowly than weights are read. ``places[inputs]`` is scratch.
    """
    for row in range(len(seen)):
        count = list_bits(seen[row], places)
        fours = count - count % 4
        for first in range(0, fours, 4):
            one, two, three, four = places[first], places[first + 1], places[first + 2], places[first + 3]
            for output in range(sums.shape[1]):
                sums[row, output] += (weights[one, output] + weights[two, output]) + (
                    weights[three, output] + weights[four, output]
                )
        for last in range(fours, count):
            for output in range(sums.shape[1]):
                sums[row, output] += weights[places[last], output]


@piece
def list_bits(words, places):
    """Fill ``places`` with the numbers of the bits that are set in ``words``; return how many there are."""
    count = 0
    for word in range(len(words)):
        left = np.uint64(words[word])
        while left != 0:
            low = left & (~left + _1)
            left ^= low
            places[count] = 64 * word + place_of(low)
            count += 1
    return count


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
