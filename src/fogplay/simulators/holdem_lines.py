"""The betting of two-player hold'em as lanes: what all lines of one round have in common, and what differs.

A *line* is the betting of all earlier rounds. Within a round every line offers the same decisions, so a walk visits the
decisions of one round once, with a vector of lines. Lines that the opponent never plays, whatever it holds, are left
out. The *lanes* of a round are the lines that remain, ``WIDTH`` of them side by side.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.games.game import TERMINAL
from fogplay.jit import record
from fogplay.strategies.packing import WHOLE
from fogplay.trees.betting import Betting, paid_by
from fogplay.vectors import WIDTH

Way = tuple[int, int, int]  # a lane, an end of its round, and the node to which this leads
MOSTLY = 0.9  # of the lanes in chunks: so many must be used for chunks to stay together
FOLDS, DEEPER, ENDS = range(3)  # what an action leads to: a fold, a decision of this round, the end of the round

SPOT = record(
    [
        ("player", np.int64),
        ("first", np.int64),  # the first action
        ("count", np.int64),
        ("reach", np.int64),  # the buffer of the opponent's reach, by responder: see ``Round.spots``
        ("value", np.int64),  # the buffer of the responder's values
    ]
)
ACTION = record(
    [
        ("kind", np.int64),  # FOLDS, DEEPER or ENDS
        ("to", np.int64),  # the decision, or which end of the round
        ("slot", np.int64),  # among the actions of its player
    ]
)


class Round(NamedTuple):
    """The decisions of one round, the same on every line."""

    spots: NDArray[Any]  # [2 responders, decisions] SPOT, parents first
    actions: NDArray[Any]  # [actions] ACTION
    slots: tuple[int, int]  # how many actions each player has
    ends: int  # in how many ways the round ends without a fold
    reaches: int  # buffers
    values: int  # buffers


class Table(NamedTuple):
    """One player's probabilities in one round."""

    share: NDArray[np.float64]  # [chunks, slots * buckets, WIDTH]
    buckets: int


class Lanes(NamedTuple):
    """The lines of one round that one responder can meet, by the opponent's strategy."""

    line: NDArray[np.int64]  # [lanes] the number of each line
    roots: NDArray[np.int64]  # [lanes] the node of the betting tree at which the round begins
    ahead: NDArray[np.int64]  # [chunks * WIDTH, ends] the lane of the next round; -1: none
    stake: NDArray[np.float64]  # [chunks, actions, WIDTH] what the responder wins there; at showdowns, if it wins
    theirs: Table
    own: Table | None  # of a responder that follows a strategy

    @property
    def chunks(self) -> int:
        return len(self.stake)


def rounds_of(betting: Betting, count: int) -> list[Round]:
    """The decisions of each round."""
    found, root = [], 0
    for _ in range(count):
        made, ends = _round(betting.nodes, root)
        found.append(made)
        root = ends[0]
    return found


def _round(nodes: NDArray[Any], root: int) -> tuple[Round, list[int]]:
    """The decisions of the round that begins at ``root``, and the nodes at which it ends."""
    street, order, ends = nodes[root]["street"], [root], list[int]()
    at = 0
    while at < len(order):
        children = _children(nodes, order[at])
        order[at + 1 : at + 1] = [child for child in children if _kind(nodes, child, street) == DEEPER]
        at += 1
    number = {node: place for place, node in enumerate(order)}
    spots = np.zeros((2, len(order)), SPOT)
    actions: list[tuple[int, int, int]] = []
    slots = [0, 0]
    for place, node in enumerate(order):
        player = int(nodes[node]["player"])
        spots["player"][:, place], spots["first"][:, place] = player, len(actions)
        spots["count"][:, place] = nodes[node]["count"]
        for child in _children(nodes, node):
            kind = _kind(nodes, child, street)
            if kind == ENDS:
                ends.append(child)
            actions.append((kind, number.get(child, 0) if kind == DEEPER else len(ends) - 1, slots[player]))
            slots[player] += 1
    made = np.array(actions, ACTION)
    reaches, values = _buffers(spots, made)
    return Round(spots, made, (slots[0], slots[1]), len(ends), reaches, values), ends


def _children(nodes: NDArray[Any], node: int) -> range:
    first = int(nodes[node]["first_child"])
    return range(first, first + int(nodes[node]["count"]))


def _kind(nodes: NDArray[Any], child: int, street: int) -> int:
    here = nodes[child]
    if here["player"] != TERMINAL:
        return DEEPER if here["street"] == street else ENDS
    return ENDS if here["in_hand"] == 3 else FOLDS  # both are in: a showdown


def _buffers(spots: NDArray[Any], actions: NDArray[Any]) -> tuple[int, int]:
    """Assign buffers: the reach changes after the opponent's actions; values are computed in place of a child's."""
    reaches, values = 1, 0
    for responder in range(2):
        used, valued = 1, 0
        for place, spot in enumerate(spots[responder]):
            for action in actions[spot["first"] : spot["first"] + spot["count"]]:
                if action["kind"] == DEEPER:
                    moved = spot["player"] != responder
                    spots[responder]["reach"][action["to"]] = used if moved else spots[responder]["reach"][place]
                    used += moved
        for place in reversed(range(spots.shape[1])):
            spot = spots[responder][place]
            own = actions[spot["first"] : spot["first"] + spot["count"]]
            deeper = own["to"][own["kind"] == DEEPER]
            if len(deeper):
                spots[responder]["value"][place] = spots[responder]["value"][deeper[-1]]
            else:
                spots[responder]["value"][place] = valued
                valued += 1
        reaches, values = max(reaches, used), max(values, valued)
    return reaches, values


class Shares(NamedTuple):
    """A player's probabilities at the nodes of a betting tree, in 255ths."""

    slot: NDArray[np.int64]  # [nodes]
    stride: NDArray[np.int32]  # [nodes]
    share: NDArray[np.uint8]  # [slots]
    buckets: tuple[int, ...]  # [rounds]

    def at(self, node: int, street: int, action: int) -> NDArray[np.float64]:
        """[buckets] the probability of an action."""
        where = int(self.slot[node]) + action + int(self.stride[node]) * np.arange(self.buckets[street])
        found: NDArray[np.float64] = self.share[where] / WHOLE
        return found


def lanes_of(
    betting: Betting,
    rounds: list[Round],
    responder: int,
    theirs: Shares,
    own: Shares | None = None,
    aligned: bool = False,
) -> list[Lanes]:
    """[rounds] the lanes of each round for one responder; ``own`` is what it follows, unless it responds best.

    If they are ``aligned``, full chunks go on as chunks where this costs little room.
    """
    line, roots = np.zeros(1, np.int64), np.zeros(1, np.int64)
    found = []
    for street, round_ in enumerate(rounds):
        spread = _Spread(betting.nodes, round_, street, responder, roots)
        table = spread.table(theirs, 1 - responder)
        ahead, ways = spread.ahead(table)
        if aligned:
            ahead, ways = _aligned(ahead, ways, len(roots))
        mine = None if own is None else spread.table(own, responder)
        found.append(Lanes(line, roots, ahead, spread.stake(), table, mine))
        line = np.array([line[lane] * round_.ends + end for lane, end, _ in ways], np.int64)
        roots = np.array([node for *_, node in ways], np.int64)
    return found


def _aligned(ahead: NDArray[np.int64], ways: list[Way], lanes: int) -> tuple[NDArray[np.int64], list[Way]]:
    """``_Spread.ahead`` with the lanes after an end beginning with a chunk, if nearly all lanes of full chunks go on.

    Gaps are filled with a lane that is there already; nobody reaches it a second time.
    """
    found, made = np.full_like(ahead, -1), list[Way]()
    for end, group in itertools.groupby(ways, key=lambda way: way[1]):
        some = list(group)
        if [lane for lane, *_ in some] == list(range(lanes)) and lanes >= MOSTLY * len(ahead):
            made += [made[-1]] * (-len(made) % WIDTH) if made else []
            found[:, end] = len(made) + np.arange(len(ahead))
            made += some + [some[-1]] * (len(ahead) - lanes)
        else:
            for way in some:
                found[way[0], end] = len(made)
                made.append(way)
    return found, made


def slots_of(
    betting: Betting, round_: Round, player: int, roots: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[lanes, slots] where a learner's tables have a player's actions with bucket 0, and how far it is to the next."""
    spread = _Spread(betting.nodes, round_, 0, player, roots)
    first, stride = (np.zeros((len(roots), round_.slots[player]), np.int64) for _ in range(2))
    for spot in spread.spots[spread.spots["player"] == player]:
        for number in range(int(spot["count"])):
            action = int(spot["first"]) + number
            slot = int(round_.actions[action]["slot"])
            for lane in range(len(roots)):
                node = betting.nodes[spread.before(lane, action)]
                first[lane, slot], stride[lane, slot] = node["slot"] + number, node["stride"]
    return first, stride


class _Spread:
    """One round's decisions on all lanes of a responder."""

    def __init__(
        self, nodes: NDArray[Any], round_: Round, street: int, responder: int, roots: NDArray[np.int64]
    ) -> None:
        self.nodes, self.round, self.street, self.responder, self.roots = nodes, round_, street, responder, roots
        self.chunks = max(1, -(-len(roots) // WIDTH))
        self.spots = round_.spots[responder]
        self.places = np.zeros((len(roots), len(round_.actions)), np.int64)  # the node that each action leads to
        for lane, root in enumerate(roots):
            at = np.zeros(len(self.spots), np.int64)
            at[0] = root
            for place, spot in enumerate(self.spots):
                for number, child in enumerate(_children(nodes, int(at[place]))):
                    action = int(spot["first"]) + number
                    self.places[lane, action] = child
                    if round_.actions[action]["kind"] == DEEPER:
                        at[round_.actions[action]["to"]] = child
        self.owner = np.repeat(self.spots["player"], self.spots["count"])

    def table(self, shares: Shares, player: int) -> Table:
        """The probabilities of a player."""
        buckets, slots = shares.buckets[self.street], self.round.slots[player]
        share = np.zeros((self.chunks, slots, buckets, WIDTH))
        for spot in self.spots[self.spots["player"] == player]:
            for number in range(int(spot["count"])):
                action = int(spot["first"]) + number
                slot = int(self.round.actions[action]["slot"])
                for lane in range(len(self.roots)):
                    before = self.before(lane, action)
                    share[lane // WIDTH, slot, :, lane % WIDTH] = shares.at(before, self.street, number)
        return Table(share.reshape(self.chunks, slots * buckets, WIDTH), buckets)

    def before(self, lane: int, action: int) -> int:
        """The node at which an action is taken."""
        place = int(np.searchsorted(self.spots["first"], action, side="right")) - 1
        if place == 0:
            return int(self.roots[lane])
        into = np.flatnonzero((self.round.actions["kind"] == DEEPER) & (self.round.actions["to"] == place))
        return int(self.places[lane, into[0]])

    def stake(self) -> NDArray[np.float64]:
        stake = np.zeros((self.chunks, len(self.owner), WIDTH))
        for action, (player, made) in enumerate(zip(self.owner, self.round.actions, strict=True)):
            for lane in range(len(self.roots)):
                end = self.nodes[self.places[lane, action]]
                if end["player"] == TERMINAL:
                    paid = float(paid_by(int(end["slot"]), int(player)))
                    lost = made["kind"] == FOLDS and player == self.responder
                    stake[lane // WIDTH, action, lane % WIDTH] = -paid if lost else paid
        return stake

    def ahead(self, table: Table) -> tuple[NDArray[np.int64], list[Way]]:
        """The lane after each end of the round, and for each of these lanes: the lane before, which end, its root."""
        found = np.full((self.chunks * WIDTH, max(self.round.ends, 1)), -1, np.int64)
        share = table.share.reshape(self.chunks, -1, table.buckets, WIDTH).max(axis=2)  # [chunks, slots, WIDTH]
        reached: list[tuple[int, int, int]] = []
        for lane in range(len(self.roots)):
            played = np.zeros(len(self.spots), bool)
            played[0] = True
            for place, spot in enumerate(self.spots):
                for action in range(int(spot["first"]), int(spot["first"] + spot["count"])):
                    made = self.round.actions[action]
                    theirs = spot["player"] != self.responder
                    ever = not theirs or share[lane // WIDTH, made["slot"], lane % WIDTH] > 0
                    if made["kind"] == DEEPER:
                        played[made["to"]] = played[place] and ever
                    node = int(self.places[lane, action])
                    if made["kind"] == ENDS and played[place] and ever and self.nodes[node]["player"] != TERMINAL:
                        reached.append((int(made["to"]), lane, node))
        ways = [(lane, end, node) for end, lane, node in sorted(reached)]  # neighbours stay neighbours
        for number, (lane, end, _) in enumerate(ways):
            found[lane, end] = number
        return found, ways
