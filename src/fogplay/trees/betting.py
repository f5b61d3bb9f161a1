"""The tree of limit betting as arrays: everything public about a hand except the board.

Compiled code builds it from the numbers in the rules. Four rounds with two players have 6,378 decision nodes, which
takes no noticeable time; with three players they have 9,711,806, which takes about a second.

The layout of a learner's tables decides how long an episode waits for memory. The decision nodes of one player within
one betting round, after the same earlier betting, are a *family*: within a round a player visits several nodes of a
family, always with the same bucket. The slots of a family are adjacent for each bucket, so an episode waits once per
player and round instead of at every decision.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.game import TERMINAL
from fogplay.games.limit import FOLD, RAISE, STEPS
from fogplay.jit import kernel, piece, record

# One record of 24 bytes per node, so that a step of an episode reads one cache line.
NODE = record(
    [
        ("slot", np.int64),  # of its first action in bucket 0; at a terminal what each has paid, 16 bits per player
        ("first_child", np.int32),
        ("stride", np.int32),  # slots from one bucket to the next
        ("outlook", np.uint16),  # row of Betting.outlook
        ("in_hand", np.uint16),  # who is still in, one bit per player
        ("player", np.int8),  # who acts, or TERMINAL
        ("street", np.int8),  # the betting round
        ("count", np.int8),  # of actions
        ("calling", np.int8),  # which action checks or calls
    ]
)

_FRAME = record(
    [
        ("node", np.int64),
        ("group", np.int64),  # the start of the betting round that it belongs to
        ("paid", np.int64),  # 16 bits per player
        ("outlook", np.int64),
        ("depth", np.int64),
        ("player", np.int64),
        ("street", np.int64),
        ("raised", np.int64),
        ("to_settle", np.int64),
        ("in_hand", np.int64),  # one bit per player
    ]
)

MOST_DECISIONS = 500_000_000  # at 24 bytes per node and up to three children each: 36 GB

_PAID_BITS = 16
_PAID = (1 << _PAID_BITS) - 1
_GROUP_BITS = 24  # while the tree grows, a node's slot holds its group and its offset in the family


class LimitRules(Protocol):
    """What a game of limit betting says about itself: the rules that shape its betting tree, and its buckets."""

    @property
    def players(self) -> int: ...

    @property
    def rounds(self) -> int: ...

    @property
    def raises(self) -> tuple[int, ...]: ...  # [rounds] what a bet or raise adds, in chips

    @property
    def max_raises(self) -> tuple[int, ...]: ...  # [rounds]

    @property
    def blinds(self) -> tuple[int, ...]: ...  # [players]

    def decisions(self) -> tuple[int, ...]: ...  # [rounds] decision nodes

    def buckets(self) -> tuple[int, ...]: ...  # [rounds]


class Betting(NamedTuple):
    """The betting tree and its sizes."""

    nodes: NDArray[Any]  # [nodes] NODE; children after parents and adjacent, a subtree's nodes close together
    outlook: NDArray[np.float64]  # [outlooks, 2] the pot at the start of a round, and what could still be added to it
    num_slots: int
    num_decisions: int
    deepest: int  # the most actions of any hand
    widest: int  # the most actions of any node


class _Rules(NamedTuple):
    players: int
    rounds: int
    raises: NDArray[np.int64]  # [rounds]
    max_raises: NDArray[np.int64]  # [rounds]
    blinds: NDArray[np.int64]  # [players]


class _Found(NamedTuple):
    """What ``_grow`` fills; with arrays of length 0 it only counts."""

    nodes: NDArray[Any]  # [nodes] NODE
    family: NDArray[np.int64]  # [groups, players] slots per bucket
    group_round: NDArray[np.int8]  # [groups]
    outlook: NDArray[np.float64]  # [outlooks, 2]


def betting_tree(game: LimitRules) -> Betting:
    """The betting tree of a game, with slots laid out for the game's buckets."""
    decisions = sum(game.decisions())
    if decisions > MOST_DECISIONS:
        raise FogplayError(
            f"{game} has {decisions:,} decisions in its betting tree, more than {MOST_DECISIONS:,}; allow fewer raises"
        )
    rules = _Rules(
        game.players,
        game.rounds,
        np.array(game.raises, np.int64),
        np.array(game.max_raises, np.int64),
        np.array(game.blinds, np.int64),
    )
    stack = np.zeros(3 * game.players * game.rounds * (max(game.max_raises) + 2), _FRAME)
    outlook = np.zeros((1 << _PAID_BITS, 2))
    counting = _Found(np.zeros(0, NODE), np.zeros((0, game.players), np.int64), np.zeros(0, np.int8), outlook)
    nodes, groups, _, _ = _grow(rules, counting, stack)
    found = _Found(
        np.zeros(nodes, NODE), np.zeros((groups, game.players), np.int64), np.zeros(groups, np.int8), outlook
    )
    _, _, outlooks, deepest = _grow(rules, found, stack)
    sizes = found.family * np.array(game.buckets(), np.int64)[found.group_round][:, None]
    ends = np.cumsum(sizes.reshape(-1)).reshape(sizes.shape)
    _lay_out(found.nodes, found.family, ends - sizes)
    return Betting(
        nodes=found.nodes,
        outlook=outlook[:outlooks].copy(),
        num_slots=int(ends[-1, -1]),
        num_decisions=decisions,
        deepest=int(deepest),
        widest=int(found.nodes["count"].max()),
    )


@piece
def paid_by(paid, player):
    """What a player has paid, in chips; ``paid`` packs 16 bits per player."""
    return (paid >> (player * _PAID_BITS)) & _PAID


@piece
def claim(end, strength, deal, seat):
    """The pot at a terminal node, and by how many it is shared if ``seat``, which has not folded, wins; else 0.

    ``strength[deals, seats]`` decides showdowns.
    """
    own = strength[np.uint64(deal), np.uint64(seat)]
    pot, winners, beaten = 0, 0, False
    for other in range(strength.shape[1]):
        pot += paid_by(end.slot, other)
        if end.in_hand >> other & 1:
            theirs = strength[np.uint64(deal), np.uint64(other)]
            winners += theirs == own
            beaten = beaten or theirs > own
    return pot, 0 if beaten else winners


@piece
def _most_paid(rules, paid):
    most = 0
    for player in range(rules.players):
        most = max(most, paid_by(paid, player))
    return most


@piece
def _count_in(rules, in_hand):
    count = 0
    for player in range(rules.players):
        count += in_hand >> player & 1
    return count


@piece
def _next_in(rules, in_hand, player):
    """This player, or the next one who is still in the hand."""
    while not in_hand >> player & 1:
        player = (player + 1) % rules.players
    return player


@kernel
def _grow(rules, found, stack):
    """Visit every node, depth first; return the numbers of nodes, groups and outlooks, and the longest hand.

    Fills the arrays of ``found`` unless they are empty; slots are assigned later, when the sizes of the families are
    known. ``stack`` is scratch.
    """
    top = stack[0]
    top.node, top.depth, top.paid, top.raised = 0, 0, 0, 0
    for player in range(rules.players):
        top.paid |= rules.blinds[player] << (player * _PAID_BITS)
    top.in_hand = (1 << rules.players) - 1
    top.street = -1
    groups, outlooks = _begin_round(rules, found, top, 0, 0)
    nodes, waiting, deepest = 1, 1, 0
    while waiting > 0:
        waiting -= 1
        frame = stack[waiting]
        deepest = max(deepest, frame.depth)
        number, group, depth, player, round_ = frame.node, frame.group, frame.depth, frame.player, frame.street
        raised, to_settle, in_hand, paid, outlook = (
            frame.raised, frame.to_settle, frame.in_hand, frame.paid, frame.outlook,
        )  # fmt: skip
        if player == TERMINAL:
            if len(found.nodes) > 0:
                node = found.nodes[number]
                node.slot, node.player, node.in_hand, node.street = paid, TERMINAL, in_hand, round_
            continue
        most = _most_paid(rules, paid)
        may_fold = paid_by(paid, player) < most
        may_raise = raised < rules.max_raises[round_]
        count = 1 + may_fold + may_raise
        if len(found.nodes) > 0:
            node = found.nodes[number]
            node.slot = group << _GROUP_BITS | found.family[group, player]
            found.family[group, player] += count
            node.first_child, node.count, node.player, node.street = nodes, count, player, round_
            node.outlook, node.in_hand, node.calling = outlook, in_hand, may_fold
        for place in range(count):
            action = place + (not may_fold)
            child = stack[waiting + count - 1 - place]  # the first one on top
            child.node, child.group, child.depth, child.street = nodes + place, group, depth + 1, round_
            child.raised, child.to_settle, child.in_hand, child.paid = raised, to_settle - 1, in_hand, paid
            child.outlook = outlook
            if action == FOLD:
                child.in_hand = in_hand & ~(1 << player)
            else:
                stake = most
                if action == RAISE:
                    stake += rules.raises[round_]
                    child.raised, child.to_settle = raised + 1, _count_in(rules, in_hand) - 1
                child.paid += (stake - paid_by(paid, player)) << (player * _PAID_BITS)
            if _count_in(rules, child.in_hand) == 1 or (child.to_settle == 0 and round_ == rules.rounds - 1):
                child.player = TERMINAL
            elif child.to_settle == 0:
                groups, outlooks = _begin_round(rules, found, child, groups, outlooks)
            else:
                child.player = _next_in(rules, child.in_hand, (player + 1) % rules.players)
        nodes += count
        waiting += count
    return nodes, groups, outlooks, deepest


@piece
def _begin_round(rules, found, frame, groups, outlooks):
    """Make ``frame`` the start of the next round; return the numbers of groups and outlooks, new ones included."""
    frame.street += 1
    frame.raised, frame.to_settle, frame.group = 0, _count_in(rules, frame.in_hand), groups
    frame.player = _next_in(rules, frame.in_hand, rules.players - 1 if frame.street == 0 else 0)
    if len(found.group_round) > 0:
        found.group_round[groups] = frame.street
    most, pot, to_come = _most_paid(rules, frame.paid), 0, 0
    for round_ in range(frame.street, rules.rounds):
        most += rules.raises[round_] * rules.max_raises[round_]
    for player in range(rules.players):
        pot += paid_by(frame.paid, player)
        if frame.in_hand >> player & 1:
            to_come += most - paid_by(frame.paid, player)
    frame.outlook = 0
    while frame.outlook < outlooks and (
        found.outlook[frame.outlook, 0] != pot or found.outlook[frame.outlook, 1] != to_come
    ):
        frame.outlook += 1
    if frame.outlook == outlooks:
        found.outlook[outlooks, 0], found.outlook[outlooks, 1] = pot, to_come
        outlooks += 1
    return groups + 1, outlooks


@kernel
def _lay_out(nodes, family, begin):
    """Turn every node's group and offset in its family into its slot; ``family`` and ``begin``: [groups, players]."""
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player != TERMINAL:
            group, place = node.slot >> _GROUP_BITS, node.slot & ((1 << _GROUP_BITS) - 1)
            node.slot = begin[group, node.player] + place
            node.stride = family[group, node.player]


def child_after(betting: Betting, node: int, letter: str) -> int:
    """The node after ``f``, ``c`` or ``r`` at a decision node."""
    children, calling = betting.nodes["first_child"], betting.nodes["calling"]  # faster than whole records
    return int(children.item(node) + calling.item(node) + STEPS[letter])


def node_after(betting: Betting, letters: Iterable[str]) -> int:
    """The node of a betting tree that a betting sequence leads to, round by round or in one."""
    children, calling = betting.nodes["first_child"], betting.nodes["calling"]
    node = 0
    for letter in "".join(letters):
        node = children.item(node) + calling.item(node) + STEPS[letter]
    return node


def owners(betting: Betting, buckets: NDArray[np.int64]) -> NDArray[np.int8]:
    """[slots] the player that each slot belongs to, for ``buckets[rounds]``."""
    owner = np.zeros(betting.num_slots, np.int8)
    _fill_owners(betting.nodes, buckets, owner)
    return owner


@kernel
def _fill_owners(nodes, buckets, owner):
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player != TERMINAL:
            for bucket in range(buckets[node.street]):
                for action in range(node.count):
                    owner[node.slot + bucket * node.stride + action] = node.player
