"""DeltaDou against other bots, many games at once, and how well it guesses hidden hands.

    python benchmarks/deltadou.py play deltadou rhcp --decks 200
    python benchmarks/deltadou.py play deltadou deltadou-policy --decks 200 --playouts 400
    python benchmarks/deltadou.py play deltadou strong --decks 1000 --playouts 600 --device cuda
    python benchmarks/deltadou.py guess --decks 100

Decks are played twice with sides swapped; errors are over decks. Set OPENBLAS_NUM_THREADS=1 on a busy machine.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from fogplay.bots.doudizhu import arena, evaluators, guessing
from fogplay.bots.doudizhu.agents import Strong
from fogplay.bots.doudizhu.deltadou import Mind, Settings
from fogplay.bots.doudizhu.lockstep import Networks, Player, Single, Thinker, compare_in_threads
from fogplay.bots.doudizhu.player import without_inference
from fogplay.jit import num_cores

STRONG = "strong"
BOTS = {"greedy": arena.GREEDY, "rhcp": arena.RHCP, "rules": arena.RULES}


def player(name: str, evaluate: evaluators.Evaluate, settings: Settings) -> Player:
    """A player by its name."""
    if name in BOTS:
        return arena.bot(BOTS[name])
    if name == STRONG:
        return Single(Strong())
    if name == "deltadou-policy":
        return Networks(evaluate)
    return Thinker(Mind(evaluate, without_inference(settings) if name == "deltadou-plain" else settings), len(name))


def evaluator(folder: Path, device: str) -> evaluators.Evaluate:
    """The networks of a folder."""
    if device == "cpu":
        return evaluators.in_folder(folder)
    from fogplay.nets.answers import answers_of_dense

    return answers_of_dense(evaluators.networks_in(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("play", "guess"))
    parser.add_argument(
        "players", nargs="*", help=f"deltadou, deltadou-plain, deltadou-policy, strong, {', '.join(BOTS)}"
    )
    parser.add_argument("--decks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--playouts", type=int, default=Settings().playouts)
    parser.add_argument("--weights", type=Path, help="a folder with other networks")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    own = parser.parse_args()
    evaluate = evaluator(own.weights or evaluators.FOLDER, own.device)
    settings, began = Settings(playouts=own.playouts), time.time()
    if own.what == "guess":
        found = guessing.measure(guessing.self_play(evaluate, own.decks, own.seed, 0.12), evaluate, settings.thinking)
        less = 1 - found.inferred / found.evenly
        print(f"{found.positions} positions: {found.evenly:.3f} evenly, {found.inferred:.3f} inferred", end="")
        print(f", {100 * less:.1f} ± {100 * found.error / found.evenly:.1f} % less; {time.time() - began:.0f} s")
        return
    one, other = own.players
    result = compare_in_threads(
        lambda: player(one, evaluate, settings),
        lambda: player(other, evaluate, settings),
        own.decks,
        min(num_cores(), own.decks),
        own.seed,
    )
    print(f"{one} against {other}, {own.decks} decks: WP {result.wins:.3f} ± {result.wins_error:.3f}", end="")
    print(f" (landlord {result.landlord:.3f}, peasants {result.peasants:.3f}),", end="")
    print(f" ADP {result.points:+.3f} ± {result.points_error:.3f}; {time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
