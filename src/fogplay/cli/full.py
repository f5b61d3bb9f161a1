"""Exact measures without abstraction, which take minutes to hours: best responses and the values of matches."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fogplay.cli.app import Stopped, again, print_json
from fogplay.cli.console import Watch, say, table
from fogplay.errors import FogplayError
from fogplay.interrupts import stopping

SUFFIX = ".full"  # of the file in which a measure keeps what it found


def evaluate_fully(
    player: Path, game: str | None, checkpoint: Path | None, as_json: bool, options: dict[str, Any]
) -> None:
    """The end of ``fogplay evaluate --full``: a file or, with a game, the name of a bot."""
    from fogplay.evaluate.full import evaluate_fully as measure

    strategy, rules = _found(player, game)
    kept = checkpoint or Path(f"{player.name.removesuffix('.safetensors')}{SUFFIX}")
    with Watch(quiet=as_json) as watch, _keeping(watch, kept), watch.building() as building:
        found = measure(strategy, rules, checkpoint=kept, progress=watch.amount, building=building, **options)
    facts = {"file": str(player), "game": game or strategy.game} | dataclasses.asdict(found)
    if as_json:
        print_json(facts | {"checkpoint": str(kept)})
        return
    _show(found, facts, "exploitability", f"; kept in {kept}")


def evaluate_locally(player: Path, game: str | None, as_json: bool, options: dict[str, Any]) -> None:
    """The end of ``fogplay evaluate --local``."""
    from fogplay.evaluate.full import evaluate_locally as measure

    strategy, rules = _found(player, game)
    with Watch(quiet=as_json) as watch, stopping(), watch.building() as building:
        found = measure(strategy, rules, progress=watch.amount, building=building, **options)
    facts = {"file": str(player), "game": game or strategy.game} | dataclasses.asdict(found)
    if as_json:
        print_json(facts)
        return
    _show(found, facts, "exploitability is at least", "")


def _found(player: Path, game: str | None) -> tuple[Any, Any]:
    """A strategy in a file or, with a game, a bot by its name; and the game's rules, if it was named."""
    from fogplay.agents import resolve
    from fogplay.strategies import load
    from fogplay.trees import named

    if game is None and not player.exists():
        raise FogplayError(f"{player}: no such file; for a bot, name its game too: --game GAME")
    rules = None if game is None else named(game)[0]
    return load(player) if rules is None or player.exists() else resolve([str(player)], rules)[0], rules


def _show(found: Any, facts: dict[str, Any], what: str, end: str) -> None:
    """Show what responses earn by seat, and their mean."""
    show = table("response in", f"earns {found.unit}")
    for seat, value in enumerate(found.best_response_values):
        show.add_row(f"seat {seat}", f"{value:+.4f}")
    say(f"{facts['game']}: {facts['file']}")
    say(show)
    error = "" if found.standard_error is None else f" ± {found.standard_error:.2f} (standard error)"
    say(f"{what} {found.exploitability:.4f} {found.unit}{error}: the mean over the seats")
    say(f"How: {found.method}{end}.")


def match_exactly(
    game: str, rules: Any, agents: Sequence[str], checkpoint: Path | None, as_json: bool, options: dict[str, Any]
) -> None:
    """The end of ``fogplay match --exact``."""
    from fogplay.agents import names_of, resolve
    from fogplay.evaluate.full import exact_match

    if len(agents) != 2:
        raise FogplayError(f"--exact is for two players, not {len(agents)}")
    first, second = resolve(agents, rules)
    names = names_of(agents)
    kept = checkpoint or Path(f"{names[0]}-{names[1]}{SUFFIX}")
    with Watch(quiet=as_json) as watch, _keeping(watch, kept), watch.building() as building:
        options = options | {"checkpoint": kept, "progress": watch.amount, "building": building}
        found = exact_match(rules, first, second, **options)
    if as_json:
        print_json({"game": game, "players": names, "checkpoint": str(kept)} | dataclasses.asdict(found))
        return
    show = table("player", f"wins {found.unit}", *(f"in seat {seat}" for seat in range(len(found.values))))
    for name, sign in zip(names, (1, -1), strict=True):
        by_seat = found.values if sign > 0 else tuple(-value for value in reversed(found.values))
        show.add_row(name, f"{sign * found.mean:+.4f}", *(f"{value:+.4f}" for value in by_seat))
    say(show)
    error = "" if found.standard_error is None else f"; the standard error of the mean is {found.standard_error:.2f}"
    say(f"How: {found.method}{error}; kept in {kept}.")


@contextlib.contextmanager
def _keeping(watch: Watch, kept: Path) -> Iterator[None]:
    """A measure that a signal may end: what was found is in the file, and the same command goes on from it."""
    if kept.exists():
        watch.note(f"going on from {kept}")
    try:
        with stopping():
            yield
    except KeyboardInterrupt:
        if not kept.exists():
            raise
        raise Stopped(f"stopped; what was found is in {kept}. To go on: {again()}") from None
