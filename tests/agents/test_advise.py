"""``fogplay advise``: moves in a situation typed in, from every kind of adviser."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

import fogplay as fp
from fogplay.agents.advice import Reference
from fogplay.cli import app
from fogplay.cli.advising import explained
from fogplay.play import Seeded, Table


def advise(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    app(["advise", *words, "--json"], standalone_mode=False)
    told: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return told


def test_an_equilibrium_advises_in_a_small_game(capsys: pytest.CaptureFixture[str]) -> None:
    """A king calls a bet: it wins 2 instead of losing 1."""
    told = advise(capsys, "kuhn", "--hand", "K", "--history", "pass bet")
    assert (told["agent"], told["seat"], told["infoset"], told["move"]) == ("equilibrium", 0, "K:pb", "bet")
    assert [(row["move"], row["mean"]) for row in told["moves"]] == [("bet", 2.0), ("pass", -1.0)]


def test_a_search_advises_with_what_it_tried(capsys: pytest.CaptureFixture[str]) -> None:
    told = advise(capsys, "kuhn", "--hand", "K", "--history", "pass bet", "--agent", "search:uct:400", "--top", "1")
    (row,) = told["moves"]
    assert row["move"] == "bet"
    assert 200 <= row["playouts"] <= 400
    assert row["mean"] == pytest.approx(2.0, abs=0.2)


def test_advice_as_a_person_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    app(["advise", "kuhn", "--hand", "K", "--history", "pass bet", "--agent", "uniform"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "fold or call? uniform says fold." in " ".join(shown.split())
    assert "50.0 % of the time" in shown


@pytest.mark.parametrize("history", ["pass bet", "p b", "check bet", "Check, Bet"])
def test_the_tables_own_words_are_understood(capsys: pytest.CaptureFixture[str], history: str) -> None:
    assert advise(capsys, "kuhn", "--hand", "K", "--history", history, "--agent", "uniform")["infoset"] == "K:pb"


@pytest.mark.parametrize("hand", ["As Ks", "Ks,As", "AsKs"])
def test_cards_may_be_typed_in_any_order(capsys: pytest.CaptureFixture[str], hand: str) -> None:
    told = advise(capsys, "holdem", "--hand", hand, "--history", "raise", "--agent", "uniform")
    assert told["moves"]
    assert told["seat"] == 0


def test_the_situation_is_told_as_far_as_it_has_come(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["leduc", "--hand", "Js", "--shown", "Ks", "--history", "call call raise", "--agent", "uniform"]
    app(["advise", *words], standalone_mode=False)
    assert "You hold Js with Ks on the table and face a bet of 4" in " ".join(capsys.readouterr().out.split())


def test_an_agent_that_explains_itself_is_quoted() -> None:
    row = SimpleNamespace(action=1, name="bet", win_rate=0.75, playouts=40, reason="nobody can beat it")

    class Talker:
        def explain(self, view: fp.View) -> Any:
            return SimpleNamespace(action=1, candidates=(row,))

    view = Table(fp.load("kuhn"), Seeded(1)).view(0)
    assert explained(Reference("talker", Talker()), view).candidates == (row,)


def test_an_agent_without_probabilities_always_does_the_same() -> None:
    view = Table(fp.load("kuhn"), Seeded(1)).view(0)
    agent = SimpleNamespace(act=lambda view: view.legal[1])
    assert Reference("second", agent).advise(view).probabilities == (0.0, 1.0)
    (row,) = explained(Reference("second", agent), view).candidates
    assert (row.name, row.reason) == ("bet", "it does not say why")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["kuhn", "--hand", "K", "--history", "fold"], "cannot be 'fold'; it can be check, bet"),
        (["kuhn", "--hand", "X"], "a card of --hand cannot be 'X'"),
        (["kuhn", "--hand", "K", "--agent", "nobody"], "there is no file nobody"),
        (["kuhn", "--hand", "K", "--top", "0"], "--top must be a whole number from 1"),
    ],
)
def test_what_cannot_be_advised_is_refused_in_one_line(words: list[str], why: str) -> None:
    with pytest.raises(fp.FogplayError) as refused:
        app(["advise", *words], standalone_mode=False)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
