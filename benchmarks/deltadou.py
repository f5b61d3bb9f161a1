"""DeltaDou against other bots, many games at once, and how well it guesses hidden hands.

    python benchmarks/deltadou.py play deltadou rhcp --decks 200
    python benchmarks/deltadou.py play deltadou deltadou-policy --decks 200 --playouts 400
    python benchmarks/deltadou.py play deltadou strong --decks 1000 --playouts 600 --device cuda
    python benchmarks/deltadou.py model rhcp --decks 400 --playouts 100
    python benchmarks/deltadou.py vary rhcp --set points=3 --decks 400 --playouts 600
    python benchmarks/deltadou.py guess --decks 100

`model` gives the search the program of its opponents, in place of its networks for them: how much is there to gain by
knowing how they play? The networks alone play the same decks. `vary` plays the same decks with and without changes to
the settings of the search.

Decks are played twice with sides swapped; errors are over decks.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
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
_PART = 50  # decks between two lines of `model` and `vary`
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
    thinking = settings.thinking._replace(belief=0.1)

    def one(name: str, enemies: tuple[int, ...]) -> Player:
        known = evaluators.knowing(evaluate, evaluators.by_bot(BOTS[own.players[0]]), enemies)
        mind = Mind(known, settings._replace(thinking=thinking, sure=2.0))
        return Networks(evaluate) if name == "deltadou-policy" else Thinker(mind, 1)

    play_beside(own, ("deltadou-policy", f"deltadou that knows {own.players[0]}"), one)


def play_varied(own: argparse.Namespace, evaluate: evaluators.Evaluate, settings: Settings) -> None:
    """The search with its own settings and with others, on the same decks."""
    changed = changed_settings(settings, own.set)
    minds = {"deltadou": Mind(evaluate, settings), f"deltadou with {', '.join(own.set)}": Mind(evaluate, changed)}
    play_beside(own, tuple(minds), lambda name, _: Thinker(minds[name], len("deltadou")))


def changed_settings(settings: Settings, changes: list[str]) -> Settings:
    """Settings with some numbers exchanged, each written NAME=VALUE; ``heat`` is that of the others' moves."""
    for each in changes:
        name, _, value = each.partition("=")
        for part in ("rule", "weights", "thinking"):
            numbers = getattr(settings, part)
            if name in numbers._fields:
                kind = type(getattr(numbers, name))
                settings = settings._replace(**{part: numbers._replace(**{name: kind(value)})})
                break
        else:
            if name not in ("playouts", "parallel", "actions", "sure"):
                raise SystemExit(f"the search has no setting {name!r}")
            settings = settings._replace(**{name: type(getattr(settings, name))(value)})
    return settings


def play_beside(
    own: argparse.Namespace, names: tuple[str, ...], player_of: Callable[[str, tuple[int, ...]], Player]
) -> None:
    """Two players against the same bot on the same decks, and by how much the second is ahead.

    ``player_of`` makes a player from its name and the seats of its enemies.
    """
    against = own.players[0]
    other: Player = arena.bot(BOTS[against]) if against in BOTS else Single(Strong())
    found: dict[str, list[tuple[Any, Any]]] = {name: [] for name in names}
    for first in range(own.first, own.first + own.decks, _PART):
        decks = min(_PART, own.first + own.decks - first)
        for name, parts in found.items():
            won, score = np.zeros((2, decks)), np.zeros((2, decks))
            for turn, enemies in enumerate(((1, 2), (0,))):
                one = player_of(name, enemies)
                landlord_won, bombs = play(own.seed, first, decks, *((one, other) if turn == 0 else (other, one)))
                won[turn] = landlord_won == (turn == 0)
                score[turn] = np.where(won[turn] > 0, 1, -1) * 2.0**bombs
            parts.append((won.T, score.T))
            tell(name, against, compared(*(np.concatenate(each) for each in zip(*parts, strict=True))))
    for what, field, scale in (("% of games", 0, 100), ("points", 1, 1)):
        before, after = (np.concatenate([part[field].mean(1) for part in parts]) for parts in found.values())
        more = scale * (after - before)
        print(f"difference {more.mean():+.3f} ± {more.std() / max(len(more) - 1, 1) ** 0.5:.3f} {what}")


def tell(one: str, other: str, result: Comparison) -> None:
    """One line on a comparison."""
    print(f"{one} against {other}, {result.decks} decks: WP {result.wins:.3f} ± {result.wins_error:.3f}", end="")
    print(f" (landlord {result.landlord:.3f}, peasants {result.peasants:.3f}),", end="")
    print(f" ADP {result.points:+.3f} ± {result.points_error:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("play", "model", "vary", "guess"))
    parser.add_argument(
        "players", nargs="*", help=f"deltadou, deltadou-plain, deltadou-policy, strong, {', '.join(BOTS)}"
    )
    parser.add_argument("--decks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--playouts", type=int, default=Settings().playouts)
    parser.add_argument("--weights", type=Path, help="a folder with other networks")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--first", type=int, default=0, help="the number of the first deck (model, vary)")
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE, a setting of the search (vary)")
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
    if own.what == "vary":
        play_varied(own, evaluate, settings)
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
