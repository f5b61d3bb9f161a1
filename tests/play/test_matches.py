"""Matches: what is won agrees with exact values, and everything repeats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fogplay as fp
from fogplay.errors import FogplayError
from fogplay.evaluate import measure
from fogplay.opponents import log_lines
from fogplay.play import Rotation, Uniform, View, formats, match
from fogplay.trees import FlatGame, flatten
from tests.games.specs import FULLY_WALKED
from tests.helpers import random_probabilities
from tests.play.helpers import Plain, match_of, strategies_of


def exact(flat: FlatGame, strategies: list[NDArray[np.float64]]) -> list[float]:
    """What each player wins a hand, over all seatings."""
    players = flat.num_players
    seat = np.repeat(flat.tree.infoset_player, np.diff(flat.tree.infoset_start))
    won = np.zeros(players)
    for shift in range(players):
        who = (seat + shift) % players
        values = measure(flat, np.stack(strategies)[who, np.arange(flat.num_slots)]).values
        for at, value in enumerate(values):
            won[(at + shift) % players] += value / players
    return won.tolist()


@pytest.mark.parametrize("spec", ["kuhn", "kuhn(players=3)", "leduc", "bluff(2,1,2)", "goofspiel(3)", "pam", "matrix"])
def test_winnings_agree_with_exact_values(spec: str) -> None:
    flat = flatten(spec)
    strategies = [random_probabilities(flat, seed) for seed in range(flat.num_players)]
    played = match_of(flat, strategies, 200_001, seed=5)
    assert played.ends is None
    for player, value in enumerate(exact(flat, strategies)):
        assert 0 < played.standard_errors[player] < 0.05 * flat.payoff_range
        assert abs(played.means[player] - value) < 4 * played.standard_errors[player]
        low, high = played.interval(player)
        assert (low + high) / 2 == pytest.approx(played.means[player])
        assert high - low == pytest.approx(2 * 1.96 * played.standard_errors[player], rel=1e-3)


def test_standard_errors_are_honest() -> None:
    """Of 300 matches about 5 % lie outside their 95 % intervals; the seats' own difference is no uncertainty."""
    flat = flatten("kuhn(pot=20)")
    strategies = [random_probabilities(flat, seed) for seed in (1, 2)]
    value = exact(flat, strategies)[0]
    played = [match_of(flat, strategies, 400, seed=seed) for seed in range(300)]
    outside = sum(not low <= value <= high for low, high in (each.interval(0) for each in played))
    assert 5 <= outside <= 27
    means = [each.means[0] for each in played]
    assert np.std(means) == pytest.approx(np.mean([each.standard_errors[0] for each in played]), rel=0.12)


def test_the_seed_decides_and_the_stretches_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    flat = flatten("kuhn(players=3)")
    strategies = [random_probabilities(flat, seed) for seed in (1, 2, 3)]
    first = match_of(flat, strategies, 5000, seed=1, keep=True)
    monkeypatch.setattr(formats, "STRETCH", 7)
    again = match_of(flat, strategies, 5000, seed=1, keep=True)
    other = match_of(flat, strategies, 5000, seed=2, keep=True)
    assert first.ends is not None
    assert again.ends is not None
    assert other.ends is not None
    assert first.ends.tolist() == again.ends.tolist() != other.ends.tolist()
    assert first.means == pytest.approx(again.means, abs=1e-12)
    assert first.standard_errors == pytest.approx(again.standard_errors)
    won = [0.0, 0.0, 0.0]
    for hand, end in enumerate(first.ends.tolist()):
        for seat in range(3):
            won[(seat + hand) % 3] += flat.tree.payoffs[flat.tree.row[end], seat]
    assert [each / 5000 for each in won] == pytest.approx(first.means)


def test_an_action_of_probability_0_is_never_taken() -> None:
    flat = flatten("leduc")
    strategies = [random_probabilities(flat, seed) for seed in (1, 2)]
    ends = match_of(flat, strategies, 50_000, keep=True).ends
    assert ends is not None
    tree = flat.tree
    for shift in (0, 1):
        reach = np.zeros(flat.num_nodes)
        reach[0] = 1
        for node in range(flat.num_nodes):
            for action in range(tree.num_children[node]):
                child = tree.first_child[node] + action
                seat = int(tree.player[node])
                likely = tree.probability[child]
                if seat >= 0:
                    likely = strategies[(seat + shift) % 2][tree.infoset_start[tree.row[node]] + action]
                reach[child] = reach[node] * likely
        reached = np.unique(ends[shift::2])
        assert reach[reached].min() > 0
        assert len(reached) > 0.5 * (reach[tree.num_children == 0] > 0).sum()


def test_too_few_hands_to_tell() -> None:
    flat = flatten("kuhn")
    played = match_of(flat, [flat.uniform()] * 2, 3)
    assert all(math.isnan(each) for each in played.standard_errors)
    assert sum(played.means) == pytest.approx(0)


@pytest.mark.parametrize(
    ("strategies", "hands", "seed", "message"),
    [
        (1, 10, 0, "is for 2 players; 1 agents were named"),
        (2, 0, 0, "hands must be a whole number from 1"),
        (2, 10**13, 0, "hands must be a whole number from 1 to 1,000,000,000,000"),
        (2, 10, -1, "seed must be a whole number from 0 to 9,223,372,036,854,775,807, not -1"),
    ],
)
def test_matches_that_make_no_sense(strategies: int, hands: int, seed: int, message: str) -> None:
    flat = flatten("kuhn")
    with pytest.raises(FogplayError, match=message):
        match_of(flat, [flat.uniform()] * strategies, hands, seed=seed)


@pytest.mark.parametrize("spec", [*FULLY_WALKED, "pyspiel:kuhn_poker", "pyspiel:leduc_poker"])
def test_a_table_plays_the_hands_of_the_compiled_loop(spec: str) -> None:
    """The same hands, scores and histories, whoever plays them."""
    flat, hands = flatten(spec), 60
    agents = strategies_of(flat, [random_probabilities(flat, seed) for seed in range(flat.num_players)])
    names = [f"p{number}" for number in range(flat.num_players)]
    fast = match(flat, agents, hands, seed=11, keep=True, names=names)
    slow = match(flat, [Plain(agent) for agent in agents], hands, seed=11, keep=True, names=names)
    assert isinstance(fast.format, Rotation)
    assert isinstance(slow.ends, list)
    assert (fast.means, fast.standard_errors, fast.totals) == (slow.means, slow.standard_errors, slow.totals)
    assert list(log_lines(fast)) == list(log_lines(slow))
    if hasattr(flat.root, "unseen"):
        assert list(log_lines(fast, "p0")) == list(log_lines(slow, "p0")) != list(log_lines(fast))


def test_games_too_large_for_a_tree_are_played_at_tables() -> None:
    played = match("goofspiel(13)", [Uniform(), Uniform()], 50, seed=1, keep=True)
    assert isinstance(played.format, Rotation)
    assert played.format.flat is None
    assert len(played.ends) == 50
    again = match("pyspiel:goofspiel(imp_info=True,num_cards=5)", [Uniform(), Uniform()], 20, keep=True)
    assert len(list(log_lines(again))) == 22


def test_ctrl_c_keeps_what_was_played() -> None:
    flat = flatten("kuhn")
    arrays = [random_probabilities(flat, seed) for seed in (1, 2)]

    def stop(done: int, _: int) -> None:
        if done >= formats.STRETCH:
            raise KeyboardInterrupt

    played = match_of(flat, arrays, 10**8, progress=stop)
    assert played.interrupted
    assert played.hands == formats.STRETCH
    assert played.means == match_of(flat, arrays, formats.STRETCH).means

    class Tired:
        acted = 0

        def act(self, view: View) -> int:
            self.acted += 1
            if self.acted == 100:
                raise KeyboardInterrupt
            return view.legal[0]

    early = match("kuhn", [Tired(), Uniform()], 10**6, keep=True)
    assert early.interrupted
    assert 50 < early.hands < 100
    assert len(early.ends) == early.hands
    with pytest.raises(KeyboardInterrupt):
        match("kuhn", [Tired(), Tired()], 1, progress=lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))


def test_agents_are_told_when_a_hand_begins() -> None:
    told: list[tuple[str, int, int]] = []

    class Keen(Uniform):
        def begin(self, game: Any, seat: int, seed: int) -> None:
            told.append((str(game), seat, seed))

    match("kuhn", [Plain(Uniform()), Keen()], 3, seed=5)
    assert told == [("kuhn(players=2,pot=2)", seat, seed) for seat, seed in ((1, 5), (0, 6), (1, 7))]


def test_two_agents_take_the_sides_of_a_game_of_teams() -> None:
    """Every deal twice with the same cards, sides swapped: an agent against itself wins exactly nothing."""

    class Last:
        def act(self, view: fp.View) -> int:
            return view.legal[-1]

    even = fp.match("doudizhu", [Last(), Last()], 9, seed=1)
    assert (even.hands, even.deals) == (10, 5)
    assert even.totals == (0.0, 0.0)
    assert even.standard_errors == (0.0, 0.0)
    played = fp.match("doudizhu", [Last(), "uniform"], 40, seed=1)
    assert played.totals[0] == -played.totals[1]
    assert 2 * played.means[0] * 40 == pytest.approx(played.totals[0])  # ADP counts 1 where the landlord gets 2
    assert played.means == fp.match("doudizhu", [Last(), "uniform"], 40, seed=1).means
    assert played.means != fp.match("doudizhu", [Last(), "uniform"], 40, seed=2).means
    assert played.standard_errors[0] == played.standard_errors[1] > 0
    with pytest.raises(fp.FogplayError, match=r"is for 3 players, or 2 that take all seats of a side; 4 agents were"):
        fp.match("doudizhu", ["uniform"] * 4, 4)
    with pytest.raises(fp.FogplayError, match="is for 3 players; 2 agents were named"):
        fp.match("doudizhu(bidding=True)", ["uniform"] * 2, 4)
    with pytest.raises(fp.FogplayError, match="needs one agent for every seat: name 3"):
        fp.match("doudizhu", ["uniform"] * 2, 4, keep=True)
