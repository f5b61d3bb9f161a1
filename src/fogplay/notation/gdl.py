"""What a person at a table reads about a game from a rule sheet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fogplay.games.gdl import GdlGame
from fogplay.notation.talk import Talk, begin

MOST_LETTERS = 60  # of what was seen before a decision


def talk_of(rules: GdlGame) -> type[Talk]:
    """The wording for rule sheets."""
    return GdlTalk


def plain(words: str) -> str:
    """A move without the brackets around it: ``(mark 1 2)`` is ``mark 1 2``."""
    return words[1:-1] if words.startswith("(") and words.endswith(")") and "(" not in words[1:] else words


def steps_of(infoset: str) -> list[tuple[str, str]]:
    """A role's moves and percepts, step by step; either may be empty."""
    parts, depth = [""], 0
    for letter in infoset.partition(":")[2].strip():
        depth += (letter in "([") - (letter in ")]")
        if letter == " " and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    split = (part.partition("[") for part in parts)
    return [("" if move == "." else _plainly(move), plain(seen.removesuffix("]"))) for move, _, seen in split]


def _plainly(move: str) -> str:
    """Moves made at the same time, each without its brackets."""
    return " / ".join(plain(each) for each in re.split(r"/(?![^(]*\))", move))


def _last(steps: Sequence[tuple[str, str]]) -> str:
    """The last steps, as many as fit on a line."""
    told = [", ".join([*([move] if move else []), *([f"seeing {seen}"] if seen else [])]) for move, seen in steps]
    words = [each for each in told if each]
    shown = words[:]
    while len(shown) > 1 and len("; ".join(shown)) > MOST_LETTERS:
        shown.pop(0)
    return ("… " if len(shown) < len(words) else "") + "; ".join(shown)


class GdlTalk(Talk):
    """Roles, moves and percepts in the sheet's own words."""

    @staticmethod
    def rules(game: GdlGame) -> list[str]:
        roles = ", ".join(game.machine.roles[role] for role in game.players)
        known = "their own moves, and what the rules let them see" if game.sheet.has_percepts else "all moves"
        return [f"The game of the rule sheet {game.file}. The players are {roles}; they know {known}."]

    def tell(self, event: Any) -> str | None:
        if event.name is None or event.seat == self.seat:
            return None
        return plain(event.name) if event.seat < 0 else f"{begin(self.names[event.seat])}: {plain(event.name)}"

    def situation(self, view: Any) -> str:
        role, before = view.infoset.partition(":")[0], _last(steps_of(view.infoset))
        return f"You are {role}{f', after {before}' if before else ''}"

    def options(self, view: Any) -> tuple[str, ...]:
        return tuple(map(plain, view.names))

    def shown_at_the_end(self, seen: Sequence[Any], before: Sequence[bool]) -> list[str]:
        told = [*before, *self.shown[len(before) :]]
        late = [
            plain(event.name) if event.seat < 0 else f"{self.names[event.seat]} {plain(event.name)}"
            for was, event in zip(told, seen, strict=True)
            if not was and event.name is not None
        ]
        return [f"Shown at the end: {', '.join(late)}"] if late else []
