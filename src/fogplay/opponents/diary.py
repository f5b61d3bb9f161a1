"""``Diary``: the log of a person's hands, one line per hand, written as soon as the hand is over.

A line holds what the person got to see: in the game's own notation where it has one, else as a hand history. A file
that exists is continued, so that months of play are one file, from which ``fogplay model`` can learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fogplay.errors import FogplayError
from fogplay.opponents.histories import FORMAT, GAME, TITLE, UNSEEN, Hand, require_game
from fogplay.opponents.histories import read as read_histories
from fogplay.play import Duplicate


class Diary:
    """A file that grows by one line per hand."""

    def __init__(self, path: Path, format: Any, spec: str) -> None:
        """Refuses a file of another game, before anything is played."""
        self.path, self.format = path, format
        self.hands = 0  # in the file so far
        dealt = isinstance(format, Duplicate)
        head = format.source.log_head() if dealt else f"{TITLE} {FORMAT}\n{GAME} {spec}"
        try:
            if path.exists() and path.stat().st_size > 0:
                self.hands = format.source.logged(path) if dealt else _logged(path, spec)
            else:
                self._append(head)
        except OSError as error:
            raise FogplayError(f"cannot write {path}: {error.strerror or error}") from error

    def add(self, table: Any, seat: int, seed: int, deal: int) -> None:
        """Append a hand that is over, as one seat saw it; ``seed`` and ``deal`` are those of its luck."""
        if isinstance(self.format, Duplicate):
            end = self.format.end(table.moves)
            line = self.format.source.seen_line(self.hands, seed, deal, end, table.names, seat)
        else:
            moves = tuple(UNSEEN if event.name is None else event.name for event in table.seen(seat))
            line = str(Hand(tuple(table.names), moves))
        try:
            self._append(line)
        except OSError as error:
            raise FogplayError(f"cannot write {self.path}: {error.strerror or error}") from error
        self.hands += 1

    def _append(self, line: str) -> None:
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{line}\n")


def _logged(path: Path, spec: str) -> int:
    """The number of hands in a file of histories of this game."""
    if all(line.startswith("#") or not line.strip() for line in _lines(path)):
        return 0
    found = read_histories(path)
    require_game(found, spec)
    return len(found.order)


def _lines(path: Path) -> Sequence[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise FogplayError(f"{path} is not a file of hand histories; choose another name for --log") from error
