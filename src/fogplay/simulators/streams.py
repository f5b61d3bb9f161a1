"""Random numbers in kernels: xoroshiro128++ (Blackman & Vigna 2019), one stream per worker, its state an argument.

``mix`` hashes words, for keys and for streams that depend on a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import piece

_SCALE = 2.0**-53
_17, _21, _28, _36, _49, _64 = (np.uint64(shift) for shift in (17, 21, 28, 36, 49, 64))
_11 = np.uint64(11)
_27, _30, _31 = (np.uint64(shift) for shift in (27, 30, 31))
_STEP, _FIRST, _SECOND = (np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def streams(seed: int, workers: int) -> NDArray[np.uint64]:
    """[workers, 16] independent states: numpy's SeedSequence mixes the seed and the worker's number.

    Two numbers are used; the rest keeps workers from writing to the same lines of memory.
    """
    states = np.zeros((workers, 16), np.uint64)
    for state, child in zip(states, np.random.SeedSequence(seed).spawn(workers), strict=True):
        state[:2] = child.generate_state(2, np.uint64)
    return states


def many_streams(seed: int | Sequence[int], workers: int) -> NDArray[np.uint64]:
    """[workers, 2] states for thousands of workers: all drawn at once, far apart in a period of 2^128."""
    states: NDArray[Any] = np.random.SeedSequence(seed).generate_state(2 * workers, np.uint64)
    return states.reshape(workers, 2)


@piece
def _next(rng):
    """64 random bits; ``rng[:2]`` is mutated."""
    low = rng[0]
    high = rng[1]
    total = low + high
    result = ((total << _17) | (total >> (_64 - _17))) + low
    high ^= low
    rng[0] = ((low << _49) | (low >> (_64 - _49))) ^ high ^ (high << _21)
    rng[1] = (high << _28) | (high >> (_64 - _28))
    return result


@piece
def uniform(rng):
    """A number from [0, 1), any multiple of 2^-53."""
    return (_next(rng) >> _11) * _SCALE


@piece
def draw(weights, at, count, rng):
    """A number from 0 to ``count - 1`` with probabilities ``weights[at ...]``, which add up to 1.

    It counts the sums that are passed instead of stopping at the first that is not: a loop that never ends early is
    cheaper than one whose end cannot be foreseen.
    """
    left = uniform(rng)
    choice = 0
    for number in range(count - 1):
        left -= weights[at + number]
        choice += left >= 0.0
    return choice


@piece
def below(rng, count):
    """A whole number from 0 to ``count - 1``; uneven by at most count / 2^53."""
    return np.int64(uniform(rng) * count)


@piece
def mix(key, word):
    """A 64-bit hash of a hash and a word (the finaliser of splitmix64)."""
    word = (np.uint64(key) ^ np.uint64(word)) + _STEP
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return word ^ (word >> _31)
