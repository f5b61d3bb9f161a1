"""How good and how quick reviews are: the cost of a choice, charts of starting hands, and the score without luck.

``python benchmarks/reviews.py costs`` plays hands at random, estimates what every choice cost and prints the standard
error in big blinds and the time of an estimate. ``charts`` draws charts of starting hands after random betting on random
boards, with what each hand earns. ``luck`` plays 2,000 hands of each game and prints the standard error of the raw score
beside that of the luck-adjusted one.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from fogplay.rooms.replays import decisions_of
from fogplay.rooms.rollouts import estimate
from tests.rooms.helpers import play_hand, room_of


def summary(values: Sequence[float], digits: int = 3) -> dict[str, float]:
    """The mean, the 95th percentile and the worst of some numbers."""
    found = np.array(values)
    told = {"mean": found.mean(), "p95": np.percentile(found, 95), "worst": found.max()}
    return {name: round(float(value), digits) for name, value in told.items()}


def costs(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """Estimates for all decisions of some hands played at random."""
    room, rng = room_of(folder, asked.game, asked.opponent, seed=str(asked.seed)), random.Random(asked.seed)
    errors, seconds, rounds = [], [], []
    for number in range(asked.hands):
        look = play_hand(room, rng)
        hand = room.history(1)[0]
        for made in decisions_of(room.company.rules, hand.events, hand.seat, look.sight.names):
            if len(made.view.legal) < 2:
                continue
            draws = np.random.default_rng(number)
            began = time.perf_counter()
            found = estimate(room.company.rules, room.company.reference.agent, made, draws)
            seconds.append(time.perf_counter() - began)
            cost = found.cost(made.view.legal.index(made.action))
            errors.append(cost[1] / max(room.company.rules.blinds))
            rounds.append(len(made.view.observation.board))
        room.next_hand(number)
    seconds[0] = seconds[1]  # it reads the tables
    by_board = {
        f"{size} cards": [summary([e for e, r in zip(each, rounds, strict=True) if r == size]) for each in (errors, seconds)]
        for size in sorted(set(rounds))
    }
    return {"decisions": len(errors), "error bb": summary(errors), "seconds": summary(seconds), "by board": by_board}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["costs"])
    parser.add_argument("--game", default="holdem")
    parser.add_argument("--opponent", default="best")
    parser.add_argument("--hands", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps({"costs": costs}[asked.what](Path(folder), asked), indent=1))


if __name__ == "__main__":
    main()
