"""Values over all flops from a sample of them, with a standard error.

What happens on a flop depends on its ranks and suits. A regression on these predicts every flop; the mean error on the
sampled flops corrects the predictions. The value is not linear in the flops, since the responder chooses before the
flop, so the error comes from a jackknife: the estimate is repeated without each group of flops.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fogplay.simulators.holdem_boards import Next
from fogplay.simulators.holdem_walk import Walk

GROUPS = 20
FLOPS_PER_FEATURE = 4


def sample(flops: Sequence[Next], count: int, seed: int) -> list[int]:
    """Numbers of flops, drawn with replacement in proportion to how many each stands for."""
    weight = np.array([each.weight for each in flops], np.float64)
    drawn: list[int] = np.random.default_rng(seed).choice(len(flops), count, p=weight / weight.sum()).tolist()
    return drawn


def features(flops: Sequence[Next]) -> NDArray[np.float64]:
    """[flops, features] what a regression knows of a flop, the most telling first."""
    rows = []
    for each in flops:
        ranks, suits = sorted(card // 4 for card in each.cards), [card % 4 for card in each.cards]
        kinds, colours = len(set(ranks)), len(set(suits))
        counts = [ranks.count(rank) for rank in range(12, 0, -1)]
        gaps = ranks[-1] - ranks[0]
        rows.append([1, np.mean(ranks), kinds == 2, colours == 1, colours == 2, gaps <= 4, kinds == 1, *counts])
    return np.array(rows, np.float64)


def estimate(
    walk: Walk, flops: Sequence[Next], drawn: Sequence[int], found: dict[int, NDArray[np.float64]]
) -> tuple[tuple[float, float], float]:
    """The value of each seat, and the standard error of their mean, from the values ``found`` on ``drawn`` flops."""
    known = features(flops)[:, : max(1, len(drawn) // FLOPS_PER_FEATURE)]
    weight = np.array([each.weight for each in flops], np.float64)
    numbers = np.array(drawn)
    shape = found[drawn[0]].shape
    values = np.stack([found[number].reshape(-1) / weight[number] for number in drawn])  # per flop
    everything = weight @ known  # [features]

    def total(used: NDArray[np.bool_]) -> NDArray[np.float64]:
        rows, seen = known[numbers[used]], values[used]
        slopes = np.linalg.lstsq(rows, seen, rcond=None)[0]
        left = (seen - rows @ slopes).mean(axis=0) * weight.sum()
        found: NDArray[np.float64] = (everything @ slopes + left).reshape(shape)
        return found

    groups = np.arange(len(drawn)) % min(GROUPS, len(drawn))
    whole = np.array(walk.finish(total(np.ones(len(drawn), bool))))
    without = np.array([walk.finish(total(groups != group)) for group in range(groups.max() + 1)])
    count = len(without)
    corrected = count * whole - (count - 1) * without.mean(axis=0)
    means = without.mean(axis=1)
    error = float(np.sqrt((count - 1) / count * ((means - means.mean()) ** 2).sum()))
    return (float(corrected[0]), float(corrected[1])), error
