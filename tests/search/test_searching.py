"""Search at the table: what it finds, what it keeps, and that it is on time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fogplay as fp
from fogplay.errors import FogplayError
from fogplay.play import Seeded, Table, Uniform
from fogplay.search import SearchAgent, agent
from fogplay.simulators import simulator_for
from fogplay.simulators.questions import deal, start
from fogplay.simulators.streams import streams
from tests.helpers import fogplay

MATRIX = "matrix([[3,1],[2,0]])"  # the first row is better whatever the other does


def table_of(spec: str, seed: int = 1, **options: Any) -> Table:
    return Table(fp.load(spec), Seeded(seed), **options)


@pytest.mark.parametrize("algorithm", ["uct", "smooth-uct"])
def test_a_dominant_action_is_found(algorithm: str) -> None:
    table = table_of(MATRIX)
    assert SearchAgent(MATRIX, algorithm, simulations=200).act(table.view(0)) == 0


@pytest.mark.parametrize("spec", ["leduc", "goofspiel(4)", "kuhn(players=3)", "pam", "bluff(1,1,3)"])
def test_a_tree_and_the_rules_find_worlds_of_the_same_infoset(spec: str) -> None:
    """Every episode begins in a state of the infoset that the view is of."""
    table = table_of(spec, seed=5)
    flat = fp.flatten(spec)
    simulator, rng = simulator_for(flat), streams(1, 1)[0]
    for _ in range(3):
        if table.is_over:
            return
        (seat,) = table.to_act
        view = table.view(seat)
        game = simulator.rooted(view, np.random.default_rng(1))
        met = {int(start(game, deal(game, rng), rng)) for _ in range(300)}
        assert {flat.infosets[flat.tree.row[node]] for node in met} == {view.infoset}
        world = view.world(np.random.default_rng(2))
        assert world.information_state_string(seat) == view.infoset
        table.take(seat, view.legal[0])


def test_hold_em_is_searched_with_the_cards_that_the_seat_has_seen() -> None:
    spec = "holdem(grid=ehs2:10/10/10/10)"
    table = table_of(spec)
    simulator, rng = simulator_for(spec), streams(3, 1)[0]
    while len(table.view(table.to_act[0]).observation.board) < 4:
        table.take(table.to_act[0], 1)  # call
    seat = table.to_act[0]
    seen = table.view(seat).observation
    game = simulator.rooted(table.view(seat), np.random.default_rng(1))
    deal(game, rng)
    cards = game.batch.deals.cards
    assert (cards[:, :4] == np.array(seen.board)).all()
    assert (cards[:, 5 + 2 * seat : 7 + 2 * seat] == np.array(seen.hole)).all()
    assert all(len(set(row)) == 9 for row in cards.tolist())
    unseen = cards[:, [4, 5 + 2 * (1 - seat), 6 + 2 * (1 - seat)]]
    assert len(np.unique(unseen)) > 35  # of 46, in 64 deals of three
    assert simulator.betting.nodes[game.root].player == seat

    doubted = simulator.rooted(table.view(seat), np.random.default_rng(1), doubt=True)
    deal(doubted, rng)
    cards = doubted.batch.deals.cards
    own = (cards[:, 5 + 2 * seat : 7 + 2 * seat] == np.array(seen.hole)).all(axis=1)
    assert own[::2].all()
    assert own[1::2].sum() <= 2  # of 32 deals, each with probability 1 in 2,162
    assert all(len(set(row)) == 9 for row in cards.tolist())


def test_half_of_the_worlds_are_those_that_another_player_holds_possible() -> None:
    """The other player's dice stay in such a world, and the searching player's are rolled again."""
    table = table_of("bluff(2,2,6)", seed=3)
    view, rng = table.view(0), np.random.default_rng(1)
    own, doubted = ([view.world(rng, doubt) for _ in range(400)] for doubt in (False, True))
    assert {world.information_state_string(0) for world in own} == {view.infoset}
    assert len({world.roll0 for world in doubted}) == 21
    assert all(world.current_player() == 0 for world in doubted)
    simulator = SearchAgent("bluff(2,2,6)").simulator
    simulator.rooted(view, rng, doubt=True)
    drawn = [simulator.draw_start(0.0) for _ in range(100)]
    assert {world.information_state_string(0) for world in drawn[::2]} == {view.infoset}
    assert len({world.roll0 for world in drawn[1::2]}) > 10


@pytest.mark.parametrize("spec", ["leduc", "goofspiel(9)", "holdem(grid=ehs2:10/10/10/10)"])
def test_one_simulation_is_enough_for_a_move(spec: str) -> None:
    view = table_of(spec).view(0) if spec != "holdem(grid=ehs2:10/10/10/10)" else table_of(spec).view(1)
    assert SearchAgent(spec, simulations=1).act(view) in view.legal


def test_actions_tried_rarely_are_left_out_of_the_average() -> None:
    view = table_of("leduc").view(0)
    found = [
        SearchAgent("leduc", simulations=2_000, seed=1, final=final).distribution(view)
        for final in ("average", "greedy")
    ]
    assert sorted(found[1]) == [0.0, 1.0]
    assert sum(found[0]) == pytest.approx(1.0)
    assert all(share == 0.0 or share >= 0.1 * max(found[0]) for share in found[0])


@pytest.mark.parametrize("spec", ["leduc", "goofspiel(9)"])
def test_what_was_learned_is_kept_within_a_hand(spec: str) -> None:
    """The second decision begins with what the first has seen, and a new hand with nothing."""
    searching = SearchAgent(spec, "uct", simulations=200)
    table, counts = table_of(spec, seed=4), []
    while not table.is_over and len(counts) < 2:
        (seat,) = table.to_act
        view = table.view(seat)
        if seat == 0:
            action = searching.act(view)
            counts.append(int(searching.learner.driver.games[0].by_key.counters[1]))
        else:
            action = Uniform().act(view)
        table.take(seat, action)
    assert counts[0] > 0
    assert len(counts) < 2 or counts[1] >= counts[0]
    searching.forget()
    assert searching.learner.driver.table("cell")["visits"].sum() == 0
    assert int(searching.learner.driver.games[0].by_key.counters[1]) == 0


class Clock:
    """Time that passes with the simulations alone, so that a busy machine changes nothing."""

    def __init__(self, searching: SearchAgent, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.now, self.seconds, self.advance = 100.0, seconds, searching.learner.advance
        monkeypatch.setattr(searching.learner, "advance", self.simulate)
        monkeypatch.setattr("fogplay.search.searching.time.monotonic", lambda: self.now)

    def simulate(self, first: int, count: int) -> None:
        self.advance(first, count)
        self.now += count * self.seconds


@pytest.mark.parametrize(("spec", "seconds"), [("leduc", 1e-6), ("goofspiel(11)", 1e-3)])
def test_a_deadline_is_kept(spec: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large the budget, a decision ends before its deadline, for compiled games and for rules in Python."""
    searching = SearchAgent(spec, "smooth-uct", simulations=10**9)
    clock = Clock(searching, monkeypatch, seconds)
    for _ in range(3):
        deadline = clock.now + 0.2
        searching.act(table_of(spec, deadline=deadline).view(0))
        assert deadline - 0.04 < clock.now < deadline
        assert searching.done > 0.7 * 0.2 / seconds


def test_seconds_are_a_budget_too(monkeypatch: pytest.MonkeyPatch) -> None:
    searching = SearchAgent("leduc", "uct", seconds=0.2)
    clock = Clock(searching, monkeypatch, 1e-6)
    began = clock.now
    searching.act(table_of("leduc").view(0))
    assert 0.18 < clock.now - began <= 0.2


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fogplay.search.searching.MEMORY", 20)
    searching = SearchAgent("goofspiel(9)", "uct", simulations=5_000)
    view = table_of("goofspiel(9)").view(0)
    assert searching.act(view) in view.legal
    assert searching.done < 5_000  # it stopped when nothing more fitted


def test_the_same_seed_plays_the_same_hands() -> None:
    results = [fp.match("leduc", [SearchAgent("leduc", simulations=100, seed=3), "uniform"], 60) for _ in range(2)]
    assert results[0].totals == results[1].totals


@pytest.mark.parametrize(
    ("kind", "numbers"), [("greedy", (30, 3_000)), pytest.param("average", (300, 30_000), marks=pytest.mark.slow)]
)
def test_more_simulations_lose_less_to_the_equilibrium(kind: str, numbers: tuple[int, int]) -> None:
    """Measured without luck: the search decides once at every infoset of Leduc."""
    from benchmarks.search import searched
    from fogplay.evaluate import equilibrium

    flat = fp.flatten("leduc")
    _, exact = equilibrium(flat)
    few, many = (searched(flat, exact, "smooth-uct", simulations, 1, kind)[0] for simulations in numbers)
    assert few < -0.15
    assert many > -0.05


def test_it_beats_uniform_play_in_a_game_that_no_tree_holds() -> None:
    assert fp.match("goofspiel(13)", ["search:uct:100:greedy", "uniform"], 40).means[0] > 0.5


@pytest.mark.slow
def test_it_beats_uniform_play_with_mixed_moves_too() -> None:
    assert fp.match("goofspiel(13)", ["search:uct:200", "uniform"], 40).means[0] > 0.25


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ("oct:10", r"no search is called 'oct'; did you mean 'uct'\?"),
        ("uct:many", "'many' is not a number; write search:ALGORITHM:BUDGET"),
        ("uct:0", "simulations must be a whole number from 1"),
        ("uct:-1s", "seconds must be a number from 0.001"),
        ("uct:1e400", "write search:ALGORITHM:BUDGET"),
        ("uct:10:gready", "final must be"),
    ],
)
def test_mistakes(settings: str, line: str) -> None:
    with pytest.raises(FogplayError, match=line):
        agent(settings, fp.load("kuhn"))


def test_the_command_line(tmp_path: Path) -> None:
    done = fogplay("match", "kuhn", "search:uct:50", "uniform", "--hands", "20", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "search-uct-50" in done.stdout
    assert agent("uct:50:greedy", fp.load("kuhn")).final == "greedy"
