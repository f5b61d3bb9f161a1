"""Decision trees over a game's features, one tree per phase: rare situations are judged by similar ones.

Ponsen, de Jong & Lanctot 2011, section 4.3, learned such trees (J48) from 20,000 hands of limit poker. Here
expectation-maximisation completes the modelled player's unseen cards, so that a tree can use them as features.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE
from fogplay.opponents.counts import Fit, Weights
from fogplay.opponents.walk import parents
from fogplay.trees import FlatGame

PHASE = "phase"


@dataclass(frozen=True)
class Phase:
    """The infosets of one phase and their features."""

    infosets: NDArray[np.int64]  # [infosets of the phase]
    names: tuple[str, ...]  # of the features
    features: NDArray[np.float64]  # [infosets of the phase, features]


def phases_of(flat: FlatGame, seats: NDArray[np.bool_]) -> list[Phase]:
    """The features of every infoset of the seats where ``seats[players]`` is true, by phase."""
    features = _features(flat, np.flatnonzero(seats[flat.tree.infoset_player]))
    phases = []
    for phase in sorted({each[PHASE] for each in features.values()}):
        infosets = [infoset for infoset, each in features.items() if each[PHASE] == phase]
        names = tuple(name for name in features[infosets[0]] if name != PHASE)
        for infoset in infosets:
            if set(features[infoset]) != {*names, PHASE}:
                raise FogplayError(
                    f"{flat.name}: features() returns {', '.join(names)} at infoset {flat.infosets[infosets[0]]!r} and "
                    f"other names at {flat.infosets[infoset]!r}; a phase must have the same names throughout"
                )
        rows = [[features[infoset][name] for name in names] for infoset in infosets]
        phases.append(Phase(np.array(infosets), names, np.array(rows, np.float64).reshape(len(infosets), -1)))
    return phases


def _features(flat: FlatGame, infosets: NDArray[np.int64]) -> dict[int, dict[str, float]]:
    """The features of each of these infosets, from one state of each; only the paths to these states are walked."""
    if not hasattr(flat.root, "features"):
        raise FogplayError(f"{flat.name.partition('(')[0]} has no features() for decision trees; use --method counts")
    tree, parent = flat.tree, parents(flat)
    decisions = np.flatnonzero(tree.player >= 0)
    found, first = np.unique(tree.row[decisions], return_index=True)
    examples = decisions[first[np.isin(found, infosets)]]
    needed = np.zeros(flat.num_nodes, np.bool_)
    wanted = np.zeros(flat.num_nodes, np.bool_)
    wanted[examples] = True
    while len(examples):
        needed[examples] = True
        examples = np.unique(parent[examples])
        examples = examples[examples >= 0]
        examples = examples[~needed[examples]]
    features: dict[int, dict[str, float]] = {}
    waiting = [(0, flat.root)] if needed[0] else []
    while waiting:
        node, state = waiting.pop()
        if wanted[node]:
            features[int(tree.row[node])] = _checked(flat, state, int(tree.row[node]))
        first_child = int(tree.first_child[node])
        children = np.flatnonzero(needed[first_child : first_child + int(tree.num_children[node])])
        if len(children):
            by_chance = tree.player[node] == CHANCE
            actions = [each[0] for each in state.chance_outcomes()] if by_chance else list(state.legal_actions())
            waiting.extend((first_child + choice, state.child(actions[choice])) for choice in children.tolist())
    return dict(sorted(features.items()))


def _checked(flat: FlatGame, state: object, infoset: int) -> dict[str, float]:
    features = dict(state.features())  # type: ignore[attr-defined]
    numbers = all(isinstance(value, int | float) and math.isfinite(value) for value in features.values())
    if PHASE not in features or not numbers:
        raise FogplayError(
            f"{flat.name}: features() must return finite numbers, {PHASE!r} among them; "
            f"at infoset {flat.infosets[infoset]!r} it returned {str(features)[:80]}"
        )
    return {name: float(value) for name, value in features.items()}


def decision_trees(flat: FlatGame, phases: list[Phase], prior: float, toward: Weights, min_hands: float) -> Fit:
    """Fit decision trees to the counts: one tree per phase, with leaves of at least ``min_hands`` observations.

    The counts of a leaf are the sums over its infosets. The strategy at an infoset is the frequencies of its own
    actions in the leaf, plus ``prior`` observations distributed as in ``toward``.
    """
    codes: dict[str, int] = {}
    code = np.array([codes.setdefault(name, len(codes)) for name in flat.actions])  # [slots]
    start, sizes = flat.tree.infoset_start, np.diff(flat.tree.infoset_start)
    pieces = []
    for phase in phases:
        slots = np.concatenate([np.arange(start[infoset], start[infoset + 1]) for infoset in phase.infosets])
        pieces.append((phase, slots, np.repeat(np.arange(len(phase.infosets)), sizes[phase.infosets])))

    def fit(counts: Weights) -> Weights:
        strategy = toward.copy()
        for phase, slots, place in pieces:
            leaf = _leaves(phase.features, place, code[slots], counts[slots], min_hands)[place]  # [slots of the phase]
            kind = leaf * len(codes) + code[slots]
            mine = np.bincount(kind, counts[slots])[kind]
            total = np.bincount(place, mine)[place] + prior
            likely = (mine + prior * toward[slots]) / np.where(total > 0, total, 1)
            strategy[slots] = np.where(total > 0, likely, toward[slots])
        return strategy

    return fit


def _leaves(
    features: NDArray[np.float64],
    place: NDArray[np.int64],
    code: NDArray[np.int64],
    counts: NDArray[np.float64],
    min_hands: float,
) -> NDArray[np.int64]:
    """[infosets] the leaf of each infoset; a single leaf if there are too few observations to split."""
    from sklearn.tree import DecisionTreeClassifier

    seen, total = counts > 0, float(counts.sum())
    if features.shape[1] == 0 or total < 2 * min_hands or not seen.any():
        return np.zeros(len(features), np.int64)
    tree = DecisionTreeClassifier(
        criterion="entropy",
        min_weight_fraction_leaf=min(0.5, min_hands / total),
        random_state=0,  # ties between splits are broken at random
    )
    tree.fit(features[place[seen]], code[seen], sample_weight=counts[seen])
    return np.asarray(tree.apply(features), np.int64)
