"""Asking an evaluator: the same answers as its own, and fewer questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from fogplay.bots.doudizhu import DeltaSettings, asking, evaluators
from fogplay.bots.doudizhu.asking import MOST, NOBODY, Asking
from fogplay.bots.doudizhu.deltadou import Mind
from fogplay.simulators.doudizhu_features import SEEN
from fogplay.simulators.doudizhu_policy import OUTPUTS
from fogplay.simulators.streams import many_streams
from tests.bots.networks import hidden, played_on, tiny_networks


class Plain:
    """Outputs that name the question; notes what it was asked."""

    def __init__(self) -> None:
        self.questions: list[tuple[int, tuple[int, ...]]] = []
        self.fails = False

    def __call__(self, seat: int, seen: NDArray[np.int64]) -> NDArray[np.float32]:
        if self.fails:
            raise RuntimeError("broken")
        self.questions += [(seat, tuple(row)) for row in seen.tolist()]
        return np.repeat(100.0 * seat + seen.sum(1, keepdims=True), OUTPUTS, 1).astype(np.float32)


def rows(numbers: Sequence[int]) -> NDArray[np.int64]:
    return np.repeat(np.array(numbers, np.int64)[:, None], SEEN, 1)


def filled(own: Asking, seats: int | Sequence[int], numbers: Sequence[int]) -> NDArray[np.float32]:
    """What rows get; those that ask nobody stay -1."""
    outputs = np.full((len(numbers), OUTPUTS), -1, np.float32)
    asks = np.broadcast_to(np.array(seats, np.int8), len(numbers)).copy()
    assert own.fill(asks, rows(numbers), outputs) == bool((asks != NOBODY).any())
    assert (outputs == outputs[:, :1]).all()
    return outputs[:, 0]


def expected(seats: int | Sequence[int], numbers: Sequence[int]) -> list[float]:
    each = np.broadcast_to(np.array(seats), len(numbers)).tolist()
    return [-1 if seat == NOBODY else 100 * seat + SEEN * number for seat, number in zip(each, numbers, strict=True)]


def test_a_question_is_asked_once() -> None:
    plain = Plain()
    own = Asking(plain)
    for numbers in ([3, 4, 3, 5], [5, 6, 6], [3, 4, 5, 6]):
        assert filled(own, 1, numbers).tolist() == expected(1, numbers)
    assert plain.questions == [(1, (number,) * SEEN) for number in (3, 4, 5, 6)]
    assert (own.rows, own.asked) == (11, 4)
    own.forget()
    filled(own, 1, [3])
    assert len(plain.questions) == 5


def test_rows_of_all_seats_are_told_apart() -> None:
    plain = Plain()
    own = Asking(plain)
    for seats, numbers in (
        ([2, 0, NOBODY, 2, 0, 2], [1, 1, 1, 2, 2, 1]),
        ([0, 0, 2, NOBODY, 1], [2, 1, 2, 5, 1]),
        ([NOBODY, NOBODY], [1, 7]),
    ):
        assert filled(own, seats, numbers).tolist() == expected(seats, numbers)
    assert [(seat, seen[0]) for seat, seen in plain.questions] == [(0, 1), (0, 2), (2, 1), (2, 2), (1, 1)]


@pytest.mark.parametrize("places", [2, 8])
def test_answers_make_room_for_newer_ones(places: int) -> None:
    plain, rng = Plain(), np.random.default_rng(4)
    own = Asking(plain, places)
    for _ in range(50):
        seats, numbers = rng.integers(NOBODY, 3, 30), rng.integers(0, 40, 30)
        assert filled(own, seats, numbers).tolist() == expected(seats, numbers)
    assert 120 < own.asked < own.rows


def test_equal_keys_are_told_apart() -> None:
    """If another question has the same key, it is asked all the same."""
    plain = Plain()
    own = Asking(plain, 8)
    filled(own, 0, [1])
    own._memory.seen[:] = 7  # as if the keys had been made by this question
    assert filled(own, 0, [1, 2]).tolist() == [32, 64]
    assert [seen[0] for _, seen in plain.questions] == [1, 1, 2]


def test_a_failure_leaves_nothing_behind() -> None:
    plain = Plain()
    own = Asking(plain)
    plain.fails = True
    with pytest.raises(RuntimeError, match="broken"):
        filled(own, 0, [1, 2])
    plain.fails = False
    assert filled(own, 0, [2, 1]).tolist() == [64, 32]


def test_memory_grows_up_to_a_limit() -> None:
    own = Asking(Plain())
    own.grow(5)
    assert len(own._memory.keys) == asking.LEAST
    own.grow(asking.LEAST + 1)
    assert len(own._memory.keys) == 2 * asking.LEAST
    own.grow(10**9)
    assert len(own._memory.keys) == MOST
    assert filled(own, 0, [3]).tolist() == [96]


class Forgetful(Asking):
    """Remembers one answer."""

    def grow(self, places: int) -> None:
        pass


def test_a_search_is_the_same_with_memory_and_without() -> None:
    evaluate = evaluators.by_networks(tiny_networks())
    own, settings = hidden(played_on(8, 6, 20, evaluators.by_rules())), DeltaSettings(playouts=60, sure=2.0)
    one, other = Mind(evaluate, settings), Mind(evaluate, settings)
    other.asking = Forgetful(evaluate, 1)
    found = [mind.think(own, many_streams(8, len(own.words))) for mind in (one, other)]
    assert np.array_equal(found[0].cards, found[1].cards)
    assert np.array_equal(found[0].searches.trees.tried[:, 0], found[1].searches.trees.tried[:, 0])
    assert one.asking.asked < one.asking.rows
    assert one.asking.asked < other.asking.asked
