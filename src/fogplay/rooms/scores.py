"""The person's score: raw, and adjusted for luck."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Mean:
    """A mean per hand, and its standard error; NaN if there are too few hands."""

    hands: int
    mean: float
    error: float

    @staticmethod
    def of(values: Sequence[float]) -> Mean:
        count = len(values)
        mean = math.fsum(values) / count if count else math.nan
        if count < 2:
            return Mean(count, mean, math.nan)
        variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
        return Mean(count, mean, math.sqrt(variance / count))


@dataclass(frozen=True)
class Scores:
    """What the person made so far.

    ``adjusted`` is the person's result less what the reference makes in the same seat with the same chance moves: how
    much better than the reference the person plays, with most of the luck taken out.
    """

    total: float
    raw: Mean
    adjusted: Mean

    @staticmethod
    def of(results: Sequence[tuple[float, float | None]]) -> Scores:
        """From each hand's score and baseline, where that is known."""
        won = [score for score, _ in results]
        less = [score - known for score, known in results if known is not None]
        return Scores(math.fsum(won), Mean.of(won), Mean.of(less))
