"""Where a strategy is saved: never over a better one of the same game, unless the user insists."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay import storage
from fogplay.errors import FogplayError

Force = Annotated[
    bool, typer.Option("--force", help="Replace an existing file even if its strategy is better trained.")
]
Note = Callable[[str], None]
Measure = Callable[[Path], float | None]  # the nash_conv of the strategy in a file, if it can be measured


def choose(out: Path, game: str, method: str, iterations: int | None, force: bool, note: Note) -> Path:
    """The file for a run that is about to begin: another one if ``out`` holds more iterations of the same kind.

    ``iterations`` is None if the run ends by the clock; then nothing is known yet.
    """

    def better(about: Mapping[str, Any]) -> bool:
        known = about.get("game") == game and about.get("method") == method
        return known and iterations is not None and about["iterations"] > iterations

    chosen = _first(out, lambda path, about: better(about), force)
    if chosen != out:
        there = _words(storage.about(out), game)
        note(f"{out} holds {there}, more than the {iterations:,} asked for: {_instead(chosen)}")
    return chosen


def save(
    strategy: Any,
    out: Path,
    *,
    force: bool = False,
    note: Note = lambda line: None,
    nash_conv: float | None = None,
    measure: Measure = lambda path: None,
) -> Path:
    """Save a strategy, and return its file: another than ``out`` if that holds a better one of the same game.

    One is better than another of the same run, or of the same method where they cannot be measured, if it has more
    iterations; otherwise if its nash_conv is less. What cannot be compared is not replaced. If writing fails, the
    strategy goes to the temporary folder, so that nothing learned is lost.
    """

    def better(path: Path, about: Mapping[str, Any]) -> bool:
        if about["game"] != strategy.game:
            return False
        if _run_of(about) == _run_of(strategy.about()):
            return bool(about["iterations"] > strategy.iterations)
        theirs = measure(path) if nash_conv is not None else None
        if theirs is not None and nash_conv is not None:
            return theirs < nash_conv
        return about["method"] != strategy.method or bool(about["iterations"] > strategy.iterations)

    chosen = _first(out, better, force)
    there = storage.about(chosen) if chosen.exists() and not storage.is_stream(chosen) else None
    write(strategy, chosen)
    if chosen != out:
        kept = _words(storage.about(out), strategy.game)
        note(f"{out} holds {kept}, which is better or cannot be compared: {_instead(chosen)}")
    if there is not None:
        note(f"replaced {chosen}, which held {_words(there, strategy.game)}")
    return chosen


def write(strategy: Any, out: Path) -> None:
    """Write a strategy; if that fails, write it to a new file in the temporary folder."""
    try:
        strategy.save(out)
    except FogplayError as error:
        folder = tempfile.gettempdir()
        try:
            elsewhere = _new_file(out)
            strategy.save(elsewhere)
        except (OSError, FogplayError):
            raise FogplayError(f"{error}; nor can it be written to {folder}, the folder for temporary files") from error
        raise FogplayError(f"{error}; the strategy is in {elsewhere} instead") from error


def _new_file(out: Path) -> Path:
    """A name in the temporary folder that no other file has or had."""
    suffix = out.suffix or ".safetensors"
    with tempfile.NamedTemporaryFile(prefix=f"{out.stem}-", suffix=suffix) as new:
        return Path(new.name)


def _first(out: Path, better: Callable[[Path, Mapping[str, Any]], bool], force: bool) -> Path:
    """``out``, or the first of out-2, out-3, … that is free or holds nothing better."""
    if force or storage.is_stream(out):
        return out
    chosen, number = out, 1
    while chosen.exists():
        about = storage.about(chosen)
        if about is None or "method" not in about or not better(chosen, about):
            break
        number += 1
        chosen = out.with_name(f"{out.stem}-{number}{out.suffix}")
    return chosen


def _run_of(about: Mapping[str, Any]) -> str:
    """What two strategies have in common that are from one run."""
    return json.dumps([about[name] for name in ("method", "parameters", "seed")], sort_keys=True)


def _words(about: Mapping[str, Any] | None, game: str) -> str:
    """A file's strategy in words, with its game if that is another one."""
    if about is None or "method" not in about:
        return "something else"
    count = about["iterations"]
    other = "" if about["game"] == game else f" on {about['game']}"
    return f"{count:,} iteration{'s' if count != 1 else ''} of {about['method']}{other}"


def _instead(chosen: Path) -> str:
    return f"saving to {chosen} instead; --force replaces it"
