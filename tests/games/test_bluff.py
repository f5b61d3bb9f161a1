"""Bluff by hand."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from fogplay.errors import FogplayError
from fogplay.games import load

from .specs import every_state, infosets, play


@pytest.mark.parametrize(
    ("rolls", "bid", "true"),
    [
        (("roll 2", "roll 2"), "2-2", True),
        (("roll 2", "roll 6"), "2-2", True),  # the six is wild
        (("roll 6", "roll 6"), "2-1", True),
        (("roll 2", "roll 3"), "2-2", False),
        (("roll 2", "roll 3"), "1-2", True),
        (("roll 2", "roll 3"), "1-3", True),  # the other's die counts as well
        (("roll 5", "roll 5"), "1-6", False),  # nothing stands in for the wild face
        (("roll 6", "roll 5"), "1-6", True),
        (("roll 6", "roll 5"), "2-6", False),
    ],
)
def test_call(rolls: tuple[str, str], bid: str, true: bool) -> None:
    """Player 0 bids, player 1 calls: the caller wins if the bid is false."""
    end = play(load("bluff"), *rolls, bid, "call")
    assert end.is_terminal()
    assert end.returns() == ([1.0, -1.0] if true else [-1.0, 1.0])


def test_player_0_may_call_too() -> None:
    assert play(load("bluff"), "roll 1", "roll 1", "1-1", "2-2", "call").returns() == [1.0, -1.0]
    assert play(load("bluff"), "roll 1", "roll 1", "1-1", "2-1", "call").returns() == [-1.0, 1.0]


def test_bids_go_up_by_quantity_then_face() -> None:
    state = play(load("bluff(1,1,3)"), "roll 1", "roll 2")
    assert [state.action_to_string(0, action) for action in state.legal_actions()] == [
        "1-1", "1-2", "1-3", "2-1", "2-2", "2-3",
    ]  # fmt: skip
    state = play(load("bluff(1,1,3)"), "roll 1", "roll 2", "1-3")
    assert [state.action_to_string(1, action) for action in state.legal_actions()] == ["2-1", "2-2", "2-3", "call"]


def test_the_highest_bid_can_only_be_called() -> None:
    state = play(load("bluff(1,2,2)"), 0, 0, "3-2")
    assert [state.action_to_string(1, action) for action in state.legal_actions()] == ["call"]


def test_infosets_hold_own_dice_sorted_and_all_bids() -> None:
    state = play(load("bluff(2,1,6)"), "roll 2,5", "roll 3", "1-2", "3-6")
    assert state.information_state_string(0) == "2,5: 1-2 3-6"
    assert state.information_state_string(1) == "3: 1-2 3-6"


@pytest.mark.parametrize(("dice", "faces"), [(1, 6), (2, 6), (3, 4), (5, 2)])
def test_chances_are_those_of_ordered_dice(dice: int, faces: int) -> None:
    game = load(f"bluff({dice},1,{faces})")
    state = game.new_initial_state()
    counts = Counter(tuple(sorted(roll)) for roll in itertools.product(range(1, faces + 1), repeat=dice))
    expected = {f"roll {','.join(map(str, roll))}": count / faces**dice for roll, count in counts.items()}
    found = {state.action_to_string(-1, action): probability for action, probability in state.chance_outcomes()}
    assert found == pytest.approx(expected, abs=1e-15)


def test_second_player_rolls_its_own_number_of_dice() -> None:
    state = play(load("bluff(1,2,2)"), "roll 1")
    assert [state.action_to_string(-1, action) for action, _ in state.chance_outcomes()] == [
        "roll 1,1", "roll 1,2", "roll 2,2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "nodes", "count"),
    # with b bids there are 2^b histories of bids, each but the first followed by a call too, for every pair of rolls
    [("bluff", 7 + 36 * (2**12 + 2**12 - 1), 24576), ("bluff(1,1,3)", 1147, 192), ("bluff(2,1,2)", 766, 160)],
)
def test_sizes(spec: str, nodes: int, count: int) -> None:
    assert sum(1 for _ in every_state(load(spec))) == nodes
    assert len(infosets(load(spec))) == count


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bluff(0)", "dice1 must be a whole number from 1 to 5, not 0"),
        ("bluff(1,6)", "dice2 must be a whole number from 1 to 5, not 6"),
        ("bluff(1,1,1)", "faces must be a whole number from 2 to 12, not 1"),
        ("bluff(faces=13)", "faces must be a whole number from 2 to 12, not 13"),
        ("bluff(faces=six)", "faces must be a whole number from 2 to 12, not 'six'"),
    ],
)
def test_wrong_parameters(spec: str, message: str) -> None:
    with pytest.raises(FogplayError, match=f"^bluff: {message}$"):
        load(spec)
