"""The picture of a game from a rule sheet: its cells as a board, if it has any, and all else that is known in words.

Cells are facts with two coordinates and a mark, such as ``(cell 1 2 x)``. Without percepts everybody knows the
position, which is found by replaying the moves; with percepts it is drawn only at the end, when all is revealed.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from typing import Any

from fogplay.games.gdl import GdlGame, GdlState
from fogplay.gdl.kif import unparse
from fogplay.notation.gdl import plain, steps_of
from fogplay.pictures.picture import MOST_LINES, won
from fogplay.pictures.scene import Drawing, Place, Scene
from fogplay.pictures.sight import Sight
from fogplay.pictures.svg import COLOURS, escape, number, rectangle, text

CELL, EDGE = 56.0, 26.0
MOST_SIDE = 20  # cells; more of them are told in words
MOST_FACTS = 12
EMPTY = frozenset({"b", "blank", "empty", "nil", "none"})
COORDINATE = re.compile(r"-?\d+|[a-z]")
CELLS = ("cell", 4)


def scene_of(sight: Sight) -> Scene | None:
    """The board, or None where the position is not known."""
    game = _alone(sight.game)
    state = position(game, sight)
    if state is None:
        return None if sight.over else _in_words(sight)
    facts = state.game.machine.fluents(state.position)
    cells = {(fact[1], fact[2]): fact[3] for fact in facts if _is_cell(fact)}
    drawing = _board(game, cells, [game.machine.roles[role] for role in game.players])
    if drawing is None and sight.over:
        return None
    others = sorted(plain(unparse(fact)) for fact in facts if drawing is None or not _is_cell(fact))
    known = (" · ".join(others[:MOST_FACTS]),)
    lines = sight.lines[-MOST_LINES:] if sight.over and drawing is None else (*sight.lines[-2:], *known)
    shown = tuple(line for line in lines if line.strip())
    return Scene(_places(sight), sight.seat, lines=shown, drawing=drawing)


def _in_words(sight: Sight) -> Scene:
    """The own moves and percepts, step by step."""
    lines = []
    for move, seen in steps_of(sight.infoset):
        did = [f"you: {move}"] if move else []
        saw = [f"you see {seen}"] if seen else []
        lines.append(", ".join([*did, *saw]))
    told = tuple(line for line in lines if line)[-MOST_LINES:]
    return Scene(_places(sight), sight.seat, lines=told or sight.lines[-MOST_LINES:])


def _places(sight: Sight) -> tuple[Place, ...]:
    roles = [sight.game.machine.roles[role] for role in sight.game.players]
    return tuple(
        Place(f"{name} ({roles[seat]})", note=won(sight, seat), turn=seat in sight.to_act)
        for seat, name in enumerate(sight.names)
    )


def _alone(game: GdlGame) -> GdlGame:
    """The same game with a machine of its own, since another thread may be playing."""
    twin = getattr(game.machine, "twin", None)
    if twin is None:
        return game
    made = copy.copy(game)
    made.__dict__["machine"] = twin()
    return made


def position(game: GdlGame, sight: Sight) -> GdlState | None:
    """The state of a hand, if this seat may know it."""
    if sight.over or not game.sheet.has_percepts:
        actions = [event.action for event in sight.seen]
        if None not in actions:
            state = game.new_initial_state()
            for action in actions:
                state = state.child(action)
            return state
    return None if sight.view is None or game.sheet.has_percepts else _retold(game, sight)


def _retold(game: GdlGame, sight: Sight) -> GdlState | None:
    """The state by what the seat has seen, where players move at the same time; its own last moves are known too."""
    told = sight.infoset.partition(":")[2]
    state = game.new_initial_state()
    role = game.players[sight.seat]
    while len(state.seen[role]) < len(told):
        rest, before = told[len(state.seen[role]) + 1 :], state.seen
        for _ in game.acting(state.legal):
            options = [state.action_to_string(state.player, action) for action in state.legal_actions()]
            fitting = [
                action for action, words in enumerate(options) if re.match(re.escape(words) + r"(?=/| |$)", rest)
            ]
            if len(fitting) != 1:
                return None
            rest = rest[len(options[fitting[0]]) + 1 :]
            state = state.child(fitting[0])
        if state.seen == before:
            return None
    return state


def _is_cell(fact: Any) -> bool:
    return (
        isinstance(fact, tuple)
        and (fact[0], len(fact)) == CELLS
        and all(isinstance(part, str) for part in fact)
        and all(COORDINATE.fullmatch(part) for part in fact[1:3])
    )


def _order(names: Iterable[str]) -> list[str]:
    """Coordinates in order; between the smallest and the largest number all of them."""
    found = set(names)
    if not all(name.lstrip("-").isdigit() for name in found):
        return sorted(found)
    numbers = [int(name) for name in found]
    return [str(each) for each in range(min(numbers), max(numbers) + 1)]


def _board(game: GdlGame, cells: dict[tuple[str, str], str], roles: list[str]) -> Drawing | None:
    """All cells that may ever be marked; the second coordinate grows upwards."""
    network = getattr(game.machine, "network", None)
    possible = [fact[1:3] for fact in network.fluents if _is_cell(fact)] if network is not None else []
    every = [*cells, *possible]
    if len(every) < 2:
        return None
    columns, rows = _order(cell[0] for cell in every), _order(cell[1] for cell in every)
    if max(len(columns), len(rows)) > MOST_SIDE:
        return None
    parts, words = [], []
    for place, column in enumerate(columns):
        parts.append(text(EDGE + CELL * (place + 0.5), CELL * len(rows) + 18, column, 14, "soft"))
    for line, row in enumerate(reversed(rows)):
        parts.append(text(EDGE / 2, CELL * (line + 0.5) + 5, row, 14, "soft"))
        for place, column in enumerate(columns):
            x, y = EDGE + CELL * place, CELL * line
            parts.append(rectangle(x, y, CELL, CELL, "panel", 4))
            mark = cells.get((column, row), "")
            if mark and mark not in EMPTY:
                parts.append(_mark(mark, x + CELL / 2, y + CELL / 2, roles))
                words.append(f"{column} {row}: {mark}")
    legend = f"a board of {len(columns)} columns and {len(rows)} rows; {', '.join(words) or 'all cells are empty'}"
    return Drawing("".join(parts), EDGE + CELL * len(columns), CELL * len(rows) + 24, legend)


def _mark(mark: str, x: float, y: float, roles: list[str]) -> str:
    """A role's mark is a piece of its colour with its first letter; others are written."""
    if mark not in roles:
        size = min(30.0, 1.5 * (CELL - 6) / len(mark))
        return text(x, y + size / 3, mark, size)
    colour = roles.index(mark) % COLOURS
    piece = f'<circle class="a{colour}" cx="{number(x)}" cy="{number(y)}" r="20"><title>{escape(mark)}</title></circle>'
    letter = text(x, y + 7, mark[0].upper(), 20)
    return piece + letter.replace("<text ", '<text style="fill:#fff;paint-order:stroke;stroke:#000;stroke-width:3" ')
