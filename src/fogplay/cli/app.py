"""What all commands share: the application, its options, and how results are printed and saved."""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from fogplay.errors import FogplayError

# In order of use: learn, inspect the result, play with it, exploit others with it; then the rest.
COMMANDS = (
    "solve", "evaluate", "inspect", "match", "play", "advise", "respond", "tradeoff", "model",
    "games", "algorithms", "reproduce", "bench", "acpc",
)  # fmt: skip


class InOrder(typer.core.TyperGroup):
    """Lists commands in ``--help`` in the order of ``COMMANDS``, and others after them."""

    def list_commands(self, ctx: Any) -> list[str]:
        place = {name: number for number, name in enumerate(COMMANDS)}
        return sorted(super().list_commands(ctx), key=lambda name: place.get(name, len(place)))


app = typer.Typer(
    cls=InOrder,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Solve and play games of hidden information, by self-play, at compiled speed.",
)

Threads = Annotated[
    int | None, typer.Option(help="Concurrent episodes on shared tables; by default 1, or as many as suit the GPU.")
]
Device = Annotated[str, typer.Option(help="cpu, or cuda: sampling algorithms on an NVIDIA GPU.")]
Minutes = Annotated[
    float | None,
    typer.Option("--minutes", help="Learn for this many minutes, or for -n iterations if those end sooner."),
]
Infosets = Annotated[
    int | None, typer.Option("--infosets", help="The most infosets to store, for a game too large for a tree.")
]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout instead.")]


def read_settings(pairs: list[str], algorithm: str) -> dict[str, Any]:
    """Parse ``--set name=value`` into parameters of the algorithm; numbers and true/false become values."""
    from fogplay.solvers.algorithms import AUTO, algorithm_called, check_parameters

    settings: dict[str, Any] = {}
    if algorithm == AUTO:
        if pairs:
            raise FogplayError(f"--set {pairs[0]}: name the algorithm that this is a parameter of, with -a")
        return settings
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise FogplayError(f"--set takes NAME=VALUE, not {pair!r}")
        lowered = text.strip().lower()
        if lowered in ("true", "false"):
            settings[name.strip()] = lowered == "true"
            continue
        read = [_number(part) for part in text.split(",")]
        settings[name.strip()] = read[0] if len(read) == 1 else read
    check_parameters(algorithm_called(algorithm), settings)
    return settings


def _number(text: str) -> int | float | str:
    try:
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    except ValueError:
        return text.strip()


def file_name(game: str) -> str:
    """A game's spec as the stem of a file's name."""
    stem = Path(game).stem if ".py" in game or game.endswith(".efg") else game
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in stem)
    short = "-".join(part for part in kept.split("-") if part)[:100] or "strategy"
    return f"{short}-{hashlib.sha256(game.encode()).hexdigest()[:6]}" if "[" in game else short  # numbers lose signs


def load_strategy(path: Path) -> Any:
    """A saved strategy of any kind."""
    from fogplay.strategies import load

    return load(path)


def save(strategy: Any, out: Path) -> None:
    """Save a strategy; if that fails, save it in the temporary folder, so that nothing learned is lost."""
    try:
        strategy.save(out)
    except FogplayError as error:
        elsewhere = Path(tempfile.gettempdir()) / out.name
        if elsewhere.resolve() == out.resolve():
            raise
        strategy.save(elsewhere)
        raise FogplayError(f"{error}; the strategy is in {elsewhere} instead") from error


def require_folder(out: Path, option: str = "--out") -> None:
    if out.is_dir():
        raise FogplayError(f"{out} is a folder; {option} takes a file's name")
    if not out.parent.is_dir():
        raise FogplayError(f"there is no folder {out.parent} to write {out.name} into")
    if not os.access(out.parent, os.W_OK):
        raise FogplayError(f"the folder {out.parent} cannot be written to; choose another with {option}")


def print_json(facts: dict[str, Any]) -> None:
    print(json.dumps(_plain(facts), allow_nan=False), flush=True)


def _plain(value: Any) -> Any:
    """A value that JSON can hold: NaN and infinity become null."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
