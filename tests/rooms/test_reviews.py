"""What a choice cost: exact on trees, by rollouts elsewhere."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fogplay.games.game import CHANCE, TERMINAL
from fogplay.rooms.replays import decisions_of
from fogplay.rooms.rollouts import Estimate, estimate, possible
from fogplay.web.markup import NO_TURN, review_panel
from tests.rooms.helpers import play_hand, room_of


def brute_values(game: Any, strategy: Any, infoset: str, seat: int) -> list[float]:
    """What each action at an infoset earns, by walking all histories: the slow, obvious twin."""
    earned: dict[int, float] = {}
    arrived: dict[int, float] = {}

    def worth(state: Any, reach: float) -> float:
        """The expected payoff of ``seat``; ``reach`` is of chance and the others."""
        player = state.current_player()
        if player == TERMINAL:
            return float(state.returns()[seat])
        if player == CHANCE:
            return sum(share * worth(state.child(action), reach * share) for action, share in state.chance_outcomes())
        name = state.information_state_string(player)
        shares = list(strategy[name].values())
        values = [
            worth(state.child(action), reach * (1.0 if player == seat else share))
            for action, share in zip(state.legal_actions(), shares, strict=True)
        ]
        if player == seat and name == infoset:
            for place, value in enumerate(values):
                earned[place] = earned.get(place, 0.0) + reach * value
                arrived[place] = arrived.get(place, 0.0) + reach
        return sum(share * value for share, value in zip(shares, values, strict=True))

    worth(game.new_initial_state(), 1.0)
    return [earned[place] / arrived[place] for place in sorted(earned)]


@pytest.mark.parametrize("game", ["kuhn", "kuhn(players=3)", "leduc"])
def test_costs_on_trees_are_exact(tmp_path: Path, game: str) -> None:
    room, rng = room_of(tmp_path, game), random.Random(7)
    seen: set[str] = set()
    for number in range(4 if game == "leduc" else 12):
        look = play_hand(room, rng)
        hand = room.settle(number)
        views = list(decisions_of(room.company.rules, hand.events, hand.seat, look.sight.names))
        for made, entry in zip(views, hand.review or (), strict=True):
            if entry["values"] is None or made.view.infoset in seen:
                continue
            seen.add(made.view.infoset)
            exact = brute_values(room.company.rules, room.company.reference.agent, made.view.infoset, hand.seat)
            assert entry["values"] == pytest.approx(exact, abs=1e-9)
            assert entry["cost"] == pytest.approx(max(exact) - exact[entry["chosen"]], abs=1e-9)
            assert entry["error"] == 0
            assert sum(entry["shares"]) == pytest.approx(1)
        room.next_hand(number)
    assert len(seen) >= 4


def test_a_hand_that_ends_before_the_person_decides_is_reviewed_and_counts(tmp_path: Path) -> None:
    """The small blind folds: there is nothing to review, but the luck-adjusted score has the hand."""
    game = "holdem(rounds=1,ranks=4,suits=1,hole=1,board=[0],raises=[2],max_raises=[1],blinds=[3,1])"
    room, rng, ended = room_of(tmp_path, game, seat=0), random.Random(3), 0
    for number in range(12):
        early = room.look().sight.over
        look = play_hand(room, rng)
        hand = room.settle(number)
        assert hand.baseline is not None
        assert room.scores().adjusted.hands == number + 1
        assert len(hand.review or ()) == (0 if early else 1)
        if early:
            ended += 1
            assert (look.decision, look.score, hand.cost) == (0, 1.0, None)
            assert NO_TURN in review_panel(hand)
        else:
            assert NO_TURN not in review_panel(hand)
        room.next_hand(number)
    assert 0 < ended < 12


def test_rollouts_agree_with_the_exact_values_within_their_errors(tmp_path: Path) -> None:
    """On Leduc both are known; the doubt about others' moves is a small bias, so the bound is generous."""
    room, rng = room_of(tmp_path, "leduc"), random.Random(1)
    differences, errors = [], []
    for number in range(6):
        look = play_hand(room, rng)
        hand = room.settle(number)
        for made in decisions_of(room.company.rules, hand.events, hand.seat, look.sight.names):
            exact = room.company.reference.advise(made.view).values
            assert possible(room.company.reference.agent, made)
            if exact is None:
                continue
            found = estimate(room.company.rules, room.company.reference.agent, made, np.random.default_rng(number))
            place = made.view.legal.index(made.action)
            _, error = found.cost(place)
            differences.append(found.values[place] - exact[place])
            errors.append(error)
        room.next_hand(number)
    assert len(differences) >= 6
    assert abs(np.mean(differences)) < 0.5
    assert np.mean(errors) > 0


def test_an_estimate_weighs_worlds() -> None:
    found = Estimate(np.array([1.0, 3.0]), np.array([[0.0, 4.0], [4.0, 0.0]]))
    assert found.values == (3.0, 1.0)
    assert found.cost(0) == (0.0, 0.0)
    mean, error = found.cost(1)
    assert mean == 2.0
    assert error == pytest.approx(np.sqrt((0.25**2) * 36 + (0.75**2) * 4))
