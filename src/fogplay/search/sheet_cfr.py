"""The tree of the CFR player on a sheet's network: grown breadth first, estimated at its edge, kept between moves.

Nodes are states at a depth; a state that is reached twice at the same depth is one node. They are numbered in the order
in which they were found, so children come after their parents, and those that were expanded come before the others.
When the match goes on, the part below the new state stays, with its regrets, its average strategy and its estimates
(Shafiei, Sturtevant & Schaeffer 2009, section 5).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.gdl import lanes
from fogplay.gdl.circuit import holds
from fogplay.gdl.differences import add_goals, go_to_state, make_moves
from fogplay.jit import kernel
from fogplay.kernels.stages import Stages
from fogplay.search.sheet_uct import list_legal, state_key
from fogplay.simulators.streams import mix

MOST_NODES = 200_000
MOST_BYTES = 200_000_000  # of states
JOINT, SLOTS = 12, 8  # joint moves and moves of a role per node, on average
PLAYS_PER_LEAF = 1000
FEWEST_PLAYS = 50  # per leaf, when there is no time for more
SETTLED = 0.1  # an estimate that another batch changes by less is good enough
NODES, EXPANDED, CHILDREN, MOVES, ESTIMATED = range(5)
_0, _1 = np.uint64(0), np.uint64(1)


class Grown(NamedTuple):
    """A tree with room to grow; ``counts`` says how much of it is used."""

    states: NDArray[np.uint8]  # [nodes, fluents]
    depth: NDArray[np.int32]  # [nodes]
    key: NDArray[np.uint64]  # [nodes]
    place: NDArray[np.int32]  # [places] node + 1 by open addressing, 0 where there is none
    over: NDArray[np.bool_]  # [nodes] whether its value is that of an end
    first_child: NDArray[np.int64]  # [nodes + 1]
    child: NDArray[np.int32]  # [joint moves]
    first_slot: NDArray[np.int64]  # [nodes, roles + 1]
    move: NDArray[np.int32]  # [slots] by their numbers
    regret: NDArray[np.float64]  # [slots], as in Stages
    chosen: NDArray[np.float64]
    average: NDArray[np.float64]
    worth: NDArray[np.float64]
    reach: NDArray[np.float64]  # [nodes, roles]
    value: NDArray[np.float64]  # [nodes, roles]
    counts: NDArray[np.int64]  # [5] nodes, expanded, joint moves, slots, nodes that have a value
    picked: NDArray[np.int64]  # [roles] room to work in
    moves: NDArray[np.int64]  # [roles]
    won: NDArray[np.int64]  # [roles]
    state: NDArray[np.uint8]  # [fluents]
    renamed: NDArray[np.int32]  # [nodes]


def make_tree(fluents: int, roles: int, most: int = MOST_NODES) -> Grown:
    """Room for a tree; memory is taken as it is used."""
    nodes = max(64, min(most, MOST_BYTES // max(fluents, 1)))
    slots = nodes * SLOTS * roles
    return Grown(
        states=np.zeros((nodes, fluents), np.uint8),
        depth=np.zeros(nodes, np.int32),
        key=np.zeros(nodes, np.uint64),
        place=np.zeros(1 << (2 * nodes).bit_length(), np.int32),
        over=np.zeros(nodes, bool),
        first_child=np.zeros(nodes + 1, np.int64),
        child=np.zeros(nodes * JOINT, np.int32),
        first_slot=np.zeros((nodes, roles + 1), np.int64),
        move=np.zeros(slots, np.int32),
        regret=np.zeros(slots),
        chosen=np.zeros(slots),
        average=np.zeros(slots),
        worth=np.zeros(slots),
        reach=np.zeros((nodes, roles)),
        value=np.zeros((nodes, roles)),
        counts=np.zeros(5, np.int64),
        picked=np.zeros(roles, np.int64),
        moves=np.zeros(roles, np.int64),
        won=np.zeros(roles, np.int64),
        state=np.zeros(fluents, np.uint8),
        renamed=np.zeros(nodes, np.int32),
    )


def stages_of(tree: Grown, is_chance: NDArray[np.bool_]) -> Stages:
    """The tree as CFR's kernel reads it: the same arrays, as far as they are used."""
    nodes, expanded, children, slots, _ = tree.counts.tolist()
    tree.first_child[expanded : nodes + 1] = children
    tree.first_slot[expanded:nodes] = slots
    return Stages(
        first_child=tree.first_child[: nodes + 1],
        child=tree.child[:children],
        first_slot=tree.first_slot[:nodes],
        regret=tree.regret[:slots],
        chosen=tree.chosen[:slots],
        average=tree.average[:slots],
        worth=tree.worth[:slots],
        reach=tree.reach[:nodes],
        value=tree.value[:nodes],
        is_chance=is_chance,
        picked=tree.picked,
    )


@kernel
def find(tree: Any, state: Any, depth: int, key: Any) -> Any:
    """The place of a node in ``tree.place``, or the empty place where it would be."""
    last = np.uint64(len(tree.place) - 1)
    place = mix(key, np.uint64(depth)) & last
    while tree.place[place] != 0:
        node = tree.place[place] - 1
        if tree.key[node] == key and tree.depth[node] == depth:
            same = True
            for fluent in range(len(state)):
                same &= tree.states[node, fluent] == state[fluent]
            if same:
                break
        place = (place + _1) & last
    return np.int64(place)


@kernel
def add_node(game: Any, position: Any, tree: Any, depth: int) -> int:
    """The node of a position's state at a depth, a new one if needed; -1 if there is no room."""
    state = tree.state
    for fluent in range(len(state)):
        state[fluent] = position.values[1 + fluent]
    key = state_key(game, position)
    place = find(tree, state, depth, key)
    if tree.place[place] != 0:
        return tree.place[place] - 1  # type: ignore[no-any-return]
    node = tree.counts[NODES]
    if node >= len(tree.depth):
        return -1
    tree.counts[NODES] += 1
    tree.place[place] = node + 1
    tree.depth[node], tree.key[node] = depth, key
    for fluent in range(len(state)):
        tree.states[node, fluent] = state[fluent]
    over = holds(position.values, np.uint32(game.circuit.terminal)) == 1
    for role in range(len(tree.won)):
        over |= list_legal(game.circuit, position, role) == 0
        tree.won[role] = 0
    tree.over[node] = over
    if over:
        add_goals(game.circuit, position, tree.won)
        for role in range(len(tree.won)):
            tree.value[node, role] = tree.won[role]
    return node  # type: ignore[no-any-return]


@kernel
def plant(game: Any, position: Any, tree: Any, state: Any) -> None:
    """Begin a tree at a state."""
    tree.counts[:] = 0
    tree.place[:] = 0
    go_to_state(game.circuit, position, state)
    add_node(game, position, tree, 0)


@kernel
def list_moves(game: Any, position: Any, tree: Any, node: int) -> Any:
    """Write the legal moves of all roles to a node's slots; returns the number of joint moves, 0 without room."""
    slot, joint = tree.counts[MOVES], np.int64(1)
    for role in range(len(tree.won)):
        tree.first_slot[node, role] = slot
        count = list_legal(game.circuit, position, role)
        joint *= count
        if slot + count > len(tree.move) or joint > len(tree.child):
            return 0
        for number in range(count):
            tree.move[slot + number] = position.options[number]
            tree.regret[slot + number] = 0.0
            tree.average[slot + number] = 0.0
        slot += count
    tree.first_slot[node, len(tree.won)] = slot
    return joint if tree.counts[CHILDREN] + joint <= len(tree.child) else 0


@kernel
def expand(game: Any, position: Any, tree: Any, count: int) -> int:
    """Expand the next ``count`` nodes; returns how many there were, fewer at the end of the tree or of the room."""
    for number in range(count):
        node = tree.counts[EXPANDED]
        if node >= tree.counts[NODES]:
            return number
        children, slots, nodes = tree.counts[CHILDREN], tree.counts[MOVES], tree.counts[NODES]
        tree.first_child[node] = children
        if tree.over[node]:
            tree.first_slot[node, :] = slots
        else:
            go_to_state(game.circuit, position, tree.states[node])
            joint = list_moves(game, position, tree, node)
            if joint == 0 or nodes + joint > len(tree.depth):
                return number
            tree.picked[:] = 0
            for place in range(joint):
                for role in range(len(tree.moves)):
                    tree.moves[role] = tree.move[tree.first_slot[node, role] + tree.picked[role]]
                go_to_state(game.circuit, position, tree.states[node])
                make_moves(game.circuit, position, tree.moves)
                tree.child[children + place] = add_node(game, position, tree, tree.depth[node] + 1)
                pick_next(tree, node)
            tree.counts[CHILDREN] += joint
            tree.counts[MOVES] = tree.first_slot[node, len(tree.moves)]
        tree.counts[EXPANDED] = node + 1
        tree.first_child[node + 1] = tree.counts[CHILDREN]
    return count


@kernel
def pick_next(tree: Any, node: int) -> None:
    """Go on to the next joint move of a node, the last role's varying fastest."""
    for role in range(len(tree.picked) - 1, -1, -1):
        tree.picked[role] += 1
        if tree.picked[role] < tree.first_slot[node, role + 1] - tree.first_slot[node, role]:
            return
        tree.picked[role] = 0


@kernel
def estimate(game: Any, rows: Any, tree: Any, count: int, plays: int) -> int:
    """Estimate the next ``count`` nodes by random plays; returns how many were left to look at.

    Up to ``plays`` each, all lanes at once, which takes hardly longer than 25 of them; where there are fewer lanes than
    plays, it stops when another batch changes the mean by less than SETTLED. Ends and expanded nodes need none.
    """
    node = max(tree.counts[ESTIMATED], tree.counts[EXPANDED])
    done = 0
    while node < tree.counts[NODES] and done < count:
        if not tree.over[node]:
            play_out(game, rows, tree, node, plays)
            done += 1
        node += 1
    tree.counts[ESTIMATED] = node
    return done


@kernel
def play_out(game: Any, rows: Any, tree: Any, node: int, plays: int) -> None:
    """Set a node's value to the mean goals of random plays."""
    circuit, before = game.circuit, tree.reach[node]  # reach is room to work in until CFR runs
    before[:] = np.inf
    rows.won[:] = 0
    done: Any = 0
    while done < plays:
        rows.plays[:] = 0
        rows.plays[0] = min(64 * rows.values.shape[1], plays - done)
        done += rows.plays[0]
        lanes.play(circuit, rows, tree.states[node])
        tree.value[node, :] = 0.0
        for goal in range(len(circuit.goals)):
            tree.value[node, circuit.goal_role[goal]] += rows.won[goal] * circuit.goal_value[goal] / done
        change = 0.0
        for role in range(len(before)):
            change = max(change, abs(tree.value[node, role] - before[role]))
            before[role] = tree.value[node, role]
        if change < SETTLED:
            return


@kernel
def keep_below(tree: Any, root: int) -> None:
    """Forget all nodes that cannot be reached from ``root``, which becomes node 0; the order stays the same."""
    nodes, expanded, roles = tree.counts[NODES], tree.counts[EXPANDED], len(tree.won)
    estimated = max(tree.counts[ESTIMATED], expanded)
    tree.renamed[:nodes] = -1
    tree.renamed[root] = 0
    counts = tree.counts
    counts[:] = 0
    for node in range(root, nodes):
        if tree.renamed[node] < 0:
            continue
        new = counts[NODES]
        counts[NODES] += 1
        counts[EXPANDED] += node < expanded
        counts[ESTIMATED] += node < estimated
        if node < expanded:
            for place in range(tree.first_child[node], tree.first_child[node + 1]):
                if tree.renamed[tree.child[place]] < 0:
                    tree.renamed[tree.child[place]] = 0  # its number comes with its turn
        tree.renamed[node] = new
    for node in range(root, nodes):
        if tree.renamed[node] >= 0:
            move_node(tree, node, tree.renamed[node], node < expanded, roles)
    tree.first_child[counts[EXPANDED]] = counts[CHILDREN]
    tree.place[:] = 0
    for node in range(counts[NODES]):
        tree.place[find(tree, tree.states[node], tree.depth[node], tree.key[node])] = node + 1


@kernel
def move_node(tree: Any, old: int, new: int, expanded: bool, roles: int) -> None:
    """Move a node to a lower number, with its children and slots if it has been expanded."""
    begin, end = tree.first_child[old], tree.first_child[old + 1]
    first, last = tree.first_slot[old, 0], tree.first_slot[old, roles]
    tree.depth[new], tree.key[new], tree.over[new] = tree.depth[old], tree.key[old], tree.over[old]
    for fluent in range(tree.states.shape[1]):
        tree.states[new, fluent] = tree.states[old, fluent]
    for role in range(roles):
        tree.value[new, role] = tree.value[old, role]
    if not expanded:
        return
    children, slots = tree.counts[CHILDREN], tree.counts[MOVES]
    tree.first_child[new] = children
    for place in range(end - begin):
        tree.child[children + place] = tree.renamed[tree.child[begin + place]]
    tree.counts[CHILDREN] += end - begin
    for role in range(roles + 1):
        tree.first_slot[new, role] = tree.first_slot[old, role] - first + slots
    for place in range(last - first):
        tree.move[slots + place] = tree.move[first + place]
        tree.regret[slots + place] = tree.regret[first + place]
        tree.average[slots + place] = tree.average[first + place]
    tree.counts[MOVES] += last - first


@kernel
def node_of(game: Any, position: Any, tree: Any, state: Any, steps: int) -> int:
    """The node of a state at most ``steps`` steps below the root, -1 if there is none."""
    if tree.counts[NODES] == 0:
        return -1
    go_to_state(game.circuit, position, state)
    key = state_key(game, position)
    for depth in range(tree.depth[0], tree.depth[0] + steps + 1):
        place = find(tree, state, depth, key)
        if tree.place[place] != 0:
            return tree.place[place] - 1  # type: ignore[no-any-return]
    return -1
