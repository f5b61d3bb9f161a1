"""A match that was cut off continues from its log, to the same end; a log of anything else is left as it is."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.protocols.conftest import Command

ASKED = ("deal", "leduc.limit.3p", "a=uniform", "b=uniform", "c=uniform", "-n", "40", "--seed", "3", "--log", "x.log")


@pytest.fixture
def whole(run: Command, tmp_path: Path) -> bytes:
    """The log of the uninterrupted match."""
    assert run(*ASKED)[0] == 0
    return (tmp_path / "x.log").read_bytes()


def test_a_match_cut_off_anywhere_ends_in_the_same_log(run: Command, tmp_path: Path, whole: bytes) -> None:
    log, rng = tmp_path / "x.log", random.Random(1)
    head = whole.index(b"STATE:0:")
    last = whole.rindex(b"SCORE")
    cuts = [0, head, head + 1, len(whole) - 1, last, last + 3, *(rng.randrange(head, len(whole)) for _ in range(8))]
    for cut in cuts:
        log.write_bytes(whole[:cut])
        status, out, err = run(*ASKED, "--resume", "--json")
        assert (status, err) == (0, "")
        assert log.read_bytes() == whole
        facts = json.loads(out)
        lines = whole[:cut].split(b"\n")[:-1]  # the last one is cut off
        assert (facts["hands"], facts["resumed_at"]) == (40, sum(line.startswith(b"STATE") for line in lines))
    log.unlink()
    assert run(*ASKED, "--resume")[0] == 0  # nothing to continue: a match from its beginning
    assert log.read_bytes() == whole


def test_the_results_are_those_of_the_whole_match(run: Command, tmp_path: Path, whole: bytes) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(whole[: whole.index(b"STATE:25:")])
    _, out, _ = run(*ASKED, "--resume")
    assert "40 of 40 hands in " in out
    assert ", the first 25 of them earlier" in out
    _, replayed, _ = run("replay", "x.log")
    table = [line for line in out.splitlines() if "±" in line]
    assert len(table) == 4
    again = [line for line in replayed.splitlines() if "±" in line]
    assert sorted(again) == sorted(table)


def test_comments_of_the_first_part_stay(run: Command, tmp_path: Path, whole: bytes) -> None:
    at = whole.index(b"STATE:7:")
    early = whole[:at] + b"# the match ended early: hand 7: b is out: it closed the connection\n"
    (tmp_path / "x.log").write_bytes(early)
    assert run(*ASKED, "--resume")[0] == 0
    assert (tmp_path / "x.log").read_bytes() == early + whole[at:]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"--seed": "4"}, "line 1: this is a match of 40 hands of leduc.limit.3p with seed 3, not of 40 hands of "),
        ({"-n": "50"}, "line 1: this is a match of 40 hands of leduc.limit.3p with seed 3, not of 50"),
        ({"leduc.limit.3p": "kuhn.limit.3p"}, "not of 40 hands of kuhn.limit.3p"),
        ({"b=uniform": "d=uniform"}, "line 5: a, b, c play, by seat, and it must be a, d, c"),
        ({"--turn": "1"}, "line 5: a, b, c play, by seat, and it must be c, a, b"),
        ({"--t-response": "5"}, "line 2: the match had other limits of time, '#--t_response 600000' instead of"),
    ],
)
def test_other_terms_are_refused(
    run: Command, tmp_path: Path, whole: bytes, changes: dict[str, str], says: str
) -> None:
    cut = whole[: whole.index(b"STATE:20:") + 9]
    (tmp_path / "x.log").write_bytes(cut)
    options = [word for pair in changes.items() if pair[0].startswith("-") for word in pair]
    words = [changes.get(word, word) if not word.startswith("-") else word for word in ASKED] + options
    status, _, err = run(*words, "--resume")
    assert (status, len(err.splitlines())) == (2, 1)
    assert says in err
    assert (tmp_path / "x.log").read_bytes() == cut


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b"STATE:9:", b"STATE:8:", "line 14: hand 8 comes where hand 9 must be"),
        (b"STATE:0:", b"STATE:0:f", "line 5: "),
        (b"# name", b"# nome", "this is not a log of fogplay's dealer"),
        (b"\nSTATE:9:", b"\nhello\nSTATE:9:", "line 14: 'hello' is not the next line of this match"),
        (b"STATE:20:", b"\xff", "is not text in UTF-8"),
    ],
)
def test_a_log_of_something_else_is_refused(
    run: Command, tmp_path: Path, whole: bytes, old: bytes, new: bytes, says: str
) -> None:
    changed = whole[: whole.index(b"STATE:30:")].replace(old, new, 1)
    (tmp_path / "x.log").write_bytes(changed)
    status, _, err = run(*ASKED, "--resume")
    assert (status, len(err.splitlines())) == (2, 1)
    assert says in err
    assert (tmp_path / "x.log").read_bytes() == changed


def test_other_cards_are_refused(run: Command, tmp_path: Path, whole: bytes) -> None:
    """The hand follows the rules, but the seed deals another one."""
    lines = whole.decode().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("STATE:") and "/" not in line)
    parts = lines[at].split(":")
    held = parts[3].split("|")
    left = [card for card in ("Js", "Jh", "Qs", "Qh", "Ks", "Kh", "As", "Ah") if card not in held]
    parts[3] = "|".join([left[0], *held[1:]])
    (tmp_path / "x.log").write_text("\n".join([*lines[:at], ":".join(parts), ""]))
    status, _, err = run(*ASKED, "--resume")
    assert status == 2
    assert f"line {at + 1}: these are not the cards that seed 3 deals in hand {parts[1]}" in err


def test_a_complete_match_and_a_file_that_exists_are_left_alone(run: Command, tmp_path: Path, whole: bytes) -> None:
    status, _, err = run(*ASKED, "--resume")
    assert status == 2
    assert "this match is complete, with all its 40 hands; choose another --log" in err
    status, _, err = run(*ASKED)
    assert status == 2
    assert "x.log exists already; add --resume to continue its match, or choose another --log" in err
    assert (tmp_path / "x.log").read_bytes() == whole
    status, _, err = run(*ASKED[:-2], "--resume")
    assert "name it with --log FILE" in err
    assert run(*ASKED[:-1], "/dev/null")[0] == 0


@pytest.mark.slow
def test_a_killed_dealer_resumes(tmp_path: Path) -> None:
    """SIGKILL at random moments, until the match is over: its log is that of an uninterrupted one."""
    asked = [
        sys.executable,
        "-m",
        "fogplay.cli",
        "acpc",
        "deal",
        "kuhn.limit.2p",
        "a=uniform",
        "b=uniform",
        "-n",
        "30000",
    ]
    subprocess.run([*asked, "--log", "whole.log"], cwd=tmp_path, check=True, capture_output=True)
    rng, log = random.Random(2), tmp_path / "cut.log"
    for _ in range(8):
        dealer = subprocess.Popen([*asked, "--log", "cut.log", "--resume"], cwd=tmp_path, stderr=subprocess.DEVNULL)
        size = log.stat().st_size if log.exists() else 0
        while dealer.poll() is None and (log.stat().st_size if log.exists() else 0) == size:
            time.sleep(0.01)
        time.sleep(rng.random() / 10)
        os.kill(dealer.pid, signal.SIGKILL)
        dealer.wait()
    assert subprocess.run([*asked, "--log", "cut.log", "--resume"], cwd=tmp_path, check=False).returncode in (0, 2)
    lines, cut = ((tmp_path / name).read_text().splitlines() for name in ("whole.log", "cut.log"))
    assert cut[1:] == lines[1:]
