"""Two-player Kuhn poker against its equilibria, exactly, for any initial pot from 1 on.

Name the probabilities of a bet: α with a jack and γ with a king by player 0, β of its call with a queen; η of the
bluff of player 1 with a jack, ξ of its call with a queen, θ of its bet with a queen after a pass. With an initial pot P
and a bet of 1 the equilibria are

- P = 2: γ anything in [0, 1], α = γ/3, β = (1+γ)/3; η = ξ = 1/3, θ = 0 (Kuhn's own; 2011 paper, section 2.2);
- P > 2: γ = 1, α = 1/(P+1), β = P/(P+1); η = 1/(P+1), ξ = (P-1)/(P+1), θ anything in [0, (P-2)/(P+1)];
- 1 ≤ P < 2: α = γ = θ = 0, β = (P-1)/(P+1); η = 1/(P+1), and at P = 1 anything up to that; and since player 0 never
  bets, player 1's calls with jack, queen and king may be anything that gives it no reason to: see
  ``_answers_that_deter``.

A king is worth a bet only as long as the other side calls as often as it would have bluffed, which is a tie at P = 2
alone. Where a player's own play never leads (a king that always bets has no second decision), any choice is in
equilibrium. For P > 2 note that θ, a dominated action, is played in equilibrium.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.kuhn import Kuhn
from fogplay.games.registry import load
from fogplay.trees import FlatGame

# Seven actions are dominated, the first and the sixth only weakly or once others are gone: (infoset, action).
DOMINATED = (("Q:", 1), ("J:pb", 1), ("K:pb", 0), ("J:b", 1), ("K:b", 0), ("Q:p", 1), ("K:p", 0))
ANSWERS = ("J:p", "J:b", "Q:b", "K:b")  # player 1's bluff, and its answers to a bet


def squared_error(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """The mean over the twelve infosets of (bet probability - closest equilibrium's)².

    The papers' SQR-E, SQ-ERR and mean squared error.
    """
    pot = _pot_of(flat)
    bets = dict(zip(flat.infosets, probabilities.reshape(flat.num_infosets, 2)[:, 1].tolist(), strict=True))
    return min(_distance(bets, piece) for piece in _equilibria(pot)) / flat.num_infosets


def dominated_error(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """The sum of the probabilities of the seven dominated actions (the papers' DOM-E, DOM-ERR)."""
    _pot_of(flat)
    names = {name: number for number, name in enumerate(flat.infosets)}
    return float(sum(probabilities[flat.slots(names[infoset])][action] for infoset, action in DOMINATED))


class _Piece(NamedTuple):
    """A convex piece of the set of equilibria.

    Some infosets bet with a known probability, constant + slope * t for one t in [0, 1]; some are free; and three may
    be bound together by ``answers``: coefficients and limits of the inequalities that ANSWERS must meet.
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
    """Inequalities on η and the calls (j, q, k) of player 1 that leave player 0 no reason to bet, for 1 ≤ P < 2.

    A king's bet gains (j + q) / 2 and its pass η / 2; a queen's bet gains j against a jack and loses against a king
    that calls, its pass loses the pot to a bluff; a jack's bet wins the pot from whoever folds.
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


def equilibrium_at(flat: FlatGame, share: float) -> NDArray[np.float64]:
    """``probabilities[slots]`` of one equilibrium: ``share`` runs from 0 at one end of their line to 1 at the other.

    Choices that are free, or bound together, are those that dominate: to call with a king and to fold a jack; player
    1 then calls with a queen between (P-1)/(P+1) and η where P < 2.
    """
    pot = _pot_of(flat)
    one = 1 / (pot + 1)
    line = _equilibria(pot)[0]
    bets = {infoset: constant + slope * share for infoset, (constant, slope) in line.known.items()}
    queen = (pot - 1) * one + share * (2 - pot) * one
    bets = {"K:pb": 1.0, "J:p": one, "J:b": 0.0, "Q:b": queen, "K:b": 1.0} | bets
    ordered = np.array([bets[infoset] for infoset in flat.infosets])
    return np.column_stack([1 - ordered, ordered]).ravel()


def _pot_of(flat: FlatGame) -> float:
    game = load(flat.name) if flat.name.startswith(Kuhn.name) else None
    if type(game) is not Kuhn or game.players != 2 or game.pot < 1:
        raise FogplayError(f"equilibria in closed form are known for kuhn(players=2,pot>=1), not for {flat.name}")
    return float(game.pot)
