"""Games as strangers write them: every mistake is one line that names what to define."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fogplay import FogplayError, load, match, solve
from fogplay.trees import flatten
from tests.helpers import refusal

PLAYERS = "    def num_players(self):\n        return 2\n"
OUTCOMES = "    def chance_outcomes(self):\n        return {}\n    def returns"
START = "    def new_initial_state(self):\n        return Toss(())\n"
GAME = f'''
import fogplay as fp

class Coin(fp.Game):
    """Guess a coin."""
    name = "coin"
{PLAYERS}{START}
class Toss(fp.State):
    def __init__(self, history):
        self.history = history
    def current_player(self):
        return (0, 1, fp.TERMINAL)[len(self.history)]
    def legal_actions(self):
        return (0, 1)
    def child(self, action):
        return Toss((*self.history, action))
    def information_state_string(self, player):
        return f"player {{player}}"
    def returns(self):
        won = 1 if self.history[0] != self.history[1] else -1
        return [won, -won]
'''
CHANCE = ("(0, 1, fp.TERMINAL)", "(fp.CHANCE, 1, fp.TERMINAL)")
NO_BASE = ("(fp.Game)", "")

Edits = list[tuple[str, str]]

MISTAKES: dict[str, tuple[Edits, str]] = {
    "players: attribute": ([(PLAYERS, "    num_players = 3\n")], "Coin.num_players is 3, not a method; write `def"),
    "players: property": ([("    def num", "    @property\n    def num")], "Coin.num_players is 2, not a method"),
    "players: float": ([("return 2\n", "return 2.0\n")], "must return a whole number from 1, not 2.0; write `def"),
    "players: text": ([("return 2\n", "return 'two'\n")], "must return a whole number from 1, not 'two'"),
    "players: none": ([("return 2\n", "return None\n")], "must return a whole number from 1, not None"),
    "players: yes": ([("return 2\n", "return True\n")], "must return a whole number from 1, not True"),
    "players: zero": ([("return 2\n", "return 0\n")], "must return a whole number from 1, not 0"),
    "players: failing": ([("return 2\n", "return self.n\n")], "num_players() failed with AttributeError"),
    "players: missing": ([NO_BASE, (PLAYERS, "")], "Coin must define num_players(); write `def num_players(self)"),
    "players: too few": ([("return (0, 1, fp", "return (1, 2, fp")], "define `def num_players(self): return 3`"),
    "start: missing": ([("new_initial_state", "start")], "Coin must define new_initial_state()"),
    "start: no base": ([NO_BASE, ("new_initial_state", "start")], "defines no game: a class with num_players() and"),
    "start: attribute": ([(START, "    new_initial_state = 3\n")], "Coin must define new_initial_state()"),
    "start: nothing": ([("return Toss(())", "Toss(())")], "new_initial_state() returned None, which is not a state"),
    "start: a class": ([("return Toss(())", "return Toss")], "returned the class Toss, not a state; call it"),
    "start: failing": ([("return Toss(())", "return Toss()")], "new_initial_state() failed with TypeError"),
    "actions: twice": ([("return (0, 1)", "return (0, 0)")], "legal_actions() returned (0, 0), with 0 twice"),
    "actions: order": ([("return (0, 1)", "return (1, 0)")], "returned (1, 0); sort the actions in ascending order"),
    "actions: text": ([("return (0, 1)", "return ('h', 't')")], "actions are whole numbers (action_to_string names"),
    "actions: float": ([("return (0, 1)", "return (0.0, 1.0)")], "actions are whole numbers"),
    "actions: a set": ([("return (0, 1)", "return {0, 1}")], "must return a tuple or list of whole numbers"),
    "actions: a generator": ([("return (0, 1)", "return (i for i in (0, 1))")], "must return a tuple or list"),
    "actions: nothing": ([("return (0, 1)", "pass")], "legal_actions() returned None; it must return a tuple"),
    "actions: none": ([("return (0, 1)", "return ()")], "player 0 is to act but has no legal action"),
    "player: nothing": ([("return (0, 1, fp", "(0, 1, fp")], "current_player() returned None; it must return a player"),
    "player: text": ([("(0, 1, fp", "('a', 1, fp")], "current_player() returned 'a'"),
    "player: simultaneous": ([("(0, 1, fp", "(-2, 1, fp")], "players move simultaneously; let each act in turn"),
    "child: nothing": ([("return Toss((*", "Toss((*")], "child(0) returned None, which is not a state"),
    "child: itself": (
        [("return Toss((*self.history, action))", "self.history += (action,); return self")],
        "child() returned the state itself; it must return a new state",
    ),
    "child: missing": ([("def child", "def apply_action")], "Toss must define child(action)"),
    "returns: no base": (
        [("(fp.State)", ""), ("def returns", "def action_to_string(self, *_):\n        return ''\n    def pays")],
        "Toss must define returns()",
    ),
    "names: no base": ([("(fp.State)", "")], "Toss must define action_to_string(player, action), or inherit it from"),
    "string: missing": ([("information_state_string", "infoset")], "must define information_state_string(player)"),
    "string: shared": ([('f"player {player}"', '"x"')], "put the player's number into its string"),
    "returns: nothing": ([("return [won, -won]", "pass")], "returns() returned None; it must return one number per"),
    "returns: a number": ([("return [won, -won]", "return won")], "returns() returned -1; it must return one number"),
    "returns: text": ([("return [won, -won]", "return ['a', 'b']")], "must return one number per player"),
    "returns: three": ([("[won, -won]", "[won, -won, 0]")], "returns() has 3 numbers for 2 players"),
    "chance: missing": ([CHANCE], "Toss must define chance_outcomes()"),
    "chance: a dict": ([CHANCE, ("    def returns", OUTCOMES.format("{0: 1.0}"))], "must return pairs of (outcome"),
    "chance: flat": ([CHANCE, ("    def returns", OUTCOMES.format("[0.5, 0.5]"))], "must return pairs of (outcome"),
    "chance: empty": ([CHANCE, ("    def returns", OUTCOMES.format("[]"))], "chance_outcomes() is empty"),
    "chance: negative": (
        [CHANCE, ("    def returns", OUTCOMES.format("[(0, -0.5), (1, 1.5)]"))],
        "a probability of chance is negative: -0.5",
    ),
    "file: exits": ([("import fogplay as fp", "import fogplay as fp\nraise SystemExit(3)")], "cannot import"),
    "file: syntax": ([("return (0, 1)", "return (0, 1")], "was never closed"),
    "file: two games": ([("class Toss", "class Other(Coin):\n    pass\n\nclass Toss")], "say which: "),
    "parameters: needed": (
        [('name = "coin"\n', 'name = "coin"\n    def __init__(self, stake):\n        self.stake = stake\n')],
        "coin.py(stake=…)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_that_names_what_to_define(tmp_path: Path, mistake: str) -> None:
    edits, message = MISTAKES[mistake]
    source = GAME
    for before, after in edits:
        assert before in source
        source = source.replace(before, after)
    (tmp_path / "coin.py").write_text(source)
    assert message in refusal(flatten, f"{tmp_path / 'coin.py'}")


def test_objects_are_checked_as_files_are() -> None:
    class Coin:
        num_players = 2

        def new_initial_state(self) -> None:
            return None

    for call in (solve, flatten, lambda game: match(game, ["uniform", "uniform"], 10)):
        assert "num_players is 2, not a method" in refusal(call, Coin())


def test_a_class_without_a_base_and_with_an_ordinary_init(tmp_path: Path) -> None:
    takes = 'name = "coin"\n    def __init__(self, stake=1):\n        self.stake = stake\n'
    (tmp_path / "coin.py").write_text(GAME.replace("(fp.Game)", "").replace('name = "coin"\n', takes))
    assert load(f"{tmp_path / 'coin.py'}:Coin(stake=3)").stake == 3
    assert solve(f"{tmp_path / 'coin.py'}", "cfr+", iterations=10).nash_conv == 0
    with pytest.raises(FogplayError, match="has no parameter 'steak'; it has stake"):
        load(f"{tmp_path / 'coin.py'}(steak=3)")


def test_a_game_may_import_modules_beside_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "fogplay_test_stakes.py").write_text("STAKE = 7\n")
    (tmp_path / "fogplay_test_later.py").write_text("STAKE = 8\n")
    late = "from fogplay_test_later import STAKE as late\n        return [won * STAKE, -won * late]"
    source = GAME.replace("import fogplay as fp", "import fogplay as fp\nfrom fogplay_test_stakes import STAKE")
    (tmp_path / "coin.py").write_text(source.replace("return [won, -won]", late))
    before = sys.path[0]
    assert flatten(f"{tmp_path / 'coin.py'}").tree.payoffs.tolist()[0] == [-7, 8]
    assert sys.path[0] == before  # nothing beside a game hides another module


def test_one_player_is_enough(tmp_path: Path) -> None:
    source = GAME.replace("return 2\n", "return 1\n").replace("(0, 1, fp", "(0, 0, fp").replace("[won, -won]", "[won]")
    (tmp_path / "coin.py").write_text(source.replace('f"player {player}"', "str(self.history)"))
    assert flatten(f"{tmp_path / 'coin.py'}").num_players == 1
