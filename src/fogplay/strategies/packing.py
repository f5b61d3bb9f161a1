"""From what a learner knows of a betting game to probabilities in 255ths, and from there to the order of files."""

from __future__ import annotations

import numpy as np

from fogplay.games.game import TERMINAL
from fogplay.jit import kernel, piece

WHOLE = 255  # the sum of the probabilities of an infoset
# Visits by level: 0 at level 0, and about 2^((level - 1) / 2) above.
LEVELS = np.concatenate([[0], np.rint(2.0 ** (np.arange(125) / 2))]).astype(np.int64)

# ---- From what was learned


@kernel
def best(nodes, buckets, visits, total, least, share):
    """The highest mean among the actions tried; ``share[slots]`` is filled where it is not zero."""
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        for bucket in range(buckets[node.street]):
            first = node.slot + bucket * node.stride
            chosen, highest, found = np.int64(node.calling), 0.0, False
            if _known(visits, first, node.count) >= least:
                for action in range(node.count):
                    tried = visits[first + action]
                    if tried > 0:
                        mean = total[first + action] / tried
                        if not found or mean > highest:
                            chosen, highest, found = np.int64(action), mean, True
            share[first + chosen] = WHOLE


@kernel
def heaviest(nodes, buckets, weights, least, share):
    """The largest weight; ``share[slots]`` is filled where it is not zero."""
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        for bucket in range(buckets[node.street]):
            first = node.slot + bucket * node.stride
            chosen, highest = np.int64(node.calling), 0.0
            if _known(weights, first, node.count) >= least:
                for action in range(node.count):
                    if weights[first + action] > highest:
                        chosen, highest = np.int64(action), weights[first + action]
            share[first + chosen] = WHOLE


@kernel
def average(nodes, buckets, weights, least, steps, share):
    """In proportion to the weights; ``share[slots]`` is filled."""
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        for bucket in range(buckets[node.street]):
            first = node.slot + bucket * node.stride
            whole = _known(weights, first, node.count)
            if whole < least:
                share[first + node.calling] = WHOLE
                continue
            passed = 0.0
            for action in range(node.count):
                if whole > 0.0:
                    before, passed = passed, passed + weights[first + action] / whole
                else:
                    before, passed = passed, passed + 1.0 / node.count
                share[first + action] = (_in_steps(passed, steps) - _in_steps(before, steps)) * (WHOLE // steps)


@kernel
def level(nodes, buckets, counts, levels):
    """Fill ``levels[infosets]`` with the visits of each infoset, as in LEVELS."""
    at = 0
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        for bucket in range(buckets[node.street]):
            visits = _known(counts, node.slot + bucket * node.stride, node.count)
            if visits > 0.5:  # a sum of probabilities may fall short of 1
                levels[at] = 1 + np.int64(2.0 * np.log2(max(visits, 1.0)) + 0.5)
            at += 1


@piece
def _known(weights, first, count):
    """How much is known of an infoset."""
    whole = 0.0
    for action in range(count):
        whole += weights[first + action]
    return whole


@piece
def _in_steps(passed, steps):
    """Rounded sums, whose differences add up to the whole."""
    return np.int64(min(passed, 1.0) * steps + 0.5)


# ---- On disk


@kernel
def to_nodes(nodes, buckets, share, by_node):
    """Every node's actions but the last, bucket after bucket; ``by_node`` is filled."""
    at = 0
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        for action in range(node.count - 1):
            for bucket in range(buckets[node.street]):
                by_node[at] = share[node.slot + bucket * node.stride + action]
                at += 1


@kernel
def from_nodes(nodes, buckets, by_node, unit, share):
    """The inverse, with every number ``unit`` times as large; ``share[slots]`` is filled."""
    at = 0
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        last = node.count - 1
        for bucket in range(buckets[node.street]):
            share[node.slot + bucket * node.stride + last] = WHOLE
        for action in range(last):
            for bucket in range(buckets[node.street]):
                first = node.slot + bucket * node.stride
                value = by_node[at] * unit
                share[first + action] = value
                share[first + last] -= value
                at += 1
