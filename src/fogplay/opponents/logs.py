"""Logs of matches: in the game's own notation where it has one, else as hand histories."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, SIMULTANEOUS
from fogplay.opponents.histories import UNSEEN, Hand, Histories, to_text
from fogplay.opponents.walk import as_seen, record, require_seen_by
from fogplay.play import Duplicate, MatchResult, Rotation
from fogplay.play.states import joint_child
from fogplay.storage import atomically


def write_log(path: str | os.PathLike[str], match: MatchResult, seen_by: str | None = None) -> None:
    """Write a match's hands to a file, whole or not at all."""
    lines = log_lines(match, seen_by)
    with atomically(Path(path)) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def log_lines(match: MatchResult, seen_by: str | None = None) -> Iterator[str]:
    """The lines of a match's log; with ``seen_by`` only what that player got to see, where the game says what."""
    if match.ends is None:
        raise FogplayError("the hands of this match were not kept: play it with keep=True")
    if isinstance(match.format, Duplicate):
        refuse_seen_by(match.format, seen_by)
        return match.format.source.log_lines(match)
    return iter(to_text(histories_of(match, seen_by)).removesuffix("\n").split("\n"))


def refuse_seen_by(format: Any, seen_by: str | None) -> None:
    """A log of a duplicate match holds every hand in every seating, and with it all cards."""
    if seen_by is not None and isinstance(format, Duplicate):
        raise FogplayError("--seen-by is for games that fit in a tree; a log of this one holds all that happened")


def histories_of(match: MatchResult, seen_by: str | None = None) -> Histories:
    """The hands of a match in which everybody moves on by one seat, as histories."""
    assert isinstance(match.format, Rotation)
    if match.format.flat is not None and isinstance(match.ends, np.ndarray):
        return record(match.format.flat, match.ends, match.names, seen_by)
    require_seen_by(match.names, seen_by)
    players, hands = len(match.names), dict[Hand, int]()
    order, known = np.empty(len(match.ends), np.int64), dict[tuple[int, ...], tuple[Any, list[str], list[bool]]]()
    for number, moves in enumerate(match.ends):
        if moves not in known:
            known[moves] = _named(match, moves)
        seated = tuple(match.names[(seat + number) % players] for seat in range(players))
        end, line, by_chance = known[moves]
        if seen_by is not None:
            line = as_seen(match.game, end, line, by_chance, seated.index(seen_by))
        order[number] = hands.setdefault(Hand(seated, tuple(line)), len(hands))
    return Histories(tuple(hands), order, match.game)


def _named(match: MatchResult, moves: Sequence[int]) -> tuple[Any, list[str], list[bool]]:
    """The last state of a hand, the names of its moves, and which of them were chance's."""
    state, names, by_chance, at = match.start, list[str](), list[bool](), 0
    players = len(match.names)
    while at < len(moves):
        player = state.current_player()
        acting = [player]
        if player == SIMULTANEOUS:
            acting = [seat for seat in range(players) if state.legal_actions(seat)]
        made = dict(zip(acting, moves[at : at + len(acting)], strict=True))
        names += [str(state.action_to_string(seat, action)) for seat, action in made.items()]
        by_chance += [player == CHANCE] * len(acting)
        state = joint_child(state, made, players) if player == SIMULTANEOUS else state.child(moves[at])
        at += len(acting)
    if UNSEEN in names:
        raise FogplayError(f"{match.game} has a move called {UNSEEN!r}; in histories that is a move not seen")
    return state, names, by_chance
