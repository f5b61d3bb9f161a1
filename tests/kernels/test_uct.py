"""UCT and Smooth UCT: the pieces by hand, the special cases, and what the papers saw."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from fogplay import FogplayError, solve
from fogplay.kernels import uct
from fogplay.simulators.streams import streams
from fogplay.solvers.sampling import SelfPlay
from fogplay.trees import FlatGame, flatten


def tables(visits: list[int], totals: list[float]) -> uct.Tables:
    made = uct.Tables(np.zeros(len(visits), uct.CELL))
    made.cell["visits"], made.cell["total"] = visits, totals
    return made


def test_upper_confidence_by_hand() -> None:
    """Equation 1: Q + c sqrt(log N / N(a))."""
    known, rng = tables([9, 16, 75], [9.0, 24.0, 60.0]), streams(1, 1)[0]
    scores = [total / n + 2 * math.sqrt(math.log(100) / n) for n, total in ((9, 9.0), (16, 24.0), (75, 60.0))]
    assert uct.upper_confidence(known, 2.0, 0, 3, 100, rng) == int(np.argmax(scores)) == 1
    assert uct.upper_confidence(known, 0.0, 0, 3, 100, rng) == 1
    assert uct.upper_confidence(known, 50.0, 0, 3, 100, rng) == 0


def test_untried_actions_come_first_and_ties_are_broken_evenly() -> None:
    rng = streams(2, 1)[0]
    taken = [uct.upper_confidence(tables([5, 0, 0], [500.0, 0.0, 0.0]), 1.0, 0, 3, 5, rng) for _ in range(4000)]
    assert set(taken) == {1, 2}
    assert abs(taken.count(1) - 2000) < 150
    even = [uct.upper_confidence(tables([4, 4, 4], [2.0, 2.0, 2.0]), 1.0, 0, 3, 12, rng) for _ in range(9000)]
    assert all(abs(even.count(action) - 3000) < 250 for action in range(3))


def test_the_average_is_drawn_in_proportion_to_visits() -> None:
    rng = streams(3, 1)[0]
    known = tables([10, 60, 30], [0.0, 0.0, 0.0])
    drawn = np.bincount([uct.draw_average(known, 0, 3, 100, rng) for _ in range(20_000)], minlength=3)
    assert ((drawn - [2000, 12000, 6000]) ** 2 / [2000, 12000, 6000]).sum() < 13.8


def test_schedules_by_hand() -> None:
    known = tables([10, 70, 20], [0.0, 0.0, 0.0])
    decay = uct.Decay(gamma=0.1, eta=0.9, d=0.002)
    assert uct.eta(decay, known, 0, 3, 10_000) == pytest.approx(0.9 / 1.2)
    assert uct.eta(decay, known, 0, 3, 10**12) == 0.1
    assert uct.eta(uct.Confidence(0), known, 0, 3, 100) == pytest.approx(0.7)
    assert uct.eta(uct.Confidence(100), known, 0, 3, 100) == pytest.approx(0.7)
    assert uct.eta(uct.Confidence(101), known, 0, 3, 100) == 1.0
    assert uct.eta(uct.SlowDecay(), known, 0, 3, 10**8) == pytest.approx(0.9 * 10_000 / 20_000)
    assert uct.eta(uct.Always(), known, 0, 3, 100) == 1.0


@pytest.mark.parametrize("spec", ["kuhn", "leduc", "biased-rps"])
def test_smooth_uct_with_eta_1_is_uct_bit_for_bit(spec: str) -> None:
    plain = solve(spec, "uct", 200_000, seed=5, c=3.0).strategy
    smooth = solve(spec, "smooth-uct", 200_000, seed=5, c=3.0, gamma=1.0, eta=1.0, d=0.0).strategy
    assert plain.visits is not None
    assert smooth.visits is not None
    assert plain.visits.tobytes() == smooth.visits.tobytes()
    other = solve(spec, "smooth-uct", 200_000, seed=5, c=3.0).strategy
    assert other.visits is not None
    assert plain.visits.tobytes() != other.visits.tobytes()


def test_one_node_a_player_is_added_in_an_episode() -> None:
    """After n episodes a player's tree has at most n nodes, and its visits are counted from its own root on."""
    flat = flatten("leduc")
    learner = SelfPlay(flat, "uct", {"seed": 1})
    for episode in range(1, 40):
        learner.advance(episode, 1)
        visited = np.add.reduceat(learner.kept()["visits"], flat.tree.infoset_start[:-1]) > 0
        for player in range(2):
            mine = visited[flat.tree.infoset_player == player]
            assert 1 <= mine.sum() <= episode
    assert visited.sum() < 2 * 39  # some episodes met no new node of a player


def test_every_state_on_the_way_is_added_if_the_whole_episode_grows() -> None:
    """All games of Goofspiel are equally long, so every episode adds equally many visits, from the first one on."""
    flat = flatten("goofspiel(4)")
    counts = {}
    for growth in ("all", "one"):
        learner = SelfPlay(flat, "uct", {"seed": 1, "growth": growth})
        counts[growth] = []
        for episode in range(1, 40):
            learner.advance(episode, 1)
            counts[growth].append(int(learner.kept()["visits"].sum()))
    decisions = counts["all"][0]
    assert decisions >= 6
    assert counts["all"] == [decisions * episode for episode in range(1, 40)]
    assert counts["one"][0] == 2


def test_counts_and_values_are_exact() -> None:
    """Every episode adds one visit at the root of player 0, and values are means of its payoffs."""
    flat = flatten("kuhn")
    learner = SelfPlay(flat, "smooth-uct", {"seed": 2})
    learner.advance(1, 123_457)
    first = [number for number, name in enumerate(flat.infosets) if name in ("J:", "Q:", "K:")]
    visits = sum(int(learner.kept()["visits"][flat.slots(number)].sum()) for number in first)
    assert visits == 123_457
    assert learner.kept()["visits"].dtype == np.int64
    assert (np.abs(learner.kept()["total"]) <= 2 * learner.kept()["visits"]).all()


def test_counts_go_on_past_32_bits_and_float_precision() -> None:
    flat = flatten("kuhn")
    learner = SelfPlay(flat, "smooth-uct", {"seed": 2})
    learner.kept()["visits"][:] = 2**60
    before = int(learner.kept()["visits"].sum())
    learner.advance(1, 1000)
    assert 1000 * 2 <= int(learner.kept()["visits"].sum()) - before <= 1000 * 3


@pytest.mark.parametrize("rollout", ["uniform", "call-down", "on-policy"])
def test_every_rollout_learns(rollout: str) -> None:
    result = solve("leduc", "smooth-uct", 3_000_000, seed=1, rollout=rollout)
    assert result.nash_conv is not None
    assert result.nash_conv < 0.5


def test_call_down_rollouts_call() -> None:
    flat = flatten("leduc")
    assert flat.calling is not None
    assert {flat.actions[flat.slots(k)][int(flat.calling[k])] for k in range(flat.num_infosets)} == {"call"}
    kuhn = flatten("kuhn")
    assert kuhn.calling is not None
    by_name = dict(zip(kuhn.infosets, kuhn.calling.tolist(), strict=True))
    assert by_name["J:"] == 0
    assert by_name["J:b"] == 1


def test_exploration_follows_the_pot() -> None:
    """Equation 3 of 2015 and 5 of 2014, on Leduc by hand: the pot is 2 and 24 can be added at first."""
    flat = flatten("leduc")
    assert flat.outlook is not None
    look = dict(zip(flat.infosets, flat.outlook.tolist(), strict=True))
    assert look["Kh:"] == look["Kh:cr"] == [2, 24]
    assert look["Kh:cc/Qs:"] == [2, 16]
    assert look["Kh:rrc/Qs:r"] == [10, 16]
    learner = SelfPlay(flat, "uct", {"seed": 1, "k": 0.5})
    start = dict(zip(flat.infosets, flat.tree.infoset_start.tolist(), strict=False))
    assert learner.driver.policy.exploration.c[start["Kh:"]] == 14
    assert learner.driver.policy.exploration.c[start["Kh:rrc/Qs:r"]] == 18
    capped = SelfPlay(flat, "uct", {"seed": 1, "k": 0.5, "cap": 15})
    assert capped.driver.policy.exploration.c[start["Kh:rrc/Qs:r"]] == 15
    result = solve("leduc", "smooth-uct", 2_000_000, k=0.5, cap=24, seed=1)
    assert result.nash_conv is not None
    assert result.nash_conv < 0.7


def test_the_papers_contrast_on_leduc() -> None:
    """Smooth UCT goes on towards equilibrium where UCT does not (2015, figure 2)."""
    smooth, plain = (solve("leduc", name, 20_000_000, seed=1) for name in ("smooth-uct", "uct"))
    assert smooth.nash_conv is not None
    assert plain.nash_conv is not None
    assert smooth.nash_conv < 0.15
    assert plain.nash_conv > 0.5


def test_the_papers_contrast_on_kuhn() -> None:
    def error(algorithm: str, **parameters: Any) -> float:
        result = solve(
            "kuhn", algorithm, 2_000_000, seed=1, curve=[2_000_000], measures=("squared_error",), **parameters
        )
        return result.curve[-1].values["squared_error"]

    plain = error("uct")
    assert error("smooth-uct") < 5e-5 < plain
    assert error("smooth-uct", schedule="confidence") < 2e-5
    assert error("smooth-uct", schedule="slow-decay") < 5e-5


@pytest.mark.slow
def test_smooth_uct_on_leduc_at_scale() -> None:
    """Mean of five seeds: below 0.07 at 85 M and 0.045 at 300 M with suits seen, about 0.036 at 85 M unseen."""
    runs = [("leduc", "smooth-uct", 300_000_000), ("leduc(suits=unseen)", "smooth-uct", 85_000_000)]
    runs += [("leduc", "uct", 85_000_000), ("leduc", "os-mccfr", 85_000_000)]
    jobs = [(*run, seed) for run in runs for seed in range(1, 6)]
    curves = dict(
        zip(jobs, joblib.Parallel(-1, batch_size=1)(joblib.delayed(_curve)(*job) for job in jobs), strict=True)
    )
    smooth, unseen, plain, outcome = ([curves[job] for job in jobs if job[:3] == run] for run in runs)
    assert np.mean([curve[85_000_000] for curve in smooth]) < 0.07
    assert np.mean([curve[300_000_000] for curve in smooth]) < 0.045
    assert np.mean([curve[85_000_000] for curve in unseen]) < 0.04
    assert min(curve[85_000_000] for curve in plain) > 0.4
    assert np.mean([curve[85_000_000] for curve in outcome]) < 0.035


def _curve(game: str, algorithm: str, iterations: int, seed: int) -> dict[int, float]:
    points = [point for point in (85_000_000, 300_000_000) if point <= iterations]
    curve = solve(game, algorithm, iterations, seed=seed, curve=points).curve
    return {point.iteration: point.nash_conv for point in curve}


def chain(tmp_path: Path, players: int) -> FlatGame:
    """Everybody moves once and has no choice, but the last player, who may go on or stop, twice."""
    names = " ".join(f'"{number}"' for number in range(players))
    moves = [*((player, '{ "go" }') for player in range(1, players)), *[(players, '{ "go" "stop" }')] * 2]
    lines = [f'EFG 2 R "chain" {{ {names} }}']
    lines += [f'p "" {player} {1 + (at == players)} "" {actions} 0' for at, (player, actions) in enumerate(moves)]
    lines += [f't "" {at} "" {{ {" ".join([str(2 - at)] * players)} }}' for at in (1, 2, 3)]
    (tmp_path / "chain.efg").write_text("\n".join(lines))
    return flatten(str(tmp_path / "chain.efg"))


def test_sixty_four_players_have_a_bit_each(tmp_path: Path) -> None:
    """A player's first new infoset ends its own tree for the episode, and nobody else's."""
    flat = chain(tmp_path, 64)
    for seed in range(20):
        learner = SelfPlay(flat, "uct", {"seed": seed})
        learner.advance(1, 1)
        visits = np.add.reduceat(learner.kept()["visits"], flat.tree.infoset_start[:-1])
        assert visits.tolist() == [1] * 64 + [0]
        learner.advance(2, 100)
        visits = np.add.reduceat(learner.kept()["visits"], flat.tree.infoset_start[:-1])
        assert visits.tolist()[:-1] == [101] * 64
        assert 10 < visits[-1] < 101
    with pytest.raises(FogplayError, match="uct is for at most 64 players, not 65"):
        SelfPlay(chain(tmp_path, 65), "uct", {"seed": 1})
    assert solve(chain(tmp_path, 65), "os-mccfr", 100).iterations == 100
