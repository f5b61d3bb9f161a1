"""Opponents that are ready within seconds, however large the game."""

from __future__ import annotations

from fogplay.agents.advice import MOST_TREE, SEARCH, SHEETS, searchers, sensible
from fogplay.games.registry import load
from fogplay.rooms import opponents_for
from fogplay.simulators.rules import RulesSimulator
from fogplay.simulators.tree import TreeSimulator
from fogplay.trees.estimate import estimate_nodes


def test_a_tree_that_takes_long_is_not_built() -> None:
    large, small = load("battleship.kif"), load("kuhn.kif")
    assert estimate_nodes(large.new_initial_state()) > MOST_TREE
    assert isinstance(searchers(large, 1)[0].simulator, RulesSimulator)
    assert isinstance(searchers(small, 1)[0].simulator, TreeSimulator)


def test_large_sheets_are_played_by_the_search_for_sheets() -> None:
    rules = load("battleship.kif")
    found = sensible(rules, "battleship.kif")
    assert found.name == SHEETS
    one, two = found.seated(rules, 2)
    assert one is not two  # each has its own memory
    assert {SEARCH, SHEETS} <= {each.text for each in opponents_for("battleship.kif")}
    assert SHEETS not in {each.text for each in opponents_for("kuhn")}
