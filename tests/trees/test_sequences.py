"""The sequence form against a plain recursion that names every sequence by the moves in it."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from fogplay import load, solve
from fogplay.games import CHANCE
from fogplay.trees import FlatGame, flatten
from tests.helpers import as_policy
from tests.oracles import best_response_value, expected_values
from tests.random_games import RandomGame, random_games
from tests.trees.test_flatten import Forgetful

Sequence = tuple[tuple[str, int], ...]  # a player's own moves so far: (infoset, number of the action)
GAMES = ["kuhn", "kuhn(players=3)", "leduc", "goofspiel(cards=3)", "bluff(1,1,3)", "pam(2,2,3)", "biased-rps"]


def told_plainly(root: Any, players: int) -> tuple[list[dict[Sequence, int]], list[dict[tuple[Sequence, ...], float]]]:
    """For each player its decision points with their numbers of actions, and what it is paid where all sequences end.

    A decision point is told by the player's own moves, with the infoset last and -1 for the action. Payoffs are
    weighted by chance and added up over the terminals that share their sequences.
    """
    points: list[dict[Sequence, int]] = [{} for _ in range(players)]
    paid: list[dict[tuple[Sequence, ...], float]] = [defaultdict(float) for _ in range(players)]

    def walk(state: Any, own: tuple[Sequence, ...], chance: float) -> None:
        if state.is_terminal():
            for player, payoff in enumerate(state.returns()):
                paid[player][own] += chance * payoff
            return
        player = state.current_player()
        if player == CHANCE:
            for action, probability in state.chance_outcomes():
                walk(state.child(action), own, chance * probability)
            return
        infoset, actions = state.information_state_string(player), state.legal_actions()
        points[player][(*own[player], (infoset, -1))] = len(actions)
        for number, action in enumerate(actions):
            longer = (*own[player], (infoset, number))
            walk(state.child(action), (*own[:player], longer, *own[player + 1 :]), chance)

    walk(root, ((),) * players, 1.0)
    return points, paid


def names(flat: FlatGame) -> list[Sequence | None]:
    """Every sequence of the sequence form by its moves; None if no point has it."""
    form = flat.sequences
    named: list[Sequence | None] = [None] * int(form.sequence_range[-1])
    for player in range(flat.num_players):
        named[form.sequence_range[player]] = ()
    for point, first in enumerate(form.point_sequence):
        before = named[form.point_parent[point]]
        assert before is not None, "a point comes before its parent"
        for number in range(form.point_actions[point]):
            assert named[first + number] is None, "two points share a sequence"
            named[first + number] = (*before, (flat.infosets[form.point_infoset[point]], number))
    return named


def check(game: Any) -> None:
    flat = flatten(game)
    form, named = flat.sequences, names(flat)
    points, paid = told_plainly(game.new_initial_state(), flat.num_players)
    for player in range(flat.num_players):
        sequences = range(form.sequence_range[player], form.sequence_range[player + 1])
        mine: dict[Sequence, int] = {}
        for point in range(form.point_range[player], form.point_range[player + 1]):
            infoset = form.point_infoset[point]
            assert form.infoset_range[player] <= infoset < form.infoset_range[player + 1]
            assert form.point_slot[point] == form.slot_start[infoset] == flat.slots(infoset).start
            assert form.point_parent[point] in sequences
            before = named[form.point_parent[point]]
            assert before is not None
            mine[(*before, (flat.infosets[infoset], -1))] = int(form.point_actions[point])
        assert mine == points[player]
        assert len(mine) == form.point_range[player + 1] - form.point_range[player]
        assert len(sequences) == 1 + sum(points[player].values())

        entries: dict[tuple[Any, ...], float] = {}
        for sequence in sequences:
            for entry in range(form.entry_start[sequence], form.entry_start[sequence + 1]):
                ends = [named[other] for other in form.entry_others[:, entry]]
                ends.insert(player, named[sequence])
                assert tuple(ends) not in entries, "terminals of the same sequences are not merged"
                entries[tuple(ends)] = form.entry_weight[entry]
        assert 0.0 not in entries.values()
        assert entries.keys() <= paid[player].keys()
        for ends_of_all, payoff in paid[player].items():
            assert entries.get(ends_of_all, 0.0) == pytest.approx(payoff, abs=1e-12)


@pytest.mark.parametrize("spec", GAMES)
def test_it_is_the_game_told_plainly(spec: str) -> None:
    check(load(spec))


@given(random_games())
@settings(max_examples=60, deadline=None)
def test_any_game_is_told_plainly(game: RandomGame) -> None:
    check(game)
    flat = flatten(game)
    np.testing.assert_array_equal(flat.sequences.point_range, flat.sequences.infoset_range)  # perfect recall


def test_without_perfect_recall_an_infoset_is_several_points() -> None:
    check(Forgetful())
    form = flatten(Forgetful()).sequences
    assert form.point_range.tolist() == [0, 3, 4]
    assert form.infoset_range.tolist() == [0, 2, 3]


@pytest.mark.parametrize("seed", range(5))
def test_a_single_player_has_no_others(seed: int) -> None:
    game = RandomGame(seed=seed, players=1, depth=4, zero_sum=False)
    check(game)
    flat = flatten(game)
    assert flat.sequences.entry_others.shape == (0, flat.sequences.entry_start[-1])
    strategy = solve(game, "cfr+", 500).strategy
    policy, root = as_policy(flat, strategy.on(flat)), game.new_initial_state()
    assert expected_values(root, policy)[0] == pytest.approx(best_response_value(root, policy, 0), abs=0.05)


def test_what_indexes_is_unsigned() -> None:
    """A signed index costs CFR half its speed; a field that turns signed would go unnoticed otherwise."""
    fields = flatten("kuhn").sequences._asdict()
    assert fields.pop("entry_weight").dtype == np.float64
    for name, array in fields.items():
        assert array.dtype == np.uint32, name
        assert array.flags.c_contiguous, name
