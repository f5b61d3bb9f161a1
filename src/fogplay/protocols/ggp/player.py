"""``Player``: a general game player as a state machine. It takes messages and returns replies, without sockets.

To keep to the clock, the agent thinks in a thread of its own, and whoever waits for it takes any legal move at the
deadline, less a margin that grows with the delays that were measured.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fogplay.agents import resolve
from fogplay.errors import FogplayError
from fogplay.games.gdl import GdlGame, game_of
from fogplay.gdl.kif import unparse
from fogplay.gdl.rules import Term
from fogplay.gdl.sheet import RANDOM, read_sheet
from fogplay.play import View
from fogplay.protocols.ggp import messages
from fogplay.protocols.ggp.beliefs import Belief, LaneSample, belief_of
from fogplay.protocols.ggp.messages import Message

NAME = "fogplay"
MARGIN = 0.5  # seconds kept before a deadline
LEAST = 0.05  # seconds for thinking, whatever the margin
FORGOTTEN = 60.0  # seconds after a play clock has run out twice
GROUNDING = 0.4  # share of the start clock for grounding
NOBODY = "noop"


@dataclass
class Match:
    """A match in progress."""

    name: str
    game: GdlGame
    agent: Any
    role: int
    play_clock: float
    belief: Belief | LaneSample
    heard: float  # when its last message came
    step: int = 0
    own: Term | None = None  # the last answer
    memory: list[tuple[str, int]] = field(default_factory=list)
    aborted: bool = False
    thread: threading.Thread | None = None  # in which the agent thinks


class Player:
    """Answers messages with ``agent``, a text such as ``ggp:auto``; ``clock`` is for tests."""

    def __init__(
        self, agent: str = "ggp:auto:86400s", seed: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.agent, self.clock = agent, clock
        self.rng = np.random.default_rng(seed)
        self.match: Match | None = None
        self.turn = threading.Lock()  # one message of a match at a time
        self.worst = 0.0  # the longest delay of a reply after the moment it was wanted
        self.starting = False

    # ---- Messages

    def handle(self, text: str, came: float | None = None) -> str:
        """The reply to a message that came at some moment; what is wrong with it is a FogplayError."""
        now = self.clock() if came is None else came
        message = messages.read(text)
        if message.kind == "info":
            return f"((name {NAME}) (status {'busy' if self._is_busy(now) else 'available'}))"
        if message.kind == "ping":
            return "busy" if self._is_busy(now) else "available"
        if message.kind == "abort":
            return self._abort(message)
        if message.kind == "preview":
            return "ready"
        if message.kind == "start":
            return self._start(message, now)
        return self._play_or_stop(message, now)

    def _is_busy(self, now: float) -> bool:
        match = self.match
        return self.starting or (match is not None and now - match.heard < 2 * match.play_clock + FORGOTTEN)

    def _abort(self, message: Message) -> str:
        match = self.match
        if match is not None and match.name == message.match:
            match.aborted, self.match = True, None
        return "aborted"

    def _start(self, message: Message, now: float) -> str:
        if self._is_busy(now) or not self.turn.acquire(blocking=False):
            return "busy"
        self.starting = True
        try:
            game = game_of(read_sheet(message.rules, message.match), max(1.0, GROUNDING * message.start_clock))
            roles = game.machine.roles
            if message.role not in roles or message.role == RANDOM:
                raise FogplayError(f"there is no role {message.role}; the roles are {', '.join(roles)}")
            (agent,) = resolve([self.agent], game)
            role = roles.index(message.role)
            belief = belief_of(game, role, self.rng)
            self.match = Match(message.match, game, agent, role, message.play_clock, belief, self.clock())
        finally:
            self.starting = False
            self.turn.release()
        return "ready"

    def _play_or_stop(self, message: Message, now: float) -> str:
        match = self.match
        if match is None or match.name != message.match:
            raise FogplayError(f"no match is called {message.match}")
        if message.kind == "stop":
            self.match = None
            return "done"
        match.heard = now
        deadline = now + max(match.play_clock - MARGIN - self.worst, LEAST)
        if not self.turn.acquire(timeout=max(deadline - self.clock(), 0.0)):
            return "busy"
        try:
            return unparse(self._move(match, message, deadline))
        finally:
            self.turn.release()

    # ---- Moves

    def _move(self, match: Match, message: Message, deadline: float) -> Term:
        """The move for a PLAY; thinking ends at the deadline."""
        trouble = self._follow(match, message, deadline)
        legal = match.belief.legal() if not trouble else (NOBODY,)
        if not legal:
            legal = (NOBODY,)
        chosen = legal[0]
        if len(legal) > 1:
            thought = self._thoughts(match, legal, deadline)
            chosen = legal[thought[0] if thought else int(self.rng.integers(len(legal)))]
            if thought:
                match.memory.append((match.belief.infoset(), thought[0]))
        match.own = chosen
        self.worst = max(self.worst, min(self.clock() - deadline, match.play_clock / 4))
        return chosen

    def _follow(self, match: Match, message: Message, deadline: float) -> bool:
        """Take note of what happened in the last step; whether it could not be understood."""
        hidden = match.game.sheet.has_percepts
        first = match.step == 0 and not (message.moves or message.percepts or message.own)
        match.step += 1
        if first:
            return False
        try:
            if not hidden:
                if message.moves is None:
                    return False
                match.belief.see_moves(message.moves)
            else:
                own = message.own if message.own is not None else match.own
                if own is None:
                    return False
                half = self.clock() + (deadline - self.clock()) / 2
                match.belief.see_percepts(own, message.percepts, half)
        except FogplayError:
            return False  # what was known before has to do
        return False

    def _thoughts(self, match: Match, legal: tuple[Term, ...], deadline: float) -> list[int]:
        """What the agent chooses before the deadline, if anything; an agent that is still late from before is left."""
        thought: list[int] = []
        if match.thread is None or not match.thread.is_alive():
            given = (match, legal, deadline, thought)
            match.thread = threading.Thread(target=self._think, args=given, daemon=True)
            match.thread.start()
        match.thread.join(max(deadline - self.clock(), 0.0))
        return list(thought)

    def _think(self, match: Match, legal: tuple[Term, ...], deadline: float, thought: list[int]) -> None:
        seat = match.game.players.index(match.role)
        infoset, memory = match.belief.infoset(), tuple(match.memory)
        view = View(
            seat=seat,
            legal=tuple(range(len(legal))),
            luck=float(self.rng.random()),
            infoset=lambda: infoset,
            names=lambda: tuple(map(unparse, legal)),
            memory=lambda: memory,
            world=lambda rng, doubt: match.belief.draw(rng),
            game=match.game,
            deadline=deadline,
        )
        try:
            thought.append(int(match.agent.act(view)))
        except Exception:  # whatever happens to an agent, any legal move is made instead
            return
