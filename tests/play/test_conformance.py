"""Every game is matched and played by the same commands, whoever wrote it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import fogplay as fp
from fogplay.agents import advice
from fogplay.cli import matches, playing
from fogplay.cli.console import Watch
from fogplay.games.registry import registered
from fogplay.opponents.histories import read

SMALL = {"bluff": "bluff(1,1,3)", "ocp": "ocp(5)", "pam": "pam(2,2,4)"}
OWN = """
from fogplay import CHANCE, TERMINAL, Game, State

class Guess(Game):
    name = "guess"
    def new_initial_state(self):
        return GuessState(())

class GuessState(State):
    def __init__(self, moves):
        self.moves = moves
    def current_player(self):
        return (CHANCE, 0, 1, TERMINAL)[len(self.moves)]
    def chance_outcomes(self):
        return [(0, 0.25), (1, 0.75)]
    def legal_actions(self):
        return [0, 1]
    def child(self, action):
        return GuessState((*self.moves, action))
    def information_state_string(self, player):
        return f"guess {player}"
    def action_to_string(self, player, action):
        return ("heads", "tails")[action]
    def returns(self):
        coin, first, second = self.moves
        value = float((first == coin) - (second == coin))
        return [value, -value]
"""
EFG = """EFG 2 R "Matching" { "Ann" "Bob" }
p "" 1 1 "" { "heads" "tails" } 0
p "" 2 1 "" { "same" "other" } 0
t "" 1 "" { 1, -1 }
t "" 2 "" { -1, 1 }
p "" 2 1 "" { "same" "other" } 0
t "" 3 "" { -1, 1 }
t "" 4 "" { 1, -1 }
"""
SIMULTANEOUS = "pyspiel:goofspiel(imp_info=True,num_cards=4,points_order=descending)"
SPECS = [SMALL.get(name, name) for name in registered()]
SPECS += [
    "own.py",
    "own.efg",
    "kuhn.kif",
    "goofspiel.kif",
    "pyspiel:leduc_poker",
    "pyspiel:mnk(m=3,n=2,k=2)",
    pytest.param("pyspiel:tic_tac_toe", marks=pytest.mark.slow),  # the same kind of game, with half a million states
    SIMULTANEOUS,
    "goofspiel(13)",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "own.efg").write_text(EFG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(prompt: str) -> str:
    """What a person types who always takes the first thing offered."""
    print(prompt, end="")
    if "[1]" in prompt:
        return "1"
    if prompt.startswith("  Pot "):
        return "c"
    if prompt.startswith("  Your cards: "):
        return "pass" if "pass" in prompt else prompt.split()[2][0]
    found = re.search(r"['\"]: (.*)\? $", prompt) or re.search(r".*(?:: bid |\. Bid |: )(.*)\? $", prompt)
    assert found is not None, prompt
    return re.split(", | or | to ", found[1])[0]


@pytest.mark.parametrize("spec", SPECS)
def test_a_person_plays(
    spec: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", answer)
    monkeypatch.setattr(advice, "SEARCH", "search:smooth-uct:200")  # what advises and plays where there is no tree
    playing.play(spec, ["uniform"], 4, 3)
    shown = capsys.readouterr().out
    assert shown.count("Hand ") == 4
    assert "is not possible" not in shown
    assert re.search(r"The end\. After 4 hands: \S+", shown)
    playing.play(spec, None, 1, 3)
    assert "Nobody was named with --against: you play against " in capsys.readouterr().out


@pytest.mark.parametrize("spec", SPECS)
def test_a_match_is_played_and_kept(spec: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    players = fp.load(spec).num_players()
    matches.match(spec, ["uniform"] * players, 20, 1, Path("hands.log"), None, False)
    shown = capsys.readouterr().out
    assert "20 hands" in shown
    assert "uniform-2" in shown
    assert "the hands are in hands.log" in shown
    lines = Path("hands.log").read_text().splitlines()
    if lines[2].startswith("STATE:"):
        assert len(lines) == 23
    else:
        assert len(lines) == 22
        assert len(read("hands.log").order) == 20


@pytest.mark.parametrize("spec", SPECS)
def test_it_is_solved_saved_loaded_and_searched(spec: str, folder: Path) -> None:
    """The same functions for every game: what was saved plays the same hands, and a search takes a seat."""
    found = fp.solve(spec, "smooth-uct", 300, seed=1).strategy
    found.save("found.safetensors")
    loaded = fp.Strategy.load("found.safetensors")
    assert (loaded.game, loaded.method, loaded.iterations) == (found.game, "smooth-uct", 300)
    others = ["uniform"] * (fp.load(spec).num_players() - 1)
    first, again = (fp.match(spec, [each, *others], 12, seed=2) for each in (found, "found.safetensors"))
    assert first.totals == again.totals
    searching = fp.match(spec, ["search:uct:20", *others], 2, seed=1)
    assert searching.hands >= 2


def test_the_same_from_python(folder: Path) -> None:
    class First:
        def act(self, view: fp.View) -> int:
            return view.legal[0]

    solved = fp.solve("kuhn", "cfr+", 500).strategy
    solved.save(folder / "kuhn.safetensors")
    played = fp.match("kuhn", [folder / "kuhn.safetensors", First()], 20_000, seed=1)
    assert played.names == ("kuhn", "first")
    assert played.means[0] > 4 * played.standard_errors[0] > 0
    again = fp.match("kuhn", ["kuhn.safetensors", "uniform"], 5000, seed=2)
    assert again.means == fp.match("kuhn", [solved, "uniform"], 5000, seed=2).means
    assert fp.match(fp.flatten("kuhn"), [solved, "uniform"], 5000, seed=2).means == again.means
    assert (again.unit, again.scale) == ("per hand", 1.0)


def test_a_move_of_the_name_wins_over_a_menu_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = iter(["2", "3", "bid 1", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: print(prompt, end="") or next(typed))
    playing.play("goofspiel", ["uniform"], None, 1)
    shown = capsys.readouterr().out
    assert re.search(r"Your 3: .* Bid 1, 4\? ", shown)


def test_a_match_ends_with_what_was_played_on_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(self: Watch, done: int, total: int) -> None:
        if done > 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(Watch, "hands", stop)
    matches.match("kuhn", ["uniform", "uniform"], 10**12, 1, None, None, True)
    facts = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert facts["interrupted"] is True
    assert 0 < facts["hands"] < 10**12
    matches.match("holdem", ["rules", "probe"], 10**12, 1, None, None, False)
    assert (
        "holdem: stopped early, 2,048 of 1,000,000,000,000 hands (1,024 deals in 2 seatings)" in capsys.readouterr().out
    )
