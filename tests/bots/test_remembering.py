"""An evaluator that remembers: the same answers as the one that it asks, and fewer questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fogplay.bots.doudizhu import DeltaSettings, evaluators, remembering
from fogplay.bots.doudizhu.asking import ask
from fogplay.bots.doudizhu.deltadou import Mind
from fogplay.bots.doudizhu.remembering import MOST, Remembering
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


class Joint(Plain):
    """The same about several seats at once."""

    def together(self, questions: Sequence[tuple[int, NDArray[np.int64]]]) -> list[NDArray[np.float32]]:
        return [self(*question) for question in questions]


def rows(numbers: Sequence[int]) -> NDArray[np.int64]:
    return np.repeat(np.array(numbers, np.int64)[:, None], SEEN, 1)


@pytest.mark.parametrize("kind", [Plain, Joint])
def test_a_question_is_asked_once(kind: Any) -> None:
    plain = kind()
    own = Remembering(plain)
    for numbers in ([3, 4, 3, 5], [5, 6, 6], [3, 4, 5, 6]):
        assert np.array_equal(own(1, rows(numbers)), kind()(1, rows(numbers)))
    assert plain.questions == [(1, (number,) * SEEN) for number in (3, 4, 5, 6)]
    assert (own.rows, own.asked) == (11, 4)
    own.forget()
    own(1, rows([3]))
    assert len(plain.questions) == 5


def test_seats_are_asked_together_and_apart() -> None:
    joint = Joint()
    own = Remembering(joint)
    first = [np.array(each) for each in own.together([(0, rows([1, 2])), (2, rows([1, 2, 1]))])]
    again = own.together([(0, rows([2, 1])), (2, rows([2]))])
    assert [each[:, 0].tolist() for each in first] == [[32, 64], [232, 264, 232]]
    assert [each[:, 0].tolist() for each in again] == [[64, 32], [264]]
    assert len(joint.questions) == 4


def test_answers_make_room_for_newer_ones() -> None:
    plain, rng = Plain(), np.random.default_rng(4)
    own = Remembering(plain, 8)
    for _ in range(50):
        numbers = rng.integers(0, 40, 30)
        assert np.array_equal(own(0, rows(numbers)), Plain()(0, rows(numbers)))
    assert 40 < own.asked < own.rows


def test_equal_keys_are_told_apart() -> None:
    """If another question has the same key, it is asked all the same."""
    plain = Plain()
    own = Remembering(plain, 8)
    own(0, rows([1]))
    own._memory.seen[:] = 7  # as if the keys had been made by this question
    assert own(0, rows([1, 2]))[:, 0].tolist() == [32, 64]
    assert [seen[0] for _, seen in plain.questions] == [1, 1, 2]


def test_a_failure_leaves_nothing_behind() -> None:
    plain = Plain()
    own = Remembering(plain)
    plain.fails = True
    with pytest.raises(RuntimeError, match="broken"):
        own(0, rows([1, 2]))
    plain.fails = False
    assert own(0, rows([2, 1]))[:, 0].tolist() == [64, 32]


def test_memory_grows_up_to_a_limit() -> None:
    own = Remembering(Plain())
    own.grow(5)
    assert len(own._memory.keys) == remembering.LEAST
    own.grow(remembering.LEAST + 1)
    assert len(own._memory.keys) == 2 * remembering.LEAST
    own.grow(10**9)
    assert len(own._memory.keys) == MOST
    assert own(0, rows([3]))[0, 0] == 96


def test_a_search_is_the_same_with_memory_and_without() -> None:
    evaluate = evaluators.by_networks(tiny_networks())
    own, settings = hidden(played_on(8, 6, 20, evaluators.by_rules())), DeltaSettings(playouts=60, sure=2.0)
    one, other = Mind(evaluate, settings), Mind(evaluate, settings)
    other.evaluate.together = lambda questions: [np.array(evaluate(*each)) for each in questions]  # type: ignore[method-assign]
    found = [mind.think(own, many_streams(8, len(own.words))) for mind in (one, other)]
    assert np.array_equal(found[0].cards, found[1].cards)
    assert np.array_equal(found[0].searches.trees.tried[:, 0], found[1].searches.trees.tried[:, 0])
    assert one.evaluate.asked < one.evaluate.rows
    seen = rows([1])
    outputs = np.zeros((1, OUTPUTS), np.float32)
    assert ask(np.zeros(1, np.int8), seen, outputs, one.evaluate)
    assert np.array_equal(outputs, evaluate(0, seen))
