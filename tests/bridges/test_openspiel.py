"""OpenSpiel's own algorithms on our games and strategies, and its policies as ours."""

from __future__ import annotations

import random

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import cfr, evaluate_bots, exploitability, generate_playthrough

import fogplay as fp
from fogplay.bridges import openspiel
from fogplay.evaluate import measure
from fogplay.games.registry import registered

SMALL = [
    "kuhn",
    "kuhn(players=3)",
    "bluff(1,1,3)",
    "goofspiel(3)",
    "goofspiel(cards=4,bids=revealed,payoff=percent)",
    "matrix",
    "matrix([[[1,2],[3,4]],[[5,6],[7,8]]])",
    "ocp(5)",
    "pam(1,2,3)",
    "repeated(kuhn,hands=1)",
    "holdem(rounds=1,ranks=4,suits=1,hole=1)",
    "pyspiel:kuhn_poker",
]


@pytest.mark.parametrize("spec", SMALL)
def test_its_exploitability_of_our_strategy_is_ours(spec: str) -> None:
    flat = fp.flatten(spec)
    mixed = flat.shares(np.random.default_rng(1).random(flat.num_slots))
    strategy = fp.TabularStrategy.of(flat, mixed, "at random")
    policy = openspiel.to_policy(strategy)
    ours = measure(flat, mixed)
    theirs = exploitability.nash_conv(policy.game, policy, return_only_nash_conv=False)
    assert theirs.nash_conv == pytest.approx(ours.nash_conv, abs=1e-12, rel=1e-12)
    improvements = [best - value for best, value in zip(ours.best_response_values, ours.values, strict=True)]
    assert list(theirs.player_improvements) == pytest.approx(improvements, abs=1e-12, rel=1e-12)


@pytest.mark.slow
def test_its_exploitability_of_our_leduc_is_ours() -> None:
    strategy = fp.solve("leduc", iterations=100).strategy
    policy = openspiel.to_policy(strategy)
    assert exploitability.nash_conv(policy.game, policy) == pytest.approx(fp.evaluate(strategy).nash_conv, abs=1e-12)


def test_every_registered_game_is_there() -> None:
    """Leduc is among the slow tests; Doudizhu has no small version, so no strategy of all its infosets exists."""
    assert {spec.partition("(")[0] for spec in SMALL} >= {*registered()} - {"leduc", "doudizhu"}


@pytest.mark.parametrize("spec", [spec for spec in SMALL if not spec.startswith("pyspiel")])
def test_there_and_back(spec: str) -> None:
    flat = fp.flatten(spec)
    strategy = fp.TabularStrategy.of(flat, flat.shares(np.random.default_rng(2).random(flat.num_slots)), "at random")
    back = openspiel.from_policy(openspiel.to_policy(strategy))
    assert back.game == strategy.game
    assert np.array_equal(back.probabilities, strategy.probabilities)


def test_its_solvers_solve_our_games_and_we_measure_them() -> None:
    game = openspiel.to_game("kuhn")
    solver = cfr.CFRPlusSolver(game)
    for _ in range(30):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    found = openspiel.from_policy(policy)
    assert fp.evaluate(found).nash_conv == pytest.approx(exploitability.nash_conv(game, policy), abs=1e-12)
    assert fp.evaluate(found).nash_conv < 0.05


def test_its_policies_in_cpp_are_strategies_too() -> None:
    theirs = pyspiel.load_game("kuhn_poker")
    solver = pyspiel.CFRSolver(theirs)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    found = openspiel.from_policy(policy, theirs, "their CFR")
    assert found.method == "their CFR"
    assert fp.evaluate(found).nash_conv == pytest.approx(pyspiel.nash_conv(theirs, policy), abs=1e-12)
    even = openspiel.from_policy(policies.UniformRandomPolicy(theirs))
    assert set(even.probabilities) == {0.5}


def test_our_games_are_loaded_by_name_and_copied() -> None:
    game = pyspiel.load_game(openspiel.NAME, {"game": "goofspiel(cards=3)"})
    assert (game.num_players(), game.num_distinct_actions(), game.max_game_length()) == (2, 3, 4)
    assert game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    state = game.new_initial_state()
    copy = state.clone()
    state.apply_action(2)
    assert copy.history() == []
    assert copy.legal_actions() == [0, 1, 2]
    assert state.information_state_string(1) == fp.load("goofspiel(3)").new_initial_state().child(
        2
    ).information_state_string(1)


@pytest.mark.parametrize("spec", registered())
def test_random_games(spec: str) -> None:
    """Hands of every size are played through OpenSpiel's interface to the end."""
    game, rng = openspiel.to_game(spec), random.Random(1)
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            assert sum(chances) == pytest.approx(1)
            state.apply_action(rng.choices(outcomes, chances)[0])
        else:
            assert state.information_state_string(state.current_player())
            state.apply_action(rng.choice(state.legal_actions()))
    assert state.returns() == [float(each) for each in state.held.state.returns()]


def test_a_playthrough() -> None:
    lines = generate_playthrough.playthrough_lines(f"{openspiel.NAME}()", seed=1)
    assert any("InformationStateString" in line for line in lines)


def test_bots() -> None:
    game = openspiel.to_game("kuhn")
    strategy = fp.solve("kuhn", "lp").strategy
    bots = [openspiel.Bot(game, 0, strategy, seed=1), openspiel.Bot(game, 1, "uniform", seed=2)]
    rng = np.random.default_rng(3)
    assert all(bot.provides_policy() for bot in bots)
    won = [evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng) for _ in range(200)]
    assert np.all(np.sum(won, axis=1) == 0)
    state = game.new_initial_state()
    for action in (2, 0):
        state.apply_action(action)
    shares, action = bots[0].step_with_policy(state)
    assert dict(shares) == pytest.approx(dict(enumerate(strategy["K:"].values())))
    assert action in (0, 1)


def test_a_search_sits_at_their_table() -> None:
    theirs = pyspiel.load_game("kuhn_poker")
    bots = [openspiel.Bot(theirs, 0, "search:smooth-uct:50", seed=1), openspiel.Bot(theirs, 1, "uniform", seed=2)]
    won = evaluate_bots.evaluate_bots(theirs.new_initial_state(), bots, np.random.default_rng(3))
    assert sum(won) == 0


def test_a_strategy_of_another_game_is_refused() -> None:
    with pytest.raises(fp.FogplayError, match="it has no infoset"):
        openspiel.to_policy(fp.solve("kuhn", iterations=1).strategy, "goofspiel(3)")
