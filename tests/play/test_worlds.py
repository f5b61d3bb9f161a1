"""Worlds: consistent with all that a seat knows, and distributed as chance and uniform others would have it."""

from __future__ import annotations

import functools
import random
from collections import Counter
from typing import Any

import numpy as np
import pyspiel
import pytest
from scipy import stats

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL
from fogplay.games.registry import load
from fogplay.play import Seeded, Table, View
from fogplay.play.states import infoset_of
from fogplay.play.worlds import Replay, draw_world

GAMES = [
    "kuhn", "kuhn(players=3)", "leduc", "leduc(suits=unseen)", "bluff(1,1,3)", "goofspiel(4)", "pam(2,2,5)",
    "repeated(kuhn,hands=2)", "matrix", "holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1])", "pyspiel:kuhn_poker",
]  # fmt: skip


def some_view(spec: str, seed: int) -> tuple[Any, View]:
    """A game, and what a seat sees somewhere in a random hand of it."""
    game, rng = load(spec), random.Random(seed)
    table = Table(game, Seeded(seed))
    found = []
    while not table.is_over:
        (seat,) = table.to_act
        view = table.view(seat)
        found.append(view)
        table.take(seat, rng.choice(view.legal))
    return game, rng.choice(found)


def by_rejection(game: Any, view: View, rng: random.Random) -> Any:
    """The definition: play at random until the seat has seen and done the same."""
    wanted = [*view.memory, (view.infoset, None)]
    while True:
        state, met = game.new_initial_state(), 0
        while state.current_player() != TERMINAL:
            player = state.current_player()
            if player == CHANCE:
                actions, chances = zip(*state.chance_outcomes(), strict=True)
                action = rng.choices(actions, chances)[0]
            else:
                action = rng.choice(state.legal_actions())
            if player == view.seat:
                if infoset_of(state, view.seat) != wanted[met][0]:
                    break
                if met == len(wanted) - 1:
                    return state
                action = wanted[met][1]
                met += 1
            state = state.child(action)


@functools.cache
def rejected(spec: str, seed: int, draws: int) -> Counter[str]:
    (game, view), rng = some_view(spec, seed), random.Random(seed)
    return Counter(str(by_rejection(game, view, rng)) for _ in range(draws))


@pytest.mark.parametrize("spec", GAMES)
def test_worlds_are_consistent(spec: str) -> None:
    for seed in range(12):
        _, view = some_view(spec, seed)
        for draw in range(5):
            world = view.world(np.random.default_rng(draw))
            assert world.current_player() == view.seat
            assert infoset_of(world, view.seat) == view.infoset
            assert tuple(world.legal_actions()) == view.legal


@pytest.mark.parametrize("own_way", [True, False], ids=["as drawn", "by replay"])
@pytest.mark.parametrize("spec", GAMES)
def test_worlds_are_distributed_as_they_should_be(spec: str, own_way: bool) -> None:
    """Beside rejection sampling, at a few places of every game: a chi-square test over whole states."""
    smallest, draws = [], 1500
    for seed in (1, 2, 3):
        game, view = some_view(spec, seed)
        replay = Replay(game, view.seat, (*view.memory, (view.infoset, None)), np.random.default_rng(seed))
        rng = np.random.default_rng(seed)
        drawn = Counter(str(view.world(rng) if own_way else replayed(replay)) for _ in range(draws))
        expected = rejected(spec, seed, draws)
        kinds = sorted(drawn | expected)
        if len(kinds) == 1:
            continue
        table = np.array([[each[kind] for kind in kinds] for each in (drawn, expected)])
        rare = table.sum(axis=0) < 10
        if rare.any():
            table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
        if table.shape[1] > 1:
            smallest.append(float(stats.chi2_contingency(table).pvalue))
    assert all(value > 1e-4 for value in smallest)


def replayed(replay: Replay) -> Any:
    while True:
        found = replay.once()
        if found is not None:
            return found


def test_the_search_finds_what_replays_do_not() -> None:
    """Late in a long game hardly any random replay fits: backtracking still finds worlds that do."""
    game = load("goofspiel(13)")
    table, rng = Table(game, Seeded(1)), random.Random(1)
    while len(table.events) < 20:
        (seat,) = table.to_act
        table.take(seat, rng.choice(table.view(seat).legal))
    view, found = table.view(table.to_act[0]), set()
    for seed in range(5):
        wanted = (*view.memory, (view.infoset, None))
        world = Replay(game, view.seat, wanted, np.random.default_rng(seed)).search()
        assert world.information_state_string(view.seat) == view.infoset
        found.add(str(world))
    assert len(found) > 1


def test_no_world_is_one_line() -> None:
    game = load("pam(2,2,4)")
    state = game.new_initial_state().child(1)
    with pytest.raises(FogplayError, match="no world was found for seat 0"):
        draw_world(game, state, 0, (("never seen", 0),), np.random.default_rng(0))


def test_simultaneous_games_have_worlds() -> None:
    game = pyspiel.load_game("goofspiel(imp_info=True,num_cards=4,points_order=descending)")
    table = Table(game, Seeded(1))
    for action in (3, 1):
        for seat in table.to_act:
            table.take(seat, action if seat else 0 if action == 3 else 2)
    view = table.view(0)
    seen = set()
    for seed in range(40):
        world = view.world(np.random.default_rng(seed))
        assert world.information_state_string(0) == view.infoset
        seen.add(world.information_state_string(1))
    assert len(seen) > 1


def test_hold_em_deals_the_others_new_cards() -> None:
    table = Table(load("holdem(grid=ehs-percentile:10/10/10/10)"), Seeded(3))
    table.take(1, 1)
    table.take(0, 1)
    view, count = table.view(0), Counter[int]()
    for seed in range(4000):
        world = view.world(np.random.default_rng(seed))
        assert world.observation(0) == view.observation
        assert len(set(world.cards)) == len(world.cards)
        count.update(world.hole_cards(1))
    assert len(count) == 47  # all cards but the two held and the three on the board
    assert stats.chisquare(list(count.values())).pvalue > 1e-4
