"""Fictitious play MCTS for Doudizhu, for many positions at once (DeltaDou, algorithm 1).

The searching player's nodes are what it sees: its own moves and those of the two others since the root. It selects by
p-UCT; the others' moves are drawn from their networks in a world that was drawn before, and both together lead to the
next node. A world has its luck too: where the same world meets the same node and move again, the others do the same.

The n-th try of every move at the root is made in the same world, so moves are compared in the same worlds.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu.asking import NOBODY, Asking, lies_there, recall, take
from fogplay.bots.doudizhu.expansion import FREE, Weights, expand
from fogplay.desks import exchange
from fogplay.games.doudizhu_heads import PASS
from fogplay.jit import kernel, piece
from fogplay.search.trees import (
    NO_NODE,
    UNKNOWN,
    Rule,
    Trees,
    add,
    backward,
    begin_edges,
    has_room,
    keep,
    look_up,
    select,
    trees,
)
from fogplay.simulators.doudizhu_features import (
    BOMBS,
    FACTS,
    HANDS,
    HEAD_WORDS,
    OVER,
    SEAT,
    SEEN,
    TO_BEAT,
    WORDS,
    can_answer,
    look,
)
from fogplay.simulators.doudizhu_lanes import MOST_DOUBLINGS, make
from fogplay.simulators.doudizhu_policy import OUTPUTS, cards_of_move, draw_move, ways_buffer
from fogplay.simulators.streams import mix

AT_NODE, REPLYING, ASKS_REPLY, ASKS_VALUE, JOINED = range(1, 6)  # what a simulation is about to do, or waits for
ENDED, ASKS, LOST, PAUSED = range(4)  # why a search has come back from compiled code
ENDLESS = 1 << 60  # rounds
_END = np.uint64(2**64 - 1)  # in a key, in place of the second reply if the first ended the game
_BY_WORLD, _BY_MOVES = np.uint64(1), np.uint64(2)  # the two kinds of keys


class Rows(NamedTuple):
    """What all simulations under way ask, as rows."""

    asks: NDArray[np.int8]  # [roots * parallel]
    seen: NDArray[np.int64]  # [roots * parallel, 32]
    outputs: NDArray[np.float32]  # [roots * parallel, 476]


class Searches(NamedTuple):
    """Trees, what the game keeps for their nodes, and the simulations under way."""

    trees: Trees
    heads: NDArray[np.int16]  # [roots, nodes, actions] the own moves
    cards: NDArray[np.uint64]  # [roots, nodes, actions]
    reply_heads: NDArray[np.int16]  # [roots, nodes, 2] the others' moves that led to a node
    reply_cards: NDArray[np.uint64]  # [roots, nodes, 2]
    words: NDArray[np.uint64]  # [roots, WORDS] the lanes at the roots; hidden hands are not looked at
    facts: NDArray[np.int32]  # [roots, FACTS]
    worlds: NDArray[np.uint64]  # [roots, worlds, 3] hands
    wanted: NDArray[np.int32]  # [roots] simulations to be made
    begun: NDArray[np.int32]  # [roots]
    rng: NDArray[np.uint64]  # [roots, 2]
    state: NDArray[np.int8]  # [roots, parallel] of each simulation under way
    asks: NDArray[np.int8]  # [roots, parallel] the seat whose network is asked, or NOBODY
    node: NDArray[np.int32]  # [roots, parallel]
    action: NDArray[np.int32]  # [roots, parallel] taken at the node
    world: NDArray[np.int32]  # [roots, parallel]
    lane_words: NDArray[np.uint64]  # [roots, parallel, WORDS]
    lane_facts: NDArray[np.int32]  # [roots, parallel, FACTS]
    made_heads: NDArray[np.int16]  # [roots, parallel, 2] the others' moves since the node
    made_cards: NDArray[np.uint64]  # [roots, parallel, 2]
    seen: NDArray[np.int64]  # [roots, parallel, 32] what a network is asked about
    legal: NDArray[np.int64]  # [roots, parallel, 5]
    outputs: NDArray[np.float32]  # [roots, parallel, 476] what it answered
    ways: NDArray[np.float32]  # scratch


def searches(roots: int, playouts: int, parallel: int, worlds: int, actions: int) -> Searches:
    """Memory for so many roots, with at most ``playouts`` simulations each."""
    nodes, lanes = playouts + 1, (roots, parallel)
    return Searches(
        trees(roots, nodes, actions),
        np.zeros((roots, nodes, actions), np.int16),
        np.zeros((roots, nodes, actions), np.uint64),
        np.zeros((roots, nodes, 2), np.int16),
        np.zeros((roots, nodes, 2), np.uint64),
        np.zeros((roots, WORDS), np.uint64),
        np.zeros((roots, FACTS), np.int32),
        np.zeros((roots, worlds, 3), np.uint64),
        np.zeros(roots, np.int32),
        np.zeros(roots, np.int32),
        np.zeros((roots, 2), np.uint64),
        np.zeros(lanes, np.int8),
        np.zeros(lanes, np.int8),
        np.zeros(lanes, np.int32),
        np.zeros(lanes, np.int32),
        np.zeros(lanes, np.int32),
        np.zeros((*lanes, WORDS), np.uint64),
        np.zeros((*lanes, FACTS), np.int32),
        np.zeros((*lanes, 2), np.int16),
        np.zeros((*lanes, 2), np.uint64),
        np.zeros((*lanes, SEEN), np.int64),
        np.zeros((*lanes, HEAD_WORDS), np.int64),
        np.zeros((*lanes, OUTPUTS), np.float32),
        ways_buffer(),
    )


def search(
    own: Searches, roots: int, asking: Asking, rule: Rule, weights: Weights, deadline: float | None = None
) -> None:
    """Search the first ``roots`` positions, whose roots are expanded, until all simulations wanted are made."""

    def late() -> bool:
        return deadline is not None and time.monotonic() > deadline

    asks = own.asks[:roots].reshape(-1)
    rows = Rows(asks, own.seen[:roots].reshape(-1, SEEN), own.outputs[:roots].reshape(-1, OUTPUTS))
    table, answered, rounds = asking.table(len(asks)), False, ENDLESS if deadline is None else 1
    with asking.attended():
        while True:
            state = advance(own, roots, rule, weights, table, rows, asking.attendant is not None, answered, rounds)
            if state == ENDED or (state == PAUSED and late()):
                return
            if state == LOST:
                raise asking.failure()
            if state == ASKS:
                asking.answer()
            answered, rounds = state == ASKS, 0 if late() else rounds


@kernel
def advance(own, roots, rule, weights, table, rows, attended, answered, rounds):
    """Simulate and ask for so many rounds, or until all simulations that are wanted have ended.

    ``answered`` says whether the answers to the last questions lie on the desk. If nobody attends to it, the caller has
    to see to them.
    """
    while True:
        if answered:
            take(table, rows.asks, rows.outputs)
            answer(own, roots, weights)
            if rounds <= 0:
                return PAUSED
        simulate(own, roots, rule, weights)
        if recall(table, rows.asks, rows.seen, rows.outputs) == 0:
            return ENDED
        rounds, answered = rounds - 1, True
        if lies_there(table.desk):
            if not attended:
                return ASKS
            if not exchange(table.desk):
                return LOST


# ---- Simulate


@kernel
def simulate(own, roots, rule, weights):
    """Take every simulation to its next question, or to its end; begin new ones while they are wanted."""
    for root in range(roots):
        for lane in range(own.state.shape[1]):
            own.asks[root, lane] = NOBODY
            while own.state[root, lane] <= REPLYING:
                state = own.state[root, lane]
                if state == FREE:
                    if own.begun[root] == own.wanted[root]:
                        break
                    own.begun[root] += 1
                    own.node[root, lane] = 0
                    own.state[root, lane] = AT_NODE
                elif state == AT_NODE:
                    move(own, root, lane, rule, weights)
                else:
                    reply(own, root, lane, weights)


@piece
def move(own, root, lane, rule, weights):
    """Select and make the own move."""
    words, facts, node = own.lane_words[root, lane], own.lane_facts[root, lane], own.node[root, lane]
    action = select(own.trees, root, node, rule)
    own.action[root, lane] = action
    if node == 0:
        number = own.trees.tried[root, 0, action] + own.trees.flying[root, 0, action] - 1
        put_world(own, root, lane, number % own.worlds.shape[1])
    make(words, facts, np.int64(own.heads[root, node, action]), own.cards[root, node, action])
    own.made_cards[root, lane, 0] = own.made_cards[root, lane, 1] = _END
    own.state[root, lane] = REPLYING
    if facts[OVER] != 0:
        value, win = result(own, root, facts, weights)
        backward(own.trees, root, node, action, value, win)
        own.state[root, lane] = FREE
        return
    child = look_up(own.trees, root, key_by_world(own, root, lane))
    if child != NO_NODE:
        enter(own, root, lane, child, True)


@piece
def put_world(own, root, lane, world):
    """Put the root's position with the hands of a world on a lane."""
    own.world[root, lane] = world
    for place in range(WORDS):
        own.lane_words[root, lane, place] = own.words[root, place]
    for place in range(FACTS):
        own.lane_facts[root, lane, place] = own.facts[root, place]
    for seat in range(3):
        own.lane_words[root, lane, HANDS + seat] = own.worlds[root, world, seat]


@piece
def key_by_world(own, root, lane):
    """By which a simulation finds the node where it came before: node, action and world."""
    key = mix(mix(_BY_WORLD, own.node[root, lane]), own.action[root, lane])
    return mix(key, own.world[root, lane]) | np.uint64(1)


@piece
def key_by_moves(own, root, lane):
    """By which the searching player tells nodes apart: node, action and the others' moves."""
    key = mix(mix(_BY_MOVES, own.node[root, lane]), own.action[root, lane])
    return mix(mix(key, own.made_cards[root, lane, 0]), own.made_cards[root, lane, 1]) | np.uint64(1)


@piece
def reply(own, root, lane, weights):
    """Ask for the next move of the others, or arrive at a node if it is the searching player's turn or the end."""
    words, facts = own.lane_words[root, lane], own.lane_facts[root, lane]
    if facts[OVER] != 0 or facts[SEAT] == own.facts[root, SEAT]:
        arrive(own, root, lane, weights)
        return
    if not can_answer(words[HANDS + facts[SEAT]], np.int64(facts[TO_BEAT])):
        make_reply(own, root, lane, PASS, np.uint64(0))
        return
    look(words, facts, np.int64(facts[SEAT]), own.seen[root, lane], own.legal[root, lane])
    own.asks[root, lane] = facts[SEAT]
    own.state[root, lane] = ASKS_REPLY


@piece
def make_reply(own, root, lane, head, cards):
    """Make a move of one of the others."""
    number = np.int64(own.made_cards[root, lane, 0] != _END)
    own.made_heads[root, lane, number], own.made_cards[root, lane, number] = head, cards
    make(own.lane_words[root, lane], own.lane_facts[root, lane], head, cards)
    own.state[root, lane] = REPLYING


@piece
def arrive(own, root, lane, weights):
    """Find or add the node that the others' moves lead to."""
    facts, key = own.lane_facts[root, lane], key_by_moves(own, root, lane)
    child, is_new = look_up(own.trees, root, key), False
    if child == NO_NODE:
        is_new = True
        child = add(own.trees, root, own.node[root, lane], own.action[root, lane])
        keep(own.trees, root, key, child)
        for number in range(2):
            own.reply_heads[root, child, number] = own.made_heads[root, lane, number]
            own.reply_cards[root, child, number] = own.made_cards[root, lane, number]
    again = key_by_world(own, root, lane)
    if has_room(own.trees, root) and look_up(own.trees, root, again) == NO_NODE:
        keep(own.trees, root, again, child)
    if not is_new:
        enter(own, root, lane, child, False)
    elif facts[OVER] != 0:
        begin_edges(own.trees, root, child)
        own.trees.value[root, child], own.trees.win[root, child] = result(own, root, facts, weights)
        enter(own, root, lane, child, False)
    else:
        seat = np.int64(facts[SEAT])
        look(own.lane_words[root, lane], facts, seat, own.seen[root, lane], own.legal[root, lane])
        own.node[root, lane] = child
        own.asks[root, lane] = seat
        own.state[root, lane] = ASKS_VALUE


@piece
def enter(own, root, lane, child, make_moves):
    """Go on to a node that is there; the simulation ends if the game does."""
    own.node[root, lane] = child
    if own.trees.num_actions[root, child] == UNKNOWN:  # another simulation waits for its evaluation
        own.state[root, lane] = JOINED
    elif own.trees.num_actions[root, child] == 0:
        back_up(own, root, lane)
    else:
        if make_moves:
            for number in range(2):
                head, cards = own.reply_heads[root, child, number], own.reply_cards[root, child, number]
                make(own.lane_words[root, lane], own.lane_facts[root, lane], np.int64(head), cards)
        own.state[root, lane] = AT_NODE


@piece
def back_up(own, root, lane):
    """End a simulation at its node."""
    trees, node = own.trees, own.node[root, lane]
    value, win = trees.value[root, node], trees.win[root, node]
    backward(trees, root, trees.parent[root, node], trees.taken[root, node], value, win)
    own.state[root, lane] = FREE


@piece
def result(own, root, facts, weights):
    """What an ended game is worth to the searching player, and whether it won; points count from those at the root."""
    won = 1.0 if (facts[SEAT] == 0) == (own.facts[root, SEAT] == 0) else -1.0
    doublings = min(facts[BOMBS], MOST_DOUBLINGS) - min(own.facts[root, BOMBS], MOST_DOUBLINGS)
    return won * (1.0 + weights.points * math.pow(2.0, doublings)) / (1.0 + weights.points), won


# ---- Expand and back up


@kernel
def answer(own, roots, weights):
    """Give every simulation the answer it waits for: a move is drawn, or a node expanded and its value backed up."""
    for root in range(roots):
        for lane in range(own.state.shape[1]):
            if own.state[root, lane] == ASKS_REPLY:
                facts, words = own.lane_facts[root, lane], own.lane_words[root, lane]
                head, kickers, _ = draw_move(
                    own.outputs[root, lane], own.legal[root, lane], words[HANDS + facts[SEAT]], weights.heat, own.ways,
                    own.rng[root],
                )  # fmt: skip
                make_reply(own, root, lane, head, cards_of_move(head, kickers))
            elif own.state[root, lane] == ASKS_VALUE:
                hand = own.lane_words[root, lane, HANDS + own.facts[root, SEAT]]
                node, outputs, legal = own.node[root, lane], own.outputs[root, lane], own.legal[root, lane]
                expand(own, root, node, outputs, legal, hand, False, weights)
        for lane in range(own.state.shape[1]):
            if own.state[root, lane] == ASKS_VALUE or own.state[root, lane] == JOINED:
                back_up(own, root, lane)
