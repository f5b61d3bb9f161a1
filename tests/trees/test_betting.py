"""The betting tree in arrays against the rules."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fogplay.errors import FogplayError
from fogplay.games import TERMINAL, load
from fogplay.games.holdem import LETTERS, Holdem, HoldemState
from fogplay.trees.betting import Betting, betting_tree, child_after, paid_by

SPECS = [
    "holdem",
    "holdem(players=3,rounds=2,ranks=3,suits=2,hole=1,board=[0,1])",
    "holdem(rounds=3,ranks=3,suits=2,hole=1,board=[1,0,1],raises=[3,1,2],max_raises=[1,0,2],blinds=[2,2])",
    "holdem(players=3,rounds=2,ranks=2,suits=2,hole=1,board=[0,1],max_raises=[5,1],blinds=[0,3,7])",
]


def decide(state: HoldemState) -> HoldemState:
    """Past chance, whatever it deals."""
    while state.is_chance_node():
        state = state.child(state.chance_outcomes()[0][0])
    return state


def same(betting: Betting, node: int, state: HoldemState) -> None:
    """Whether a node agrees with the rules."""
    here, players = betting.nodes[node], state.game.players
    assert here["street"] == len(state.betting) - 1
    assert [here["in_hand"] >> seat & 1 for seat in range(players)] == list(state.in_hand)
    if state.is_terminal():
        assert here["player"] == TERMINAL
        assert tuple(paid_by(int(here["slot"]), seat) for seat in range(players)) == state.paid
        return
    actions = state.legal_actions()
    assert here["player"] == state.current_player()
    assert here["count"] == len(actions)
    assert actions[here["calling"]] == state.calling_action()
    assert tuple(betting.outlook[here["outlook"]]) == state.betting_outlook()
    assert [child_after(betting, node, LETTERS[action]) for action in actions] == [
        here["first_child"] + place for place in range(len(actions))
    ]


@pytest.mark.parametrize("spec", SPECS)
def test_every_node_is_what_the_rules_say(spec: str) -> None:
    game = load(spec)
    betting = betting_tree(game)
    waiting: list[tuple[int, Any]] = [(0, decide(game.new_initial_state()))]
    nodes = decisions = deepest = 0
    while waiting:
        node, state = waiting.pop()
        same(betting, node, state)
        nodes += 1
        deepest = max(deepest, sum(map(len, state.betting)))
        if not state.is_terminal():
            decisions += 1
            first = int(betting.nodes[node]["first_child"])
            waiting += [(first + at, decide(state.child(each))) for at, each in enumerate(state.legal_actions())]
    assert (nodes, decisions, deepest) == (len(betting.nodes), betting.num_decisions, betting.deepest)
    assert (betting.nodes["player"] != TERMINAL).sum() == decisions


@pytest.mark.parametrize("spec", SPECS[1:])
def test_every_action_of_every_bucket_has_a_slot_of_its_own(spec: str) -> None:
    game = load(spec)
    betting = betting_tree(game)
    slots = all_slots(game, betting)
    assert np.array_equal(np.sort(slots), np.arange(betting.num_slots))


def all_slots(game: Holdem, betting: Betting) -> Any:
    found = []
    for node in betting.nodes[betting.nodes["player"] != TERMINAL]:
        buckets = np.arange(game.buckets()[node["street"]])
        found.append((node["slot"] + buckets[:, None] * node["stride"] + np.arange(node["count"])).reshape(-1))
    return np.concatenate(found)


def test_too_much_betting_is_refused_at_once() -> None:
    with pytest.raises(
        FogplayError, match=r"decisions in its betting tree, more than 500,000,000; allow fewer raises$"
    ):
        betting_tree(load("holdem(players=3,max_raises=[8,8,8,8])"))


def test_two_players_as_published() -> None:
    game = load("holdem")
    betting = betting_tree(game)
    assert game.decisions() == (8, 70, 630, 5670)
    assert betting.num_decisions == 6378
    assert betting.num_slots == 3_952_949
    assert game.public_size() == (6378, 1_520_352)


@pytest.mark.xdist_group("trees of a gigabyte")
def test_three_players_as_published() -> None:
    game = load("holdem(players=3)")
    betting = betting_tree(game)
    assert (betting.nodes["player"] != TERMINAL).sum() == betting.num_decisions == 9_711_806
    assert len(betting.nodes) == 23_937_308
    assert betting.num_slots == 530_031_091
    assert betting.nodes.itemsize == 24
    rng = random.Random(1)
    for _ in range(300):
        node, state = 0, decide(game.new_initial_state())
        same(betting, node, state)
        while not state.is_terminal():
            place = rng.randrange(len(state.legal_actions()))
            node = int(betting.nodes[node]["first_child"]) + place
            state = decide(state.child(state.legal_actions()[place]))
            same(betting, node, state)
