"""``fogplay play`` with a scripted human."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fogplay as fp
from fogplay.cli import playing
from fogplay.games.registry import load
from fogplay.notation.holdem import show_cards
from fogplay.simulators.holdem_duplicate import Dealer

Script = Callable[..., str]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Script:
    """Play a game with typed lines; what was shown, prompts included."""

    def run(game: str, against: list[str], typed: list[str], hands: int | None = None, seed: int = 3) -> str:
        lines = iter(typed)

        def answer(prompt: str) -> str:
            print(prompt, end="")
            line = next(lines, None)
            if line is None:
                raise EOFError
            if line == "ctrl-c":
                raise KeyboardInterrupt
            print(line)
            return line

        monkeypatch.setattr("builtins.input", answer)
        playing.play(game, against, hands, seed)
        return capsys.readouterr().out

    return run


def test_cards_are_readable() -> None:
    assert show_cards((51, 33, 0)) == "A♠ 10♦ 2♣"


def test_a_hand_checked_down(script: Script) -> None:
    shown = script("holdem", ["always-call"], ["c"] * 4, hands=1, seed=3)
    assert "Limit hold'em, blinds 10 5." in shown
    assert "Hand 1. you (blind 10) - always-call (on the button, blind 5)" in shown
    assert shown.count("[c]heck, [r]aise? ") == 1  # the blinds are bets
    assert shown.count("[c]heck, [b]et? ") == 3
    for street in ("The flop: ", "The turn: ", "The river: "):
        assert street in shown
    assert "Always-call calls 5." in shown
    assert re.search(r"^  You: .*, (one|two|high|three|straight|flush|full|four)", shown, re.M)
    assert re.search(r"^  Always-call: ", shown, re.M)
    assert re.search(r"After 1 hand: ([+-]10|\+0) chips, ([+-]1000|\+0) mb/h\.", shown)


def opponents_cards(seed: int, hand: int, seat: int) -> list[str]:
    rules = load("holdem")
    dealer = Dealer(rules)
    dealer.deal(seed, 0)
    return [show_cards([int(card)]) for card in dealer.cards[hand, 5 + 2 * seat : 7 + 2 * seat]]


def test_cards_of_others_are_never_shown_without_a_showdown(script: Script) -> None:
    """Folding at once, folding on the river, and the other one folding."""
    for against, typed in (("always-raise", ["f"]), ("always-raise", ["c", "c", "c", "r", "f"]), ("always-fold", [])):
        shown = script("holdem", [against], [*typed, "q"], seed=8)
        first = shown.partition("Hand 2")[0]
        assert "showdown" not in first
        for card in opponents_cards(8, 0, 1):
            assert card not in first
    down = script("holdem", ["always-call"], ["c"] * 4, hands=1, seed=8)
    early, _, late = down.rpartition("? c")
    for card in opponents_cards(8, 0, 1):
        assert card not in early
        assert card in late


def test_words_letters_and_hints(script: Script) -> None:
    typed = ["FOLD it", "", "f", "?", "raise", "Call", "r", "r", "c", "b", "bet", "quit"]
    shown = script("holdem", ["always-raise"], typed, seed=5)
    assert (
        "'FOLD it' is not possible here: type f or fold, c or call, r or raise; ? asks for a hint, q ends the game"
        in shown
    )
    again = script("holdem", ["always-call"], ["f", "k", "q"], seed=5)
    assert (
        "'f' is not possible here: type c or check, r or raise (there is nothing to call, so no need to fold)" in again
    )
    capped = script("holdem", ["always-raise"], ["r", "r", "c", "q"], seed=5)
    assert "'r' is not possible here: type f or fold, c or call (no more raises in this round)" in capped


@pytest.mark.parametrize("end", [[], ["q"], ["ctrl-c"]])
def test_ends_cleanly_with_the_score(script: Script, end: list[str]) -> None:
    shown = script("holdem", ["always-raise"], ["f", "f", *end], seed=1)
    assert shown.rstrip().endswith("The end. After 2 hands: -15 chips, -750 mb/h. (seed 1)")
    assert "No hand was finished." in script("holdem", ["always-raise"], end, seed=1)


def test_seats_rotate_with_three(script: Script) -> None:
    shown = script("holdem(players=3,max_raises=[1,1,1,1])", ["always-raise"], ["f"] * 3, hands=3, seed=1)
    assert "Hand 1. you (blind 5) - always-raise (blind 10) - always-raise-2 (on the button)" in shown
    assert "Hand 2. always-raise (blind 5) - always-raise-2 (blind 10) - you (on the button)" in shown
    assert "Hand 3. always-raise-2 (blind 5) - you (blind 10) - always-raise (on the button)" in shown
    assert "After 3 hands: -15 chips, -500 mb/h." in shown


def test_the_same_seed_gives_the_same_cards(script: Script) -> None:
    assert script("holdem", ["rules"], ["c"] * 9, seed=6) == script("holdem", ["rules"], ["c"] * 9, seed=6)
    assert script("holdem", ["rules"], ["c"], seed=6) != script("holdem", ["rules"], ["c"], seed=7)


def test_games_that_fit_in_a_tree(script: Script, tmp_path: Path) -> None:
    shown = script("kuhn", ["uniform"], ["check", "pass", "x", "b", "f", "q"], seed=1)
    assert "You hold " in shown
    assert "'x' is not possible here: type " in shown
    assert "? asks for a hint, q ends the game" in shown
    assert re.search(r"After 2 hands: [+-]\d+, \S+ per hand\.", shown)
    kuhn = fp.flatten("kuhn")
    # A strategy that always bets and calls: whoever passes against it loses 1, at either seat.
    always = kuhn.uniform()
    for infoset in range(kuhn.num_infosets):
        always[kuhn.slots(infoset)] = [float(name == "bet") for name in kuhn.actions[kuhn.slots(infoset)]]
    fp.TabularStrategy.of(kuhn, always, "bets").save(tmp_path / "bets.safetensors")
    lost = script("kuhn", [str(tmp_path / "bets.safetensors")], ["p"] * 20, hands=10, seed=2)
    assert "After 10 hands: -10, -1 per hand." in lost
    assert "In this order: you, bets." in lost
    assert "raise" in script("leduc", ["uniform"], ["raise", "c", "c", "c"], seed=2)
    small = "holdem(rounds=1,ranks=3,suits=2,hole=1,board=[0])"
    assert "You see " in script(small, ["uniform"], ["c"], seed=2)


def test_a_terminal_without_signs_gets_letters() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fogplay.cli", "play", "holdem", "--against", "always-fold", "--seed", "3"],
        input="q\n",
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"Your cards: [2-9JQKA10]+[cdhs] [2-9JQKA10]+[cdhs]$", done.stdout, re.M)
    assert "The end." in done.stdout
