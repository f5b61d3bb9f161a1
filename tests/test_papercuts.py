"""Small things that strangers tripped over, as they are typed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

import fogplay as fp
from fogplay import jit
from fogplay.cli import app
from fogplay.cli.app import whole_number
from fogplay.errors import did_you_mean
from fogplay.games.registry import short_spec, shortened
from fogplay.play.match import FEWEST_DEALS, Pace
from fogplay.version import VERSION
from tests.helpers import fogplay
from tests.test_cli import GAME


class Typed(NamedTuple):
    out: str
    notes: str
    error: str  # the line of a FogplayError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    return tmp_path


def typed(*arguments: str) -> Typed:
    """Type a command, in this process."""
    done = CliRunner().invoke(app, arguments)
    if done.exception is not None and not isinstance(done.exception, fp.FogplayError | SystemExit):
        raise done.exception
    error = str(done.exception) if isinstance(done.exception, fp.FogplayError) else ""
    return Typed(done.stdout, " ".join(done.stderr.split()), error)


# ---- Numbers, help, versions


@pytest.mark.parametrize(
    ("text", "number"), [("1e6", 10**6), ("1_000", 1000), ("2.5e3", 2500), ("-5", -5), ("1e18", 10**18), (7, 7)]
)
def test_whole_numbers_as_people_write_them(text: Any, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["ten", "1.5", "nan", "inf", "", "1e-3", "1e99999"])
def test_what_is_not_a_whole_number_is_refused(text: str) -> None:
    assert "is not a whole number; write 1000000, 1_000_000 or 1e6" in typed("solve", "kuhn", "-n", text).notes


def test_numbers_with_an_exponent_everywhere() -> None:
    assert json.loads(typed("solve", "kuhn", "-n", "1e2", "--seed", "1e1", "--json").out)["iterations"] == 100
    assert json.loads(typed("match", "kuhn", "uniform", "uniform", "-n", "1e2", "--json").out)["hands"] == 100
    assert "1 of 12 infosets" in typed("inspect", "kuhn.safetensors", "--limit", "1e0").out
    typed("respond", "kuhn", "--to", "kuhn.safetensors", "-n", "1e1", "--out", "r.safetensors")
    assert fp.Strategy.load("r.safetensors").iterations == 10


def test_help_and_version_by_their_usual_names() -> None:
    assert typed("--version").out == f"fogplay {VERSION}\n"
    assert typed("-h").out == typed("--help").out
    assert "--iterations" in typed("solve", "-h").out
    assert "--hands" in typed("acpc", "deal", "-h").out


def test_python_dash_m_fogplay() -> None:
    command = [sys.executable, "-m", "fogplay", "solve", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Usage: fogplay solve" in done.stdout


# ---- Games and algorithms


def test_one_game_is_described() -> None:
    said = typed("games", "kuhn(players=3)").out
    assert "players = 3" in said
    assert "3 players, 617 nodes, 48 infosets" in said
    assert "docs/games/kuhn.md" in said
    facts = json.loads(typed("games", "kuhn", "--json").out)
    assert (facts["nodes"], facts["infosets"], facts["parameters"]) == (58, 12, {"players": 2, "pot": 2})
    assert "about 300" in typed("games", "leduc(players=4)").out
    assert "too large for a tree" in typed("games", "holdem").out
    Path("coin.py").write_text(GAME)
    assert "Guess a coin." in typed("games", "coin.py").out
    assert "did you mean 'kuhn'?" in typed("games", "kunh").error


def test_games_are_listed_without_marks() -> None:
    assert "`" not in typed("games").out


@pytest.mark.parametrize(
    ("name", "meant"), [("cfrplus", "cfr+"), ("CFR+", "cfr+"), ("pcfr_plus", "pcfr+"), ("smoothuct", "smooth-uct")]
)
def test_algorithms_by_their_other_names(name: str, meant: str) -> None:
    assert f"did you mean {meant!r}?" in typed("solve", "kuhn", "-a", name).error


def test_nothing_is_suggested_for_nothing_like_it() -> None:
    assert did_you_mean("xyz", ["cfr", "uct"]) == ""


# ---- Messages


def test_specs_are_short_in_messages() -> None:
    three = str(fp.load("holdem(players=3)"))
    assert len(three) > 100
    assert short_spec(three) == "holdem(players=3)"
    assert short_spec("leduc(players=2,suits=seen)") == "leduc"
    assert short_spec("leduc(players=3,suits=seen)") == "leduc(players=3)"
    assert short_spec("bluff(1,1,6)") == "bluff"
    assert short_spec("repeated(game=matrix(payoffs=rps),hands=5)") == "repeated(hands=5)"
    for untouched in ("leduc(players=9)", "leduc(", "mygame.py:Leduc(players=2)", "nothing(a=1)", "(see leduc)"):
        assert short_spec(untouched) == untouched
    said = f"this is for {three}, not for kuhn(players=2,pot=2): see (docs)"
    assert shortened(said) == "this is for holdem(players=3), not for kuhn: see (docs)"


def test_a_strategy_of_another_game_is_named_by_the_games() -> None:
    typed("solve", "kuhn", "-n", "10", "--force")
    done = fogplay("match", "leduc", "kuhn.safetensors", "uniform", "-n", "10", cwd=Path.cwd())
    assert done.stderr.strip() == "fogplay: kuhn.safetensors: this strategy is for kuhn, not for leduc"


def test_a_missing_checkpoint_is_said() -> None:
    said = typed("solve", "kuhn", "-n", "10", "--resume").notes
    assert "there is no checkpoint kuhn.safetensors.checkpoint to resume: the run starts from the beginning" in said
    assert "there is no checkpoint" not in typed("solve", "kuhn", "-n", "20", "--resume").notes
    said = typed("respond", "kuhn", "--to", "kuhn.safetensors", "-n", "10", "--resume").notes
    assert "there is no checkpoint kuhn-response.safetensors.checkpoint.0 to resume" in said


def test_snapshots_beyond_the_end_are_said() -> None:
    said = typed("solve", "kuhn", "-n", "100", "--snapshots", "50,1e6").notes
    assert "snapshots after 1,000,000 iterations are beyond -n 100 and will not be taken" in said
    assert Path("kuhn.50.safetensors").exists()


def test_a_cache_that_cannot_be_written_is_said_once(folder: Path) -> None:
    (folder / "file").write_text("")
    done = fogplay("games", "kuhn", FOGPLAY_CACHE=str(folder / "file"))
    assert done.returncode == 0
    assert done.stderr.count("cannot be written") == 1
    assert "set FOGPLAY_CACHE to a folder that can be written" in done.stderr
    assert not jit.NOT_KEPT


def test_evaluate_from_another_folder_names_the_option(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("coin.py").write_text(GAME)
    typed("solve", "coin.py:Coin(stake=2)", "-n", "10", "--out", "coin.safetensors")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    for command in ("evaluate", "inspect"):
        said = typed(command, "../coin.safetensors").error
        assert "say where it is with --game PATH/coin.py:Coin(stake=2)" in said
        assert typed(command, "../coin.safetensors", "--game", "../coin.py:Coin(stake=2)").out


# ---- Before anything is built


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-n", "-5"], "iterations must be a whole number from 1"),
        (["--minutes", "0"], "minutes must be a number"),
        (["--seed", "-1"], "seed must be a whole number from 0"),
        (["--threads", "0"], "threads must be a whole number from 1"),
        (["--infosets", "0"], "infosets must be a whole number from 1"),
        (["-a", "smooth-uct", "--set", "c=-1"], "c must be a number from 0"),
        (["-a", "smooth-uct", "--set", "c=1,-1"], "c must be a number from 0"),
        (["-a", "smooth-uct", "--set", "c=1", "--set", "k=1"], "leave one of c and k out"),
        (["-a", "uct", "--set", "rollout=fast"], "rollout must be uniform or"),
        (["-a", "os-mccfr", "--set", "epsilon=2"], "epsilon must be a number from 0.001 to 1"),
        (["-a", "dcfr", "--set", "gamma=99"], "gamma must be a number from 0 to 20"),
    ],
)
def test_arguments_are_checked_before_the_game_is_even_loaded(arguments: list[str], message: str) -> None:
    assert message in typed("solve", "no-such-game", *arguments).error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["respond", "no-such-game", "--to", "kuhn.safetensors", "-n", "0"], "iterations must be a whole number"),
        (["respond", "no-such-game", "--to", "kuhn.safetensors", "--confidence", "2"], "confidence must be a number"),
        (["respond", "no-such-game", "--to", "kuhn.safetensors", "--kind", "x"], "kind must be rnr or dbr"),
        (["tradeoff", "no-such-game", "--to", "kuhn.safetensors", "--confidences", "3"], "confidence must be a number"),
        (["model", "no-such-game", "--from", "nowhere.txt"], "there is no file nowhere.txt"),
        (["model", "no-such-game", "--from", "nowhere.txt", "--prior", "-1"], "prior must be a number"),
        (["match", "no-such-game", "uniform", "uniform", "-n", "0"], "hands must be a whole number from 1"),
        (["match", "no-such-game", "uniform", "uniform", "--seed", "-1"], "seed must be a whole number from 0"),
    ],
)  # fmt: skip
def test_other_commands_check_theirs_too(arguments: list[str], message: str) -> None:
    typed("solve", "kuhn", "-n", "10")
    assert message in typed(*arguments).error


def test_a_large_game_is_sampled_without_a_tree() -> None:
    done = typed("solve", "leduc(players=4)", "-n", "10", "--infosets", "1e4")
    assert "leduc(players=4) is too large for a tree (about 300.9 million nodes)" in done.notes
    assert "plays per second" in done.notes
    assert "10 iterations" in done.out


def test_the_limit_is_an_option() -> None:
    said = typed("solve", "leduc", "-n", "10", "--node-limit", "5e3").notes
    assert "leduc is too large for a tree (over 5,000 nodes)" in said
    assert "cfr+ needs the whole tree" in typed("solve", "leduc", "-a", "cfr+", "--node-limit", "5e3").error
    typed("solve", "kuhn", "-n", "10")
    assert "(--node-limit 100)" in typed("evaluate", "kuhn.safetensors", "--node-limit", "10").error
    assert "nash_conv" in typed("evaluate", "kuhn.safetensors", "--node-limit", "100").out


ENDLESS = """
import fogplay as fp
class Walk(fp.Game):
    def new_initial_state(self): return At(0)
class At(fp.State):
    def __init__(self, n): self.n = n
    def current_player(self): return fp.TERMINAL if self.n < 0 else self.n % 2
    def legal_actions(self): return (0, 1) if self.n == 0 else (0,)
    def child(self, action): return At(-1 if action else self.n + 1)
    def information_state_string(self, player): return f"{player} {self.n}"
    def returns(self): return [1, -1]
"""


def test_a_game_that_never_ends_is_refused() -> None:
    Path("walk.py").write_text(ENDLESS)
    assert "it is not over after 2,000 moves; every play must end sooner" in typed("solve", "walk.py").error
    assert "a hand is not over after 100,000 moves" in typed("match", "walk.py", "uniform", "uniform", "-n", "9").error


def test_simultaneous_games_are_converted_with_a_note() -> None:
    done = typed("solve", "pyspiel:matrix_rps", "-n", "10", "--out", "rps.safetensors")
    assert "the players of pyspiel:matrix_rps move at the same time: here they act in turn" in done.notes
    done = typed("match", "pyspiel:matrix_rps", "rps.safetensors", "uniform", "-n", "10")
    assert done.notes.count("at the same time") == 1
    assert "10 hands" in done.out
    assert "at the same time" in typed("play", "pyspiel:matrix_rps", "--against", "uniform").notes


# ---- Python


def test_a_strategy_is_a_mapping() -> None:
    strategy = fp.solve("kuhn", "cfr+", 100).strategy
    assert "J:" in strategy
    assert "x" not in strategy
    assert len(strategy) == len(list(strategy)) == 12
    assert next(iter(strategy)) == strategy.infosets[0]
    assert dict(strategy)["J:"] == strategy["J:"]
    assert len(repr(strategy)) < 120
    assert fp.match("kuhn", [strategy, "uniform"], 100).hands == 100


# ---- Hands by default


class Slow:
    """An agent that takes a tenth of a second per decision, by a clock of its own."""

    def __init__(self) -> None:
        self.now = 0.0

    def act(self, view: fp.View) -> int:
        self.now += 0.1
        return view.legal[0]

    def monotonic(self) -> float:
        return self.now


def clocked(monkeypatch: pytest.MonkeyPatch, clock: Callable[[], float]) -> None:
    """Let matches look at another clock."""
    monkeypatch.setattr(sys.modules["fogplay.play.match"], "time", SimpleNamespace(monotonic=clock, perf_counter=clock))


def test_a_match_of_slow_agents_takes_a_minute_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, notes = Slow(), []
    clocked(monkeypatch, slow.monotonic)
    played = fp.match("kuhn", [slow, slow], note=notes.append)
    assert 50 <= played.hands <= 500
    assert not played.interrupted
    assert 20 < slow.now < 70
    assert len(notes) == 1
    assert notes[0].startswith(f"{played.hands} hands, about")
    assert "-n asks for another number" in notes[0]
    assert fp.match("kuhn", [slow, slow], 600).hands == 600  # as asked


def test_a_quick_match_keeps_its_hundred_thousand_hands() -> None:
    notes: list[str] = []
    assert fp.match("kuhn", ["uniform", "uniform"], note=notes.append).hands == 100_000
    assert notes == []


def test_a_pace_never_ends_before_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 100.0, 200.0])
    clocked(monkeypatch, lambda: next(clock))
    pace = Pace()
    assert pace.deals(1, 1000, 1) == 1000
    assert pace.deals(2, 1000, 1) == FEWEST_DEALS
    assert pace.deals(3, 10, 1) == 10
