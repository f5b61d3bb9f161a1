"""Values over all flops from a sample of them, with a standard error.

What a class of hands is worth on a flop depends on how strong its hands are there, and on the flop's ranks and suits. A
ridge regression on these, for each class and line of betting, predicts every flop; the mean error on the sampled flops
corrects the predictions. The responder chooses before the flop by the estimate itself. What it gains from that falls
with the noise in what a class is worth, which the strength of hands removes: a correction for it, by a jackknife, was
larger than the gain, and misled. The standard error comes from a jackknife: the estimate is repeated without each
group of flops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.simulators.holdem_boards import Next
from fogplay.simulators.holdem_lookups import Buckets
from fogplay.simulators.holdem_walk import Walk

GROUPS = 20
RIDGE = (1.0, *[5.0] * 6)  # for each feature, flops that speak for a slope of zero
STRENGTH_GRID = "ehs2:169/65536/1/1"  # whose buckets on the flop are the expected squares of hand strength


class Estimated(NamedTuple):
    """What a responder earns, from a sample of flops."""

    values: tuple[float, float]  # by its seat
    standard_error: float  # of their mean
    without: NDArray[np.float64]  # [groups] the mean without each group of flops

    def rescaled(self, scale: float) -> Estimated:
        """The same in another unit."""
        first, second = self.values
        return Estimated((first * scale, second * scale), self.standard_error * scale, self.without * scale)


def jackknife(without: NDArray[np.float64]) -> float:
    """The standard error of an estimate that was repeated without each group; also of a difference of estimates."""
    count = len(without)
    return float(np.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum()))


def sample(flops: Sequence[Next], count: int, seed: int) -> list[int]:
    """Numbers of flops, drawn with replacement in proportion to how many each stands for."""
    weight = np.array([each.weight for each in flops], np.float64)
    drawn: list[int] = np.random.default_rng(seed).choice(len(flops), count, p=weight / weight.sum()).tolist()
    return drawn


def strengths(flops: Sequence[Next], classes: NDArray[np.int64], find: Buckets) -> NDArray[np.float64]:
    """[flops, classes] the mean strength of a class of hands on each flop; hands with one of its cards count as 0."""
    values = find(1, np.array([each.cards for each in flops], np.uint8)).astype(np.float64)
    size = np.bincount(classes)
    return np.stack([np.bincount(classes, each, len(size)) for each in values]) / size


def features(flops: Sequence[Next]) -> NDArray[np.float64]:
    """[flops, features] what is known of a flop by its ranks and suits."""
    rows = []
    for each in flops:
        ranks, suits = sorted(card // 4 for card in each.cards), [card % 4 for card in each.cards]
        kinds, colours = len(set(ranks)), len(set(suits))
        rows.append([np.mean(ranks), kinds == 2, kinds == 1, colours == 1, colours == 2, ranks[-1] - ranks[0] <= 4])
    return np.array(rows, np.float64)


def estimate(
    walk: Walk,
    flops: Sequence[Next],
    drawn: Sequence[int],
    found: dict[int, NDArray[np.float64]],
    strength: NDArray[np.float64],
) -> Estimated:
    """The value of each seat from the values ``found`` on ``drawn`` flops.

    ``found[flop][seats, lines, classes]`` are times the flop's weight; ``strength[flops, classes]`` is that of hands.
    """
    weight = np.array([each.weight for each in flops], np.float64)
    known = _known(strength, features(flops), weight / weight.sum())[:, np.array(drawn)]
    seats, lines, classes = found[drawn[0]].shape
    values = np.stack([found[number].reshape(-1, classes).T / weight[number] for number in drawn], axis=1)

    def total(used: NDArray[np.bool_]) -> NDArray[np.float64]:
        rows, seen = known[:, used], values[:, used]
        middle, mean = rows.mean(axis=1, keepdims=True), seen.mean(axis=1, keepdims=True)
        across = (rows - middle).transpose(0, 2, 1)
        slopes = np.linalg.solve(across @ (rows - middle) + np.diag(RIDGE), across @ (seen - mean))
        predicted: NDArray[np.float64] = (mean - middle @ slopes)[:, 0] * weight.sum()  # features have mean zero
        return predicted.T.reshape(seats, lines, classes)

    groups = np.arange(len(drawn)) % min(GROUPS, len(drawn))
    whole = walk.finish(total(np.ones(len(drawn), bool)))
    without = np.array([walk.finish(total(groups != group)) for group in range(groups.max() + 1)])
    means = without.mean(axis=1)
    return Estimated(whole, jackknife(means), means)


def _known(
    strength: NDArray[np.float64], of_flops: NDArray[np.float64], chance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """[classes, flops, features] what a regression knows, each with mean zero and variance one over all flops."""
    shape = (strength.shape[1], *of_flops.shape)
    known = np.concatenate([strength.T[:, :, None], np.broadcast_to(of_flops, shape)], axis=2)
    known -= np.einsum("f,cfn->cn", chance, known)[:, None]
    spread = np.sqrt(np.einsum("f,cfn->cn", chance, known**2))[:, None]
    scaled: NDArray[np.float64] = known / np.maximum(spread, 1e-9)
    return scaled
