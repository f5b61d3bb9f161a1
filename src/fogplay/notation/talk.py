"""The text shown to a person at a table, and the questions, in any game.

A game may have its own wording: ``talk_of(rules)`` in ``notation/<game>.py`` returns a subclass of ``Talk``, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fogplay.games.game import CHANCE


class Question(NamedTuple):
    """A prompt, the accepted words, and a hint for any other answer."""

    prompt: str
    allowed: dict[str, int]  # actions by word
    hint: str
    read: Callable[[str], int | str] | None = None  # from any other answer to an action, or to why it is not one


class Talk:
    """One hand as shown to the person at one seat, who is called ``you``.

    ``seen`` is always what that seat has seen so far: events with a seat, an action and a name (``play.table.Seen``).
    """

    def __init__(self, game: Any, names: Sequence[str], seat: int) -> None:
        self.game, self.names, self.seat = game, names, seat
        self.printed = 0  # events printed so far
        self.shown: list[bool] = []  # which of them could be seen then

    @staticmethod
    def opening(game: Any, spec: str) -> str:
        """The announcement of a game."""
        return f"{spec}."

    def places(self) -> str:
        """Who sits where."""
        return ", ".join(f"player {seat}: {name}" for seat, name in enumerate(self.names))

    def news(self, seen: Sequence[Any]) -> list[str]:
        """Lines about what happened since the last time."""
        lines = []
        for event in seen[self.printed :]:
            self.shown.append(event.name is not None)
            if event.name is not None and event.seat != self.seat:
                who = "" if event.seat == CHANCE else f"{begin(self.names[event.seat])}: "
                lines.append(f"{who}{event.name}")
        self.printed = len(seen)
        return lines

    def question(self, view: Any) -> Question:
        """The question to the person: actions are accepted by name, by a unique beginning of a name, or by number.

        If names contain numbers, a number refers to the name: ``3`` is ``bid 3``, not the third action.
        """
        names, legal = view.names, view.legal
        numbered = not any(letter.isdigit() for name in names for letter in name)
        allowed = words_for(names, legal)
        if numbered:
            allowed = {str(number): action for number, action in enumerate(legal, 1)} | allowed
        offered = ", ".join(f"[{number}] {name}" if numbered else name for number, name in enumerate(names, 1))
        shown = view.infoset.replace("\n", " ")
        hint = "type a number or a name" if numbered else "type one of them"
        return Question(f"You see {shown!r}: {offered}? ", allowed, hint)

    def end(self, seen: Sequence[Any]) -> list[str]:
        """Lines about the end of the hand: what happened last, and what is shown only now."""
        before = list(self.shown)
        lines = self.news(seen)
        late = [event.name for was, event in zip(before, seen, strict=False) if not was and event.name is not None]
        return [*lines, *([f"Shown at the end: {', '.join(late)}"] if late else [])]


def words_for(names: Sequence[str], legal: Sequence[int]) -> dict[str, int]:
    """Actions by what may be typed for them: a name, its last word or its beginning, unless that is ambiguous."""
    full = dict(zip(names, legal, strict=True)) | dict(zip(map(str.lower, names), legal, strict=True))
    short: dict[str, set[int]] = {}
    for name, action in full.items():
        for start in (name[:end] for end in range(1, len(name))):
            short.setdefault(start, set()).add(action)
    last: dict[str, set[int]] = {}
    for name, action in full.items():
        last.setdefault(name.split()[-1] if name.split() else name, set()).add(action)
    words = {word: min(actions) for word, actions in short.items() if len(actions) == 1}
    words |= {word: min(actions) for word, actions in last.items() if len(actions) == 1}
    return words | full


def begin(name: str) -> str:
    """A name at the beginning of a sentence."""
    return name[:1].upper() + name[1:]
