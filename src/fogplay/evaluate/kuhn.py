"""Two-player Kuhn poker against its known equilibria, exactly, for any initial pot above 1.

Name the probabilities of a bet: α with a jack and γ with a king by player 0, β of its call with a queen; η of the
bluff of player 1 with a jack, ξ of its call with a queen, θ of its bet with a queen after a pass. With an initial pot P
and a bet of 1 the equilibria are

- P = 2: γ anything in [0, 1], α = γ/3, β = (1+γ)/3; η = ξ = 1/3, θ = 0 (Kuhn's own; 2011 paper, section 2.2);
- P > 2: γ = 1, α = 1/(P+1), β = P/(P+1); η = 1/(P+1), ξ = (P-1)/(P+1), θ anything in [0, (P-2)/(P+1)];
- 1 < P < 2: γ = α = 0, β = (P-1)/(P+1); η = 1/(P+1), θ = 0, ξ anything in [(P-1)/(P+1), 1/(P+1)].

A king or queen is worth a bet only as long as the other side calls as often as it would have bluffed, which is a tie
at P = 2 alone. Everywhere else a player does what dominates, also where its own play never leads (a king that always
bets would still call). For P > 2 note that θ, a dominated action, is played in equilibrium.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.kuhn import Kuhn
from fogplay.games.registry import load
from fogplay.trees import FlatGame

# Seven actions are dominated, the first and the sixth only weakly or once others are gone: (infoset, action).
DOMINATED = (("Q:", 1), ("J:pb", 1), ("K:pb", 0), ("J:b", 1), ("K:b", 0), ("Q:p", 1), ("K:p", 0))


def squared_error(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """The mean over the twelve infosets of (bet probability - closest equilibrium's)².

    The papers' SQR-E, SQ-ERR and mean squared error; the equilibria are a line, so the closest one is a projection.
    """
    line = _equilibria(flat)
    bets = probabilities.reshape(flat.num_infosets, 2)[:, 1]
    free = float(line.slope @ (bets - line.constant)) / float(line.slope @ line.slope)
    return float(np.mean((bets - line.constant - line.slope * min(max(free, line.low), line.high)) ** 2))


def dominated_error(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """The sum of the probabilities of the seven dominated actions (the papers' DOM-E, DOM-ERR)."""
    _pot_of(flat)
    names = {name: number for number, name in enumerate(flat.infosets)}
    return float(sum(probabilities[flat.slots(names[infoset])][action] for infoset, action in DOMINATED))


def equilibrium_at(flat: FlatGame, share: float) -> NDArray[np.float64]:
    """``probabilities[slots]`` of one equilibrium: ``share`` runs from 0 at one end of their line to 1 at the other."""
    line = _equilibria(flat)
    bets = line.constant + line.slope * (line.low + share * (line.high - line.low))
    return np.column_stack([1 - bets, bets]).ravel()


class _Line(NamedTuple):
    """Bet probabilities of all equilibria: constant + slope * t for t from low to high."""

    constant: NDArray[np.float64]  # [infosets]
    slope: NDArray[np.float64]  # [infosets]
    low: float
    high: float


def _equilibria(flat: FlatGame) -> _Line:
    pot = _pot_of(flat)
    one = 1 / (pot + 1)
    bet = {infoset: (1.0 - action, 0.0) for infoset, action in DOMINATED}  # infoset: (constant, slope)
    bet["J:p"] = (one, 0.0)
    bet["Q:b"] = ((pot - 1) * one, 0.0)
    if pot == 2:
        low, high = 0.0, 1.0
        bet |= {"J:": (0.0, one), "K:": (0.0, 1.0), "Q:pb": (one, one)}
    elif pot > 2:
        low, high = 0.0, (pot - 2) * one
        bet |= {"J:": (one, 0.0), "K:": (1.0, 0.0), "Q:pb": (pot * one, 0.0), "Q:p": (0.0, 1.0)}
    else:
        low, high = (pot - 1) * one, one
        bet |= {"J:": (0.0, 0.0), "K:": (0.0, 0.0), "Q:pb": ((pot - 1) * one, 0.0), "Q:b": (0.0, 1.0)}
    both = np.array([bet[infoset] for infoset in flat.infosets])
    return _Line(both[:, 0], both[:, 1], low, high)


def _pot_of(flat: FlatGame) -> float:
    game = load(flat.name) if flat.name.startswith(Kuhn.name) else None
    if type(game) is not Kuhn or game.players != 2 or game.pot <= 1:
        raise FogplayError(f"equilibria in closed form are known for kuhn(players=2,pot>1), not for {flat.name}")
    return float(game.pot)
