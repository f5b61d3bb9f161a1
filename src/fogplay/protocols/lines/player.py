"""``ProgramAgent``: a program that plays over lines of JSON, as Botzone's programs do, in any game.

Each decision is a request. A program gets all requests of the hand so far and its own answers to the earlier ones,
``{"requests": […], "responses": […]}``, and prints ``{"response": …}``. It may then exit, wait for the next such line,
or print ``KEEP_RUNNING`` to get only new requests until the hand ends. What the program does wrong never stops a match:
the first legal move is made for it, it is started anew, and the trouble is counted.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.game import spec_of
from fogplay.play import View
from fogplay.protocols.lines.process import Process, TroubleError, shortened
from fogplay.protocols.lines.wire import wire_of

KEEP_RUNNING = ">>>BOTZONE_REQUEST_KEEP_RUNNING<<<"
SECONDS = 10.0  # for a decision, if the table sets no deadline
SETTLING = 0.25  # seconds in which a program shows whether it exits, waits, or keeps running
PATIENCE = 5  # failures in a row after which a program is not asked again
UNKNOWN, WAITS, KEEPS, EXITS = "unknown", "waits", "keeps running", "exits"
COSTLY = ("died", "did not answer in time", "could not be started")  # troubles that cost time


class ProgramAgent:
    """An agent that asks a program for every decision."""

    def __init__(self, command: Sequence[str], rules: Any, seconds: float = SECONDS) -> None:
        self.command, self.rules, self.seconds = list(command), rules, seconds
        self.wire = wire_of(rules)
        self.process: Process | None = None
        self.manner = UNKNOWN  # what the program does after an answer
        self.caught_up = False  # whether the running process knows all of this hand but the newest request
        self.answered: list[Any] = []  # [own decisions of this hand] the program's answers
        self.saved: dict[str, Any] = {}  # ``data`` and ``globaldata``, which a program may ask to get back
        self.hand, self.decisions, self.failures = -1, 0, 0
        self.troubles: list[tuple[str, str]] = []

    def begin(self, game: Any, seat: int, seed: int) -> None:
        """A new hand: a program that keeps running is started anew, since it knows only one hand."""
        self.hand, self.answered = self.hand + 1, []
        self.saved.pop("data", None)
        if self.manner == KEEPS:
            self._stop()

    def act(self, view: View) -> int:
        """The program's move, or the first legal one if there is none."""
        missing = len(view.memory) - len(self.answered)
        self.answered += [None] * missing
        if self.failures >= PATIENCE:
            self.troubles.append(("was not asked any more", f"after {PATIENCE} failures in a row"))
            return self._forfeit(view)
        try:
            action, answer = self._ask(view)
        except TroubleError as trouble:
            self._stop()
            where = f"hand {self.hand + 1}, decision {len(self.answered) + 1}"
            self.troubles.append((trouble.kind, f"{where}: {trouble.detail}"))
            self.failures += 1 if trouble.kind in COSTLY else 0
            return self._forfeit(view)
        self.failures = 0
        self.answered.append(answer)
        return action

    def _forfeit(self, view: View) -> int:
        self.answered.append(self.wire.forfeit(view))
        return int(view.legal[0])

    def take_troubles(self) -> list[tuple[str, str]]:
        """What went wrong since the last time: kinds and details."""
        taken, self.troubles = self.troubles, []
        return taken

    def close(self) -> None:
        """End the program."""
        self._stop()

    # ---- One decision

    def _ask(self, view: View) -> tuple[int, Any]:
        """The action, and the answer as the program gave it."""
        deadline = time.monotonic() + self.seconds if view.deadline is None else view.deadline
        fresh = self._ready()
        try:
            said = self._exchange(view, deadline)
        except TroubleError as trouble:
            if fresh or trouble.kind != "died":
                raise
            self._stop()  # it exited after its last answer, as it may
            self._ready()
            said = self._exchange(view, deadline)
        answer = self._read(said)
        action = self._meant(answer, view)
        self._settle(deadline)
        return action, answer

    def _ready(self) -> bool:
        """Have a process that listens; return whether it is a new one."""
        if self.process is not None and self.process.has_ended():
            self._stop()
        if self.process is not None:
            return False
        self.process, self.caught_up = Process(self.command), False
        return True

    def _exchange(self, view: View, deadline: float) -> str:
        assert self.process is not None
        requests, responses = self.wire.talk(view, self.answered)
        newest = requests[-1] | {
            "game": spec_of(self.rules),
            "seat": view.seat,
            "infoset": view.infoset,
            "legal": list(view.names),
            "seconds": round(max(0.0, deadline - time.monotonic()), 3),
        }
        whole = {"requests": [*requests[:-1], newest], "responses": responses} | self.saved
        self.process.send(json.dumps(newest if self.caught_up else whole), deadline)
        said = self.process.receive(deadline)
        while said == KEEP_RUNNING:  # one that came late
            said = self.process.receive(deadline)
        return said

    def _read(self, said: str) -> Any:
        """The answer in a line."""
        try:
            given = json.loads(said)
        except (ValueError, RecursionError):
            raise TroubleError("printed no JSON", f"it printed {shortened(said)!r}") from None
        if not isinstance(given, dict):
            return given
        if "response" not in given:
            raise TroubleError("printed no JSON", f'there is no "response" in {shortened(said)}')
        self.saved |= {key: given[key] for key in ("data", "globaldata") if given.get(key) is not None}
        return given["response"]

    def _meant(self, answer: Any, view: View) -> int:
        try:
            return self.wire.action(answer, view)
        except FogplayError as error:
            raise TroubleError("made an illegal move", f"{shortened(json.dumps(answer))}: {error}") from None

    def _settle(self, deadline: float) -> None:
        """Find out what the program does after its answer."""
        assert self.process is not None
        if self.manner in (UNKNOWN, KEEPS):
            wait = SETTLING if self.manner == UNKNOWN else max(0.0, deadline - time.monotonic())
            line = self.process.pending(wait)
            if line == KEEP_RUNNING:
                self.manner, self.caught_up = KEEPS, True
                return
            if line is not None:
                raise TroubleError("printed more than an answer", f"it also printed {shortened(line)!r}")
            self.manner = EXITS if self.process.is_silent else WAITS
        self.caught_up = False
        if self.manner == EXITS:
            self._stop()

    def _stop(self) -> None:
        if self.process is not None:
            self.process.end()
        self.process, self.caught_up = None, False

    def __str__(self) -> str:
        return shlex.join(self.command)


def agent(settings: str, rules: Any) -> ProgramAgent:
    """The agent that ``program:COMMAND`` names; a command is a program and its arguments, as in a shell."""
    try:
        command = shlex.split(settings)
    except ValueError as error:
        raise FogplayError(f"the command {settings!r} cannot be read ({error}); write program:COMMAND") from None
    if not command:
        raise FogplayError("write program:COMMAND, such as program:./bot or 'program:python3 bot.py'")
    path = Path(command[0])
    found = str(path.resolve()) if path.is_file() else shutil.which(command[0])
    if found is None:
        raise FogplayError(f"there is no program {command[0]}; write program:COMMAND, such as program:./bot")
    if not os.access(found, os.X_OK):
        raise FogplayError(f"{command[0]} is not executable; type chmod +x {shlex.quote(command[0])}")
    return ProgramAgent([found, *command[1:]], rules)
