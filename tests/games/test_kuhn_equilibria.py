"""The closed-form equilibria of Kuhn poker, compared with best responses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from fogplay import FogplayError, solve
from fogplay.evaluate import equilibrium, measure
from fogplay.evaluate.measures import measures_of
from fogplay.games import kuhn_equilibria
from fogplay.games.registry import load
from fogplay.trees import FlatGame, flatten
from fogplay.trees.restrict import restricted_nash

POTS = (1, 1.1, 1.5, 1.9, 2, 2.5, 3, 4, 5, 6, 7, 8, 50)


def squared_error(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    return measures_of(flat)["squared_error"](flat, probabilities)


def dominated_error(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    return measures_of(flat)["dominated_error"](flat, probabilities)


def equilibrium_at(flat: FlatGame, share: float) -> NDArray[np.float64]:
    return kuhn_equilibria.equilibrium_at(load(flat.name).pot, flat.infosets, share)


@pytest.mark.parametrize("pot", POTS)
def test_the_whole_line_is_in_equilibrium_and_what_lies_beyond_is_not(pot: float) -> None:
    flat = flatten(f"kuhn(pot={pot})")
    value, _ = equilibrium(flat)
    for share in (0.0, 0.3, 1.0):
        probabilities = equilibrium_at(flat, share)
        assert measure(flat, probabilities).nash_conv == pytest.approx(0, abs=1e-12)
        assert measure(flat, probabilities).values[0] == pytest.approx(value, abs=1e-12)
        assert squared_error(flat, probabilities) == pytest.approx(0, abs=1e-24)
    beyond = equilibrium_at(flat, 1.2 if pot != 2 else 0.5)
    if pot == 2:  # the line ends where probabilities do
        beyond = (
            beyond + 0.05 * np.array([1, -1] * 12) * (np.array(flat.infosets)[:, None] == "K:").repeat(2, 1).ravel()
        )
    assert measure(flat, beyond).nash_conv > 1e-3
    assert squared_error(flat, beyond) > 1e-6


@pytest.mark.parametrize("pot", POTS)
def test_the_error_is_zero_in_equilibrium_and_nowhere_else(pot: float) -> None:
    """Step off an equilibrium, one and two infosets at a time: the error is 0 exactly where nash_conv stays 0."""
    flat = flatten(f"kuhn(pot={pot})")
    rng = np.random.default_rng(3)
    still = 0
    for _ in range(150):
        bets = equilibrium_at(flat, rng.choice([0.0, 0.5, 1.0])).reshape(12, 2)[:, 1]
        for infoset in rng.choice(12, size=rng.integers(1, 3), replace=False):
            bets[infoset] = np.clip(bets[infoset] + rng.choice([-0.3, -0.02, 0.02, 0.3]), 0, 1)
        moved = np.column_stack([1 - bets, bets]).ravel()
        in_equilibrium = measure(flat, moved).nash_conv < 1e-9
        still += in_equilibrium
        assert (squared_error(flat, moved) < 1e-12) == in_equilibrium
    assert 0 < still < 150


def test_the_closest_equilibrium_is_the_closest() -> None:
    """Against many equilibria sampled from the definition, none is closer than the one found."""
    rng = np.random.default_rng(4)
    for pot in (1, 1.3, 2, 8):
        flat = flatten(f"kuhn(pot={pot})")
        for _ in range(10):
            bets = rng.random(12)
            found = squared_error(flat, np.column_stack([1 - bets, bets]).ravel())
            for share in np.linspace(0, 1, 21):
                other = equilibrium_at(flat, share).reshape(12, 2)[:, 1]
                assert found <= np.mean((bets - other) ** 2) + 1e-12


def test_the_papers_own_numbers() -> None:
    """2011 paper, section 2.2: α = γ/3, β = (1 + γ)/3, η = ξ = 1/3."""
    flat = flatten("kuhn")
    bets = dict(zip(flat.infosets, equilibrium_at(flat, 0.6)[1::2].tolist(), strict=True))
    assert bets == pytest.approx(
        {"J:": 0.2, "Q:": 0, "K:": 0.6, "J:pb": 0, "Q:pb": 1.6 / 3, "K:pb": 1}
        | {"J:b": 0, "Q:b": 1 / 3, "K:b": 1, "J:p": 1 / 3, "Q:p": 0, "K:p": 1}
    )


def test_errors_by_hand() -> None:
    flat = flatten("kuhn")
    probabilities = equilibrium_at(flat, 0.0)
    queen = flat.infosets.index("Q:")
    probabilities[flat.slots(queen)] = [0.75, 0.25]
    assert dominated_error(flat, probabilities) == pytest.approx(0.25)
    assert squared_error(flat, probabilities) == pytest.approx(0.0625 / 12)
    assert dominated_error(flat, flat.uniform()) == pytest.approx(3.5)


@pytest.mark.parametrize("pot", [1.5, 2, 8])
def test_cfr_plus_approaches_the_equilibria(pot: float) -> None:
    flat = flatten(f"kuhn(pot={pot})")
    assert squared_error(flat, solve(flat, "cfr+", 20_000).strategy.on(flat)) < 1e-5


@pytest.mark.parametrize("spec", ["kuhn(players=3)", "kuhn(pot=0.5)", "ocp(cards=3)", "leduc"])
def test_other_games_have_no_such_measures(spec: str) -> None:
    assert list(measures_of(flatten(spec))) == ["nash_conv", "winnings", "risk"]
    for name in ("squared_error", "dominated_error"):
        with pytest.raises(FogplayError, match=f"measures must be nash_conv or winnings or risk, not '{name}'"):
            solve(spec, "cfr+", 1, curve=1, measures=[name])


def test_a_restricted_game_has_other_equilibria() -> None:
    flat = flatten("kuhn")
    assert "squared_error" not in measures_of(restricted_nash(flat, 0, flat.uniform(), 0.5))
