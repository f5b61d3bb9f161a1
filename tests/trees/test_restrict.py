"""Games in which the others are bound to a model: the transforms against plain rules, known values and theory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fogplay import FogplayError, flatten, solve
from fogplay.evaluate import best_response, equilibrium, measure
from fogplay.evaluate.exact import reach_of_all
from fogplay.games.game import CHANCE
from fogplay.kernels.sequences import value_of
from fogplay.solvers.full_width import WEIGHTINGS, FullWidth
from fogplay.trees import FlatGame
from fogplay.trees.restrict import data_biased, restricted_nash
from tests.helpers import random_probabilities
from tests.random_games import RandomGame, random_games

SMALL = ["kuhn", "leduc(suits=unseen)", "ocp(8)", "goofspiel(4)", "bluff(1,1,3)", "pam(2,2,3)", "rps", "two-by-two"]
CONFIDENCES = (0.0, 0.2, 0.5, 0.8, 0.95, 1.0)


@dataclass(frozen=True)
class Bound:
    """A slow, obvious twin in plain Python: rules around rules, with a coin at the root or at every decision."""

    flat: FlatGame
    responder: int
    fixed: NDArray[np.float64]
    root: float  # how likely the coin at the root binds the others throughout
    confidence: NDArray[np.float64]  # [infosets] of the coins at every decision

    def num_players(self) -> int:
        return self.flat.num_players

    def new_initial_state(self) -> BoundState:
        return BoundState(self, self.flat.root, "root")

    def __str__(self) -> str:
        return "bound"


class BoundState:
    """A state, and what is next: the coin at the ``root``, a ``coin``, a ``forced`` move, or a ``free`` one."""

    def __init__(self, game: Bound, state: Any, stage: str, throughout: bool = False) -> None:
        self.game, self.state, self.stage, self.throughout = game, state, stage, throughout

    def _after(self, state: Any) -> BoundState:
        player = state.current_player()
        if player < 0 or player == self.game.responder:
            return BoundState(self.game, state, "free", self.throughout)
        return BoundState(self.game, state, "forced" if self.throughout else "coin", self.throughout)

    def _infoset(self) -> int:
        player = self.state.current_player()
        return self.game.flat.infosets.index(self.state.information_state_string(player))

    def current_player(self) -> int:
        return int(self.state.current_player()) if self.stage == "free" else CHANCE

    def is_terminal(self) -> bool:
        return self.stage != "root" and bool(self.state.is_terminal())

    def is_chance_node(self) -> bool:
        return self.current_player() == CHANCE

    def chance_outcomes(self) -> list[tuple[int, float]]:
        if self.stage == "free":
            return list(self.state.chance_outcomes())
        if self.stage == "forced":
            shares = self.game.fixed[self.game.flat.slots(self._infoset())].tolist()
            return list(zip(self.state.legal_actions(), shares, strict=True))
        sure = self.game.root if self.stage == "root" else float(self.game.confidence[self._infoset()])
        return [(0, 1.0 - sure), (1, sure)]

    def legal_actions(self) -> Any:
        return self.state.legal_actions()

    def child(self, action: int) -> BoundState:
        if self.stage == "root":
            return BoundState(self.game, self.state, "", throughout=action == 1)._after(self.state)
        if self.stage == "coin":
            return BoundState(self.game, self.state, ("free", "forced")[action])
        return self._after(self.state.child(action))

    def information_state_string(self, player: int) -> str:
        return str(self.state.information_state_string(player))

    def action_to_string(self, player: int, action: int) -> str:
        return str(self.state.action_to_string(player, action)) if self.stage == "free" else f"{self.stage} {action}"

    def returns(self) -> Any:
        return self.state.returns()


def restricted_and_twin(flat: FlatGame, responder: int, kind: str, seed: int) -> tuple[FlatGame, FlatGame]:
    rng = np.random.default_rng(seed)
    fixed = random_probabilities(flat, seed)
    if kind == "rnr":
        sure, none = float(rng.random()), np.zeros(flat.num_infosets)
        return restricted_nash(flat, responder, fixed, sure), flatten(Bound(flat, responder, fixed, sure, none))
    confidence = rng.random(flat.num_infosets) * (rng.random(flat.num_infosets) < 0.8)
    return data_biased(flat, responder, fixed, confidence), flatten(Bound(flat, responder, fixed, 0.0, confidence))


def values(flat: FlatGame, probabilities: NDArray[np.float64]) -> list[float]:
    reach = reach_of_all(flat, probabilities)
    return [
        value_of(flat.sequences, player, probabilities, reach, np.empty_like(reach))
        for player in range(flat.num_players)
    ]


def in_order_of(flat: FlatGame, other: FlatGame) -> NDArray[np.int64]:
    """[slots of ``other``] the slots of ``flat`` with the same infoset."""
    found = [np.arange(flat.num_slots)[flat.slots(flat.infosets.index(name))] for name in other.infosets]
    return np.concatenate([np.zeros(0, np.int64), *found])


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
@given(random_games(), st.integers(0, 2), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_values_are_those_of_the_plain_rules(kind: str, game: RandomGame, responder: int, seed: int) -> None:
    flat = flatten(game)
    restricted, twin = restricted_and_twin(flat, responder % flat.num_players, kind, seed)
    strategy = random_probabilities(flat, seed + 1)
    expected = values(twin, strategy[in_order_of(flat, twin)])
    np.testing.assert_allclose(values(restricted, strategy), expected, atol=1e-12)
    assert restricted.infosets == flat.infosets


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
@pytest.mark.parametrize("algorithm", list(WEIGHTINGS))
@pytest.mark.parametrize("spec", ["kuhn", "kuhn(players=3)", "leduc(suits=unseen)", "goofspiel(3)"])
def test_cfr_learns_what_it_learns_on_the_plain_rules(kind: str, algorithm: str, spec: str) -> None:
    """Iteration for iteration; only the averages of bound players are weighted otherwise, by how they are played."""
    flat = flatten(spec)
    responder = flat.num_players - 1
    restricted, twin = restricted_and_twin(flat, responder, kind, 3)
    ours, theirs = FullWidth(restricted, algorithm, {}), FullWidth(twin, algorithm, {})
    order = in_order_of(flat, twin)
    for learner in (ours, theirs):
        learner.advance(1, 20)
    np.testing.assert_allclose(ours.scratch.strategy[order], theirs.scratch.strategy, atol=1e-7)
    own = np.repeat(flat.tree.infoset_player == responder, np.diff(flat.tree.infoset_start))[order]
    np.testing.assert_allclose(ours.average()[order][own], theirs.average()[own], atol=1e-7)


@pytest.mark.parametrize("spec", SMALL)
@pytest.mark.parametrize("responder", [0, 1])
def test_from_equilibrium_to_best_response(spec: str, responder: int) -> None:
    """The value of the restricted game to the responder: its ends are known, and it rises, ever faster for rnr."""
    flat = flatten(spec)
    fixed, total = random_probabilities(flat, 7), flat.constant_sum
    assert total is not None

    def value(restricted: FlatGame) -> float:
        first, found = equilibrium(restricted)
        assert abs(measure(restricted, found).nash_conv) < 1e-8 * flat.payoff_range
        return first if responder == 0 else total - first

    nash, best = value(flat), best_response(flat, fixed, responder)[0]
    close = 1e-8 * flat.payoff_range
    everywhere = np.ones(flat.num_infosets)
    by_coin = [value(restricted_nash(flat, responder, fixed, p)) for p in CONFIDENCES]
    by_infoset = [value(data_biased(flat, responder, fixed, p * everywhere)) for p in CONFIDENCES]
    for curve in (by_coin, by_infoset):
        assert curve[0] == pytest.approx(nash, abs=close)
        assert curve[-1] == pytest.approx(best, abs=close)
        assert (np.diff(curve) >= -close).all()
    slopes = np.diff(by_coin) / np.diff(CONFIDENCES)
    assert (np.diff(slopes) >= -10 * close / np.diff(CONFIDENCES).min()).all()


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
@pytest.mark.parametrize("spec", SMALL)
def test_solvers_find_the_value_of_the_linear_program(kind: str, spec: str) -> None:
    flat = flatten(spec)
    fixed = random_probabilities(flat, 11)
    half = np.full(flat.num_infosets, 0.6)
    game = restricted_nash(flat, 0, fixed, 0.6) if kind == "rnr" else data_biased(flat, 0, fixed, half)
    exact, _ = equilibrium(game)
    for algorithm, iterations, margin in (
        ("cfr+", 2_000, 1e-4),
        ("dcfr", 2_000, 1e-4),
        ("pcfr+", 2_000, 1e-3),
        ("os-mccfr", 1_000_000, 0.02),
        ("es-mccfr", 400_000, 0.01),
        ("cs-mccfr", 40_000, 0.02),
        ("smooth-uct", 1_000_000, 0.02),
    ):
        result = solve(game, algorithm, iterations, seed=1)
        quality = measure(game, result.strategy.probabilities)
        assert quality.values[0] == pytest.approx(exact, abs=margin * flat.payoff_range), algorithm
        assert 0 <= quality.nash_conv + 1e-9 < 3 * margin * flat.payoff_range, algorithm


def test_coins_nobody_trusts_leave_the_game_as_it_was() -> None:
    flat = flatten("leduc")
    same = data_biased(flat, 0, flat.uniform(), np.zeros(flat.num_infosets))
    assert all((a == b).all() for a, b in zip(same.tree, flat.tree, strict=True))


def test_a_restricted_game_keeps_the_names_and_the_calibration() -> None:
    flat = flatten("leduc")
    game = restricted_nash(flat, 1, flat.uniform(), 0.5)
    assert game.name == "rnr(leduc(players=2,suits=seen),responder=1,confidence=0.5)"
    assert game.game == flat.name
    assert solve(game, "uct", 10).parameters["c"] == solve(flat, "uct", 10).parameters["c"] == 20


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda flat: restricted_nash(flat, 2, flat.uniform(), 0.5), "responder must be a player from 0 to 1, not 2"),
        (lambda flat: restricted_nash(flat, 0, flat.uniform(), 1.5), "confidence must be a number from 0 to 1"),
        (lambda flat: data_biased(flat, 0, flat.uniform(), np.full(3, 0.5)), "12 numbers from 0 to 1, one per infoset"),
        (lambda flat: data_biased(flat, 0, flat.uniform(), np.full(12, np.nan)), "12 numbers from 0 to 1"),
        (
            lambda flat: restricted_nash(restricted_nash(flat, 0, flat.uniform(), 0.5), 0, flat.uniform(), 0.5),
            "already restricted; restrict the original game, kuhn",
        ),
    ],
)
def test_invalid_arguments_are_refused(make: Any, says: str) -> None:
    with pytest.raises(FogplayError, match=says):
        make(flatten("kuhn"))
