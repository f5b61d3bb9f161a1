"""One resolver for what a user types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fogplay as fp
from fogplay.agents import names_of, register_kind, resolve
from fogplay.agents.resolve import _KINDS, known_names
from fogplay.bots.holdem import BOTS
from fogplay.errors import FogplayError
from fogplay.games.registry import load, registered
from fogplay.play import Uniform, View
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.strategies import BettingStrategy, TabularStrategy
from fogplay.strategies.policy import BettingPolicy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("agents")
    simulated = HoldemSimulator.of("holdem(grid=ehs:3/3/3/3)")
    weights = np.ones(simulated.num_slots)
    BettingStrategy.of(simulated.rules, simulated.betting, weights=weights, greedy=False, method="even").save(
        here / "three.safetensors"
    )
    kuhn = fp.flatten("kuhn")
    TabularStrategy.of(kuhn, kuhn.uniform(), "uniform").save(here / "kuhn.safetensors")
    return here


def test_every_game_has_uniform() -> None:
    for name in registered():
        rules = load(name)
        (agent,) = resolve(["uniform"], rules)
        assert hasattr(agent, "act")
        assert "uniform" in known_names(rules)
    (agent,) = resolve(["uniform"], load("pyspiel:kuhn_poker"))
    assert isinstance(agent, Uniform)


def test_files_of_every_kind(folder: Path) -> None:
    holdem, kuhn = load("holdem"), load("kuhn")
    file, bot = resolve([str(folder / "three.safetensors"), "rules"], holdem)
    assert isinstance(file, BettingStrategy)
    assert isinstance(bot, BettingPolicy)
    assert bot.betting is file.betting  # a bot takes its company's betting tree
    first, second = resolve([str(folder / "kuhn.safetensors")] * 2, kuhn)
    assert first is second
    assert isinstance(first, TabularStrategy)


def test_bots_are_for_the_whole_deck() -> None:
    assert set(known_names(load("holdem"))) == set(BOTS)
    assert known_names(load("holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1])")) == ("uniform",)


@pytest.mark.parametrize(
    ("text", "spec", "said"),
    [
        ("nobody", "kuhn", "there is no file nobody; an agent is a saved strategy or uniform"),
        (
            "unifrom",
            "kuhn",
            "there is no file unifrom; did you mean 'uniform'? an agent is a saved strategy or",
        ),
        ("rules", "leduc", "the bot rules plays holdem, not leduc(players=2,suits=seen); an agent is"),
        ("tset:1", "kuhn", "there is no kind of agent 'tset'; did you mean 'test:'? an agent is a saved strategy or"),
        ("test:x", "kuhn", "test:SECONDS takes a number, not x"),
    ],
)
def test_what_is_not_an_agent(text: str, spec: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(settings: str, _: Any) -> Any:
        raise FogplayError(f"test:SECONDS takes a number, not {settings}")

    monkeypatch.setitem(_KINDS, "test", refuse)
    with pytest.raises(FogplayError) as caught:
        resolve([text], load(spec))
    assert said in str(caught.value)


def test_files_of_other_games_are_refused(folder: Path) -> None:
    for file, spec, said in (
        ("kuhn", "leduc", "this strategy is for kuhn"),
        ("kuhn", "holdem", "this strategy is for kuhn"),
        ("three", "kuhn", "this strategy is for holdem"),
        ("three", "holdem(blinds=[4,2])", "blinds is"),
    ):
        with pytest.raises(FogplayError, match=rf"{file}.safetensors: .*{said}|{said}.*"):
            resolve([str(folder / f"{file}.safetensors")], load(spec))


def test_kinds_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    class Always:
        def __init__(self, place: int) -> None:
            self.place = place

        def act(self, view: View) -> int:
            return view.legal[self.place]

    monkeypatch.setitem(_KINDS, "always", "")
    register_kind("always", lambda settings, rules: Always(int(settings)))
    first, second = resolve(["always:0", "always:1"], load("kuhn"))
    assert (first.place, second.place) == (0, 1)
    played = fp.match("kuhn", ["always:1", "always:0"], 100, seed=1)
    assert played.means == (1.0, -1.0)  # whoever always bets takes the ante of whoever always passes
    assert played.names == ("always-1", "always-0")


def test_names() -> None:
    words = ("uniform",)
    assert names_of(["uniform", "a/b.safetensors", "c/b.st", "uniform"], words) == ["uniform", "b", "b-2", "uniform-2"]
    assert names_of(["x|y:z.st"]) == ["x-y-z"]
