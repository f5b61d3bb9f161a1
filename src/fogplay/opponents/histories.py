"""Hand histories as text: one hand per line, with the player at each seat and the name of every move.

    # fogplay histories 1
    # game: poker(players=2)
    alice|bob: deal Js; ?; raise; call; deal Kh; call; raise; fold

``?`` is a move of chance that was not seen. Parsing and printing are inverse. ``walk`` checks whether the moves are
those of a game.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.games import efg, gdl
from fogplay.games.game import PYSPIEL, spec_of
from fogplay.games.registry import load

UNSEEN = "?"
FORMAT = 1
TITLE = "# fogplay histories"
GAME = "# game:"
EXAMPLE = "alice|bob: move; move; …"


class Hand(NamedTuple):
    """One hand: the names at seats 0, 1, …, and all moves, those of chance included."""

    names: tuple[str, ...]
    moves: tuple[str, ...]

    def __str__(self) -> str:
        return f"{'|'.join(self.names)}: {'; '.join(self.moves)}".rstrip()


@dataclass(frozen=True, eq=False)
class Histories:
    """Hands in the order they were played; each distinct hand is kept once."""

    hands: tuple[Hand, ...]  # the distinct ones
    order: NDArray[np.int64]  # [played] the index of each in ``hands``
    game: str | None = None  # the spec of the game, if the file names it
    source: str = "histories"  # the name in errors
    lines: tuple[int, ...] = ()  # [hands] the number of the first line with each hand

    @property
    def counts(self) -> NDArray[np.int64]:
        """[hands] how often each was played."""
        return np.bincount(self.order, minlength=len(self.hands))

    @property
    def names(self) -> tuple[str, ...]:
        """All players, in alphabetical order."""
        return tuple(sorted({name for hand in self.hands for name in hand.names}))

    def where(self, hand: int) -> str:
        """The position of a hand, for errors."""
        return f"{self.source}, line {self.lines[hand]}" if self.lines else f"{self.source}, hand {hand + 1}"


def read(path: str | os.PathLike[str]) -> Histories:
    """The histories in a file."""
    path = Path(path)
    if path.is_dir():
        raise FogplayError(f"{path} is a folder, not a file of hand histories")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise FogplayError(f"there is no file {path}") from None
    except OSError as error:
        raise FogplayError(f"cannot read {path}: {error.strerror or error}") from error
    for wrong in (content.find(b"\0"), _not_text(content)):
        if wrong >= 0:
            line = content.count(b"\n", 0, wrong) + 1
            raise FogplayError(f"{path}, line {line}: not text in UTF-8; expected lines like {EXAMPLE!r}")
    return parse(content.decode("utf-8-sig"), str(path))


def _not_text(content: bytes) -> int:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.start
    return -1


def parse(text: str, source: str = "histories") -> Histories:
    """The histories in a text; errors call it ``source``."""
    found: dict[str, int] = {}
    lines: list[int] = []
    order: list[int] = []
    game: str | None = None
    for number, whole in enumerate(text.split("\n"), 1):
        seen = found.get(whole)
        if seen is None:
            line = whole.strip()
            if not line or line.startswith("#"):
                game = _comment(line, game, f"{source}, line {number}")
                continue
            seen = found.setdefault(line, len(found))
            if seen == len(lines):
                lines.append(number)
        order.append(seen)
    if not order:
        raise FogplayError(f"{source} has no hands; expected lines like {EXAMPLE!r}")
    hands = tuple(_hand(line, f"{source}, line {number}") for line, number in zip(found, lines, strict=True))
    return Histories(hands, np.array(order, np.int64), game, source, tuple(lines))


def _comment(line: str, game: str | None, where: str) -> str | None:
    """The game named by the comments so far, ``line`` included."""
    if line.startswith(TITLE):
        version = line[len(TITLE) :].strip()
        if not version.isdigit() or int(version[:9]) > FORMAT:
            raise FogplayError(f"{where}: format {shorten(version)!r} is unknown; this version reads up to {FORMAT}")
    if not line.startswith(GAME):
        return game
    named = line[len(GAME) :].strip()
    if game is not None and named != game:
        raise FogplayError(
            f"{where}: the game is {shorten(named)} here and {shorten(game)} before; use one file per game"
        )
    return named


def _hand(line: str, where: str) -> Hand:
    who, colon, what = line.partition(":")
    if not colon:
        raise FogplayError(f"{where}: no colon after the names in {shorten(line)!r}; expected {EXAMPLE!r}")
    names = tuple(name.strip() for name in who.split("|"))
    moves = tuple(move.strip() for move in what.split(";")) if what.strip() else ()
    if "" in names:
        raise FogplayError(f"{where}: a name is missing in {shorten(who)!r}; expected {EXAMPLE!r}")
    if "" in moves:
        raise FogplayError(
            f"{where}, move {moves.index('') + 1}: there is nothing between two semicolons; "
            f"write {UNSEEN!r} for a move of chance that was not seen"
        )
    return Hand(names, moves)


def to_text(histories: Histories) -> str:
    """The text from which ``parse`` reads the same histories."""
    head = [f"{TITLE} {FORMAT}"] + ([f"{GAME} {histories.game}"] if histories.game else [])
    written = []
    for hand in histories.hands:
        for name in hand.names:
            _require_plain(name, "name", "|:")
        for move in hand.moves:
            _require_plain(move, "move", ";")
        if hand.names[0].startswith("#"):
            raise FogplayError(f"the name {shorten(hand.names[0])!r} cannot be in a history: '#' begins a comment")
        written.append(str(hand))
    return "\n".join([*head, *map(written.__getitem__, histories.order.tolist())]) + "\n"


def _require_plain(word: str, what: str, reserved: str) -> None:
    """Raise an error for a name that would not be parsed as itself."""
    if not word or word != word.strip() or any(letter in reserved or letter in "\n\0" for letter in word):
        marks = " or ".join(repr(letter) for letter in reserved)
        raise FogplayError(
            f"the {what} {shorten(word)!r} cannot be in a history: a {what} has no {marks}, no line breaks, "
            "and no spaces at its ends"
        )


def write(path: str | os.PathLike[str], histories: Histories) -> None:
    """Write histories to a file, atomically."""
    text = to_text(histories)
    with storage.atomically(Path(path)) as temporary:
        Path(temporary).write_text(text, encoding="utf-8", newline="\n")


def require_game(histories: Histories, game: str) -> None:
    """Raise an error if the histories name another game than the one with this spec."""
    named = histories.game
    if named is not None and _normal(named) != _normal(game):
        raise FogplayError(f"{histories.source} has hands of {shorten(named, 100)}, not of {shorten(game, 100)}")


def _normal(spec: str) -> str:
    """A spec in full. Files are compared by name only: a data file must not decide which files are read or run."""
    if spec.startswith(PYSPIEL) or len(spec) > 1000:
        return spec
    if efg.ENDING in spec or gdl.ENDING in spec:
        return re.sub(r"[^(),=]*[/\\]", "", spec)
    if ".py" in spec:
        file, rest = spec.split(".py", 1)
        return f"{Path(file).name}.py{rest}"
    try:
        return spec_of(load(spec))
    except FogplayError:
        return spec


def shorten(text: str, limit: int = 60) -> str:
    """Text for an error: only the beginning if it is long."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Names for an error: only the first few if there are many."""
    shown = ", ".join(shorten(name, 40) for name in names[:limit])
    return f"{shown}, … ({len(names):,} in total)" if len(names) > limit else shown
