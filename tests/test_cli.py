"""The command line as a user types it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fogplay.cli.app import COMMANDS
from tests.helpers import fogplay


def last_json(output: str) -> dict:  # type: ignore[type-arg]
    return json.loads(output.splitlines()[-1])


def test_solve_evaluate_inspect(tmp_path: Path) -> None:
    done = fogplay("solve", "leduc", "--algorithm", "cfr+", "--iterations", "2000", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "nash_conv" in done.stdout
    assert "fogplay evaluate leduc.safetensors" in done.stdout
    facts = last_json(fogplay("evaluate", "leduc.safetensors", "--json", cwd=tmp_path).stdout)
    assert facts["values"][0] == pytest.approx(-0.0856, abs=1e-3)
    assert facts["exploitability"] == pytest.approx(facts["nash_conv"] / 2)
    assert "nash_conv" in fogplay("evaluate", "leduc.safetensors", cwd=tmp_path).stdout
    look = last_json(fogplay("inspect", "leduc.safetensors", "Kh:", "--json", cwd=tmp_path).stdout)
    assert [row["action"] for row in look["rows"]] == ["call", "raise"]
    assert sum(row["probability"] for row in look["rows"]) == pytest.approx(1)
    shown = fogplay("inspect", "leduc.safetensors", "Kh:r", cwd=tmp_path)
    assert "Kh:r" in shown.stdout
    listed = fogplay("inspect", "leduc.safetensors", "--limit", "2", cwd=tmp_path)
    assert "2 of 936 infosets" in listed.stdout


def test_solve_json(tmp_path: Path) -> None:
    done = fogplay("solve", "kuhn", "-a", "cfr", "-n", "1000", "--json", "--out", "k.safetensors", cwd=tmp_path)
    facts = last_json(done.stdout)
    assert {"game", "algorithm", "iterations", "seconds", "iterations_per_second"} <= facts.keys()
    assert {"nash_conv", "exploitability", "out"} <= facts.keys()
    assert facts["exploitability"] == pytest.approx(0.00094, rel=0.01)
    assert facts["out"] == "k.safetensors"
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_every_algorithm_solves_kuhn(tmp_path: Path) -> None:
    names = last_json(fogplay("algorithms", "--json").stdout)["algorithms"]
    for name in ("cfr", "lp", "dcfr"):
        assert name in names
        facts = last_json(fogplay("solve", "kuhn", "-a", name, "--json", cwd=tmp_path).stdout)
        assert facts["nash_conv"] < 0.01


def test_games_are_listed() -> None:
    facts = last_json(fogplay("games", "--json").stdout)
    sizes = {row["game"]: (row["nodes"], row["infosets"]) for row in facts["games"]}
    assert sizes["leduc"] == (9_457, 936)
    assert sizes["doudizhu"] == (None, None)
    assert sizes["holdem"] == (6_378, 1_520_352)  # too large for a tree: the betting, and buckets
    assert [row["game"] for row in facts["games"] if not row["tree"]] == ["doudizhu", "holdem"]
    assert {"kuhn", "ocp", "goofspiel", "bluff", "pam", "matrix", "repeated"} <= sizes.keys()
    assert "rps" in facts["presets"]
    assert "leduc(players=2,suits=seen)" in fogplay("games", COLUMNS="200").stdout


GAME = '''
from dataclasses import dataclass
import fogplay as fp

@dataclass(frozen=True)
class Coin(fp.Game):
    """Guess a coin."""
    name = "coin"
    stake: int = 1
    def new_initial_state(self):
        return Toss(self, ())

class Toss(fp.State):
    def __init__(self, game, history):
        self.game, self.history = game, history
    def current_player(self):
        return (0, 1, fp.TERMINAL)[len(self.history)]
    def legal_actions(self):
        return (0, 1)
    def child(self, action):
        return Toss(self.game, (*self.history, action))
    def information_state_string(self, player):
        return f"player {player}"
    def returns(self):
        won = self.game.stake if self.history[0] != self.history[1] else -self.game.stake
        return [won, -won]
'''


def test_a_game_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "coin.py").write_text(GAME)
    for spec in ("coin.py", "coin.py:Coin", "coin.py:Coin(stake=3)"):
        done = fogplay("solve", spec, "-a", "cfr", "-n", "1000", "--json", "--out", "c.safetensors", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert last_json(done.stdout)["nash_conv"] < 0.01
        assert fogplay("evaluate", "c.safetensors", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "ledoc"], "did you mean 'leduc'?"),
        (["solve", "leduc(players=9)"], "players must be a whole number from 2 to 5, not 9"),
        (["solve", "leduc(colour=red)"], "leduc has no parameter 'colour'; it has players"),
        (["solve", "leduc("], "never closed"),
        (["solve", "kuhn", "--algorithm", "cfr-"], "no algorithm is called 'cfr-'"),
        (["solve", "kuhn", "--iterations", "0"], "iterations must be a whole number from 1"),
        (["solve", "kuhn", "-a", "dcfr", "--set", "gamma=nan"], "gamma must be a number from 0 to 20, not nan"),
        (["solve", "kuhn", "-a", "cfr", "--set", "gamma"], "--set takes NAME=VALUE"),
        (["solve", "kuhn", "-a", "cfr", "--set", "seed=3"], "cfr has no parameter 'seed'"),
        (["solve", "kuhn", "-a", "uct", "--set", "c=" + "9" * 400], "c must be a number from 0 to 1e+150"),
        (["solve", "kuhn(pot=" + "9" * 400 + ")"], "pot must be a number"),
        (["solve", "kuhn", "--out", "no/such/folder/file"], "there is no folder no/such/folder"),
        (["solve", "kuhn", "--out", "."], "is a folder"),
        (["solve", "missing.py"], "there is no file 'missing.py'"),
        (["solve", "pyspiel:nothing"], "OpenSpiel has no game 'nothing'"),
        (["solve", "pyspiel:mfg_garnet"], "is a mean-field game"),
        (["solve", "pyspiel:pig"], "has no information_state_string"),
        (["evaluate", "nowhere.safetensors"], "there is no file nowhere.safetensors"),
        (["inspect", "nowhere.safetensors"], "there is no file nowhere.safetensors"),
    ],
)
def test_mistakes_end_in_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = fogplay(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, done.stderr
    assert message in lines[0]
    assert done.stdout == ""


def test_a_closed_pipe_is_no_crash(tmp_path: Path) -> None:
    import subprocess
    import sys

    command = f"{sys.executable} -m fogplay.cli games | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve"], "Missing argument"),
        (["solve", "leduc", "--wrong", "3"], "No such option: --wrong"),
        (["solve", "leduc", "-n", "ten"], "Invalid value for '--iterations'"),
        (["nothing"], "No such command 'nothing'"),
    ],
)
def test_a_mistyped_command_is_one_line_too(arguments: list[str], message: str) -> None:
    done = fogplay(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert "--help" in done.stderr


def test_without_arguments_it_says_what_there_is() -> None:
    done = fogplay()
    assert done.returncode == 0
    assert "reproduce" in done.stdout + done.stderr


def test_nothing_is_lost_when_the_strategy_cannot_be_written(tmp_path: Path) -> None:
    """The folder's own file system is full: the strategy goes to the folder for temporary files."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = (
        "import errno, sys; from fogplay import storage; write = storage._write_safetensors\n"
        "def full(file, *rest):\n"
        "    if 'elsewhere' not in file.name: raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "    return write(file, *rest)\n"
        "storage._write_safetensors = full\n"
        "from fogplay.cli import main\n"
        "sys.argv = ['fogplay', 'solve', 'kuhn', '-a', 'cfr+', '-n', '100', '--json']\n"
        "main()\n"
    )
    import os
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(elsewhere)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert re.search(r"elsewhere/kuhn-\w+\.safetensors instead", done.stderr)  # never the same name twice
    assert len(list(elsewhere.glob("kuhn-*.safetensors"))) == 1


def test_greedy_is_measured_as_what_is_saved(tmp_path: Path) -> None:
    said = last_json(fogplay("solve", "kuhn", "-n", "1000", "--greedy", "--json", cwd=tmp_path).stdout)
    found = last_json(fogplay("evaluate", "kuhn.safetensors", "--json", cwd=tmp_path).stdout)
    assert said["nash_conv"] == pytest.approx(found["nash_conv"])


def test_json_holds_no_nan(tmp_path: Path) -> None:
    fogplay("solve", "kuhn", "-a", "lp", cwd=tmp_path)
    done = fogplay("inspect", "kuhn.safetensors", "--json", cwd=tmp_path)
    rows = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))["rows"]
    assert len(rows) == 24


def test_a_games_own_words_are_shown_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "coin.py").write_text(GAME.replace('f"player {player}"', 'f"[/p{player}] [red]"'))
    assert fogplay("solve", "coin.py", "-a", "cfr", "-n", "10", cwd=tmp_path).returncode == 0
    done = fogplay("inspect", "coin.safetensors", cwd=tmp_path)
    assert "[/p0] [red]" in done.stdout


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("won = self.game.stake", "won = self.nothing", "the game's own code failed with AttributeError"),
        ("def returns(self)", "def payoffs(self)", "must define returns()"),
        ('return f"player {player}"', "return [player]", "returned list, not text"),
        ("return (0, 1)", "return (0, 7 // 0)", "ZeroDivisionError"),
    ],
)
def test_a_mistake_in_a_game_is_one_line_with_its_history(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    (tmp_path / "coin.py").write_text(GAME.replace(before, after))
    done = fogplay("solve", "coin.py", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert message in done.stderr
    assert "seen after" in done.stderr


def test_a_profile_is_looked_up_by_bucket_and_betting(tmp_path: Path) -> None:
    done = fogplay("solve", "holdem(grid=ehs:5/5/5/5)", "-n", "20000", "--out", "p.safetensors", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(fogplay("inspect", "p.safetensors", "3:r", "--json", cwd=tmp_path).stdout)
    assert (told["seat"], told["round"]) == (0, 0)
    assert list(told["probabilities"]) == ["fold", "call", "raise"]
    assert sum(told["probabilities"].values()) == pytest.approx(1)
    flop = json.loads(fogplay("inspect", "p.safetensors", "3:rc/", "--json", cwd=tmp_path).stdout)
    assert (flop["round"], list(flop["probabilities"])) == (1, ["call", "raise"])
    for wrong, says in (("3:rx", "such as crc/r"), ("3:rrrr", "'r' is not possible"), ("3:f", "the hand is over")):
        done = fogplay("inspect", "p.safetensors", wrong, cwd=tmp_path)
        assert done.returncode == 2
        assert says in done.stderr
    done = fogplay("inspect", "p.safetensors", "9:r", cwd=tmp_path)
    assert done.returncode == 2
    assert "it has 5 buckets" in done.stderr
    measured = last_json(fogplay("evaluate", "p.safetensors", "--json", cwd=tmp_path).stdout)
    assert measured["matches"][0]["bot"] == "always-call"


@pytest.mark.parametrize("players", [2, 3])
def test_what_to_type_next_can_be_typed(tmp_path: Path, players: int) -> None:
    game = f"holdem(players={players},max_raises=[2,1,1,1],grid=ehs:2/2/2/2)"
    done = fogplay("solve", game, "-n", "1000", "--out", "p.safetensors", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    line = next(each for each in done.stdout.splitlines() if each.startswith("  fogplay match"))
    done = fogplay(*shlex.split(line.replace("100000", "60"))[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{game.replace('players=2,', '')}: 60 hands")  # without what is so by default


def test_help_lists_the_commands_in_the_order_of_their_use() -> None:
    done = fogplay("--help")
    listed = re.findall(r"^│ ([a-z]+) +[A-Z]", done.stdout, re.M)
    assert tuple(listed) == COMMANDS


def test_shells_complete_commands() -> None:
    script = "import sys; sys.argv[0] = 'fogplay'; from fogplay.cli import main; main()"
    asking = {"_FOGPLAY_COMPLETE": "complete_bash", "COMP_WORDS": "fogplay ev", "COMP_CWORD": "1"}
    command = [sys.executable, "-c", script]
    asked = subprocess.run(command, env={**os.environ, **asking}, capture_output=True, text=True, check=False)
    assert (asked.stdout.strip(), asked.returncode) == ("evaluate", 0), asked.stderr


def test_the_full_game_is_measured_and_what_was_found_is_kept(tmp_path: Path) -> None:
    command = ("evaluate", "always-fold", "--game", "holdem", "--full", "--flops", "2", "--json")
    done = fogplay(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout.splitlines()[-1])
    assert facts["best_response_values"][0] == pytest.approx(500)  # the small blind, folded before the flop
    assert facts["unit"] == "mb/h"
    kept = tmp_path / "always-fold.full"
    before = kept.read_bytes()
    again = fogplay(*command, cwd=tmp_path)
    assert json.loads(again.stdout.splitlines()[-1])["exploitability"] == facts["exploitability"]
    assert kept.read_bytes() == before


def test_a_local_best_response_is_a_lower_bound(tmp_path: Path) -> None:
    done = fogplay("evaluate", "always-fold", "--game", "holdem", "--local", "--hands", "200", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "at least 750.0000 mb/h ± 0.00" in done.stdout
    assert not list(tmp_path.iterdir())


def test_the_full_game_needs_a_player_and_its_game(tmp_path: Path) -> None:
    for words, answer in (
        (("evaluate", "always-fold", "--game", "holdem", "--full", "--local"), "choose one of them"),
        (("evaluate", "always-fold", "--game", "holdem", "--full", "--hands", "300"), "add --local"),
        (("evaluate", "uniform", "--game", "kuhn", "--local"), "has no local best response"),
        (("evaluate", "nobody", "--full"), "name its game too"),
        (("match", "kuhn", "uniform", "uniform", "--exact"), "has no exact measure of its own"),
    ):
        done = fogplay(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert answer in done.stderr
        assert done.stderr.count("\n") == 1
