"""Console output: progress while a command runs, and its results."""

from __future__ import annotations

import contextlib
import math
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, cast

import rich.box
from rich.console import Console, ConsoleDimensions
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from fogplay.games.registry import shortened
from fogplay.interrupts import promptly
from fogplay.jit import NOT_KEPT, is_compiled, num_cores
from fogplay.simulators import Simulator, by_rules, own_simulator, simulator_for
from fogplay.solvers import ALGORITHMS, Progress
from fogplay.trees import FlatGame, TooLargeError, flatten, named
from fogplay.trees.limits import rounded

TURNS = "turn_based_simultaneous_game("  # OpenSpiel's name for a game that was converted
UNLIMITED = 10_000  # columns
CURVES = {"curve": "curve", "plot": "picture", "tensorboard": "scalars"}  # options and what they write
COMPILING = "compiling the kernels (once, for some seconds); later commands start at once"
COMPILING_AGAIN = "compiling the kernels (for some seconds)"  # if they cannot be kept


class UncountedError(TooLargeError):
    """A game was not flattened in the time that there was."""


class _Plain(Console):
    """Text as it is, and lines as long as they are unless a person reads them on a terminal."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **settings)

    @property
    def size(self) -> ConsoleDimensions:
        return super().size if self.is_terminal else ConsoleDimensions(UNLIMITED, 25)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size


class _Output(_Plain):
    """Stdout: a closed pipe is for ``main`` to handle."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class _Stderr:
    """Stderr as a file that never fails: progress that cannot be shown is no reason to stop working."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, AttributeError):
            return sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            sys.stderr.flush()

    def isatty(self) -> bool:
        return sys.stderr is not None and sys.stderr.isatty()

    def fileno(self) -> int:
        return sys.stderr.fileno()


OUT = _Output(soft_wrap=True)
ERR = _Plain(file=cast(IO[str], _Stderr()))


def say(what: Any) -> None:
    """Print text or a table for the user; a game's spec is shortened, except in a command to type."""
    OUT.print(shortened(what) if isinstance(what, str) and "fogplay " not in what else what)


def counted(number: int, what: str) -> str:
    """A number of things: 1 hand, 2,000 hands."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def table(*columns: str) -> Table:
    """An empty table with these columns."""
    made = Table(box=rich.box.SIMPLE_HEAD)
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


class _Rate(ProgressColumn):
    """Units per second, by the run's own clock."""

    def render(self, task: Task) -> Text:
        rate = task.fields.get("rate")
        return Text(f"{_short(rate)}/s" if rate else "", style="cyan")


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


class Watch:
    """A live progress line on stderr: how much is done, the rate, the time left and the quality."""

    def __init__(self, quiet: bool = False, node_limit: int | None = None) -> None:
        """``node_limit`` is the most nodes of a tree to build."""
        self.quiet, self.node_limit = quiet, node_limit
        self.bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[done]}", markup=False),
            _Rate(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[note]}", markup=False),
            console=ERR,
            disable=quiet,
        )
        self.solving: Any = None
        self.began = (0.0, 0)
        self.total = 0
        self.to_say = ""

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar.live.is_started:
            self.bar.stop()

    def _start(self, what: str, total: int) -> Any:
        self.bar.start()  # only now, so that a command without progress prints nothing
        return self.bar.add_task(what, total=total, done="", note="")

    def note(self, line: str) -> None:
        if not self.quiet:
            ERR.print(shortened(line))

    def named(self, game: str, suited: bool = False) -> tuple[Any, str]:
        """A game and its name, with a note if OpenSpiel's players move at the same time."""
        rules, name = named(game, suited)
        if TURNS in name and TURNS not in game:
            self.note(f"the players of {game} move at the same time: here they act in turn, without seeing the others")
        return rules, name

    def flatten(self, game: Any, name: str | None = None, seconds: float = math.inf) -> FlatGame:
        """Flatten a game, with a bar if it takes long; give up after some seconds."""
        if isinstance(game, str):
            game, name = self.named(game)
        task: Any = None
        end = time.monotonic() + seconds

        def progress(nodes: int, expected: int, size: int) -> None:
            nonlocal task
            if time.monotonic() > end:
                raise UncountedError(f"{game} has about {expected:,} nodes", f"about {rounded(expected)} nodes")
            if task is None:
                task = self._start("building the tree", expected)
                self.note(f"about {expected:,} nodes, {size / 1e6:,.0f} MB")
            self.bar.update(task, completed=nodes, total=expected, done=f"{nodes:,} nodes")

        try:
            with promptly():
                return flatten(game, name=name, node_limit=self.node_limit, progress=progress)
        finally:
            if task is not None:
                self.bar.remove_task(task)

    def simulator(
        self,
        game: Any,
        infosets: int | None = None,
        suited: bool = False,
        check: Callable[[Any], None] | None = None,
    ) -> Simulator:
        """The simulator of a game, with a bar if its tree or its tables take long to build.

        ``check`` is called with the rules first, and may refuse them.
        """
        rules, name = self.named(game, suited)
        if check is not None:
            check(rules)
        with self.building() as progress:
            own = own_simulator(rules, progress)
        try:
            return simulator_for(own or self.flatten(rules, name), infosets=infosets)
        except TooLargeError as why:
            return by_rules(rules, name, why.size, infosets)

    @contextlib.contextmanager
    def building(self) -> Iterator[Callable[[str, int, int], None]]:
        """A bar for tables that are built once; yields a callback that takes a title, the amount done and the total."""
        task: Any = None

        def progress(what: str, done: int, total: int) -> None:
            nonlocal task
            if task is None:
                self.note(f"building {what}")
                task = self._start("building", total)
            self.bar.update(task, completed=done, done=f"{done:,} of {total:,}")
            if done >= total:
                self.bar.remove_task(task)
                task = None

        yield progress
        if task is not None:
            self.bar.remove_task(task)

    def prepare(self, agents: Sequence[Any]) -> None:
        """Let agents build what they need once, such as the tables of a grid, with a bar if that takes long."""
        from fogplay.play.agent import prepare

        with self.building() as progress:
            for agent in agents:
                prepare(agent, progress)

    def estimate(self, simulator: Simulator, algorithm: str) -> None:
        """Print in advance how much memory a game without a tree needs, or how slow it is."""
        if simulator.flat is not None or algorithm not in ALGORITHMS or not ALGORITHMS[algorithm].seeded:
            return
        if simulator.note is not None:
            self.note(simulator.note)
        else:
            slots = simulator.num_slots
            size = slots * ALGORITHMS[algorithm].bytes_per_action
            self.note(f"{slots:,} actions to learn: {size / 1e6:,.0f} MB of tables")

    def default_threads(
        self, simulator: Simulator, algorithm: str, chosen: bool, seed: int | None, device: str
    ) -> int | None:
        """How many threads a run has if nobody says: one, or all cores for a run that is left to fogplay.

        That is a large game played in compiled code, by an algorithm that fogplay has ``chosen``, without a seed.
        """
        cores = num_cores()
        if ALGORITHMS[algorithm].steady:
            return cores
        if device != "cpu" or cores == 1 or simulator.flat is not None or not simulator.compiled:
            return None
        if chosen and seed is None:
            self.note(f"on {cores} threads; --threads 1 or a --seed gives the same bits every time")
            return cores
        self.note(f"on one thread, with the same bits for the same seed; --threads {cores} uses all cores")
        return None

    def warn_of_recall(self, flat: FlatGame | None) -> None:
        if flat is not None and flat.recall_lost:
            self.note(f"imperfect recall: {flat.recall_lost}; nash_conv is not measured, and CFR has no guarantee here")

    def expect_kernels(self, algorithm: str, simulator: Simulator, device: str = "cpu") -> None:
        """Print a note when the run starts if kernels must be compiled first."""
        chosen = ALGORITHMS.get(algorithm)
        if device != "cpu":
            self.to_say = "compiling for the GPU if this game is new to it (some seconds)"
        elif chosen is not None and not is_compiled(*(chosen.kernels or simulator.public_kernels)):
            self.to_say = COMPILING_AGAIN if NOT_KEPT else COMPILING

    def expect(self, kernel: Any) -> None:
        """Print a note if a kernel has to be compiled first."""
        if not is_compiled(kernel):
            self.note(COMPILING_AGAIN if NOT_KEPT else COMPILING)

    def hands(self, done: int, total: int) -> None:
        """The progress of a match."""
        if done > 0:
            self.amount(done, total)

    def amount(self, done: int, total: int) -> None:
        """The progress of a set of runs, in iterations."""
        if total == 0:
            return
        if self.solving is not None and self.total != total:  # a new set
            self.bar.remove_task(self.solving)
            self.solving = None
        if self.solving is None:
            self.solving, self.began = self._start("running", total), (time.monotonic(), done)
            self.total = total
        rate = (done - self.began[1]) / max(time.monotonic() - self.began[0], 1e-9)
        self.bar.update(self.solving, completed=done, done=f"{_short(done)} of {_short(total)}", rate=rate)

    def end(self, done: int) -> None:
        """Show the final amount, if a bar was shown: reports on the way leave out the last ones."""
        if self.solving is not None:
            self.amount(done, self.total)

    def progress(self, now: Progress) -> None:
        """The progress of a solver; the first call comes before the first iteration."""
        if self.to_say:
            self.note(self.to_say)
            self.to_say = ""
        if now.iteration == 0:
            return
        timed = now.time_limit is not None and now.seconds / now.time_limit > now.iteration / now.iterations
        completed, total = (now.seconds, now.time_limit) if timed else (now.iteration, now.iterations)
        if self.solving is None:
            self.solving = self._start("solving", now.iterations)
        self.bar.update(
            self.solving,
            completed=completed,
            total=total,
            done=f"{now.iteration:,} iterations" if timed else f"{now.iteration:,} of {now.iterations:,}",
            rate=now.iteration / max(now.seconds, 1e-9),
            note=f"nash_conv {now.nash_conv:.5g}" if now.nash_conv is not None else "",
        )


def show_result(facts: dict[str, Any], strategy: Any) -> None:
    """The end of ``fogplay solve``: the result, its file, and what to type next."""
    state = "stopped early, " if facts["interrupted"] else ""
    say(
        f"{facts['game']} by {facts['algorithm']}: {state}{facts['iterations']:,} iterations "
        f"in {facts['seconds']:.2f} s "
        f"({_short(facts['iterations_per_second'])}/s)"
    )
    if facts["nash_conv"] is not None:
        say(f"nash_conv {facts['nash_conv']:.6g}, exploitability {facts['exploitability']:.6g}")
    show_measured(facts)
    more = [f"its {what} to {facts[each]}" for each, what in CURVES.items() if each in facts]
    say(", ".join([f"saved to {facts['out']}", *more]))
    say("Next:")
    file = shlex.quote(facts["out"])
    if hasattr(strategy, "infosets"):
        if facts["measured"]:
            say(f"  fogplay evaluate {file}")
        if strategy.infosets:
            say(f"  fogplay inspect {file} {shlex.quote(strategy.infosets[0])}")
    else:
        others = " rules" * (facts["players"] - 1)
        say(f"  fogplay match {shlex.quote(facts['spec'])} {file}{others} --hands 100000")
        say(f"  fogplay inspect {file}")
        say(f"  fogplay play {shlex.quote(facts['spec'])} --against {file}")
    if "next" in facts:
        say(f"  {facts['next']}")


def show_measured(facts: dict[str, Any]) -> None:
    """Print what ``measured_by_matches`` found, and whether the strategy loses."""
    visits = facts.get("visits_per_infoset")
    if visits is not None:
        never = visits["never"] / visits["infosets"]
        median = float(f"{visits['median']:.2g}")
        say(
            f"{visits['infosets']:,} infosets: {visits['never']:,} never visited ({never:.1%}), where it knows little; "
            f"about {median:,.0f} visits in the median"
        )
    matches = facts.get("matches")
    if not matches:
        return
    show = table("against", f"wins {matches[0]['unit']}", "standard error", "")
    for row in matches:
        show.add_row(row["bot"], f"{row['mean']:+.0f}", f"{row['standard_error']:.0f}", row["verdict"])
    say(show)
    lost = [row["bot"] for row in matches if row["verdict"] == "loses"]
    if lost:
        say(f"It loses to {', '.join(lost)}: learn longer (--minutes 10 --threads 2) before you rely on it.")
