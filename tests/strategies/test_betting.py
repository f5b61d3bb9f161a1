"""Profiles: made from tables, kept on disk, refused where they do not belong."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fogplay.cards import tables as cards_tables
from fogplay.errors import FogplayError
from fogplay.games.game import TERMINAL
from fogplay.games.registry import load
from fogplay.jit import record
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.strategies import TabularStrategy
from fogplay.strategies.betting import AVERAGE, GREEDY, BettingStrategy
from fogplay.trees import flatten

SMALL = "holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1])"
CELL = record([("visits", np.int64), ("total", np.float64)])


@pytest.fixture(scope="module")
def small() -> HoldemSimulator:
    return HoldemSimulator.of(SMALL)


def infosets(simulated: HoldemSimulator) -> list[tuple[int, int, slice, int]]:
    """Node, bucket, slots and calling action of every infoset."""
    found = []
    for number, node in enumerate(simulated.betting.nodes):
        if node["player"] != TERMINAL:
            for bucket in range(simulated.rules.buckets()[node["street"]]):
                first = int(node["slot"]) + bucket * int(node["stride"])
                found.append((number, bucket, slice(first, first + int(node["count"])), int(node["calling"])))
    return found


def learned(simulated: HoldemSimulator, seed: int = 1) -> np.ndarray:
    """Tables as UCT has them, a third of the actions never tried."""
    rng = np.random.default_rng(seed)
    cell = np.zeros(simulated.num_slots, CELL)
    cell["visits"] = rng.integers(0, 6, simulated.num_slots) * (rng.random(simulated.num_slots) < 0.7)
    cell["total"] = np.where(cell["visits"] > 0, rng.normal(-5, 10, simulated.num_slots), 0)
    return cell


def test_slots_are_covered_once(small: HoldemSimulator) -> None:
    covered = np.zeros(small.num_slots, int)
    for _, _, where, _ in infosets(small):
        covered[where] += 1
    assert (covered == 1).all()


def test_greedy_takes_the_best_action_tried(small: HoldemSimulator) -> None:
    cell = learned(small)
    profile = BettingStrategy.of(
        small.rules, small.betting, visits=cell["visits"], total=cell["total"], greedy=True, method="uct"
    )
    assert profile.kind == GREEDY
    untried = 0
    for number, bucket, where, calling in infosets(small):
        visits, total = cell["visits"][where], cell["total"][where]
        means = [value / count if count else -np.inf for value, count in zip(total, visits, strict=True)]
        best = int(np.argmax(means)) if visits.any() else calling
        untried += not visits.any()
        wanted = np.zeros(len(visits))
        wanted[best] = 1
        assert profile.probabilities(number, bucket).tolist() == wanted.tolist()
    assert untried > 10


def test_averages_add_up_and_are_within_a_255th(small: HoldemSimulator) -> None:
    weights = np.random.default_rng(2).exponential(size=small.num_slots) ** 4
    weights[::3] = 0
    profile = BettingStrategy.of(small.rules, small.betting, weights=weights, greedy=False, method="es-mccfr")
    greedy = BettingStrategy.of(small.rules, small.betting, weights=weights, greedy=True, method="es-mccfr")
    assert profile.kind == AVERAGE
    for number, bucket, where, calling in infosets(small):
        mine = weights[where]
        wanted = mine / mine.sum() if mine.any() else np.full(len(mine), 1 / len(mine))
        assert profile.share[where].astype(int).sum() == 255
        assert np.abs(profile.share[where] / 255 - wanted).max() < 1 / 255
        assert (profile.share[where][mine == 0] == 0).all() or not mine.any()
        best = int(np.argmax(mine)) if mine.any() else calling
        assert greedy.probabilities(number, bucket)[best] == 1


def test_where_hardly_anything_is_known_it_calls(small: HoldemSimulator) -> None:
    cell = learned(small)
    visits, total = cell["visits"], cell["total"]
    for greedy in (True, False):
        about: dict[str, Any] = {"visits": visits, "total": total, "greedy": greedy, "method": "uct"}
        whole, less = (
            BettingStrategy.of(small.rules, small.betting, **about),
            BettingStrategy.of(small.rules, small.betting, least=7, **about),
        )
        rare = 0
        for number, bucket, where, calling in infosets(small):
            known = visits[where].sum() >= 7
            rare += not known
            if known:
                assert (less.share[where] == whole.share[where]).all()
            else:
                assert less.probabilities(number, bucket)[calling] == 1
        assert 0 < rare < small.num_slots / 3
    heaviest = BettingStrategy.of(
        small.rules, small.betting, weights=visits, greedy=True, method="es-mccfr", least=1000
    )
    assert (
        heaviest.share
        == BettingStrategy.of(small.rules, small.betting, weights=0 * visits, greedy=True, method="es-mccfr").share
    ).all()


def test_coarser_averages_are_within_a_step(small: HoldemSimulator, tmp_path: Path) -> None:
    weights = np.random.default_rng(2).exponential(size=small.num_slots)
    sizes = []
    for steps in (255, 15, 5):
        profile = BettingStrategy.of(
            small.rules, small.betting, weights=weights, greedy=False, method="es-mccfr", steps=steps
        )
        assert (profile.share % (255 // steps) == 0).all()
        for _, _, where, _ in infosets(small):
            assert profile.share[where].astype(int).sum() == 255
            assert np.abs(profile.share[where] / 255 - weights[where] / weights[where].sum()).max() < 1 / steps
        profile.save(tmp_path / "p.safetensors")
        assert (BettingStrategy.read(tmp_path / "p.safetensors").share == profile.share).all()
        sizes.append((tmp_path / "p.safetensors").stat().st_size)
    assert sizes[0] > sizes[1] > sizes[2]
    for wrong in (100, 0, -5):
        with pytest.raises(FogplayError, match=f"steps must divide 255, not {wrong}"):
            BettingStrategy.of(
                small.rules, small.betting, weights=weights, greedy=False, method="es-mccfr", steps=wrong
            )


def test_visits_alone_make_an_average(small: HoldemSimulator) -> None:
    visits = learned(small)["visits"]
    profile = BettingStrategy.of(small.rules, small.betting, visits=visits, greedy=False, method="uct")
    same = BettingStrategy.of(small.rules, small.betting, weights=visits.astype(float), greedy=False, method="uct")
    assert (profile.share == same.share).all()
    for what in ({"visits": visits}, {}, {"visits": visits, "weights": visits}):
        with pytest.raises(FogplayError, match="visits and totals, or of weights"):
            BettingStrategy.of(small.rules, small.betting, greedy=True, method="uct", **what)
    with pytest.raises(FogplayError, match="slots"):
        BettingStrategy.of(small.rules, small.betting, weights=visits[:-1], greedy=True, method="uct")


@pytest.mark.parametrize("greedy", [True, False])
def test_round_trip(small: HoldemSimulator, greedy: bool, tmp_path: Path) -> None:
    weights = np.random.default_rng(3).exponential(size=small.num_slots)
    made = BettingStrategy.of(
        small.rules,
        small.betting,
        weights=weights,
        greedy=greedy,
        method="es-mccfr",
        parameters={"k": 1},
        iterations=7,
        seed=9,
    )
    made.save(tmp_path / "p.safetensors")
    back = BettingStrategy.read(tmp_path / "p.safetensors")
    for field in dataclasses.fields(BettingStrategy):
        if field.name != "share":
            assert getattr(back, field.name) == getattr(made, field.name)
    assert (back.share == made.share).all()
    assert back.probabilities(0, 3).tolist() == made.probabilities(0, 3).tolist()


def test_what_is_no_decision_is_refused(small: HoldemSimulator) -> None:
    profile = BettingStrategy.of(
        small.rules, small.betting, weights=np.ones(small.num_slots), greedy=False, method="even"
    )
    end = int(np.flatnonzero(small.betting.nodes["player"] == TERMINAL)[0])
    for node, bucket in ((end, 0), (0, -1), (0, 10**6)):
        with pytest.raises(FogplayError, match="no decision"):
            profile.probabilities(node, bucket)


def test_two_players_greedy_fit_in_a_megabyte(tmp_path: Path) -> None:
    simulated = HoldemSimulator.of("holdem")
    noise = np.random.default_rng(1).integers(0, 100, simulated.num_slots, np.uint8)
    BettingStrategy.of(simulated.rules, simulated.betting, weights=noise, greedy=True, method="noise").save(
        tmp_path / "p.safetensors"
    )
    assert (tmp_path / "p.safetensors").stat().st_size < 1_000_000


def test_another_grid_or_betting_is_refused() -> None:
    profile = BettingStrategy("holdem(grid=ehs:10/10/10/10)", GREEDY, np.zeros(1, np.uint8), "none")
    profile.require(load("holdem(grid=ehs:10/10/10/10)"))
    with pytest.raises(FogplayError, match=r"learned on the grid ehs:10/10/10/10 and cannot be used on ehs:9/10/10/10"):
        profile.require(load("holdem(grid=ehs:9/10/10/10)"))
    with pytest.raises(FogplayError, match=r"max_raises is \[3, 4, 4, 4\] there and \[3, 4, 4, 3\] here"):
        profile.require(load("holdem(max_raises=[3,4,4,3],grid=ehs:10/10/10/10)"))
    with pytest.raises(FogplayError, match="players is 2 there and 3 here"):
        profile.require(load("holdem(players=3,grid=ehs:10/10/10/10)"))
    with pytest.raises(FogplayError, match="1 slots and"):
        profile.probabilities(0, 0)


def test_files_that_are_damaged_or_something_else(
    small: HoldemSimulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.safetensors"
    BettingStrategy.of(small.rules, small.betting, weights=np.ones(small.num_slots), greedy=True, method="even").save(
        path
    )
    whole = path.read_bytes()
    for at in (len(whole) - 1, len(whole) // 2, 100):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(FogplayError, match=r"damaged|no file|not write"):
            BettingStrategy.read(path)
    path.write_bytes(whole[:-3])
    with pytest.raises(FogplayError, match="damaged"):
        BettingStrategy.read(path)
    kuhn = flatten("kuhn")
    TabularStrategy.of(kuhn, kuhn.uniform(), "uniform").save(path)
    with pytest.raises(FogplayError, match="holds a strategy, not a profile"):
        BettingStrategy.read(path)
    ten = HoldemSimulator.of("holdem(grid=ehs:10/10/10/10)")
    BettingStrategy.of(ten.rules, ten.betting, weights=np.ones(ten.num_slots), greedy=True, method="even").save(path)
    monkeypatch.setattr(cards_tables, "VERSION", cards_tables.VERSION + 1)
    with pytest.raises(FogplayError, match="other tables of hand strength"):
        BettingStrategy.read(path)
