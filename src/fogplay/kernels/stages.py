"""Counterfactual regret in games of stages: in every node all roles choose at once, and all see what was chosen.

An infoset is a node (section 5 of Shafiei, Sturtevant & Schaeffer 2009). Nodes may have several parents, which come
before them; their reaching probabilities add up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel


class Stages(NamedTuple):
    """Nodes in an order in which children come after their parents, and what was learned."""

    first_child: NDArray[np.int64]  # [nodes + 1] into child
    child: NDArray[np.int32]  # [joint moves] the last role's moves vary fastest
    first_slot: NDArray[np.int64]  # [nodes, roles + 1] into the following
    regret: NDArray[np.float64]  # [slots]
    chosen: NDArray[np.float64]  # [slots] the present strategy
    average: NDArray[np.float64]  # [slots] sums
    worth: NDArray[np.float64]  # [slots] of each move, against the others' strategies
    reach: NDArray[np.float64]  # [nodes, roles] by the others' strategies
    value: NDArray[np.float64]  # [nodes, roles]; those of leaves are given
    is_chance: NDArray[np.bool_]  # [roles]
    picked: NDArray[np.int64]  # [roles] room to work in


@kernel
def iterate(stages: Any, begin: int, count: int) -> None:
    """Iterations ``begin`` on: strategies by regret matching, reach downwards, values and regrets upwards."""
    for number in range(begin, begin + count):
        match_regrets(stages, float(number))
        descend(stages)
        ascend(stages)
        nodes, roles = stages.value.shape
        for node in range(nodes):
            if stages.first_child[node] < stages.first_child[node + 1]:
                for role in range(roles):
                    learn(stages, node, role, 1.0)
                    keep_positive(stages, node, role)


@kernel
def match_regrets(stages: Any, weight: float) -> None:
    """The strategy of every node by its positive regrets, and its share in the average, which later ones dominate."""
    nodes, roles = stages.value.shape
    for node in range(nodes):
        if stages.first_child[node] == stages.first_child[node + 1]:
            continue
        for role in range(roles):
            begin, end = stages.first_slot[node, role], stages.first_slot[node, role + 1]
            total = 0.0
            for slot in range(begin, end):
                total += max(stages.regret[slot], 0.0)
            for slot in range(begin, end):
                even = total <= 0.0 or stages.is_chance[role]
                stages.chosen[slot] = 1.0 / (end - begin) if even else max(stages.regret[slot], 0.0) / total
                stages.average[slot] += weight * stages.chosen[slot]


@kernel
def start_joint(stages: Any) -> None:
    """Begin at the first joint move of a node."""
    for role in range(len(stages.picked)):
        stages.picked[role] = 0


@kernel
def next_joint(stages: Any, node: int) -> None:
    """Go on to the next joint move of a node."""
    for role in range(len(stages.picked) - 1, -1, -1):
        stages.picked[role] += 1
        if stages.picked[role] < stages.first_slot[node, role + 1] - stages.first_slot[node, role]:
            return
        stages.picked[role] = 0


@kernel
def others(stages: Any, node: int, role: int) -> Any:
    """The probability that all other roles choose their part of the joint move."""
    product = 1.0
    for other in range(len(stages.picked)):
        if other != role:
            product *= stages.chosen[stages.first_slot[node, other] + stages.picked[other]]
    return product


@kernel
def descend(stages: Any) -> None:
    """How likely the others' strategies make it to reach each node."""
    nodes, roles = stages.value.shape
    for node in range(nodes):
        for role in range(roles):
            stages.reach[node, role] = 1.0 if node == 0 else 0.0
    for node in range(nodes):
        start_joint(stages)
        for place in range(stages.first_child[node], stages.first_child[node + 1]):
            child = stages.child[place]
            for role in range(roles):
                stages.reach[child, role] += stages.reach[node, role] * others(stages, node, role)
            next_joint(stages, node)


@kernel
def ascend(stages: Any) -> None:
    """The worth of every move and the value of every node, from the last node to the first."""
    nodes, roles = stages.value.shape
    for node in range(nodes - 1, -1, -1):
        if stages.first_child[node] == stages.first_child[node + 1]:
            continue
        for slot in range(stages.first_slot[node, 0], stages.first_slot[node, roles]):
            stages.worth[slot] = 0.0
        start_joint(stages)
        for place in range(stages.first_child[node], stages.first_child[node + 1]):
            child = stages.child[place]
            for role in range(roles):
                slot = stages.first_slot[node, role] + stages.picked[role]
                stages.worth[slot] += others(stages, node, role) * stages.value[child, role]
            next_joint(stages, node)
        for role in range(roles):
            mean = 0.0
            for slot in range(stages.first_slot[node, role], stages.first_slot[node, role + 1]):
                mean += stages.chosen[slot] * stages.worth[slot]
            stages.value[node, role] = mean


@kernel
def learn(stages: Any, node: int, role: int, weight: float) -> None:
    """Add to the regrets what each of a role's moves would have won more than its strategy at a node."""
    for slot in range(stages.first_slot[node, role], stages.first_slot[node, role + 1]):
        better = stages.worth[slot] - stages.value[node, role]
        stages.regret[slot] += weight * stages.reach[node, role] * better


@kernel
def keep_positive(stages: Any, node: int, role: int) -> None:
    """Forget negative regrets, as CFR+ does."""
    for slot in range(stages.first_slot[node, role], stages.first_slot[node, role + 1]):
        stages.regret[slot] = max(stages.regret[slot], 0.0)


@kernel
def respond(free: Any, modelled: Any, role: int, confidence: float, begin: int, count: int) -> None:
    """Iterations of the restricted game in which a hidden coin decides whether a role's opponents are as modelled.

    ``modelled`` has the same nodes and regrets, the model in ``chosen`` for all other roles, and arrays of its own for
    ``chosen``, ``worth``, ``reach`` and ``value``. The role's strategy is the same in both (section 6 of the paper).
    """
    nodes, roles = free.value.shape
    for number in range(begin, begin + count):
        match_regrets(free, float(number))
        for node in range(nodes):
            for slot in range(free.first_slot[node, role], free.first_slot[node, role + 1]):
                modelled.chosen[slot] = free.chosen[slot]
        descend(free)
        descend(modelled)
        ascend(free)
        ascend(modelled)
        for node in range(nodes):
            for each in range(roles):
                if free.first_child[node] == free.first_child[node + 1]:
                    continue
                learn(free, node, each, 1.0 - confidence if each == role else 1.0)
                if each == role:
                    learn(modelled, node, role, confidence)
                keep_positive(free, node, each)
