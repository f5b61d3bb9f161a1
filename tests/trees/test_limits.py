"""Games that are too large for a tree are known to be within seconds: here, within a number of steps."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from fogplay import FogplayError, load
from fogplay.games import TERMINAL, Game, State
from fogplay.trees import flatten
from fogplay.trees import limits as limits_module
from fogplay.trees.estimate import MANY_PROBES, Estimate, estimate
from fogplay.trees.limits import EARLY, Gauge, Limits, Path, TooLargeError, expected_nodes


class Wide(Game):
    """2,000 moves that look alike; one of them, which an estimate misses, leads to ``depth`` more, not to one more."""

    name = "wide"

    def __init__(self, moves: int, depth: int, place: int = 0) -> None:
        self.moves, self.depth, self.place, self.steps = moves, depth, place, 0

    def new_initial_state(self) -> WideState:
        return WideState(self, -1)


class WideState(State):
    def __init__(self, game: Wide, depth: int) -> None:
        self.game, self.depth = game, depth

    def current_player(self) -> int:
        return TERMINAL if self.depth == self.game.depth else 0

    def legal_actions(self) -> range:
        return range(2_000 if self.depth < 0 else self.game.moves)

    def child(self, action: int) -> WideState:
        self.game.steps += 1
        if self.depth < 0:
            return WideState(self.game, 0 if action == self.game.place else self.game.depth - 1)
        return WideState(self.game, self.depth + 1)

    def information_state_string(self, player: int) -> str:
        return str(self.depth)

    def returns(self) -> list[float]:
        return [0.0, 0.0]


@pytest.mark.parametrize("spec", ["leduc(players=4)", "pyspiel:liars_dice(numdice=2)"])
def test_what_the_estimate_shows_is_refused_before_the_walk(spec: str) -> None:
    pytest.importorskip("pyspiel")
    reports: list[Any] = []
    with pytest.raises(TooLargeError, match=r"(million|billion) nodes, over the limit") as error:
        flatten(spec, progress=lambda *now: reports.append(now))
    assert not reports
    assert "choose smaller parameters" in str(error.value)


def test_an_estimate_near_a_limit_is_made_with_more_probes() -> None:
    many = estimate(load("leduc(players=4)").new_initial_state(), MANY_PROBES)
    assert 2 * many.error < many.nodes - 100_000_000


def test_a_hidden_endless_history_is_given_up() -> None:
    game = Wide(moves=1, depth=10**9)
    assert not estimate(game.new_initial_state()).endless
    with pytest.raises(TooLargeError, match="histories of over 2,000 moves: too large for a tree"):
        flatten(game)
    assert game.steps < 500_000


def test_rules_that_are_slow_are_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = itertools.count()
    monkeypatch.setattr("fogplay.trees.estimate.time", SimpleNamespace(process_time=lambda: float(next(seconds))))
    game = Wide(moves=2, depth=60)
    with pytest.raises(TooLargeError, match="rules so slow that its size is unknown: no tree is built"):
        flatten(game)
    assert game.steps < 100


def test_a_hidden_huge_part_is_given_up_as_soon_as_it_shows() -> None:
    game = Wide(moves=2, depth=60)
    assert estimate(game.new_initial_state()).nodes < 10_000
    with pytest.raises(TooLargeError, match=r"about .*, over the limit of 100\.0 million nodes"):
        flatten(game)
    assert game.steps < 500_000


def test_a_hidden_part_that_fits_is_walked() -> None:
    for place in (0, 1_999):
        flat = flatten(Wide(moves=2, depth=14, place=place))
        assert flat.num_nodes == 1 + 1_999 * 3 + 2**15 - 1


def test_the_limit_can_be_raised_as_the_message_says() -> None:
    with pytest.raises(FogplayError, match=r"raise the limit \(--node-limit 50000\)"):
        flatten("leduc", node_limit=5_000)
    assert flatten("leduc", node_limit=50_000).num_nodes == 9_457
    with pytest.raises(FogplayError, match="node_limit must be a whole number from 1, not 0"):
        flatten("leduc", node_limit=0)


def test_a_path_knows_its_share() -> None:
    path = Path()
    path.follow([2, 3, 0, 0])  # the root's first move, and two of the three that follow it
    assert path.moves() == [0, 2]
    assert path.share() == pytest.approx(1 / 3)
    path.follow([0])
    assert (path.moves(), path.share()) == ([1], pytest.approx(1 / 2))


def test_an_uncertain_estimate_over_the_limits_is_judged_early() -> None:
    limits = Limits(nodes=1_000_000, memory=10**12)
    gauge = Gauge("game", 2, limits, expected=10**9, instead="use another")
    gauge.look([2] * 40, nodes=EARLY - 1, waiting=40, infosets=1)
    with pytest.raises(TooLargeError, match="over the limit"):
        gauge.look([], nodes=EARLY + 1, waiting=40, infosets=1)
    sure = Gauge("game", 2, limits, expected=100_000, instead="use another")
    sure.look([2] * 40, nodes=EARLY + 1, waiting=40, infosets=1)


def test_an_estimate_far_over_the_limits_is_refused_however_uncertain(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Estimate(10**12, endless=False, error=10**12)
    monkeypatch.setattr(limits_module, "estimate", lambda *_, **__: found)
    limits = Limits(nodes=1_000_000, memory=10**12)
    with pytest.raises(TooLargeError, match="over the limit"):
        expected_nodes(None, 2, "game", limits, "use another")
    found = found._replace(nodes=10**8, error=10**8)  # the walk will tell
    assert expected_nodes(None, 2, "game", limits, "use another") == 10**8
