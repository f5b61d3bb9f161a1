"""Hand histories as text: one hand a line, who sat where and every move by name.

    # fogplay histories 1
    # game: leduc(players=2,suits=seen)
    alice|bob: deal Js; ?; raise; call; deal Kh; call; raise; fold

``?`` stands for a move of chance that was not seen. Parsing and printing are inverse to each other. Whether the moves
are those of a game is another question, which ``walk`` answers.
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
from fogplay.games.efg import ENDING
from fogplay.games.game import PYSPIEL, spec_of
from fogplay.games.registry import load

UNSEEN = "?"
FORMAT = 1
TITLE = "# fogplay histories"
GAME = "# game:"
EXAMPLE = "alice|bob: move; move; …"


class Hand(NamedTuple):
    """One hand: the names at seats 0, 1, …, and the moves of all, chance's too."""

    names: tuple[str, ...]
    moves: tuple[str, ...]

    def __str__(self) -> str:
        return f"{'|'.join(self.names)}: {'; '.join(self.moves)}".rstrip()


@dataclass(frozen=True, eq=False)
class Histories:
    """Hands in the order they were played; hands that read the same are kept once."""

    hands: tuple[Hand, ...]  # the different ones
    order: NDArray[np.int64]  # [played] which of them each was
    game: str | None = None  # the spec of the game, where it is told
    source: str = "histories"  # what errors call it
    lines: tuple[int, ...] = ()  # [hands] the number of the first line that holds each

    @property
    def counts(self) -> NDArray[np.int64]:
        """[hands] how often each was played."""
        return np.bincount(self.order, minlength=len(self.hands))

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody who played, in alphabetical order."""
        return tuple(sorted({name for hand in self.hands for name in hand.names}))

    def where(self, hand: int) -> str:
        """Where a hand stands, for errors."""
        return f"{self.source}, line {self.lines[hand]}" if self.lines else f"{self.source}, hand {hand + 1}"


def read(path: str | os.PathLike[str]) -> Histories:
    """The histories of a file."""
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
            raise FogplayError(f"{path}, line {line}: this is no text in UTF-8; expected lines like {EXAMPLE!r}")
    return parse(content.decode("utf-8-sig"), str(path))


def _not_text(content: bytes) -> int:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.start
    return -1


def parse(text: str, source: str = "histories") -> Histories:
    """The histories in a text; ``source`` is what errors call it."""
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
        raise FogplayError(f"{source} holds no hands; expected lines like {EXAMPLE!r}")
    hands = tuple(_hand(line, f"{source}, line {number}") for line, number in zip(found, lines, strict=True))
    return Histories(hands, np.array(order, np.int64), game, source, tuple(lines))


def _comment(line: str, game: str | None, where: str) -> str | None:
    """The game as told so far, after one more comment."""
    if line.startswith(TITLE):
        told = line[len(TITLE) :].strip()
        if not told.isdigit() or int(told[:9]) > FORMAT:
            raise FogplayError(f"{where}: format {shorten(told)!r}; this fogplay reads up to format {FORMAT}")
    if not line.startswith(GAME):
        return game
    told = line[len(GAME) :].strip()
    if game is not None and told != game:
        raise FogplayError(f"{where}: the game is {shorten(told)} here and {shorten(game)} before; a file holds one")
    return told


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
            f"{where}, move {moves.index('') + 1}: nothing stands between two semicolons; "
            f"write {UNSEEN!r} for a move of chance that was not seen"
        )
    return Hand(names, moves)


def to_text(histories: Histories) -> str:
    """The text that ``parse`` turns into the same histories again."""
    head = [f"{TITLE} {FORMAT}"] + ([f"{GAME} {histories.game}"] if histories.game else [])
    written = []
    for hand in histories.hands:
        for name in hand.names:
            _require_plain(name, "name", "|:")
        for move in hand.moves:
            _require_plain(move, "move", ";")
        if hand.names[0].startswith("#"):
            raise FogplayError(f"the name {shorten(hand.names[0])!r} cannot stand in a history: '#' begins a comment")
        written.append(str(hand))
    return "\n".join([*head, *map(written.__getitem__, histories.order.tolist())]) + "\n"


def _require_plain(word: str, what: str, reserved: str) -> None:
    """Refuse a name that would read as something else."""
    if not word or word != word.strip() or any(letter in reserved or letter in "\n\0" for letter in word):
        marks = " or ".join(repr(letter) for letter in reserved)
        raise FogplayError(
            f"the {what} {shorten(word)!r} cannot stand in a history: a {what} has no {marks}, no line breaks, "
            "and no blanks at its ends"
        )


def write(path: str | os.PathLike[str], histories: Histories) -> None:
    """Write histories to a file, whole or not at all."""
    text = to_text(histories)
    with storage.atomically(Path(path)) as temporary:
        Path(temporary).write_text(text, encoding="utf-8", newline="\n")


def require_game(histories: Histories, game: str) -> None:
    """Refuse histories that say they are of another game than the one with this spec."""
    told = histories.game
    if told is not None and _normal(told) != _normal(game):
        raise FogplayError(f"{histories.source} holds hands of {shorten(told, 100)}, not of {shorten(game, 100)}")


def _normal(spec: str) -> str:
    """A spec in full; files are compared by their names only: a data file must not decide what is read or run."""
    if spec.startswith(PYSPIEL) or len(spec) > 1000:
        return spec
    if ENDING in spec:
        return re.sub(r"[^(),=]*[/\\]", "", spec)
    if ".py" in spec:
        file, rest = spec.split(".py", 1)
        return f"{Path(file).name}.py{rest}"
    try:
        return spec_of(load(spec))
    except FogplayError:
        return spec


def shorten(text: str, limit: int = 60) -> str:
    """Text for an error: the beginning, if it is long."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Names for an error: the first few, if they are many."""
    shown = ", ".join(shorten(name, 40) for name in names[:limit])
    return f"{shown}, … ({len(names):,} in all)" if len(names) > limit else shown
