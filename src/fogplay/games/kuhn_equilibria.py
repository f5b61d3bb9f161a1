"""The equilibria of two-player Kuhn poker in closed form, for any initial pot from 1 on, and distances to them.

Notation: player 0 bets a jack with probability α and a king with γ, and calls with a queen with β; player 1 bluffs with
a jack with probability η, calls with a queen with ξ, and bets a queen after a pass with θ. With an initial pot P and a
bet of 1 the equilibria are

- P = 2: γ anything in [0, 1], α = γ/3, β = (1+γ)/3; η = ξ = 1/3, θ = 0 (Kuhn's own; 2011 paper, section 2.2);
- P > 2: γ = 1, α = 1/(P+1), β = P/(P+1); η = 1/(P+1), ξ = (P-1)/(P+1), θ anything in [0, (P-2)/(P+1)];
- 1 ≤ P < 2: α = γ = θ = 0, β = (P-1)/(P+1); η = 1/(P+1), and at P = 1 anything up to that; since player 0 never bets,
  player 1 may call with jack, queen and king with any probabilities that give player 0 no reason to bet: see
  ``_answers_that_deter``.

A bet with a king pays only if the opponent calls at least as often as it would have bluffed; the two are equal at P = 2
alone. At an infoset that a player's own play never reaches (a king that always bets has no second decision), every
choice is in equilibrium. For P > 2, equilibria may play θ, a dominated action.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# The seven dominated actions as (infoset, action), the first and the sixth only weakly or by iterated elimination.
DOMINATED = (("Q:", 1), ("J:pb", 1), ("K:pb", 0), ("J:b", 1), ("K:b", 0), ("Q:p", 1), ("K:p", 0))
ANSWERS = ("J:p", "J:b", "Q:b", "K:b")  # player 1's bluff, and its answers to a bet


def squared_error(pot: float, infosets: Sequence[str], probabilities: NDArray[np.float64]) -> float:
    """The mean over the twelve infosets of (bet probability - that of the closest equilibrium)².

    ``probabilities[slots]`` has two entries per infoset. This is the papers' SQR-E, SQ-ERR and mean squared error.
    """
    bets = dict(zip(infosets, probabilities.reshape(len(infosets), 2)[:, 1].tolist(), strict=True))
    return min(_distance(bets, piece) for piece in _equilibria(pot)) / len(infosets)


def dominated_error(infosets: Sequence[str], probabilities: NDArray[np.float64]) -> float:
    """The sum of the probabilities of the seven dominated actions (the papers' DOM-E, DOM-ERR)."""
    number = {name: place for place, name in enumerate(infosets)}
    return float(sum(probabilities[2 * number[infoset] + action] for infoset, action in DOMINATED))


class _Piece(NamedTuple):
    """A convex piece of the set of equilibria.

    At some infosets the probability of a bet is known, constant + slope * t for one t in [0, 1]; others are free; and
    those in ANSWERS may be coupled by ``answers``: coefficients and limits of linear inequalities.
    """

    known: dict[str, tuple[float, float]]
    free: tuple[str, ...] = ()
    answers: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None


def _equilibria(pot: float) -> tuple[_Piece, ...]:
    one = 1 / (pot + 1)
    known = {infoset: (1.0 - action, 0.0) for infoset, action in DOMINATED}
    known |= {"J:p": (one, 0.0), "Q:b": ((pot - 1) * one, 0.0)}
    if pot < 2:
        known |= {"J:": (0.0, 0.0), "K:": (0.0, 0.0), "Q:pb": ((pot - 1) * one, 0.0)}
        return (_Piece(_without(known, ANSWERS), answers=_answers_that_deter(pot)),)
    always = known | {"J:": (one, 0.0), "K:": (1.0, 0.0), "Q:pb": (pot * one, 0.0)}
    if pot > 2:
        always["Q:p"] = (0.0, (pot - 2) * one)
        return (_Piece(_without(always, ("K:pb",)), free=("K:pb",)),)
    line = known | {"J:": (0.0, one), "K:": (0.0, 1.0), "Q:pb": (one, one)}
    return (_Piece(line), _Piece(_without(always, ("K:pb",)), free=("K:pb",)))


def _without(known: dict[str, tuple[float, float]], names: Sequence[str]) -> dict[str, tuple[float, float]]:
    return {infoset: value for infoset, value in known.items() if infoset not in names}


def _answers_that_deter(pot: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Inequalities on η and the calls (j, q, k) of player 1 that give player 0 no reason to bet, for 1 ≤ P < 2.

    A king's bet gains (j + q) / 2 and its pass η / 2; a queen's bet gains j against a jack and loses against a king
    that calls, its pass loses the pot to a bluff; a jack's bet wins the pot if player 1 folds.
    """
    one = 1 / (pot + 1)
    rows = [
        ([-1.0, 1.0, 1.0, 0.0], 0.0),
        ([pot, 1.0, 0.0, -(pot + 1)], -pot),
        ([0.0, 0.0, -(pot + 1), -(pot + 1)], -2 * pot),
        ([1.0, 0.0, 0.0, 0.0], one),
        ([-1.0, 0.0, 0.0, 0.0], -one if pot > 1 else 0.0),
    ]
    for number in range(1, 4):
        unit = [float(number == other) for other in range(4)]
        rows += [(unit, 1.0), ([-each for each in unit], 0.0)]
    return np.array([row for row, _ in rows]), np.array([limit for _, limit in rows])


def _distance(bets: dict[str, float], piece: _Piece) -> float:
    """The squared distance to the closest point of a piece."""
    constant = np.array([value for value, _ in piece.known.values()])
    slope = np.array([value for _, value in piece.known.values()])
    mine = np.array([bets[infoset] for infoset in piece.known])
    along = float(slope @ slope)
    share = min(max(float(slope @ (mine - constant)) / along, 0.0), 1.0) if along else 0.0
    apart = float(((mine - constant - share * slope) ** 2).sum())
    if piece.answers is not None:
        given = np.array([bets[infoset] for infoset in ANSWERS])
        apart += float(((given - _project(given, *piece.answers)) ** 2).sum())
    return apart


def _project(point: NDArray[np.float64], rows: NDArray[np.float64], limits: NDArray[np.float64]) -> NDArray[np.float64]:
    """The closest point with rows @ x <= limits, exactly: the best of the projections onto every set of tight rows."""
    best, nearest = math.inf, point
    for count in range(len(point) + 1):
        for tight in itertools.combinations(range(len(rows)), count):
            chosen = rows[list(tight)]
            onto = point - np.linalg.pinv(chosen) @ (chosen @ point - limits[list(tight)]) if count else point
            apart = float(((point - onto) ** 2).sum())
            if apart < best and (rows @ onto <= limits + 1e-12).all():
                best, nearest = apart, onto
    return nearest


def equilibrium_at(pot: float, infosets: Sequence[str], share: float) -> NDArray[np.float64]:
    """``probabilities[slots]`` of one equilibrium: ``share`` runs from 0 at one end of their line to 1 at the other.

    Free and coupled choices follow dominance: call with a king and fold a jack; for P < 2, player 1 then calls with a
    queen with a probability between (P-1)/(P+1) and η.
    """
    one = 1 / (pot + 1)
    line = _equilibria(pot)[0]
    bets = {infoset: constant + slope * share for infoset, (constant, slope) in line.known.items()}
    queen = (pot - 1) * one + share * (2 - pot) * one
    bets = {"K:pb": 1.0, "J:p": one, "J:b": 0.0, "Q:b": queen, "K:b": 1.0} | bets
    ordered = np.array([bets[infoset] for infoset in infosets])
    return np.column_stack([1 - ordered, ordered]).ravel()
