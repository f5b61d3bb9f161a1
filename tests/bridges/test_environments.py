"""Every game as an environment of PettingZoo and, with a seat's opponents fixed, of Gymnasium."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest

import fogplay as fp
from fogplay.bridges import sizes
from fogplay.games.registry import registered
from tests.games.specs import every_state

pytest.importorskip("pettingzoo")
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from fogplay.bridges.gymnasium import SeatEnv
from fogplay.bridges.pettingzoo import env

LARGE = ("doudizhu", "holdem")  # too large for a tree: no table of all infosets
SPECS = [name for name in registered() if name not in LARGE]
SPECS += ["kuhn(players=3)", "holdem(players=2,rounds=1,ranks=4,suits=1,hole=1)", "kuhn.kif"]
MORE = ["pyspiel:goofspiel(imp_info=True,num_cards=3,points_order=descending)", "pyspiel:tic_tac_toe"]


@pytest.mark.parametrize("spec", [*SPECS, *MORE, *LARGE])
def test_pettingzoo(spec: str) -> None:
    if spec.startswith("pyspiel"):
        pytest.importorskip("pyspiel")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(env(spec), num_cycles=12 if spec in LARGE else 60)


def test_a_seed_deals_the_same_hand() -> None:
    seed_test(lambda: env("leduc"), num_cycles=10)


@pytest.mark.parametrize("spec", [*SPECS, *LARGE])
def test_gymnasium(spec: str) -> None:
    players = fp.load(spec).num_players()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(SeatEnv(spec, seat=players - 1), skip_render_check=True)


def test_different_infosets_have_different_observations() -> None:
    flat = fp.flatten("leduc")
    size = sizes.sizes_of(fp.load("leduc")).bytes
    assert len({sizes.encoded(name, size).tobytes() for name in flat.infosets}) == flat.num_infosets
    with pytest.raises(fp.FogplayError, match="larger size="):
        sizes.encoded("x" * 10, 9)


def episode(table: Any, rng: np.random.Generator) -> dict[str, float]:
    """The rewards of one hand, played at random by the masks."""
    table.reset(seed=int(rng.integers(1 << 30)))
    won = dict.fromkeys(table.agents, 0.0)
    for agent in table.agent_iter():
        seen, reward, over, _, _ = table.last()
        won[agent] += reward
        mask = seen["action_mask"]
        assert mask.any() != over
        table.step(None if over else int(rng.choice(np.flatnonzero(mask))))
    return won


def test_rewards_are_the_scores() -> None:
    rng, table = np.random.default_rng(3), env("leduc")
    for _ in range(20):
        won = episode(table, rng)
        assert tuple(won.values()) == table.table.scores
        assert sum(won.values()) == 0
    table.reset(seed=1)
    with pytest.raises(fp.FogplayError, match="not possible here"):
        table.step(0)  # nobody may fold before a bet


def test_a_seat_sees_only_what_it_may_know() -> None:
    """Two deals that differ in the other's card look the same."""
    first, second = (fp.load("kuhn").new_initial_state().child(2).child(other) for other in (0, 1))
    assert first.information_state_string(0) == second.information_state_string(0)
    table = env("kuhn")
    table.reset(seed=1)
    seen = bytes(table.observe("seat_0")["observation"]).rstrip(b"\0").decode()
    assert seen == table.table.view(0).infoset
    assert not table.observe("seat_1")["observation"].any()


def test_a_seat_against_an_equilibrium_loses_what_theory_says() -> None:
    """The second seat of Kuhn wins 1/18 per hand; here a best response plays it."""
    strategy = fp.solve("kuhn", "lp").strategy
    table, earned = SeatEnv("kuhn", strategy, seat=1), []
    rng = np.random.default_rng(1)
    seen, _ = table.reset(seed=7)
    while len(earned) < 1000:
        mask = np.flatnonzero(seen["action_mask"])
        name = bytes(seen["observation"]).rstrip(b"\0").decode()
        chances = list(strategy[name].values())
        seen, reward, over, _, info = table.step(int(rng.choice(mask, p=chances)))
        assert "illegal" not in info
        if over:
            earned.append(reward)
            seen, _ = table.reset()
    assert np.mean(earned) == pytest.approx(1 / 18, abs=4 * np.std(earned) / np.sqrt(len(earned)))


def test_an_illegal_action_becomes_the_first_legal_one_and_is_told() -> None:
    table = SeatEnv("leduc")
    table.reset(seed=1)
    *_, info = table.step(0)  # a fold without a bet
    assert info["illegal"]


class Untold(fp.Game):
    """A game that does not say how many actions it has."""

    name = "untold"

    def new_initial_state(self) -> fp.State:
        return fp.load("leduc").new_initial_state()


def test_games_too_large_to_visit_must_say_how_many_actions_they_have(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sizes.sizes_of(Untold()).actions == 3
    monkeypatch.setattr(sizes, "MOST_STATES", 10)
    with pytest.raises(fp.FogplayError, match="num_distinct_actions"):
        sizes.sizes_of(Untold())


@pytest.mark.parametrize("spec", [*SPECS[:-1], "repeated(kuhn,hands=1)", "matrix([[1,-2.5,0],[0.125,1e-9,-3]])"])
def test_what_games_say_of_their_actions_is_what_all_states_show(spec: str) -> None:
    game = fp.load(spec)
    shown = 1 + max(max(state.legal_actions()) for state in every_state(game) if state.current_player() >= 0)
    assert game.num_distinct_actions() == shown


def test_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for package, name in (("pettingzoo", "pettingzoo"), ("gymnasium", "gymnasium")):
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.delitem(sys.modules, f"fogplay.bridges.{name}")
        with pytest.raises(fp.FogplayError, match="pip install"):
            __import__(f"fogplay.bridges.{name}")
