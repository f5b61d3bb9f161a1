"""Logs played again: everything that follows the rules passes, and the first line that does not is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fogplay.agents import match
from fogplay.errors import FogplayError
from fogplay.games.registry import load
from fogplay.notation.acpc import print_value
from fogplay.opponents import write_log
from fogplay.protocols.acpc.replay import replay
from tests.protocols.helpers import play_locally

GOOD = "STATE:0:rc/rrc/rc/cc:5d5c|9hQd/8dAs8s/4h/6d:60|-60:Alice|Bob"
NEXT = "STATE:1:f:2c2d|3c3d:5|-5:Bob|Alice"
SCORE = "SCORE:55|-55:Alice|Bob"


def write(folder: Path, *lines: str) -> Path:
    file = folder / "x.log"
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


@pytest.mark.parametrize(
    ("game", "agents"),
    [
        ("holdem.limit.2p", ["rules", "probe"]),
        ("leduc.limit.2p", ["uniform"] * 2),
        ("leduc.limit.3p", ["uniform"] * 3),
        ("kuhn.limit.2p", ["uniform"] * 2),
        ("kuhn.limit.3p", ["uniform"] * 3),
    ],
)
def test_the_dealers_own_logs(tmp_path: Path, game: str, agents: list[str]) -> None:
    dealer, log = play_locally(game, agents, 400)
    played = replay(write(tmp_path, *log))
    assert (played.hands, played.game) == (400, game)
    assert [played.totals[name] for name in dealer.names] == pytest.approx(dealer.totals)
    assert played.score is not None
    cut = replay(write(tmp_path, *log[:200]))
    assert (cut.hands, cut.score) == (196, None)


@pytest.mark.parametrize(
    ("spec", "agents"),
    [("holdem", ["rules", "sparring"]), ("holdem(players=3,max_raises=[2,1,1,1])", ["rules", "uniform", "probe"])],
)
def test_logs_of_duplicate_matches(tmp_path: Path, spec: str, agents: list[str]) -> None:
    rules = load(spec)
    outcome = match(rules, agents, 600, seed=1, keep=True)
    write_log(tmp_path / "d.log", outcome)
    played = replay(tmp_path / "d.log")
    assert played.hands == outcome.hands
    assert [played.totals[name] for name in agents] == pytest.approx(outcome.totals)


def test_a_bare_log_is_of_hold_em(tmp_path: Path) -> None:
    played = replay(write(tmp_path, "; of unknown origin", GOOD, NEXT, SCORE))
    assert (played.game, played.totals) == ("holdem.limit.2p", {"Alice": 55, "Bob": -55})


def test_cards_that_were_never_shown_may_be_missing(tmp_path: Path) -> None:
    assert replay(write(tmp_path, GOOD, NEXT.replace("2c2d|3c3d", "|"), SCORE)).hands == 2


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([GOOD.replace("60|-60", "-60|60")], "line 1: by the rules this hand is worth 60|-60, not -60|60"),
        ([GOOD, NEXT.replace(":5|-5", ":5|-4.5")], "line 2: by the rules this hand is worth 5|-5, not 5|-4.5"),
        ([GOOD.replace("rrc", "rrrrrc")], "line 1: 'r' is not possible in rc/rrrrrc"),
        (
            [GOOD.replace("/cc:", ":")],
            "line 1: the rounds of rc/rrc/rc are not divided where they end: it is rc/rrc/rc/",
        ),
        ([GOOD.replace("/cc:", "/:")], "line 1: the hand is not over"),
        ([GOOD.replace("9hQd", "9h9h")], "line 1: a card appears twice"),
        ([GOOD.replace("9hQd", "9h")], "line 1: a player of this game holds 2 cards"),
        ([GOOD.replace("5d5c|", "|")], "line 1: there is a showdown, and not all its hands are shown"),
        ([GOOD.replace("60|-60", "60|-60|0")], "line 1: 2 names and 3 values; this game is for 2 players"),
        ([GOOD, GOOD], "line 2: hand 0 comes after hand 0"),
        ([GOOD, NEXT.replace("Bob", "Eve")], "line 2: Eve, Alice play, and before it were Alice, Bob"),
        ([GOOD.replace("Bob", "Alice")], "line 1: two players have the same name"),
        ([GOOD, NEXT, SCORE.replace("-55", "-50")], "line 3: Bob won -55, not -50"),
        ([GOOD, NEXT, SCORE.replace("Bob", "Eve")], "line 3: the score is of Alice, Eve, and Alice, Bob played"),
        (
            [GOOD, SCORE.replace("55", "60"), NEXT],
            "line 3: there is 'STATE:1:f:2c2d|3c3d:5|-5:Bob|Alice' after the score",
        ),
        ([GOOD, "hello"], "line 2: 'hello' is not a line of a log"),
        ([GOOD, "STATE:1:c"], "line 2: expected a hand, STATE:number:betting:cards:values:names, found 3 parts"),
        (["# nothing"], "holds no hands"),
        ([], "holds no hands"),
        (["STATE:0:cc:As|Ks:1|-1:a|b"], "does not name a game that is known here: name its definition with --game"),
        (["# name/game/hands/seed m evil.py:Game(1) 1 1", "STATE:0:cc:As|Ks:1|-1:a|b"], "name its definition"),
    ],
)
def test_the_first_line_that_does_not_follow_the_rules(tmp_path: Path, lines: list[str], says: str) -> None:
    with pytest.raises(FogplayError, match=re.escape(says)):
        replay(write(tmp_path, *lines))


def test_every_change_of_a_result_is_found(tmp_path: Path) -> None:
    """A log of 60 hands, each hand's values changed in turn."""
    _, log = play_locally("holdem.limit.2p", ["rules", "probe"], 60)
    for number, line in enumerate(log):
        if line.startswith("STATE:"):
            parts = line.split(":")
            first, second = map(float, parts[4].split("|"))
            parts[4] = f"{print_value(first + 0.5)}|{print_value(second - 0.5)}"
            changed = [*log[:number], ":".join(parts), *log[number + 1 :]]
            with pytest.raises(FogplayError, match=f"line {number + 1}: by the rules"):
                replay(write(tmp_path, *changed))
