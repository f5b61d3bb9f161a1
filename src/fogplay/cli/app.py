"""What all commands share: the application, its options, and how results are printed and saved."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shlex
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from fogplay.errors import FogplayError
from fogplay.storage import is_stream
from fogplay.version import VERSION

# In order of use: learn, inspect the result, play with it, exploit others with it; then the rest.
COMMANDS = (
    "solve", "evaluate", "inspect", "match", "play", "serve", "advise", "respond", "tradeoff", "compare", "model",
    "train", "games", "algorithms", "reproduce", "bench", "acpc", "ggp",
)  # fmt: skip

MOST_DIGITS = 1000


class Stopped(Exception):  # noqa: N818 (not an error)
    """A signal ended a command that has something to say about it: one line, for stderr; the exit code is 130."""


class InOrder(typer.core.TyperGroup):
    """Lists commands in ``--help`` in the order of ``COMMANDS``, and others after them."""

    def list_commands(self, ctx: Any) -> list[str]:
        place = {name: number for number, name in enumerate(COMMANDS)}
        return sorted(super().list_commands(ctx), key=lambda name: place.get(name, len(place)))


app = typer.Typer(
    cls=InOrder,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Solve and play games of hidden information, by self-play, at compiled speed.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"fogplay {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Solve and play games of hidden information, by self-play, at compiled speed."""


def whole_number(text: Any) -> int:
    """Parse a whole number as people write it: 1000000, 1_000_000, 1e6."""
    try:
        value = Decimal(str(text).replace("_", ""))
        if value.is_finite() and abs(value.adjusted()) < MOST_DIGITS and value == value.to_integral_value():
            return int(value)
    except InvalidOperation:
        pass
    raise typer.BadParameter(f"{text!r} is not a whole number; write 1000000, 1_000_000 or 1e6")


def amount(*names: str, help: str) -> Any:
    """An option that takes a whole number, also as 1e6."""
    return typer.Option(*names, metavar="N", help=help, parser=whole_number)


Threads = Annotated[
    int | None, amount(help="Concurrent episodes on shared tables; by default 1, or as many as suit the GPU.")
]
Device = Annotated[str, typer.Option(help="cpu, or cuda: sampling algorithms on an NVIDIA GPU.")]
Minutes = Annotated[
    float | None,
    typer.Option("--minutes", help="Learn for this many minutes, or for -n iterations if those end sooner."),
]
Infosets = Annotated[
    int | None, amount("--infosets", help="The most infosets to store, for a game too large for a tree.")
]
NodeLimit = Annotated[
    int | None, amount("--node-limit", help="The most nodes of a tree to build; 100 million by default.")
]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout instead.")]


def read_settings(pairs: list[str], algorithm: str) -> dict[str, Any]:
    """Parse ``--set name=value`` into parameters of the algorithm; numbers and true/false become values."""
    from fogplay.solvers.algorithms import AUTO, algorithm_called, check_parameters

    if algorithm == AUTO:
        if pairs:
            raise FogplayError(f"--set {pairs[0]}: name the algorithm that this is a parameter of, with -a")
        return {}
    settings = parse_settings(pairs)
    check_parameters(algorithm_called(algorithm), settings)
    return settings


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Parse ``--set name=value``: numbers, several of them separated by commas, and true or false become values."""
    settings: dict[str, Any] = {}
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
    return settings


def _number(text: str) -> int | float | str:
    try:
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    except ValueError:
        return text.strip()


def file_name(game: str) -> str:
    """A game's spec as the stem of a file's name."""
    stem = Path(game).stem if ".py" in game or game.endswith((".efg", ".kif")) else game
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in stem)
    short = "-".join(part for part in kept.split("-") if part)[:100] or "strategy"
    return f"{short}-{hashlib.sha256(game.encode()).hexdigest()[:6]}" if "[" in game else short  # numbers lose signs


def where_the_game_is(strategy: Any) -> str:
    """The spec of a strategy's game; refuses one whose file is not there, as in another folder."""
    spec: str = strategy.game
    from fogplay.games.gdl import sheet_file

    file = re.match(r"(?!pyspiel:).*?\.(py|efg|kif)(?=$|[:(])", spec)
    if file is not None and not sheet_file(file[0]).is_file():
        raise FogplayError(
            f"its game is {spec}, and there is no file {file[0]} here: say where it is with --game PATH/{spec}"
        )
    return spec


def load_strategy(path: Path) -> Any:
    """A saved strategy of any kind."""
    from fogplay.strategies import load

    return load(path)


def require_folder(out: Path, option: str = "--out") -> None:
    """Refuse a file that cannot be written, before any work is done."""
    if out.is_dir():
        raise FogplayError(f"{out} is a folder; {option} takes a file's name")
    if is_stream(out):
        if not os.access(out, os.W_OK):
            raise FogplayError(f"{out} cannot be written to; choose another file with {option}")
        return
    folder = Path(os.path.realpath(out)).parent if out.is_symlink() else out.parent
    if not folder.is_dir():
        raise FogplayError(f"there is no folder {folder} to write {out.name} into")
    if not os.access(folder, os.W_OK):
        raise FogplayError(f"the folder {folder} cannot be written to; choose another with {option}")


def checkpoint_of(out: Path) -> Path | None:
    """The checkpoint beside a strategy's file; None beside a device or a FIFO."""
    return None if is_stream(out) else out.with_name(out.name + ".checkpoint")


def again(*more: str) -> str:
    """The command that was typed, with ``more`` words, as the next one to type."""
    return shlex.join(["fogplay", *(word for word in sys.argv[1:] if word not in more), *more])


def resumed(out: Path, asked: Path) -> str:
    """The command that continues a run whose checkpoint is beside ``out``; ``asked`` is what it would take itself."""
    return again("--resume", *([] if out == asked else ["--out", str(out)]))


def print_json(facts: dict[str, Any]) -> None:
    print(json.dumps(_plain(facts), allow_nan=False), flush=True)


def _plain(value: Any) -> Any:
    """A value that JSON can hold: NaN and infinity become null."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
