"""What a person reads and types at the table: rules, questions, hints, reviews and logs, for every game."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import fogplay as fp
from fogplay.agents.advice import EQUILIBRIUM, SEARCH, Advice, evaluated, sensible
from fogplay.cli import playing
from fogplay.errors import FogplayError
from fogplay.evaluate import measure
from fogplay.evaluate.situations import situations
from fogplay.games.registry import load
from fogplay.notation.talk import Talk
from fogplay.opponents import histories
from fogplay.play import Seeded, Table, Uniform
from fogplay.trees import named

Shown = str
OWN_WORDING = ("kuhn", "kuhn(players=3)", "ocp", "leduc", "leduc(players=3)", "leduc(suits=unseen)", "goofspiel")
MORE = ("goofspiel(5,ascending,revealed,points)", "bluff", "bluff(1,2,3)", "pam", "rps", "two-by-two")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Play with typed lines; what was shown, prompts and answers included."""

    def run(game: str, typed: list[str], against: list[str] | None = None, **options: object) -> Shown:
        lines = iter(typed)

        def answer(prompt: str) -> str:
            line = next(lines, None)
            print(f"{prompt}{line or ''}")
            if line is None:
                raise EOFError
            return line

        monkeypatch.setattr("builtins.input", answer)
        playing.play(game, against, **{"seed": 1, **options})  # type: ignore[arg-type]
        return capsys.readouterr().out

    return run


def test_kuhn_is_told_in_words(script) -> None:  # type: ignore[no-untyped-def]
    shown = script("kuhn", ["check", "call", "q"])
    assert "One card each from a deck of J, Q, K" in shown
    assert re.search(r"Pot 2\. You hold [JQK] and act first: check or bet\? check", shown)
    assert re.search(r"Pot 3\. You hold [JQK], checked, and face a bet of 1: fold or call\? call", shown)
    assert "Equilibrium bets 1." in shown
    assert re.search(r"You hold [JQK], equilibrium holds [JQK]\.", shown)
    assert "You see" not in shown


def test_folded_cards_stay_hidden(script) -> None:  # type: ignore[no-untyped-def]
    shown = script("kuhn", ["check", "fold"], hands=1)
    assert "nobody sees the card of equilibrium" in shown
    assert not re.search(r"equilibrium holds", shown)


def test_hints_name_probabilities_and_what_they_earn(script) -> None:  # type: ignore[no-untyped-def]
    shown = script("leduc", ["?", "check", "q"])
    assert re.search(r"equilibrium: \d+ % check, \d+ % bet 2 \(what they earn: check [+-][\d.]+, bet 2 ", shown)
    assert shown.index("what they earn") < shown.index("You check.")


def test_the_review_prices_a_mistake(script) -> None:  # type: ignore[no-untyped-def]
    """Calling a bet with the lowest card loses 1 more than folding, whatever the other holds."""
    shown = script("kuhn", ["check", "call"], hands=1)
    assert "You hold J" in shown
    assert "Review: You hold J, checked, and face a bet of 1: you call; equilibrium: 100 % fold; cost 1." in shown
    assert "Review: You hold J and act first: you check" in shown
    assert "Review" not in script("kuhn", ["check", "call"], hands=1, review=False)


@pytest.mark.parametrize("spec", [*OWN_WORDING, *MORE])
def test_every_hand_of_every_game_can_be_told(spec: str) -> None:
    """Random hands: three lines of rules at most, choices that are accepted as typed, and nothing hidden is told."""
    rules, known_as = named(spec)
    words = playing.talk_of(rules)
    assert words is not Talk
    assert 1 <= len(words.rules(rules)) <= 3
    assert words.opening(rules, known_as)
    for seed in range(20):
        table = Table(rules, Seeded(seed))
        tellings = [words(rules, table.names, seat) for seat in range(table.num_players)]
        while not table.is_over:
            seat = table.to_act[0]
            view = table.view(seat)
            assert tellings[seat].places()
            tellings[seat].news(table.seen(seat))
            question, options = tellings[seat].question(view), tellings[seat].options(view)
            assert len(set(options)) == len(view.legal)
            for name, own, action in zip(options, view.names, view.legal, strict=True):
                assert question.allowed[name.lower()] == action
                assert question.allowed.get(own, action) == action  # the rules' own word never means something else
            assert set(question.allowed.values()) == set(view.legal)
            table.take(seat, Uniform().act(view))
        for seat, telling in enumerate(tellings):
            assert all(isinstance(line, str) for line in telling.end(table.seen(seat)))


def test_a_game_without_wording_gets_the_general_one() -> None:
    game = load("repeated(kuhn,2)")
    assert playing.talk_of(game) is Talk
    table = Table(game, Seeded(1))
    telling = Talk(game, ["you", "other"], 0)
    assert telling.question(table.view(0)).prompt.startswith("You see ")


def test_a_repeated_matrix_game_tells_the_hands_before() -> None:
    table = Table(load("repeated(rps,3)"), Seeded(1))
    talk = playing.talk_of(table.game)(table.game, ["other", "you"], 1)
    table.take(0, 0)
    assert talk.situation(table.view(1)) == "Round 1 of 3"
    table.take(1, 2)
    table.take(0, 0)
    assert talk.situation(table.view(1)) == "Round 2 of 3, after scissors against rock"


def test_at_the_end_everything_is_shown_that_the_game_does_not_call_unseen() -> None:
    """Simultaneous choices are hidden until then; folded cards stay hidden."""
    table = Table(load("rps"), Seeded(2))
    table.take(0, 0)
    assert [event.name for event in table.seen(1)] == [None]
    table.take(1, 2)
    assert [event.name for event in table.seen(1)] == ["rock", "scissors"]
    kuhn = Table(load("kuhn"), Seeded(2))
    for action in (1, 0):  # bet, fold
        kuhn.take(kuhn.to_act[0], action)
    assert [event.name is None for event in kuhn.seen(0)] == [False, True, False, False]


# ---- Who plays, and who advises


def test_a_sensible_opponent_by_default() -> None:
    """The best bot of the game, an equilibrium if the game is small, and a search otherwise."""
    assert sensible(load("holdem"), "holdem").name == "champion"
    assert sensible(load("holdem(max_raises=[1,1,1,1])"), "holdem").name == "rules"
    small = sensible(load("kuhn"), "kuhn")
    assert small.name == EQUILIBRIUM
    assert measure(fp.flatten("kuhn"), small.agent.probabilities).nash_conv < 1e-3
    assert sensible(load("kuhn(players=3)"), "kuhn(players=3)").flat is not None
    large = sensible(load("goofspiel(9)"), "goofspiel(9)")
    assert large.name == SEARCH
    assert large.agent not in large.seated(load("goofspiel(9)"), 1)  # whose memory knows what only it may know


def test_advice_is_exact_on_trees() -> None:
    """What choices earn is what ``situations`` computes, and the cost is the difference to the best."""
    flat = fp.flatten("leduc")
    rng = np.random.default_rng(3)
    shares = flat.shares(rng.random(flat.num_slots))
    strategy = fp.TabularStrategy.of(flat, shares, "random")
    reference = evaluated("random", strategy, load("leduc"), "leduc")
    exact = situations(flat, shares).value
    table = Table(load("leduc"), Seeded(5))
    seen = 0
    while not table.is_over:
        view = table.view(table.to_act[0])
        advice = reference.advise(view)
        slots = flat.slots(flat.infoset_number(view.infoset))
        assert advice.values == pytest.approx(tuple(exact[slots]), abs=1e-12)
        assert advice.probabilities == pytest.approx(tuple(shares[slots]))
        assert advice.cost(0) == pytest.approx(max(exact[slots]) - exact[slots][0], abs=1e-12)
        seen += 1
        table.take(view.seat, view.legal[-1])
    assert seen >= 3


def test_advice_in_words() -> None:
    advice = Advice("bot", (0.25, 0.749, 0.001), None)
    assert advice.words(("fold", "call 2", "raise")) == "75 % call 2, 25 % fold"
    assert advice.cost(0) is None


def test_search_and_bots_advise_too(script) -> None:  # type: ignore[no-untyped-def]
    shown = script("leduc", ["?", "check", "q"], ["uniform"], reference="search:uct:200")
    assert re.search(r"search:uct:200: \d+ % ", shown)
    shown = script("holdem", ["?", "q"], ["always-call"], reference="sparring")
    assert re.search(r"sparring: \d+ % (check|raise)", shown)


# ---- The log


def test_the_log_holds_what_the_person_saw_and_goes_on(script, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    log = tmp_path / "me.txt"
    shown = script("kuhn", ["check", "fold", "check", "q"], log=log, hands=1)
    assert f"1 hand in {log}" in shown
    script("kuhn", ["check", "fold", "check", "fold"], log=log, hands=2)
    found = histories.read(log)
    assert len(found.order) == 3
    assert found.names == ("equilibrium", "you")
    first = found.hands[0]
    assert first.names == ("you", "equilibrium")
    assert first.moves[0].startswith("deal ")
    assert first.moves[1] == histories.UNSEEN
    with pytest.raises(FogplayError, match="has hands of kuhn"):
        script("leduc", ["q"], log=log)


def test_a_log_of_a_game_with_its_own_notation(script, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Cards of others only at a showdown; the log can be read as a competition's."""
    from fogplay.notation.acpc import read_hands

    log = tmp_path / "me.log"
    script("holdem", ["f", "c", "c", "c", "c", "q"], ["always-raise"], log=log, review=False, hands=1)
    script("holdem", ["c"] * 9, ["always-call"], log=log, review=False, hands=1)
    hands = [hand for _, hand in read_hands(log)]
    assert [hand.number for hand in hands] == [0, 1]
    assert [len(cards) for cards in hands[0].holes] == [2, 0]
    assert [len(cards) for cards in hands[1].holes] == [2, 2]
    assert hands[0].names == ("you", "always-raise")
    other = tmp_path / "other.log"
    other.write_text("# something else\n")
    with pytest.raises(FogplayError, match="is not a log of"):
        script("holdem", ["q"], ["always-call"], log=other)
