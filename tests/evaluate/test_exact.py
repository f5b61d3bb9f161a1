from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fogplay import FogplayError, Strategy, evaluate, load, solve
from fogplay.evaluate import best_response, measure
from fogplay.evaluate.situations import situations
from fogplay.trees import flatten
from tests.helpers import as_policy, random_probabilities
from tests.oracles import best_response_value, expected_values
from tests.random_games import RandomGame, random_games
from tests.trees.test_flatten import Forgetful


@given(random_games(), st.integers(0, 10**6))
@settings(max_examples=80, deadline=None)
def test_values_and_best_responses_are_the_oracles(game: RandomGame, seed: int) -> None:
    flat = flatten(game)
    probabilities = random_probabilities(flat, seed)
    policy, root = as_policy(flat, probabilities), game.new_initial_state()
    quality = measure(flat, probabilities)
    np.testing.assert_allclose(quality.values, expected_values(root, policy), atol=1e-9)
    for player in range(game.num_players()):
        wanted = best_response_value(root, policy, player)
        earned, response = best_response(flat, probabilities, player)
        assert earned == pytest.approx(wanted, abs=1e-9)
        assert expected_values(root, as_policy(flat, response))[player] == pytest.approx(wanted, abs=1e-9)
    assert quality.nash_conv >= -1e-9
    assert quality.exploitability == pytest.approx(quality.nash_conv / game.num_players())


@pytest.mark.parametrize(
    ("spec", "theirs"),
    [
        ("kuhn", "kuhn_poker"),
        ("kuhn(players=3)", "kuhn_poker(players=3)"),
        ("leduc", "leduc_poker"),
        ("bluff(1,1,4)", "liars_dice(dice_sides=4)"),
    ],
)
def test_open_spiels_best_responses(spec: str, theirs: str) -> None:
    flat, game = flatten(spec), pyspiel.load_game(theirs)
    quality = measure(flat, flat.uniform())
    policy = pyspiel.UniformRandomPolicy(game)
    assert quality.nash_conv == pytest.approx(pyspiel.nash_conv(game, policy), abs=1e-9)
    assert flat.num_infosets == flatten(game).num_infosets
    there = measure(flatten(game), flatten(game).uniform())
    np.testing.assert_allclose(quality.values, there.values, atol=1e-12)
    np.testing.assert_allclose(quality.best_response_values, there.best_response_values, atol=1e-12)


def test_imperfect_recall_is_refused_with_the_reason() -> None:
    flat = flatten(Forgetful())
    with pytest.raises(
        FogplayError, match="imperfect recall, so its best responses cannot be computed exactly: player 0"
    ):
        measure(flat, flat.uniform())
    result = solve(Forgetful(), "cfr", 10)
    assert result.nash_conv is None
    assert result.strategy.probabilities.sum() == pytest.approx(3)


def test_evaluate_takes_a_strategy_and_its_own_game() -> None:
    strategy = solve("kuhn", "cfr+", 2000).strategy
    assert evaluate(strategy).values[0] == pytest.approx(-1 / 18, abs=1e-3)
    assert evaluate(strategy, load("kuhn")) == evaluate(strategy)
    with pytest.raises(FogplayError, match=r"for kuhn\(players=2,pot=2\), not for leduc"):
        evaluate(strategy, "leduc")


def test_a_strategy_of_an_open_spiel_game_is_evaluated_on_it() -> None:
    strategy = solve(pyspiel.load_game("kuhn_poker"), "cfr+", 1000).strategy
    assert evaluate(strategy).nash_conv < 0.001
    assert isinstance(strategy, Strategy)


def test_situations_say_what_actions_earn() -> None:
    """Kuhn by hand: a king that bets into a uniform caller wins 1 or 2; a jack facing a bet loses 2 by calling."""
    flat = flatten("kuhn")
    seen = situations(flat, flat.uniform())
    names = {name: number for number, name in enumerate(flat.infosets)}
    king, jack = names["K:"], names["J:b"]
    assert seen.value[flat.slots(king)][1] == pytest.approx(1.5)
    assert seen.value[flat.slots(jack)].tolist() == pytest.approx([-1, -2])
    assert seen.likelihood[king] == pytest.approx(1 / 3)
    assert seen.likelihood[jack] == pytest.approx(1 / 6)
