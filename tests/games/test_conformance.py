"""What every game must do, whatever its rules."""

from __future__ import annotations

import copy
import itertools
import math
import random
from typing import Any

import pytest

from fogplay.games import CHANCE, TERMINAL, State, load, registered
from fogplay.games.registry import presets

from .specs import ALL_SPECS, FULLY_WALKED, SPECS, SUMS, actions_of, chosen, every_state, playout

PLAYOUTS = 40


def seen(state: State) -> tuple[Any, ...]:
    """Everything that a state answers, to compare two of them."""
    player = state.current_player()
    answers: tuple[Any, ...] = (player, state.is_terminal(), state.is_chance_node(), str(state))
    if player == TERMINAL:
        return (*answers, tuple(state.returns()))
    names = tuple(state.action_to_string(player, action) for action in actions_of(state))
    if player == CHANCE:
        return (*answers, names, tuple(state.chance_outcomes()))
    return (*answers, names, tuple(state.legal_actions()), state.information_state_string(player))


def test_every_game_and_preset_is_listed() -> None:
    assert sorted(SPECS) == sorted([*registered(), *presets()])


@pytest.mark.parametrize(("name", "spec"), [(name, spec) for name, specs in SPECS.items() for spec in specs])
def test_spec_round_trip(name: str, spec: str) -> None:
    game = load(spec)
    if name in registered():
        assert game.name == name
    assert load(str(game)) == game
    assert str(load(str(game))) == str(game)
    assert hash(load(str(game))) == hash(game)


@pytest.mark.parametrize("spec", ALL_SPECS)
def test_random_playouts(spec: str) -> None:
    game = load(spec)
    rng = random.Random(spec)
    players = range(game.num_players())
    meaning: dict[str, tuple[int, tuple[int, ...]]] = {}
    for _ in range(PLAYOUTS):
        *states, last = playout(game, rng)
        for state in states:
            player = state.current_player()
            actions = actions_of(state)
            assert player in players or player == CHANCE
            assert state.is_chance_node() == (player == CHANCE)
            assert not state.is_terminal()
            assert actions
            assert actions == sorted(set(actions))
            assert all(type(action) is int and action >= 0 for action in actions)
            names = [state.action_to_string(player, action) for action in actions]
            assert all(isinstance(name, str) and name for name in names)
            assert len(set(names)) == len(names)
            if player == CHANCE:
                probabilities = [probability for _, probability in state.chance_outcomes()]
                assert min(probabilities) > 0
                assert math.isclose(sum(probabilities), 1, abs_tol=1e-12)
            else:
                infoset = state.information_state_string(player)
                assert isinstance(infoset, str)
                assert infoset
                assert "\n" not in infoset
                assert meaning.setdefault(infoset, (player, tuple(actions))) == (player, tuple(actions))
        assert last.current_player() == TERMINAL
        assert last.is_terminal()
        assert not last.is_chance_node()
        returns = list(last.returns())
        assert len(returns) == len(players)
        assert all(isinstance(payoff, float) and math.isfinite(payoff) for payoff in returns)
        total = SUMS[spec]
        if total is not None:
            assert math.isclose(sum(returns), total, abs_tol=1e-9)


@pytest.mark.parametrize("spec", ALL_SPECS)
def test_states_are_immutable(spec: str) -> None:
    rng = random.Random(spec)
    state = load(spec).new_initial_state()
    while not state.is_terminal():
        before = seen(state)
        children = {action: seen(state.child(action)) for action in actions_of(state)}
        assert {action: seen(state.child(action)) for action in reversed(actions_of(state))} == children
        assert seen(state) == before
        state = state.child(chosen(state, rng))
    assert not hasattr(state, "__dict__")


@pytest.mark.parametrize("spec", FULLY_WALKED)
def test_infosets_agree_and_recall_is_perfect(spec: str) -> None:
    """All histories of an infoset share player, actions, and what that player saw and did before."""
    game = load(spec)
    meaning: dict[str, tuple[Any, ...]] = {}
    nothing = ((),) * game.num_players()
    waiting: list[tuple[State, tuple[Any, ...]]] = [(game.new_initial_state(), nothing)]
    while waiting:
        state, own = waiting.pop()
        player = state.current_player()
        if player == TERMINAL:
            continue
        if player == CHANCE:
            waiting.extend((state.child(action), own) for action in actions_of(state))
            continue
        infoset = state.information_state_string(player)
        known = (player, tuple(state.legal_actions()), own[player])
        assert meaning.setdefault(infoset, known) == known, infoset
        for action in state.legal_actions():
            after = (*own[:player], (*own[player], infoset, action), *own[player + 1 :])
            waiting.append((state.child(action), after))


@pytest.mark.parametrize("spec", FULLY_WALKED)
def test_every_payoff_has_the_sum_the_game_says(spec: str) -> None:
    ends = [state.returns() for state in every_state(load(spec)) if state.is_terminal()]
    total = SUMS[spec]
    if total is None:
        assert len({round(sum(returns), 9) for returns in ends}) > 1
    else:
        assert all(math.isclose(sum(returns), total, abs_tol=1e-9) for returns in ends)


@pytest.mark.parametrize("spec", FULLY_WALKED)
def test_features_are_numbers_that_an_infoset_shares(spec: str) -> None:
    """A state may name features: the same at every state of an infoset, and under the same names in a phase."""
    game = load(spec)
    if not hasattr(game.new_initial_state(), "features"):
        return
    told: dict[str, dict[str, float]] = {}
    names: dict[float, list[str]] = {}
    for state in every_state(game):
        player = state.current_player()
        if player < 0:
            continue
        features = dict(state.features())
        assert all(isinstance(value, int | float) and math.isfinite(value) for value in features.values())
        assert told.setdefault(state.information_state_string(player), features) == features
        assert names.setdefault(features["phase"], list(features)) == list(features)
    assert len({tuple(each.values()) for each in told.values()}) > 1


@pytest.mark.parametrize("spec", ALL_SPECS)
def test_unseen_moves_are_chances_and_change_nothing_that_was_seen(spec: str) -> None:
    """What a player never saw is dealt by chance, and it makes no difference to that player's infosets."""
    game = load(spec)
    if not hasattr(game.new_initial_state(), "unseen"):
        return
    rng = random.Random(spec)
    hidden_ever = 0
    for _ in range(PLAYOUTS):
        *states, last = playout(game, rng)
        for player in range(game.num_players()):
            hidden = list(last.unseen(player))
            hidden_ever += len(hidden)
            assert hidden == sorted(set(hidden))
            assert all(states[move].is_chance_node() for move in hidden)
            dealt = [last.cards[move] for move in hidden]
            for other in dealt:  # another deal of the unseen cards looks the same
                left = [card for card in range(game.num_cards()) if card not in last.cards]
                for card in left:
                    cards = tuple(card if each == other else each for each in last.cards)
                    for state in states:
                        if state.current_player() == player:
                            changed = copy.copy(state)
                            changed.cards = cards[: len(state.cards)]
                            before = state.information_state_string(player)
                            assert changed.information_state_string(player) == before
    assert hidden_ever > 0


@pytest.mark.parametrize("spec", ["leduc", "leduc(players=3)", "holdem", "holdem(players=3)"])
def test_poker_counts_the_raises(spec: str) -> None:
    rng = random.Random(spec)
    for _ in range(PLAYOUTS):
        states = playout(load(spec), rng)
        raises: list[tuple[int, int]] = []  # round, player
        for state, after in itertools.pairwise(states):
            if state.current_player() < 0:
                continue
            features, player, phase = state.features(), state.current_player(), len(state.betting) - 1
            assert features["phase"] == phase
            assert features["raises"] == len(raises)
            assert features["raises this round"] == sum(round_ == phase for round_, _ in raises)
            assert features["own raises"] == sum(who == player for _, who in raises)
            if after.betting[phase].endswith("r"):
                raises.append((phase, player))
