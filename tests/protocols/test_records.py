"""Logs of the competition as files for other programs: pokerkit plays every hand of them to the same stacks."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import pytest
from pokerkit import HandHistory

from fogplay import FogplayError, match
from fogplay.opponents import write_log
from fogplay.protocols.acpc.records import write_records
from fogplay.protocols.acpc.replay import replay
from tests.helpers import fogplay

PLAYERS = ("sparring", "rules", "uniform")


def exported(folder: Path, players: int, hands: int) -> tuple[Path, Path]:
    """The log of a match and its hands for pokerkit."""
    log, written = folder / "match.log", folder / "match.phhs"
    names = PLAYERS[:players] if players == 2 else ("always-call", "rules", "uniform")
    write_log(log, match(f"holdem({players})", list(names), hands=hands, seed=1, keep=True))
    write_records(written, [replay(log)])
    return log, written


def require_same_stacks(log: Path, written: Path, hands: int) -> None:
    lines = [line for line in log.read_text().splitlines() if line.startswith("STATE")]
    played = HandHistory.loads_all(written.read_text())
    split = 0
    for line, hand in itertools.zip_longest(lines, played):
        *_, end = hand
        won = [float(value) for value in line.split(":")[4].split("|")]
        start = float(end.starting_stacks[0])
        assert [float(stack) for stack in end.stacks] == pytest.approx([start + each for each in won], abs=1e-4)
        assert not end.status, "the hand is over"
        split += any(each != int(each) for each in won)
    assert len(lines) == hands
    assert split or len(won) == 2, "odd chips are split too"


@pytest.mark.parametrize("players", [2, 3])
def test_pokerkit_plays_the_hands_of_a_match(players: int, tmp_path: Path) -> None:
    require_same_stacks(*exported(tmp_path, players, 600), 600)


@pytest.mark.slow
def test_pokerkit_plays_ten_thousand_hands(tmp_path: Path) -> None:
    require_same_stacks(*exported(tmp_path, 2, 10_000), 10_000)


def test_the_command(tmp_path: Path) -> None:
    deal = ("acpc", "deal", "leduc.limit.2p", "Al=uniform", "Bo=uniform", "--hands", "20", "--log", "leduc.log")
    assert fogplay(*deal, cwd=tmp_path).returncode == 0
    done = fogplay("acpc", "replay", "leduc.log", "--export", "leduc.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the hands are in leduc.csv" in done.stdout
    with open(tmp_path / "leduc.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == 20
    refused = fogplay("acpc", "replay", "leduc.log", "--export", "leduc.phhs", cwd=tmp_path)
    assert refused.returncode == 2
    assert "must end in .csv" in refused.stderr


def test_cards_that_a_log_does_not_show_are_hidden(tmp_path: Path) -> None:
    log, written = tmp_path / "seen.log", tmp_path / "seen.phhs"
    log.write_text("STATE:0:rf:|9hQd:-10|10:Al|Bo\n")
    write_records(written, [replay(log)])
    assert "'d dh p1 ????', 'd dh p2 Qd9h'" in written.read_text().replace("9hQd", "Qd9h")
    with pytest.raises(FogplayError, match=r"must end in \.csv or \.phhs"):
        write_records(tmp_path / "seen.txt", [replay(log)])
