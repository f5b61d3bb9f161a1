"""Speed of Doudizhu: random games per second on one core, beside OpenSpiel and RLCard, or on a GPU.

    python benchmarks/doudizhu.py                  # one core, and the peers that are installed
    python benchmarks/doudizhu.py --device cuda    # a GPU, and the same games bit for bit as on the CPU

In every program each player draws one of its legal moves, all equally likely. OpenSpiel's games are played by its own
compiled loop and bots, with its bidding; RLCard's by its game object, without the encoding of states for learning.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

import numpy as np

from fogplay.errors import FogplayError
from fogplay.simulators.doudizhu_random import random_games

PROMISED = {"cpu": 25_000, "cuda": 1_000_000, "OpenSpiel": 4, "RLCard": 1000}
STRETCH = 2_000  # games between two looks at the clock


def per_second(play: Callable[[int, int], None], seconds: float, stretch: int) -> float:
    """Games per second of the processor's time, so that other work on the machine counts little.

    ``play`` is called with the number of the first game and how many to play.
    """
    began, games = time.thread_time(), 0
    while time.thread_time() - began < seconds:
        play(games, stretch)
        games += stretch
    return games / (time.thread_time() - began)


def openspiel() -> Callable[[int, int], None]:
    import pyspiel

    game = pyspiel.load_game("dou_dizhu")

    def play(first: int, count: int) -> None:
        for number in range(first, first + count):
            bots = [pyspiel.make_uniform_random_bot(seat, 3 * number + seat) for seat in range(3)]
            pyspiel.evaluate_bots(game.new_initial_state(), bots, number)

    return play


def rlcard() -> Callable[[int, int], None]:
    from rlcard.games.doudizhu import Game

    def play(first: int, count: int) -> None:
        for number in range(first, first + count):
            game, rng = Game(), random.Random(number)
            game.np_random.seed(number)
            state, _ = game.init_game()
            while not game.is_over():
                state, _ = game.step(rng.choice(state["actions"]))

    return play


def ours() -> Callable[[int, int], None]:
    def play(first: int, count: int) -> None:
        random_games(1, first, count)

    return play


def on_cpu(seconds: float, rounds: int) -> None:
    """All programs in turn in every round; the best round of each counts."""
    _, points, moves = random_games(1, 0, STRETCH)
    print(f"{moves.mean():.1f} moves per game, the landlord wins {(points > 0).mean():.1%}")
    players: dict[str, tuple[Callable[[int, int], None], int]] = {}
    for name, make, stretch in (("fogplay", ours, STRETCH), ("OpenSpiel", openspiel, 20), ("RLCard", rlcard, 1)):
        try:
            players[name] = (make(), stretch)
        except ImportError:
            print(f"{name} is not installed")
    best = dict.fromkeys(players, 0.0)
    for _ in range(rounds):
        for name, (play, stretch) in players.items():
            best[name] = max(best[name], per_second(play, seconds, stretch))
    print(f"| fogplay, one core | {best['fogplay']:,.0f} games/s | promised {PROMISED['cpu']:,} |")
    for name in [*players][1:]:
        ratio = f"fogplay is {best['fogplay'] / best[name]:,.1f} × as fast, promised {PROMISED[name]:,}"
        print(f"| {name} | {best[name]:,.1f} games/s | {ratio} |")


def on_gpu(seconds: float, rounds: int, games: int) -> None:
    from fogplay.simulators.doudizhu_gpu import RandomGamesOnGpu

    gpu = RandomGamesOnGpu(games)
    began = time.perf_counter()
    checksums, points, moves = gpu.play(1, 0)
    print(f"compiled and played {games:,} games in {time.perf_counter() - began:.1f} s")
    same = min(games, 200_000)
    there = random_games(1, 0, same)
    for mine, other in zip((checksums, points, moves), there, strict=True):
        if not np.array_equal(mine[:same], other):
            raise FogplayError(f"games differ from those of the CPU, first at {int(np.argmax(mine[:same] != other))}")
    print(f"the same {same:,} games bit for bit as on the CPU; {moves.mean():.1f} moves per game")
    best = 0.0
    for _ in range(rounds):
        began, played = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            gpu.launch(1, played)
            gpu.wait()
            played += games
        best = max(best, played / (time.perf_counter() - began))
    print(f"| fogplay, one GPU | {best:,.0f} games/s | promised {PROMISED['cuda']:,} |")


def main() -> None:
    parser = argparse.ArgumentParser(description="Random games of Doudizhu per second.")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--seconds", type=float, default=2.0, help="per round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--games", type=int, default=1 << 20, help="at a time on a GPU")
    given = parser.parse_args()
    if given.device == "cpu":
        on_cpu(given.seconds, given.rounds)
    else:
        on_gpu(given.seconds, given.rounds, given.games)


if __name__ == "__main__":
    main()
