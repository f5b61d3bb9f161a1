"""Search trees in arrays: what p-UCT selects, what a finished simulation changes, how nodes are found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fogplay.search.trees import (
    NO_NODE,
    UNKNOWN,
    Rule,
    add,
    add_edge,
    backward,
    begin_edges,
    best_action,
    clear,
    has_room,
    keep,
    look_up,
    select,
    trees,
)
from fogplay.simulators.streams import mix

PLAIN = Rule(exploration=2.0, reduction=0.0, loss=0.0)


def planted(priors: list[float], value: float = 0.0, nodes: int = 8, actions: int = 4) -> trees:
    found = trees(2, nodes, actions)
    for root in range(2):
        clear(found, root)
        begin_edges(found, root, 0)
        found.value[root, 0] = value
        for prior in priors:
            add_edge(found, root, 0, prior)
    return found


def slow_puct(found: trees, node: int, rule: Rule) -> int:
    """The formula of the paper, with c, for simulations that have all come back."""
    prior, tried, total = (getattr(found, name)[1, node] for name in ("prior", "tried", "total"))
    count, scores = found.num_actions[1, node], []
    for action in range(count):
        mean = total[action] / tried[action] if tried[action] else found.value[1, node]
        scores.append(
            mean + rule.exploration * prior[action] * math.sqrt(1 + tried[:count].sum()) / (1 + tried[action])
        )
    return int(np.argmax(scores))


def test_selection_follows_the_formula_of_the_paper() -> None:
    rng = np.random.default_rng(1)
    found = planted([0.5, 0.3, 0.15, 0.05], 0.1)
    for _ in range(60):
        expected = slow_puct(found, 0, PLAIN)
        chosen = select(found, 1, 0, PLAIN)
        assert chosen == expected
        backward(found, 1, 0, chosen, rng.choice([-1.0, 1.0]) + 0.4 * chosen, 1.0)
    assert found.tried[1, 0].sum() == 60
    assert found.wins[1, 0].sum() == 60
    assert not found.flying.any()
    assert not found.tried[0].any()  # the other tree


def test_a_simulation_under_way_drives_others_elsewhere() -> None:
    found = planted([0.5, 0.5])
    assert [select(found, 0, 0, PLAIN) for _ in range(4)] == [0, 1, 0, 1]
    assert found.flying[0, 0, :2].tolist() == [2, 2]
    lossy, careless = planted([0.9, 0.1]), planted([0.9, 0.1])
    strict = PLAIN._replace(loss=10.0)
    assert [select(lossy, 0, 0, strict) for _ in range(2)] == [0, 1]
    assert [select(careless, 0, 0, PLAIN) for _ in range(2)] == [0, 0]


def test_untried_actions_are_reduced_by_what_was_tried() -> None:
    found, careful = planted([0.64, 0.36], 0.5), PLAIN._replace(exploration=0.0, reduction=0.5)
    backward(found, 0, 0, select(found, 0, 0, PLAIN), 0.2, 0.0)
    assert found.tried[0, 0, 0] == 1
    assert select(found, 0, 0, careful) == 0  # 0.2 against 0.5 - 0.5 * sqrt(0.64)
    assert select(found, 0, 0, careful._replace(reduction=0.1)) == 1


def test_values_go_back_to_the_root() -> None:
    found = planted([1.0])
    node = 0
    for depth in range(3):
        assert select(found, 0, node, PLAIN) == 0
        child = add(found, 0, node, 0)
        assert found.num_actions[0, child] == UNKNOWN
        backward(found, 0, node, 0, 1.0 + depth, -1.0)
        begin_edges(found, 0, child)
        add_edge(found, 0, child, 1.0)
        for above in range(depth + 1):
            found.flying[0, above, 0] = 1
        node = child
    assert found.tried[0, :3, 0].tolist() == [3, 2, 1]
    assert found.total[0, :3, 0].tolist() == [6.0, 5.0, 3.0]
    assert found.wins[0, :3, 0].tolist() == [-3.0, -2.0, -1.0]


def test_only_the_likeliest_actions_are_kept() -> None:
    found = planted([0.1, 0.4, 0.05, 0.2])
    assert add_edge(found, 0, 0, 0.01) == -1
    assert add_edge(found, 0, 0, 0.3) == 2  # in place of 0.05
    assert found.prior[0, 0].tolist() == pytest.approx([0.1, 0.4, 0.3, 0.2])


def test_nodes_are_found_by_their_keys_until_the_table_is_full() -> None:
    found, rng = trees(1, 50, 2), np.random.default_rng(2)
    clear(found, 0)
    keys = [np.uint64(mix(np.uint64(3), np.uint64(word))) for word in rng.integers(0, 2**60, 200)]
    kept = {}
    for number, key in enumerate(keys):
        assert look_up(found, 0, key) == NO_NODE
        if has_room(found, 0):
            keep(found, 0, key, number)
            kept[key] = number
    assert 100 <= len(kept) < 256
    assert all(look_up(found, 0, key) == kept.get(key, NO_NODE) for key in keys)
    clear(found, 0)
    assert look_up(found, 0, keys[0]) == NO_NODE


def test_the_best_action_is_the_one_tried_most() -> None:
    found = planted([0.2, 0.5, 0.3])
    assert best_action(found, 0) == 1  # by its prior, before any try
    found.tried[0, 0, :3], found.total[0, 0, :3] = [3, 2, 3], [1.0, 2.0, 2.0]
    assert best_action(found, 0) == 2
