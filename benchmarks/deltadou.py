"""DeltaDou against other bots, many games at once, and how well it guesses hidden hands.

    python benchmarks/deltadou.py play deltadou rhcp --decks 200
    python benchmarks/deltadou.py play deltadou deltadou-policy --decks 200 --playouts 400
    python benchmarks/deltadou.py play deltadou strong --decks 1000 --playouts 600 --device cuda
    python benchmarks/deltadou.py model rhcp --decks 400 --playouts 100
    python benchmarks/deltadou.py guess --decks 100

`model` gives the search the program of its opponents, in place of its networks for them: how much is there to gain by
knowing how they play? The networks alone play the same decks.

Decks are played twice with sides swapped; errors are over decks.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from fogplay.bots.doudizhu import arena, evaluators, guessing
from fogplay.bots.doudizhu.agents import Strong
from fogplay.bots.doudizhu.deltadou import Mind, Settings
from fogplay.bots.doudizhu.lockstep import (
    Comparison,
    Networks,
    Player,
    Single,
    Thinker,
    compare_in_threads,
    compared,
    play,
)
from fogplay.bots.doudizhu.player import without_inference
from fogplay.jit import num_cores

STRONG = "strong"
_PART = 50  # decks between two lines of `model`
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


def play_known(own: argparse.Namespace, evaluate: evaluators.Evaluate, settings: Settings) -> None:
    """Networks alone, and a search that knows the opponents' program, on the same decks."""
    other, thinking = arena.bot(BOTS[own.players[0]]), settings.thinking._replace(belief=0.1)
    found: dict[str, list[tuple[Any, Any]]] = {"deltadou-policy": [], f"deltadou that knows {own.players[0]}": []}
    for first in range(own.first, own.first + own.decks, _PART):
        for name, parts in found.items():
            won, score = np.zeros((2, _PART)), np.zeros((2, _PART))
            for turn, enemies in enumerate(((1, 2), (0,))):
                known = evaluators.knowing(evaluate, evaluators.by_bot(BOTS[own.players[0]]), enemies)
                mind = Mind(known, settings._replace(thinking=thinking, sure=2.0))
                one: Player = Networks(evaluate) if name == "deltadou-policy" else Thinker(mind, 1)
                sides = (one, other) if turn == 0 else (other, one)
                landlord_won, bombs = play(own.seed, first, _PART, *sides)
                won[turn] = landlord_won == (turn == 0)
                score[turn] = np.where(won[turn] > 0, 1, -1) * 2.0**bombs
            parts.append((won.T, score.T))
            tell(name, own.players[0], compared(*(np.concatenate(each) for each in zip(*parts, strict=True))))
    one_way, another = (np.concatenate([won.mean(1) for won, _ in parts]) for parts in found.values())
    more = another - one_way
    print(f"difference {100 * more.mean():+.1f} ± {100 * more.std() / max(len(more) - 1, 1) ** 0.5:.1f} % of games")


def tell(one: str, other: str, result: Comparison) -> None:
    """One line on a comparison."""
    print(f"{one} against {other}, {result.decks} decks: WP {result.wins:.3f} ± {result.wins_error:.3f}", end="")
    print(f" (landlord {result.landlord:.3f}, peasants {result.peasants:.3f}),", end="")
    print(f" ADP {result.points:+.3f} ± {result.points_error:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("play", "model", "guess"))
    parser.add_argument(
        "players", nargs="*", help=f"deltadou, deltadou-plain, deltadou-policy, strong, {', '.join(BOTS)}"
    )
    parser.add_argument("--decks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--playouts", type=int, default=Settings().playouts)
    parser.add_argument("--weights", type=Path, help="a folder with other networks")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--first", type=int, default=0, help="the number of the first deck (model)")
    own = parser.parse_args()
    evaluate = evaluator(own.weights or evaluators.FOLDER, own.device)
    settings, began = Settings(playouts=own.playouts), time.time()
    if own.what == "guess":
        found = guessing.measure(guessing.self_play(evaluate, own.decks, own.seed, 0.12), evaluate, settings.thinking)
        less = 1 - found.inferred / found.evenly
        print(f"{found.positions} positions: {found.evenly:.3f} evenly, {found.inferred:.3f} inferred", end="")
        print(f", {100 * less:.1f} ± {100 * found.error / found.evenly:.1f} % less; {time.time() - began:.0f} s")
        return
    if own.what == "model":
        play_known(own, evaluate, settings)
        return
    one, other = own.players
    result = compare_in_threads(
        lambda: player(one, evaluate, settings),
        lambda: player(other, evaluate, settings),
        own.decks,
        min(num_cores(), own.decks),
        own.seed,
    )
    tell(one, other, result)
    print(f"{time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
