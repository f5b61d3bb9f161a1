"""``Host``: a match between players, as a state machine: what to send to whom, and what their replies mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fogplay.errors import FogplayError
from fogplay.games.gdl import GdlGame
from fogplay.gdl.kif import parse, unparse
from fogplay.gdl.rules import Term
from fogplay.gdl.sheet import RANDOM
from fogplay.protocols.ggp import messages

MOST_STEPS = 10_000


@dataclass
class Host:
    """A match of a sheet; players sit at the roles other than ``random``, in their order."""

    game: GdlGame
    name: str
    rules: str  # text
    start_clock: float
    play_clock: float
    rng: np.random.Generator
    steps: list[tuple[Term, ...]] = field(default_factory=list)  # joint moves
    faults: list[tuple[int, int, str]] = field(default_factory=list)  # step, player, what was wrong

    def __post_init__(self) -> None:
        self.machine = self.game.machine
        self.state: Any = self.machine.initial()
        self.percepts: tuple[tuple[Term, ...], ...] = ((),) * len(self.machine.roles)

    @property
    def is_over(self) -> bool:
        return self.machine.is_terminal(self.state) or len(self.steps) >= MOST_STEPS

    @property
    def goals(self) -> tuple[int, ...]:
        """[players]"""
        goals = self.machine.goals(self.state)
        return tuple(goals[role] for role in self.game.players)

    def start(self, player: int) -> str:
        """The START for a player."""
        role = self.machine.roles[self.game.players[player]]
        return messages.start(self.name, role, self.rules, self.start_clock, self.play_clock)

    def ask(self, player: int) -> str:
        """The PLAY for a player, or the STOP if the match is over."""
        kind = "STOP" if self.is_over else "PLAY"
        if not self.game.sheet.has_percepts:
            return messages.play(self.name, self.steps[-1] if self.steps else None, kind)
        role = self.game.players[player]
        own = self.steps[-1][role] if self.steps else None
        return messages.perceive(self.name, len(self.steps), own, self.percepts[role], kind)

    def take(self, replies: Sequence[str | None]) -> None:
        """Make a step with the players' replies, None where there was none in time; illegal ones are replaced."""
        legal = self.machine.legal(self.state)
        moves: list[Term] = []
        for role, options in enumerate(legal):
            if not options:
                raise FogplayError(
                    f"{self.game}: {self.machine.roles[role]} has no legal move, and the game is not over"
                )
            moves.append(options[int(self.rng.integers(len(options)))])
        for player, role in enumerate(self.game.players):
            move, wrong = self._read(replies[player], legal[role])
            if wrong:
                self.faults.append((len(self.steps), player, wrong))
            else:
                moves[role] = move
        made = tuple(moves)
        if self.game.sheet.has_percepts:
            self.percepts = self.machine.percepts(self.state, made)
        self.state = self.machine.next(self.state, made)
        self.steps.append(made)

    def _read(self, reply: str | None, legal: Sequence[Term]) -> tuple[Term, str]:
        """A move and nothing, or what is wrong with the reply."""
        if reply is None:
            return None, "no reply in time"
        try:
            forms = parse(reply, "the reply")
        except FogplayError:
            return None, f"no move: {reply[:60]!r}"
        if len(forms) != 1 or forms[0][0] == ():
            return None, f"no move: {reply[:60]!r}"
        move = messages.plain(forms[0][0])
        return (move, "") if move in legal else (None, f"illegal: {unparse(move)[:60]}")

    def record(self, players: Sequence[str]) -> dict[str, Any]:
        """The match as data for a file."""
        return {
            "match": self.name,
            "rules": str(self.game),
            "roles": [role for role in self.machine.roles if role != RANDOM],
            "players": list(players),
            "clocks": [self.start_clock, self.play_clock],
            "steps": [[unparse(move) for move in moves] for moves in self.steps],
            "faults": [{"step": step, "player": players[who], "what": what} for step, who, what in self.faults],
            "goals": list(self.goals),
            "over": self.is_over,
        }
