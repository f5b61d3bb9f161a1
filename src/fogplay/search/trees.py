"""Many search trees in preallocated arrays, and the steps on them that know no game.

A tree belongs to one player: its nodes are what that player may know when it is to act, and an edge is one of its
actions. What the others do after an action, and so which node follows, is for the game's part to draw: a child is found
by a key that the game makes. Values are the player's own everywhere. Kernels work on one tree, ``root``, at a time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel, piece

UNKNOWN = -1  # in place of a node's number of actions, until it is evaluated
NO_NODE = -1
KEYS_PER_NODE = 4  # places in the table of keys


class Trees(NamedTuple):
    """One tree per root; node 0 is the root."""

    size: NDArray[np.int32]  # [roots] nodes in use
    num_actions: NDArray[np.int32]  # [roots, nodes] 0 where the game is over, UNKNOWN until evaluated
    value: NDArray[np.float32]  # [roots, nodes] what the evaluator says, or the result where the game is over
    win: NDArray[np.float32]  # [roots, nodes] a second value, such as winning without counting points: only reported
    parent: NDArray[np.int32]  # [roots, nodes] NO_NODE above the root
    taken: NDArray[np.int32]  # [roots, nodes] the parent's action
    prior: NDArray[np.float32]  # [roots, nodes, actions]
    tried: NDArray[np.int32]  # [roots, nodes, actions] finished simulations
    flying: NDArray[np.int32]  # [roots, nodes, actions] simulations under way
    total: NDArray[np.float32]  # [roots, nodes, actions] the sum of the values of finished simulations
    wins: NDArray[np.float32]  # [roots, nodes, actions] the sum of the second values
    used: NDArray[np.int32]  # [roots] keys in use
    keys: NDArray[np.uint64]  # [roots, places] by which nodes are found; 0 where there is none
    found: NDArray[np.int32]  # [roots, places] their nodes


class Rule(NamedTuple):
    """How actions are selected."""

    exploration: float  # c of p-UCT
    reduction: float  # how much worse than the node's own value untried actions are taken to be
    loss: float  # the same for a simulation under way: the virtual loss


def trees(roots: int, nodes: int, actions: int) -> Trees:
    """Empty trees of at most ``nodes`` nodes with at most ``actions`` actions."""
    places = 1 << (KEYS_PER_NODE * nodes - 1).bit_length()
    edges = (roots, nodes, actions)
    return Trees(
        np.zeros(roots, np.int32),
        np.zeros((roots, nodes), np.int32),
        np.zeros((roots, nodes), np.float32),
        np.zeros((roots, nodes), np.float32),
        np.zeros((roots, nodes), np.int32),
        np.zeros((roots, nodes), np.int32),
        np.zeros(edges, np.float32),
        np.zeros(edges, np.int32),
        np.zeros(edges, np.int32),
        np.zeros(edges, np.float32),
        np.zeros(edges, np.float32),
        np.zeros(roots, np.int32),
        np.zeros((roots, places), np.uint64),
        np.zeros((roots, places), np.int32),
    )


@kernel
def clear(trees, root):
    """Empty a tree but for its root, which is not evaluated yet."""
    trees.size[root] = trees.used[root] = 0
    for place in range(trees.keys.shape[1]):
        trees.keys[root, place] = 0
    add(trees, root, NO_NODE, 0)


@piece
def add(trees, root, parent, action):
    """A new node that is not evaluated yet; its number."""
    node = trees.size[root]
    trees.size[root] = node + 1
    trees.num_actions[root, node] = UNKNOWN
    trees.value[root, node] = trees.win[root, node] = 0.0
    trees.parent[root, node], trees.taken[root, node] = parent, action
    return node


@piece
def look_up(trees, root, key):
    """The node that was kept under a key, or NO_NODE."""
    last = np.uint64(trees.keys.shape[1] - 1)
    place = key & last
    while trees.keys[root, place] != 0:
        if trees.keys[root, place] == key:
            return trees.found[root, place]
        place = (place + np.uint64(1)) & last
    return np.int32(NO_NODE)


@piece
def keep(trees, root, key, node):
    """Let a node be found by a key, which is not 0 and was not kept before; one key per node always finds room."""
    trees.used[root] += 1
    last = np.uint64(trees.keys.shape[1] - 1)
    place = key & last
    while trees.keys[root, place] != 0:
        place = (place + np.uint64(1)) & last
    trees.keys[root, place], trees.found[root, place] = key, node


@piece
def has_room(trees, root):
    """Whether there is room for a key beyond one per node."""
    return trees.used[root] + trees.num_actions.shape[1] < trees.keys.shape[1]


@piece
def select(trees, root, node, rule):
    """An action of an evaluated node by p-UCT; a simulation through it is under way from now on.

    p-UCT takes the highest of Q + c * prior * sqrt(N) / (1 + n). Simulations under way count in n; in Q they count as
    losing ``rule.loss``.
    """
    count = trees.num_actions[root, node]
    prior, tried, flying, total = (
        trees.prior[root, node],
        trees.tried[root, node],
        trees.flying[root, node],
        trees.total[root, node],
    )
    visits, known = 1, 0.0
    for action in range(count):
        visits += tried[action] + flying[action]
        if tried[action] > 0:
            known += prior[action]
    untried = trees.value[root, node] - rule.reduction * math.sqrt(known)
    scale = rule.exploration * math.sqrt(visits)
    chosen, highest = 0, -np.inf
    for action in range(count):
        number = tried[action] + flying[action]
        mean = untried
        if number > 0:
            mean = (total[action] + flying[action] * (untried - rule.loss)) / number
        score = mean + scale * prior[action] / (1 + number)
        if score > highest:
            chosen, highest = action, score
    flying[chosen] += 1
    return chosen


@piece
def backward(trees, root, node, action, value, win):
    """Count a finished simulation, with both its values, on its way back to the root."""
    while node != NO_NODE:
        trees.flying[root, node, action] -= 1
        trees.tried[root, node, action] += 1
        trees.total[root, node, action] += value
        trees.wins[root, node, action] += win
        action = trees.taken[root, node]
        node = trees.parent[root, node]


@piece
def begin_edges(trees, root, node):
    """Let a node have no actions yet."""
    trees.num_actions[root, node] = 0


@piece
def add_edge(trees, root, node, prior):
    """A place for an action of a node: a new one, or that of the least likely action; -1 if it is less likely still."""
    count = trees.num_actions[root, node]
    place = count
    if count == trees.prior.shape[2]:
        place = 0
        for action in range(1, count):
            if trees.prior[root, node, action] < trees.prior[root, node, place]:
                place = action
        if trees.prior[root, node, place] >= prior:
            return -1
    else:
        trees.num_actions[root, node] = count + 1
    trees.prior[root, node, place] = prior
    trees.tried[root, node, place] = trees.flying[root, node, place] = 0
    trees.total[root, node, place] = trees.wins[root, node, place] = 0.0
    return place


@kernel
def best_action(trees, root):
    """The action of a root that was tried most often; of several, the one with the highest mean, then prior."""
    best = 0
    for action in range(1, trees.num_actions[root, 0]):
        more = trees.tried[root, 0, action] - trees.tried[root, 0, best]
        if more > 0 or (more == 0 and _order(trees, root, action) > _order(trees, root, best)):
            best = action
    return best


@piece
def _order(trees, root, action):
    tried = trees.tried[root, 0, action]
    return trees.total[root, 0, action] / tried if tried > 0 else trees.prior[root, 0, action]
