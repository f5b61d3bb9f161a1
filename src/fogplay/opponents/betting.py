"""Models of players of limit betting games from logs, by one decision tree per round over five features.

The features are those of Ponsen et al. 2011, section 4.3.2: the seat counted from the button, the raises in the hand,
in this round and by the player, and the bucket of the player's hand. Hands that were not shown down must not be left
out, since hands that a player folds are never shown: each is completed by random hole cards, weighted by how well the
model explains the player's actions with them (expectation-maximisation by sampling).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.deals import BOARD, deals_buffer, look_up_deals
from fogplay.errors import FogplayError
from fogplay.games.game import TERMINAL
from fogplay.games.limit import STEPS
from fogplay.notation.acpc import STATE, LoggedHand, print_cards, read_hands
from fogplay.opponents.histories import listed
from fogplay.strategies.betting import BettingStrategy
from fogplay.trees.betting import Betting, LimitRules

GUESSES = 20  # completions of a hand that was not shown
ROUNDS = 5  # of expectation-maximisation
DECK = 52
FEATURES = ("seat", "raises", "raises this round", "own raises", "bucket")


class BettingSimulator(Protocol):
    """What is needed of the simulator of a game of limit betting with buckets."""

    rules: Any  # LimitRules
    cards: Any  # with the ``signals`` and the ``evaluator`` from which buckets are looked up
    betting: Betting
    num_slots: int
    widest: int

    def strategy(self, learned: Any, method: str, greedy: bool, **about: Any) -> BettingStrategy: ...


def read_log(path: str | os.PathLike[str], players: int) -> list[tuple[int, LoggedHand]]:
    """The hands of a log with their line numbers; raises an error unless each is a valid deal."""
    hands = list(read_hands(path))
    if not hands:
        raise FogplayError(f"{path} has no hands; expected lines that begin with {STATE}")
    for line, hand in hands:
        _check(path, line, hand, players)
    return hands


def _check(path: str | os.PathLike[str], line: int, hand: LoggedHand, players: int) -> None:
    if len(hand.holes) != players or len(hand.names) != players:
        found = f"{len(hand.names)} names and {len(hand.holes)} hands"
        raise FogplayError(f"{path}, line {line}: {found} in a game for {players} players")
    seen = [card for cards in (*hand.holes, hand.board) for card in cards]
    shape = all(len(hole) in (0, 2) for hole in hand.holes) and len(hand.board) in (0, 3, 4, 5)
    if len(set(seen)) != len(seen) or not shape:
        raise FogplayError(
            f"{path}, line {line}: {print_cards(hand.holes, hand.boards)} is not a deal; expected two cards or none "
            "per player, a board of 3, 4 or 5 cards, and no card twice"
        )


@dataclass(frozen=True)
class Choices:
    """All decisions of the modelled player, one row per decision and completion."""

    node: NDArray[np.int64]  # [rows] of the betting tree
    action: NDArray[np.int64]  # [rows] its number at the node
    bucket: NDArray[np.int64]  # [rows]
    completion: NDArray[np.int64]  # [rows]
    hand: NDArray[np.int64]  # [completions]


def learn_betting(
    simulator: BettingSimulator,
    log: str | os.PathLike[str],
    player: str | None = None,
    *,
    prior: float = 1.0,
    min_hands: float = 20.0,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> BettingStrategy:
    """A model of one player, as a strategy on the game's own grid."""
    rules = simulator.rules
    hands = read_log(log, rules.players)
    names = tuple(dict.fromkeys(name for _, hand in hands for name in hand.names))
    if player is None or player not in names:
        wrong = f"no hands of {player!r}, but of" if player is not None else "hands of"
        raise FogplayError(f"{log} has {wrong} {listed(names)}; say whose model to learn (--player NAME)")
    choices = _choices(simulator, [(line, hand) for line, hand in hands if player in hand.names], player, log, seed)
    features = node_features(simulator.betting, rules)
    weight = 1.0 / np.bincount(choices.hand)[choices.hand]  # [completions]
    table = np.zeros(simulator.num_slots)
    hidden = len(choices.hand) > len(np.unique(choices.hand))
    rounds = ROUNDS if hidden else 1
    for done in range(1, rounds + 1):
        table = _fit(simulator, features, choices, weight, prior, min_hands)
        if progress is not None:
            progress(done, rounds)
        if done < rounds:
            weight = _reweigh(simulator, choices, table)
    about: Any = {"player": player, "prior": prior, "min_hands": min_hands, "log": str(log)}
    played = len(np.unique(choices.hand))
    learned = {"weights": table}
    return simulator.strategy(learned, "decision-tree", greedy=False, parameters=about, iterations=played, seed=seed)


def node_features(betting: Betting, rules: LimitRules) -> NDArray[np.int16]:
    """[nodes, 4] the features of the player to act, except the bucket."""
    nodes, players = betting.nodes, rules.players
    raised = np.zeros((len(nodes), 1 + players), np.int16)  # in this round, and by each player in the hand
    front = np.zeros(1, np.int64)
    while len(front):
        front = front[nodes["player"][front] != TERMINAL]
        following = []
        for action in range(betting.widest):
            here = front[nodes["count"][front] > action]
            child = nodes["first_child"][here].astype(np.int64) + action
            raises = action > nodes["calling"][here]
            raised[child] = raised[here]
            raised[child, 0] += raises
            raised[child, 1 + nodes["player"][here]] += raises
            raised[child[nodes["street"][child] != nodes["street"][here]], 0] = 0
            following.append(child)
        front = np.concatenate(following)
    player = nodes["player"].astype(np.int64)
    own = np.take_along_axis(raised[:, 1:], np.maximum(player, 0)[:, None], axis=1)[:, 0]
    seat = (player + 1) % players
    return np.stack([seat, raised[:, 1:].sum(axis=1), raised[:, 0], own], axis=1).astype(np.int16)


def _choices(
    simulator: BettingSimulator,
    hands: list[tuple[int, LoggedHand]],
    player: str,
    log: str | os.PathLike[str],
    seed: int,
) -> Choices:
    """Follow every hand through the betting tree, and look up the buckets of shown and completed hole cards."""
    rng, nodes = np.random.default_rng(seed), simulator.betting.nodes
    made: list[tuple[int, int, int, int]] = []  # hand, node, action, round
    boards, holes, owner = [], [], []
    for number, (line, hand) in enumerate(hands):
        seat, node, over = hand.names.index(player), 0, False
        for letter in hand.betting.replace("/", ""):
            if over:
                raise FogplayError(f"{log}, line {line}: the betting goes on after the hand is over")
            here = nodes[node]
            choice = int(here.calling) + STEPS[letter]
            if not 0 <= choice < here.count:
                raise FogplayError(f"{log}, line {line}: {letter!r} is not possible in {hand.betting}")
            if here.player == seat:
                made.append((number, node, choice, int(here.street)))
            node = int(here.first_child) + choice
            over = nodes[node].player == TERMINAL
        if not over:
            raise FogplayError(f"{log}, line {line}: the hand is not over after {hand.betting}")
        known = {card for each in (*hand.holes, hand.board) for card in each}
        left = [card for card in range(DECK) if card not in known]
        for _ in range(1 if hand.holes[seat] else GUESSES):
            drawn = rng.permutation(left).tolist()
            mine = hand.holes[seat] or (drawn.pop(), drawn.pop())
            boards.append([*hand.board, *drawn[: BOARD - len(hand.board)]])
            holes.append(mine)
            owner.append(number)
    deals = deals_buffer(len(owner), 1)
    deals.cards[:, :BOARD], deals.cards[:, BOARD:] = boards, holes
    look_up_deals(simulator.cards.signals, simulator.cards.evaluator, deals)
    by_hand = np.array(owner)
    first = np.searchsorted(by_hand, np.arange(len(hands) + 1))
    table = np.array(made, np.int64).reshape(-1, 4)
    copies = np.diff(first)[table[:, 0]]
    row = np.repeat(np.arange(len(table)), copies)
    within = np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    completion = first[table[row, 0]] + within
    bucket = deals.bucket[completion, 0, table[row, 3]].astype(np.int64)
    return Choices(table[row, 1], table[row, 2], bucket, completion, by_hand)


def _fit(
    simulator: BettingSimulator,
    features: NDArray[np.int16],
    choices: Choices,
    weight: NDArray[np.float64],
    prior: float,
    min_hands: float,
) -> NDArray[np.float64]:
    """[slots] the weights that decision trees, one per round, give to the actions at every node and bucket."""
    from sklearn.tree import DecisionTreeClassifier  # late, so that other commands start faster

    nodes = simulator.betting.nodes
    table = np.zeros(simulator.num_slots)
    for round_, buckets in enumerate(simulator.rules.buckets()):
        where = np.flatnonzero((nodes["player"] != TERMINAL) & (nodes["street"] == round_))
        seen = nodes["street"][choices.node] == round_
        says = np.full((len(where) * buckets, 3), 1.0 / 3)
        if seen.any():
            here = choices.node[seen]
            known = np.column_stack([features[here], choices.bucket[seen]])
            taken = choices.action[seen] + 1 - nodes["calling"][here]  # fold, call, raise
            share = weight[choices.completion[seen]]
            least = min(0.5, min_hands / max(float(share.sum()), 1e-9))
            tree = DecisionTreeClassifier(criterion="entropy", min_weight_fraction_leaf=least, random_state=0)
            tree.fit(known, taken, sample_weight=share)
            public, own = np.repeat(features[where], buckets, axis=0), np.tile(np.arange(buckets), len(where))
            says[:] = 0.0
            says[:, tree.classes_.astype(int)] = tree.predict_proba(np.column_stack([public, own]))
        says = says * min_hands + prior / 3  # a leaf counts as the fewest observations it can have
        for action in range(3):
            legal = _has(nodes[where], action)
            slots = nodes["slot"][where] + action - 1 + nodes["calling"][where]
            at = slots[:, None] + np.arange(buckets)[None, :] * nodes["stride"][where][:, None]
            table[at[legal].ravel()] = says[:, action].reshape(len(where), buckets)[legal].ravel()
    return table


def _has(nodes: NDArray[Any], action: int) -> NDArray[np.bool_]:
    """[nodes] whether it is legal to fold (0), call (1) or raise (2)."""
    place = action - 1 + nodes["calling"].astype(np.int64)
    may: NDArray[np.bool_] = (place >= 0) & (place < nodes["count"])
    return may


def _reweigh(simulator: BettingSimulator, choices: Choices, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """[completions] each one's share of its hand: the probability of the player's actions with these cards."""
    nodes = simulator.betting.nodes
    first = nodes["slot"][choices.node] + choices.bucket * nodes["stride"][choices.node]
    total = np.zeros(len(first))
    for action in range(simulator.widest):
        there = action < nodes["count"][choices.node]
        total[there] += table[first[there] + action]
    likely = np.zeros(len(choices.hand))
    np.add.at(likely, choices.completion, np.log(np.maximum(table[first + choices.action] / total, 1e-12)))
    best = np.full(int(choices.hand.max()) + 1, -np.inf)
    np.maximum.at(best, choices.hand, likely)
    share = np.exp(likely - best[choices.hand])
    weight: NDArray[np.float64] = share / np.bincount(choices.hand, share)[choices.hand]
    return weight
