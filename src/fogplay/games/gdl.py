"""Games from rule sheets in the Game Description Language (``.kif``), GDL and GDL-II.

A role with one legal move makes it without being asked; where several roles have a choice they move one after the
other without seeing each other's moves, and ``random`` comes last. Roles know their own moves and percepts; in a sheet
without ``sees``, all moves.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL, Game, State
from fogplay.gdl.checks import is_whole
from fogplay.gdl.kif import unparse
from fogplay.gdl.machine import Machine
from fogplay.gdl.machines import machine_for
from fogplay.gdl.parameters import split_spec
from fogplay.gdl.rules import Term
from fogplay.gdl.sheet import RANDOM, Sheet, load_sheet

ENDING = ".kif"
UNIT = ("goal_unit", 2)
MOST_FORCED = 10_000  # steps in a row in which nobody has a choice
OWN = Path(__file__).parent / "gdl_sheets"
SMALLEST = ("montyhall.kif", "rps.kif")  # own sheets, with percepts and without


def sheet_file(spec: str) -> Path:
    """The file of a spec: one at that path, else one of the sheets that come with fogplay."""
    own = OWN / spec
    return own if not Path(spec).exists() and "/" not in spec and own.is_file() else Path(spec)


def own_sheets() -> list[str]:
    """The names of the sheets that come with fogplay."""
    return sorted(path.name for path in OWN.glob(f"*{ENDING}"))


def game_of(sheet: Sheet, seconds: float | None = None) -> GdlGame:
    """The game of a sheet that is not in a file; its rules may be grounded for some seconds."""
    game = object.__new__(GdlGame)
    object.__setattr__(game, "file", sheet.name)
    object.__setattr__(game, "sheet", sheet)
    if seconds is not None:
        game.__dict__["machine"] = machine_for(sheet, seconds)
    game.require_players()
    return game


@dataclass(frozen=True)
class GdlGame(Game):
    """The game of a rule sheet in GDL or GDL-II; its name is the file's path, and settings such as ``(cards=7)``.

    Payoffs are the goals as they are, unless the sheet says ``(goal_unit ZERO UNIT)``: then ZERO is subtracted and the
    rest divided by UNIT.
    """

    one_thread: ClassVar[bool] = True  # its machine has a memory: no two threads may ask it at the same time

    file: str
    sheet: Sheet = field(init=False, repr=False)

    def __post_init__(self) -> None:
        file, settings = split_spec(self.file)
        object.__setattr__(self, "sheet", load_sheet(sheet_file(file), settings))
        self.require_players()

    def require_players(self) -> None:
        """Refuse a sheet whose only role is ``random``."""
        if not self.players:
            raise FogplayError(f"{self.file}: {RANDOM} is the only role, so there is nobody to play")

    @functools.cached_property
    def machine(self) -> Machine:
        return machine_for(self.sheet)

    @functools.cached_property
    def players(self) -> tuple[int, ...]:
        """The places among the roles of those that are players."""
        return tuple(place for place, role in enumerate(self.machine.roles) if role != RANDOM)

    @functools.cached_property
    def unit(self) -> tuple[float, float]:
        """The goal that stands for a payoff of zero, and how many points of it for one."""
        facts = [rule.head for rule in self.sheet.dependencies.heads.get(UNIT, ()) if not rule.body]
        if len(facts) != 1 or not all(map(is_whole, facts[0][1:])) or int(facts[0][2]) < 1:
            return 0.0, 1.0
        return float(facts[0][1]), float(facts[0][2])

    def num_players(self) -> int:
        return len(self.players)

    def new_initial_state(self) -> GdlState:
        return self.settled(self.machine.initial(), ("",) * len(self.machine.roles))

    def settled(self, position: Any, seen: tuple[str, ...]) -> GdlState:
        """The next state in which somebody has a choice, or the end."""
        machine = self.machine
        for _ in range(MOST_FORCED):
            if machine.is_terminal(position):
                return GdlState(self, position, seen, (), (), TERMINAL)
            legal = machine.legal(position)
            acting = self.acting(legal)
            if acting:
                return GdlState(self, position, seen, legal, (), self.number(acting[0]))
            for role, moves in enumerate(legal):
                if not moves:
                    raise FogplayError(
                        f"{self.file}: {machine.roles[role]} has no legal move, and the game is not over"
                    )
            position, seen = self.moved(position, legal, tuple(moves[0] for moves in legal), seen)
        raise FogplayError(f"{self.file}: nobody has a choice for {MOST_FORCED:,} steps, and the game does not end")

    def acting(self, legal: Sequence[Sequence[Term]]) -> list[int]:
        """The roles that have a choice, in the order in which they are asked."""
        choosing = [role for role, moves in enumerate(legal) if len(moves) > 1]
        return sorted(choosing, key=lambda role: self.machine.roles[role] == RANDOM)

    def number(self, role: int) -> int:
        """The player's number of a role."""
        return CHANCE if self.machine.roles[role] == RANDOM else self.players.index(role)

    def moved(
        self, position: Any, legal: Sequence[Sequence[Term]], moves: tuple[Term, ...], seen: tuple[str, ...]
    ) -> tuple[Any, tuple[str, ...]]:
        """The position after a step, and what each role has seen by then."""
        machine, chosen = self.machine, [role for role, options in enumerate(legal) if len(options) > 1]
        if not self.sheet.has_percepts:
            shown = "/".join(unparse(moves[role]) for role in chosen)
            words = [shown] * len(moves)
        else:
            words = []
            for role, percepts in enumerate(machine.percepts(position, moves)):
                own = unparse(moves[role]) if role in chosen else ""
                told = f"[{' '.join(map(unparse, percepts))}]" if percepts else ""
                words.append(own + told or ".")
        after = tuple(f"{before} {word}" if word else before for before, word in zip(seen, words, strict=True))
        return machine.next(position, moves), after

    def remarks(self) -> list[str]:
        roles = ", ".join(self.machine.roles)
        known = "their own moves and percepts" if self.sheet.has_percepts else "all moves"
        told = f"The roles are {roles}; they know {known}. Played by the {self.machine.kind}."
        return [told, *(f"Warning: {each}." for each in self.sheet.warnings)]

    def __str__(self) -> str:
        return self.file

    def __hash__(self) -> int:
        return hash((self.file, len(self.sheet.rules)))


class GdlState(State):
    """A position, what each role has seen, and the moves chosen so far in this step."""

    __slots__ = ("chosen", "game", "legal", "player", "position", "seen")

    def __init__(
        self,
        game: GdlGame,
        position: Any,
        seen: tuple[str, ...],
        legal: tuple[tuple[Term, ...], ...],
        chosen: tuple[int, ...],
        player: int,
    ) -> None:
        self.game = game
        self.position = position  # as the machine writes it
        self.seen = seen  # [roles]
        self.legal = legal  # [roles]
        self.chosen = chosen  # actions, in the order of game.acting(legal)
        self.player = player

    def current_player(self) -> int:
        return self.player

    @property
    def role(self) -> int:
        """The role that is to act."""
        return self.game.acting(self.legal)[len(self.chosen)]

    def legal_actions(self) -> tuple[int, ...]:
        return tuple(range(len(self.legal[self.role])))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        count = len(self.legal[self.role])
        return [(action, 1.0 / count) for action in range(count)]

    def child(self, action: int) -> GdlState:
        game, chosen = self.game, (*self.chosen, action)
        acting = game.acting(self.legal)
        if len(chosen) < len(acting):
            return GdlState(game, self.position, self.seen, self.legal, chosen, game.number(acting[len(chosen)]))
        by_role = dict(zip(acting, chosen, strict=True))
        moves = []
        for role, options in enumerate(self.legal):
            if not options:
                raise FogplayError(
                    f"{game.file}: {game.machine.roles[role]} has no legal move, and the game is not over"
                )
            moves.append(options[by_role.get(role, 0)])
        return game.settled(*game.moved(self.position, self.legal, tuple(moves), self.seen))

    def information_state_string(self, player: int) -> str:
        role = self.game.players[player]
        return f"{self.game.machine.roles[role]}:{self.seen[role]}"

    def action_to_string(self, player: int, action: int) -> str:
        return unparse(self.legal[self.role][action])

    def seen_by(self, action: int) -> tuple[int, ...]:
        """All players see a move that is made alone in a sheet without percepts; others are seen by their makers."""
        if not self.game.sheet.has_percepts and len(self.game.acting(self.legal)) == 1:
            return tuple(range(self.game.num_players()))
        return (self.player,) if self.player >= 0 else ()

    def determinise(self, player: int, rng: Any) -> GdlState | None:
        """Without percepts, only the moves of this step can be unknown; otherwise the hand is replayed."""
        if self.game.sheet.has_percepts:
            return None
        acting = self.game.acting(self.legal)[: len(self.chosen)]
        chosen = tuple(
            action if self.game.number(role) == player else int(rng.integers(len(self.legal[role])))
            for role, action in zip(acting, self.chosen, strict=True)
        )
        return GdlState(self.game, self.position, self.seen, self.legal, chosen, self.player)

    def returns(self) -> list[float]:
        goals, (zero, unit) = self.game.machine.goals(self.position), self.game.unit
        return [(goals[role] - zero) / unit for role in self.game.players]

    def __str__(self) -> str:
        return " ".join(sorted(map(unparse, self.game.machine.fluents(self.position))))
