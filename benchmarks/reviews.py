"""How good and how quick reviews are: the cost of a choice, charts of starting hands, and the score without luck.

``python benchmarks/reviews.py costs`` plays hands at random, estimates what every choice cost and prints the standard
error in big blinds and the time of an estimate. ``charts`` draws charts of starting hands after random betting on
random boards, with what each hand earns. ``luck --hands 2000 --game leduc`` prints the standard error of the raw score
beside that of the luck-adjusted one.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from fogplay.cards.deck import cards_name
from fogplay.rooms import Scores
from fogplay.rooms.replays import baseline, decisions_of
from fogplay.rooms.rollouts import estimate
from fogplay.simulators import part_of
from tests.rooms.helpers import play_hand, room_of


def summary(values: Sequence[float], digits: int = 3) -> dict[str, float]:
    """The mean, the 95th percentile and the worst of some numbers."""
    found = np.array(values)
    told = {"mean": found.mean(), "p95": np.percentile(found, 95), "worst": found.max()}
    return {name: round(float(value), digits) for name, value in told.items()}


def costs(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """Estimates for all decisions of some hands played at random."""
    room, rng = room_of(folder, asked.game, asked.opponent, seed=str(asked.seed)), random.Random(asked.seed)
    errors: list[float] = []
    seconds: list[float] = []
    work: list[float] = []  # CPU time, of all threads
    warm = 4  # hands in which kernels are compiled and tables are read
    for number in range(-warm, asked.hands):
        look = play_hand(room, rng)
        hand = room.history(1)[0]
        for made in decisions_of(room.company.rules, hand.events, hand.seat, look.sight.names):
            if len(made.view.legal) < 2:
                continue
            draws = np.random.default_rng(abs(number))
            began, cpu = time.perf_counter(), time.process_time()
            found = estimate(room.company.rules, room.company.reference.agent, made, draws)
            if number < 0:
                continue
            seconds.append(time.perf_counter() - began)
            work.append(time.process_time() - cpu)
            cost = found.cost(made.view.legal.index(made.action))
            errors.append(cost[1] / max(room.company.rules.blinds))
        room.next_hand(look.hand)
    return {
        "game": asked.game,
        "decisions": len(errors),
        "error bb": summary(errors),
        "seconds": summary(seconds),
        "cpu": summary(work),
    }


def charts(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """Charts of starting hands, with what each earns, after random betting on random boards."""
    room, rng = room_of(folder, asked.game, asked.opponent, seed=str(asked.seed)), random.Random(asked.seed)
    rules, agent = room.company.rules, room.company.others[0]
    seconds, errors = [], []
    work: list[float] = []  # CPU time, of all threads
    for number in range(asked.hands + 2):
        look = room.look()
        while not look.sight.over and rng.random() < 0.7:
            room.act(look.hand, look.decision, rng.choice(look.sight.legal))
            look = room.look()
        if not look.sight.over:
            seen = look.sight.view.observation
            betting, board = "/".join(seen.betting), cards_name(seen.board)
            began, cpu = time.perf_counter(), time.process_time()
            drawn = part_of(rules, "draw_chart")(rules, agent, betting, board, np.random.default_rng(number))
            seconds.append(time.perf_counter() - began)
            work.append(time.process_time() - cpu)
            told = [float(each) for each in re.findall(r"± ([0-9.]+)", drawn.svg)]
            errors.append(max(told, default=0.0) / max(rules.blinds))
        play_hand(room, rng)
        room.next_hand(number)
    return {
        "charts": len(seconds) - 2,
        "seconds": summary(seconds[2:]),
        "cpu": summary(work[2:]),
        "largest error bb": summary(errors[2:]),
    }


def luck(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """The errors of both scores of a person who plays like the opponent, but makes one move in five at random."""
    room, rng = room_of(folder, asked.game, asked.opponent, seed=str(asked.seed)), random.Random(asked.seed)
    agent, began = room.company.reference.agent, time.perf_counter()
    results = []
    for number in range(asked.hands):
        look = room.look()
        while not look.sight.over:
            wild = rng.random() < 0.2
            action = rng.choice(look.sight.legal) if wild else agent.act(look.sight.view)
            room.act(look.hand, look.decision, action)
            look = room.look()
        assert look.score is not None
        hand = room.history(1)[0]
        results.append((look.score, baseline(room.company, hand.seat, room._luck(number), room.kept.seed, number)))
        room.next_hand(number)
    found = Scores.of(results)
    return {
        "game": asked.game,
        "hands": asked.hands,
        "raw": [round(found.raw.mean, 3), round(found.raw.error, 3)],
        "luck-adjusted": [round(found.adjusted.mean, 3), round(found.adjusted.error, 3)],
        "ratio": round(found.adjusted.error / found.raw.error, 2),
        "seconds": round(time.perf_counter() - began),
    }


KINDS = {"costs": costs, "charts": charts, "luck": luck}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=[*KINDS])
    parser.add_argument("--game", default="holdem")
    parser.add_argument("--opponent", default="best")
    parser.add_argument("--hands", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(KINDS[asked.what](Path(folder), asked)))


if __name__ == "__main__":
    main()
