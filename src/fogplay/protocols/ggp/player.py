"""``Player``: a general game player as a state machine. It takes messages and returns replies, without sockets.

To keep to the clock, the agent thinks in a thread of its own, and whoever waits for it takes any legal move at the
deadline, less a margin that grows with the delays that were measured. So does the preparation of a match: rules that
need more than the start clock or more than the memory are refused. A match that begins while kernels are still being
compiled does without them: the interpreter follows its rules.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psutil

from fogplay.agents import resolve
from fogplay.errors import FogplayError
from fogplay.games.gdl import SMALLEST, GdlGame, game_of
from fogplay.games.registry import load
from fogplay.gdl.kif import unparse
from fogplay.gdl.rules import Term
from fogplay.gdl.sheet import RANDOM, read_sheet
from fogplay.play import View
from fogplay.protocols.ggp import messages
from fogplay.protocols.ggp.beliefs import Belief, LaneSample, belief_of
from fogplay.protocols.ggp.messages import Message
from fogplay.protocols.ggp.work import MEMORY, Work, give_memory_back

NAME = "fogplay"
MARGIN = 0.5  # seconds kept before a deadline
LEAST = 0.05  # seconds for thinking, whatever the margin
FORGOTTEN = 60.0  # seconds after a play clock has run out twice
GROUNDING = 0.4  # share of the start clock for grounding
PREPARING = 0.9  # share of the start clock after which the rules are refused
COMPILING = 0.4  # share of the start clock in which a match waits for kernels
UNCOMPILED, UNCOMPILED_HIDDEN = "ggp:uct:86400s", "uniform"  # who plays without kernels: with all moves seen, and not
NOBODY = "noop"
_COMPILER = "import sys; from fogplay.protocols.ggp.player import compile_for; compile_for(sys.argv[1])"


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
    work: Work | None = None  # in which the agent thinks


def compile_for(agent: str) -> None:
    """Compile what an agent's thinking needs, in sheets with percepts and without; a wrong agent is an error."""
    for name in SMALLEST:
        resolve([agent], load(name))


class Player:
    """Answers messages with ``agent``, a text such as ``ggp:auto``; ``clock`` is for tests."""

    def __init__(
        self,
        agent: str = "ggp:auto:86400s",
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
        memory: int = MEMORY,
    ) -> None:
        self.agent, self.clock = agent, clock
        self.allowed = memory
        self._count_memory()
        self.rng = np.random.default_rng(seed)
        self.match: Match | None = None
        self.turn = threading.Lock()  # one message of a match at a time
        self.worst = 0.0  # the longest delay of a reply after the moment it was wanted
        self.starting = False
        self.compiled = threading.Event()  # whether matches may use kernels
        self.compiled.set()
        self.close: Callable[[], None] = lambda: None  # ends the process that compiles

    def compile(self, over: Callable[[BaseException | None], None]) -> None:
        """Compile what thinking needs, and call ``over`` with what went wrong, if anything.

        A process of its own compiles, so that messages are answered meanwhile; then a thread loads what it has kept.
        """
        self.compiled.clear()
        compiler = subprocess.Popen(
            [sys.executable, "-c", _COMPILER, self.agent], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.close = compiler.kill

        def run() -> None:
            problem: BaseException | None = None
            try:
                compiler.wait()
                compile_for(self.agent)
            except BaseException as error:
                problem = error
            self._count_memory()
            self.compiled.set()
            over(problem)

        threading.Thread(target=run, daemon=True).start()

    def _count_memory(self) -> None:
        """Rules may take so much memory from here on; what is there already does not count."""
        self.memory = self.allowed + psutil.Process().memory_info().rss

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
            if match.work is not None:
                match.work.finish()
        return "aborted"

    def _start(self, message: Message, now: float) -> str:
        if self._is_busy(now) or not self.turn.acquire(blocking=False):
            return "busy"
        self.starting = True
        try:
            compiled = self.compiled.wait(COMPILING * message.start_clock)
            preparing = Work(lambda: self._prepared(message, compiled))
            seconds = max(PREPARING * message.start_clock, 1.0)
            if not preparing.wait(now + seconds, self.memory, self.clock):
                preparing.finish()
                give_memory_back()
                raise FogplayError(f"these rules take more than {seconds:.1f} seconds or too much memory")
            if preparing.error is not None:
                if not isinstance(preparing.error, FogplayError):
                    give_memory_back()
                    raise FogplayError("these rules take too much time or memory") from preparing.error
                raise preparing.error
            self.match = preparing.value
        finally:
            self.starting = False
            self.turn.release()
        return "ready"

    def _prepared(self, message: Message, compiled: bool = True) -> Match:
        """A match that can begin."""
        sheet = read_sheet(message.rules, message.match)
        game = game_of(sheet, max(1.0, GROUNDING * message.start_clock) if compiled else 0.0)
        roles = game.machine.roles
        if message.role not in roles or message.role == RANDOM:
            raise FogplayError(f"there is no role {message.role}; the roles are {', '.join(roles)}")
        without = UNCOMPILED_HIDDEN if sheet.has_percepts else UNCOMPILED
        (agent,) = resolve([self.agent if compiled else without], game)
        role = roles.index(message.role)
        belief = belief_of(game, role, self.rng)
        return Match(message.match, game, agent, role, message.play_clock, belief, self.clock())

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
        self._follow(match, message, deadline)
        legal = match.belief.legal() or (NOBODY,)
        chosen = legal[0]
        if len(legal) > 1:
            thought = self._thoughts(match, legal, deadline)
            chosen = legal[thought[0] if thought else int(self.rng.integers(len(legal)))]
            if thought:
                match.memory.append((match.belief.infoset(), thought[0]))
        match.own = chosen
        self.worst = max(self.worst, min(self.clock() - deadline, match.play_clock / 4))
        return chosen

    def _follow(self, match: Match, message: Message, deadline: float) -> None:
        """Take note of what happened in the last step; if it makes no sense, what was known before has to do."""
        hidden = match.game.sheet.has_percepts
        first = match.step == 0 and not (message.moves or message.percepts or message.own)
        match.step += 1
        own = message.own if message.own is not None else match.own
        with contextlib.suppress(FogplayError):
            if first:
                return
            if not hidden and message.moves is not None:
                match.belief.see_moves(message.moves)
            elif hidden and own is not None:
                half = self.clock() + (deadline - self.clock()) / 2
                match.belief.see_percepts(own, message.percepts, half)

    def _thoughts(self, match: Match, legal: tuple[Term, ...], deadline: float) -> list[int]:
        """What the agent chooses before the deadline, if anything; an agent that is still late from before is left."""
        work = match.work
        if work is not None and work.is_alive():
            work.finish()
            work.join(max(min(LEAST, deadline - self.clock()), 0.0))
            if work.is_alive():
                return []
        match.work = work = Work(lambda: self._think(match, legal, deadline))
        if not work.wait(deadline, self.memory, self.clock):
            work.finish()
        return [work.value] if work.value is not None else []

    def _think(self, match: Match, legal: tuple[Term, ...], deadline: float) -> int:
        """The number of the move that the agent chooses."""
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
        return int(match.agent.act(view))
