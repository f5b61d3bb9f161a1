"""The table: whose turn it is, what is refused, suspending and going on, what each seat may see."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE
from fogplay.games.registry import load
from fogplay.play import Dealt, Event, Seeded, Stream, Table, Uniform
from tests.games.specs import FULLY_WALKED

SIMULTANEOUS = "pyspiel:goofspiel(imp_info=True,num_cards=4,points_order=descending)"
GAMES = [*FULLY_WALKED, "goofspiel(11)", "pyspiel:leduc_poker", SIMULTANEOUS]


def rules_of(spec: str) -> Any:
    """A game as it is; ``load`` lets the players of simultaneous games act in turn."""
    return pyspiel.load_game(spec.removeprefix("pyspiel:")) if spec == SIMULTANEOUS else load(spec)


def finish(table: Table, rng: random.Random) -> None:
    while not table.is_over:
        seat = rng.choice(table.to_act)
        table.take(seat, rng.choice(table.view(seat).legal))


@pytest.mark.parametrize("spec", GAMES)
def test_a_hand_from_beginning_to_end(spec: str) -> None:
    game, rng = rules_of(spec), random.Random(1)
    for number in range(20):
        table = Table(game, Seeded(number))
        while not table.is_over:
            for seat in table.to_act:
                view = table.view(seat)
                assert view.seat == seat
                assert len(view.legal) == len(view.names) >= 1
                assert 0 <= view.luck < 1
                assert view.luck == table.view(seat).luck
                assert isinstance(view.infoset, str)
                assert [action for _, action in view.memory] == [
                    event.action for event in table.events if event.seat == seat
                ]
                table.take(seat, rng.choice(view.legal))
        assert len(table.scores) == game.num_players()
        assert table.to_act == ()
        with pytest.raises(FogplayError, match="the hand is over"):
            table.view(0)


@pytest.mark.parametrize("spec", GAMES)
def test_illegal_actions_change_nothing(spec: str) -> None:
    table = Table(rules_of(spec), Seeded(3))
    while not table.is_over:
        seat = table.to_act[0]
        before = table.events, table.to_act, table.view(seat).infoset, table.view(seat).luck
        for wrong in (10**6, -7, None, "call", 0.5):
            with pytest.raises(FogplayError, match="which is not possible here; it may"):
                table.take(seat, wrong)  # type: ignore[arg-type]
        with pytest.raises(FogplayError, match="cannot act now: it is the turn of"):
            table.take(99, table.view(seat).legal[0])
        with pytest.raises(FogplayError, match="the hand is not over"):
            _ = table.scores
        assert (table.events, table.to_act, table.view(seat).infoset, table.view(seat).luck) == before
        table.take(seat, table.view(seat).legal[-1])


def test_names_are_told_in_errors() -> None:
    table = Table(load("kuhn"), Seeded(1), names=["Alice", "Bob"])
    with pytest.raises(FogplayError, match=r"Alice answered 7, which is not possible here; it may 0 \(pass\)"):
        table.take(0, 7)
    with pytest.raises(FogplayError, match="Bob cannot act now: it is the turn of Alice"):
        table.view(1)


@pytest.mark.parametrize("spec", GAMES)
def test_a_table_is_rebuilt_from_its_events_at_every_moment(spec: str) -> None:
    game, rng = rules_of(spec), random.Random(2)
    for number in range(5):
        table = Table(game, Seeded(number))
        while not table.is_over:
            seat = rng.choice(table.to_act)
            again = Table(game, Seeded(number), events=[tuple(event) for event in table.events])
            assert again.events == table.events
            assert again.to_act == table.to_act
            for other in table.to_act:
                here, there = table.view(other), again.view(other)
                assert (here.infoset, here.luck, here.legal) == (there.infoset, there.luck, there.legal)
                assert here.memory == there.memory
            table.take(seat, rng.choice(table.view(seat).legal))
        again = Table(game, Seeded(number), events=table.events)
        assert again.is_over
        assert again.scores == table.scores


def test_events_that_did_not_happen_are_refused() -> None:
    game = load("kuhn")
    for events, said in (
        ([(CHANCE, 9)], "event 0: chance cannot do 9 here"),
        ([(CHANCE, 0), (CHANCE, 0)], "event 1: chance cannot do 0 here"),
        ([(0, 1)], "event 0: seat 0 cannot act now"),
        ([(CHANCE, 0), (CHANCE, 1), (1, 0)], "event 2: seat 1 cannot act now"),
        ([(CHANCE, 0), (CHANCE, 1), (0, 5)], "event 2: seat 0 answered 5"),
    ):
        with pytest.raises(FogplayError, match=said):
            Table(game, Seeded(0), events=events)


def test_simultaneous_moves_are_hidden_until_all_have_moved() -> None:
    table = Table(rules_of(SIMULTANEOUS), Seeded(0))
    assert table.to_act == (0, 1)
    second = table.view(1).infoset, table.view(1).luck
    table.take(0, 3)
    assert table.to_act == (1,)
    assert (table.view(1).infoset, table.view(1).luck) == second
    assert table.seen(1)[-1].action is None
    assert table.seen(0)[-1].name == "[P0]Bid: 4"
    table.take(1, 0)
    assert table.to_act == (0, 1)
    assert table.view(0).memory[0][1] == 3


def test_deadlines_are_part_of_the_view() -> None:
    table = Table(load("kuhn"), Seeded(0), deadline=12.5)
    assert table.view(0).deadline == 12.5
    table.deadline = None
    assert table.view(0).deadline is None


def test_dealt_luck_is_followed() -> None:
    table = Table(load("kuhn"), Dealt([2, 0], [0.25, 0.75]))
    assert table.events == (Event(CHANCE, 2, (0,)), Event(CHANCE, 0, (1,)))
    assert table.view(0).infoset == "K:"
    assert table.view(0).luck == 0.25
    table.take(0, 1)
    assert table.view(1).luck == 0.75


def test_cards_are_shown_to_their_owner_and_at_a_showdown() -> None:
    for actions, shown in (([1, 1], True), ([1, 0], False)):
        table = Table(load("kuhn"), Dealt([2, 0], [0.5] * 4))
        assert [event.name for event in table.seen(0)] == ["deal K", None]
        assert [event.name for event in table.seen(1)] == [None, "deal J"]
        for action in actions:
            table.take(table.to_act[0], action)
        names = [event.name for event in table.seen(0)]
        assert names[1] == ("deal J" if shown else None)
        assert names[2:] == ["bet", "bet" if shown else "pass"]


@pytest.mark.parametrize("spec", GAMES)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_views_with_the_same_infoset_are_equal(spec: str, seed: int) -> None:
    """What a seat sees depends on its infoset alone: a world that it cannot tell apart gives the same view."""
    game, rng = rules_of(spec), random.Random(seed)
    table = Table(game, Seeded(seed))
    while not table.is_over:
        seat = rng.choice(table.to_act)
        view = table.view(seat)
        world = view.world(np.random.default_rng(seed))
        there = Table(_From(game, world), Seeded(seed)).view(seat)
        assert (view.infoset, view.legal, view.names) == (there.infoset, there.legal, there.names)
        assert view.observation == there.observation
        table.take(seat, rng.choice(view.legal))


class _From:
    """A game that begins somewhere else."""

    def __init__(self, game: Any, state: Any) -> None:
        self.game, self.state = game, state

    def num_players(self) -> int:
        return int(self.game.num_players())

    def new_initial_state(self) -> Any:
        return self.state


def test_what_a_seat_sees_of_a_hand_follows_from_its_infoset() -> None:
    """In poker: two hands in which a seat has the same infoset are told to it in the same words."""
    for spec in ("kuhn", "leduc", "bluff(1,1,3)"):
        told: dict[tuple[int, str], Any] = {}
        game = rules_of(spec)
        for seed in range(400):
            table, rng = Table(game, Seeded(seed)), random.Random(seed)
            while not table.is_over:
                (seat,) = table.to_act
                seen = told.setdefault((seat, table.view(seat).infoset), table.seen(seat))
                assert seen == table.seen(seat)
                table.take(seat, rng.choice(table.view(seat).legal))


def test_uniform_plays_any_game() -> None:
    for spec in GAMES:
        table = Table(rules_of(spec), Stream.seeded(4))
        while not table.is_over:
            for seat in table.to_act:
                table.take(seat, Uniform().act(table.view(seat)))


def test_a_game_with_no_way_on_is_refused() -> None:
    class Stuck:
        def __init__(self, player: int) -> None:
            self.player = player

        def current_player(self) -> int:
            return self.player

        def legal_actions(self) -> list[int]:
            return []

    for player, said in ((0, "player 0 is to act and has no legal action"), (-5, "not a player, chance or the end")):
        with pytest.raises(FogplayError, match=said):
            Table(_From(load("kuhn"), Stuck(player)), Seeded(0))
