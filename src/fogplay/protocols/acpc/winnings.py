"""What players win, in chips and in milli-big-blinds per hand (mb/h) with standard errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike


@dataclass(slots=True)
class Winnings:
    """A player's results so far, hand by hand."""

    hands: int = 0
    chips: float = 0.0
    squares: float = field(default=0.0, repr=False)  # the sum of the squared results

    def add(self, chips: float) -> None:
        self.hands += 1
        self.chips += chips
        self.squares += chips * chips

    def rate(self, big_blind: int) -> tuple[float, float]:
        """The mean in mb/h and its standard error, which is NaN for fewer than two hands."""
        unit, hands = 1000 / big_blind, self.hands
        mean = self.chips / max(hands, 1)
        if hands < 2:
            return unit * mean, math.nan
        variance = max(self.squares / hands - mean * mean, 0.0) * hands / (hands - 1)
        return unit * mean, unit * math.sqrt(variance / hands)


def clustered_rate(sums: ArrayLike, counts: ArrayLike, big_blind: int) -> tuple[float, float]:
    """The same from results that belong together: what was won in each deal, and how many hands were played with it.

    The hands of one deal share their cards, so only deals are independent: the error is that of a ratio of sums.
    """
    won, hands = np.asarray(sums, dtype=float), np.asarray(counts, dtype=float)
    deals, total = len(won), hands.sum()
    mean = won.sum() / max(total, 1)
    unit = 1000 / big_blind
    if deals < 2:
        return unit * float(mean), math.nan
    spread = np.square(won - mean * hands).sum() * deals / (deals - 1)
    return unit * float(mean), unit * float(np.sqrt(spread) / total)
