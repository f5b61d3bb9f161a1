"""The text shown to a person at a table, and the questions, in any game.

A game may have its own wording: ``talk_of(rules)`` in ``notation/<game>.py`` returns a subclass of ``Talk``, or None.
Nothing here prints or reads: a terminal and a page in a browser show the same lines and offer the same choices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fogplay.games.game import CHANCE, Game
from fogplay.games.parts import part_of

NOTATION = "fogplay.notation"
HIDDEN = -1  # a card that is not seen, as an action of chance


class Question(NamedTuple):
    """A prompt, the accepted words, and a hint for any other answer."""

    prompt: str
    allowed: dict[str, int]  # actions by word
    hint: str
    read: Callable[[str], int | str] | None = None  # from any other answer to an action, or to why it is not one


class Talk:
    """One hand as shown to the person at one seat, who is called ``you``.

    ``seen`` is always what that seat has seen so far: events with a seat, an action and a name (``play.table.Seen``).
    A game's own wording defines ``rules``, ``tell`` (an event in a line), ``situation`` and ``options`` (the decision
    and its choices in words), and ``shown_at_the_end``; it may change the rest too.
    """

    def __init__(self, game: Any, names: Sequence[str], seat: int) -> None:
        self.game, self.names, self.seat = game, names, seat
        self.printed = 0  # events printed so far
        self.shown: list[bool] = []  # which of them could be seen then

    @staticmethod
    def opening(game: Any, spec: str) -> str:
        """The announcement of a game."""
        return f"{spec}."

    @staticmethod
    def rules(game: Any) -> list[str]:
        """The rules in at most three lines; for a game of the user's own, the first line of its docstring."""
        said = (type(game).__doc__ or "").strip().splitlines()
        return said[:1] if isinstance(game, Game) else []

    def places(self) -> str:
        """Who sits where."""
        return ", ".join(f"player {seat}: {name}" for seat, name in enumerate(self.names))

    def news(self, seen: Sequence[Any]) -> list[str]:
        """Lines about what happened since the last time."""
        lines = []
        for event in seen[self.printed :]:
            self.shown.append(event.name is not None)
            line = self.tell(event)
            if line is not None:
                lines.append(line)
        self.printed = len(seen)
        return lines

    def tell(self, event: Any) -> str | None:
        """A line about one event, the next in order; None if there is nothing to say."""
        if event.name is None or event.seat == self.seat:
            return None
        if event.seat == CHANCE:
            return f"Chance: {event.name}" if event.name.isdigit() else event.name
        return f"{begin(self.names[event.seat])}: {event.name}"

    def situation(self, view: Any) -> str:
        """The decision in words, as a beginning of a sentence."""
        shown = view.infoset.replace("\n", " ")
        return f"You see {shown!r}"

    def options(self, view: Any) -> tuple[str, ...]:
        """A name for each of ``view.legal``, as the person reads it here."""
        return tuple(view.names)

    def question(self, view: Any) -> Question:
        """The question to the person: actions are accepted by name, by a unique beginning of a name, or by number.

        A move's own name wins over a number of the menu: if names contain numbers, there is no menu, and ``3`` is
        ``bid 3``, not the third action.
        """
        names, legal = self.options(view), view.legal
        numbered = not any(letter.isdigit() for name in names for letter in name)
        allowed = words_for(view.names, legal) | words_for(names, legal)
        if numbered:
            allowed = {str(number): action for number, action in enumerate(legal, 1)} | allowed
        offered = [f"[{number}] {name}" if numbered else name for number, name in enumerate(names, 1)]
        hint = "type a number or a name" if numbered else "type one of them"
        return Question(f"{self.situation(view)}: {', '.join(offered)}? ", allowed, hint)

    def end(self, seen: Sequence[Any]) -> list[str]:
        """Lines about the end of the hand: what happened last, and what is shown only now."""
        before = list(self.shown)
        lines = self.news(seen)
        return [*lines, *self.shown_at_the_end(seen, before)]

    def shown_at_the_end(self, seen: Sequence[Any], before: Sequence[bool]) -> list[str]:
        """Lines about what is seen only at the end; ``before`` says of each event whether it was seen already."""
        told = [*before, *self.shown[len(before) :]]
        late = [
            event.name if event.seat == CHANCE else f"{self.names[event.seat]} {event.name}"
            for was, event in zip(told, seen, strict=True)
            if not was and event.name is not None
        ]
        return [f"Shown at the end: {', '.join(late)}"] if late else []


def talk_for(game: Any) -> type[Talk]:
    """The wording for a game: its own, if ``notation/<game>.py`` has any, else the general one."""
    own = part_of(game, "talk_of", NOTATION)
    return (own(game) if own is not None else None) or Talk


def either(words: Sequence[str]) -> str:
    """``fold, call or raise``."""
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def asked(sentence: str, names: Sequence[str], legal: Sequence[int], more: Mapping[str, int] | None = None) -> Question:
    """A question whose choices are few words: each is accepted by its name, a unique beginning, or ``more`` words."""
    allowed = {**(more or {}), **words_for(names, legal)}
    return Question(f"{sentence}: {either(names)}? ", allowed, f"type {either(names)}")


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


def held_at_the_end(names: Sequence[str], mine: int, cards: Sequence[str | None]) -> str:
    """``You hold Q, bot holds K.``: the card of each seat, or None if it stays hidden."""
    known = [f"{names[seat]} {verb(seat, mine, 'hold')} {card}" for seat, card in enumerate(cards) if card is not None]
    folded = [names[seat] for seat, card in enumerate(cards) if card is None]
    hidden = f"; nobody sees the card{'s' * (len(folded) > 1)} of {' and '.join(folded)}" if folded else ""
    return f"{begin(', '.join(known))}{hidden}."


def verb(seat: int, mine: int, word: str) -> str:
    """``call`` for you, ``calls`` for others."""
    if seat == mine:
        return word
    return f"{word}es" if word.endswith(("ss", "ch", "sh")) else f"{word}s"


def begin(name: str) -> str:
    """A name at the beginning of a sentence."""
    return name[:1].upper() + name[1:]
