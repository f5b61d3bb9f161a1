"""A server that is killed at any moment loses no finished hand, doubles none, and resumes at the same decision."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fogplay.rooms import Settings
from tests.rooms.helpers import hall_at

PLAYER = """
import random, sys
from tests.rooms.helpers import hall_at
from pathlib import Path
room = hall_at(Path(sys.argv[1])).room(sys.argv[2])
rng = random.Random(int(sys.argv[3]))
while True:
    look = room.look()
    if look.sight.over:
        print("over", look.hand, look.score, flush=True)
        room.next_hand(look.hand)
    else:
        room.act(look.hand, look.decision, rng.choice(look.sight.legal))
        print("made", look.hand, look.decision, flush=True)
"""


def killed(tmp_path: Path, kills: int) -> None:
    room = hall_at(tmp_path).create(Settings("kuhn", "uniform"), "3")
    rng, told = random.Random(1), {}
    for kill in range(kills):
        command = [sys.executable, "-c", PLAYER, str(tmp_path), room.kept.secret, str(kill)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        time.sleep(rng.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
        process.wait()
        complete = [line.split() for line in lines if line.endswith("\n")]
        told |= {int(line[1]): float(line[2]) for line in complete if line[0] == "over"}
        again = hall_at(tmp_path).room(room.kept.secret)
        kept = {hand.number: hand.score for hand in again.history()}
        assert list(kept) == list(range(len(kept)))
        assert {number: kept[number] for number in told} == told
        look = again.look()
        last = [line for line in complete if line[0] == "made"][-1:]
        if last:  # what was made is made
            assert (look.hand, look.decision) > (int(last[0][1]), int(last[0][2]))
    assert told


def test_rooms_survive_kills(tmp_path: Path) -> None:
    killed(tmp_path, 1)


@pytest.mark.slow
def test_rooms_survive_a_hundred_kills(tmp_path: Path) -> None:
    killed(tmp_path, 100)
