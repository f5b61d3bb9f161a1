"""Luck: the plain stream is the compiled one, and chance is drawn by its probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from fogplay.games.game import CHANCE, TERMINAL
from fogplay.games.registry import load
from fogplay.jit import kernel
from fogplay.play import Seeded, Stream
from fogplay.play.luck import drawn_outcome
from fogplay.simulators.streams import streams, uniform
from tests.games.specs import play


@kernel
def several(rng, out):
    for place in range(len(out)):
        out[place] = uniform(rng)


@pytest.mark.parametrize("seed", [0, 1, 2**62])
def test_the_stream_is_the_kernels(seed: int) -> None:
    plain, out = Stream.seeded(seed), np.zeros(1000)
    several(streams(seed, 1)[0], out)
    assert [plain.uniform() for _ in out] == out.tolist()


class Uneven:
    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(7, 0.5), (3, 0.0), (1, 0.3), (2, 0.2)]


def test_outcomes_come_as_often_as_they_should() -> None:
    stream, count = Stream.seeded(5), 40_000
    drawn = [drawn_outcome(Uneven(), stream.uniform) for _ in range(count)]
    for action, probability in Uneven().chance_outcomes():
        error = (probability * (1 - probability) / count) ** 0.5
        assert abs(drawn.count(action) / count - probability) <= 4 * error
    assert 3 not in drawn


def test_seeded_luck_follows_from_the_place() -> None:
    luck, again = Seeded(8), Seeded(8)
    assert [again.decision(number) for number in (3, 1, 2)] == [luck.decision(number) for number in (3, 1, 2)]
    assert luck.decision(0) != luck.decision(1) != Seeded(9).decision(1)
    state = play(load("kuhn"))
    assert state.current_player() == CHANCE != TERMINAL
    assert luck.chance(state, 0) == again.chance(state, 0)
    numbers = [Seeded(seed).decision(0) for seed in range(2000)]
    assert abs(np.mean(numbers) - 0.5) < 0.03
    assert min(numbers) < 0.01
    assert max(numbers) > 0.99
