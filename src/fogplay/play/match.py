"""``match``: many hands of any game between agents, and the winnings of each."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fogplay import checks
from fogplay.errors import FogplayError
from fogplay.games.parts import part_of
from fogplay.interrupts import Stop, stopping
from fogplay.pictures import as_table
from fogplay.play.agent import Uniform
from fogplay.play.formats import Block, Duplicate, Format, Rotation, Trouble, merged
from fogplay.play.hands import Hands, close, most_seats, twin
from fogplay.play.sides import BySides, SideResult, Sides
from fogplay.strategies import TabularStrategy
from fogplay.trees import FlatGame, NoTreeError, flatten, named
from fogplay.trees.estimate import estimate_nodes

NORMAL_95 = 1.959964
MOST_NODES = 20_000_000  # of a tree built for a match, which takes about a minute
REPORT_SECONDS = 0.1
HANDS = 100_000  # by default ...
PATIENCE_SECONDS = 60.0  # ... or as many as take about this long
MEASURE_SECONDS = 2.0  # of play that show how long a hand takes
FEWEST_DEALS = 10
TRYING, WORTH_STARTING = 0.2, 4.0  # seconds of play in this process, and of work left, before others are started

Progress = Callable[[int, int], None]  # hands so far, hands in all


@dataclass(frozen=True, eq=False)
class MatchResult:
    """Every player's winnings and their standard errors."""

    game: str  # its spec
    names: tuple[str, ...]  # [players]
    hands: int
    deals: int  # hands with the same luck are one deal
    seed: int
    seconds: float
    interrupted: bool  # by a signal: the hands played until then count
    means: tuple[float, ...]  # [players] per hand, in ``unit``
    standard_errors: tuple[float, ...]  # [players] nan after too few hands
    totals: tuple[float, ...]  # [players] won altogether, in the game's points
    format: Format
    start: Any  # the game's first state
    ends: Any = None  # how each hand ended, as the format keeps it, if hands were to be kept
    by_side: tuple[SideResult, ...] = ()  # each player on every side, in a game of teams
    troubles: tuple[Trouble, ...] = ()  # what players did wrong, so that moves were made for them

    @property
    def unit(self) -> str:
        return self.format.unit

    @property
    def scale(self) -> float:
        """Units per point of the game's payoffs."""
        return self.format.scale

    def _repr_html_(self) -> str:
        rows = [
            (name, f"{mean:+.4g}", f"{error:.2g}", "{:+.4g} to {:+.4g}".format(*self.interval(player)))
            for player, (name, mean, error) in enumerate(zip(self.names, self.means, self.standard_errors, strict=True))
        ]
        return as_table(
            ("player", self.unit, "standard error", "95 %"),
            rows,
            f"{self.game}: {self.hands:,} hands, seed {self.seed}",
        )

    def interval(self, player: int) -> tuple[float, float]:
        """The 95 % confidence interval of a player's mean."""
        reach = NORMAL_95 * self.standard_errors[player]
        return self.means[player] - reach, self.means[player] + reach


def match(
    game: Any,
    agents: Sequence[Any],
    hands: int | None = None,
    *,
    seed: int = 0,
    keep: bool = False,
    names: Sequence[str] | None = None,
    spec: str | None = None,
    progress: Progress | None = None,
    note: Callable[[str], None] | None = None,
    expect: Callable[[Any], None] | None = None,
    flatten: Callable[..., FlatGame] = flatten,
    crew: Callable[[], Sequence[Any]] | None = None,
    decks: Sequence[Sequence[int]] | None = None,
    limit: float | None = None,
    workers: Workers | None = None,
) -> MatchResult:
    """Play at least ``hands`` hands of a game (its spec, its rules, or flattened) between agents, one per player.

    Without ``hands`` there are 100,000, or as many as take about a minute if compiled code cannot play these agents:
    the first hands are measured, and ``note`` is called with a line that says so.
    ``keep`` keeps the hands for logs; ``spec`` is the game's name in the result. Ctrl-C ends the match early and keeps
    the hands played so far. ``expect`` is called with the kernel before a compiled loop begins, and ``flatten`` may be
    a function that shows progress. ``crew`` makes the same agents once more for other seats of a side, which
    have agents of their own; by default they are copied.
    ``decks`` are chance's moves in each deal, in a game of teams; ``limit`` are the seconds for each decision.
    ``workers`` play what compiled code cannot in several processes, the same hands whatever their number.
    """
    wanted, seed = checks.hands(HANDS if hands is None else hands), checks.seed(seed)
    rules, known_as = (_Flattened(game), game.name) if isinstance(game, FlatGame) else named(game)
    spec = spec or known_as
    require_seats(rules, spec, len(agents))
    format = format_for(game if isinstance(game, FlatGame) else rules, agents, spec, flatten, decks)
    wanted = _within(decks, format, wanted)
    if keep and wanted > format.most_kept:
        raise FogplayError(f"at most {format.most_kept:,} hands can be kept, not {wanted:,}: ask for fewer hands")
    if keep and isinstance(format, Sides):
        raise FogplayError(f"a log of {spec} needs one agent for every seat: name {rules.num_players()}")
    called = tuple(names) if names is not None else tuple(f"player {number}" for number in range(len(agents)))
    loop = format.compiled(agents, seed)
    if loop is not None and expect is not None:
        expect(loop.kernel)
    make = crew or (lambda: [twin(agent) for agent in agents])
    casts = [agents, *(make() for _ in range(most_seats(format) - 1))]
    at_tables = Hands(rules, format, casts, called, seed, keep=keep, anew=workers is not None, limit=limit)
    play = _Counted(at_tables, workers if not keep else None, progress)
    if hands is None and loop is None:
        play.pace = Pace(note)
    try:
        return play.run(loop, wanted, spec)
    finally:
        for cast in casts[1:]:
            close(cast)


def sides_of(game: Any) -> tuple[int, ...]:
    """[seats] the side of each seat; empty if every seat plays for itself."""
    sides = game.sides() if hasattr(game, "sides") else None
    return tuple(sides or ())


def require_seats(game: Any, spec: str, agents: int) -> None:
    """Refuse a match unless there is an agent for every seat, or for every side."""
    players, sides = int(game.num_players()), len(set(sides_of(game)))
    if agents not in (players, sides or players):
        instead = f", or {sides} that take all seats of a side" if sides else ""
        raise FogplayError(f"{spec} is for {players} players{instead}; {agents} agents were named")


def _within(decks: Sequence[Any] | None, format: Format, hands: int) -> int:
    """The number of hands, not more than there are decks for."""
    return hands if decks is None else min(hands, len(decks) * len(format.seatings(0)))


def format_for(
    game: Any,
    agents: Sequence[Any] = (),
    spec: str | None = None,
    flatten: Callable[..., FlatGame] = flatten,
    decks: Sequence[Sequence[int]] | None = None,
) -> Format:
    """The format of a game's matches: duplicate if its simulator provides deals, else a rotation of the seats.

    The game is flattened if compiled code can then play these agents, unless it is large.
    """
    if isinstance(game, FlatGame):
        return Rotation(game.num_players, game)
    if agents and len(agents) != int(game.num_players()):
        return _sides(game, decks)
    if decks is not None:
        raise FogplayError(f"decks are for games of teams, between one agent per side; {spec or game} has none here")
    found = part_of(game, "match_deals")
    source = found(game) if found is not None else None
    if source is not None:
        return Duplicate(source)
    flat = None
    if agents and all(isinstance(agent, TabularStrategy | Uniform) for agent in agents) and _soon_flattened(game):
        with contextlib.suppress(NoTreeError):
            flat = flatten(game, name=spec)
    return Rotation(int(game.num_players()), flat)


def _sides(game: Any, decks: Sequence[Sequence[int]] | None) -> Sides:
    """The format of a game of teams, with the game's own names of sides and its unit."""
    names = game.side_names() if hasattr(game, "side_names") else None
    unit = game.side_unit() if hasattr(game, "side_unit") else ("per hand", 1.0)
    return Sides(sides_of(game), names, unit, decks)


def _soon_flattened(game: Any) -> bool:
    """Whether building a tree takes less time than playing most matches without one."""
    try:
        return estimate_nodes(game.new_initial_state()) <= MOST_NODES
    except Exception:  # the game's own code fails: flattening says where
        return True


class _Flattened:
    """A flattened game as rules."""

    def __init__(self, flat: FlatGame) -> None:
        self.flat = flat

    def num_players(self) -> int:
        return self.flat.num_players

    def new_initial_state(self) -> Any:
        return self.flat.root

    def __str__(self) -> str:
        return self.flat.name


class Pace:
    """Shortens a match that would take too long: the first deal warms up, the next ones are timed."""

    def __init__(self, note: Callable[[str], None] | None = None) -> None:
        self.note = note
        self.began: float | None = None
        self.decided = False

    def deals(self, done: int, deals: int, turns: int) -> int:
        """How many deals the match should have, after ``done`` of ``deals``, in ``turns`` seatings each."""
        now = time.monotonic()
        if self.began is None:
            self.began = now
        took = now - self.began
        if self.decided or done < 2 or took < MEASURE_SECONDS:
            return deals
        self.decided = True
        rate = (done - 1) / took
        chosen = max(_round_number(rate * PATIENCE_SECONDS), done, FEWEST_DEALS)
        if chosen >= deals:
            return deals
        if self.note is not None:
            about = f"{chosen / rate / 60:.2g} min at {rate * turns:.3g} hands per second"
            self.note(f"{chosen * turns:,} hands, about {about}; -n asks for another number")
        return chosen


def _round_number(number: float) -> int:
    """The largest of 1, 2, 5, 10, 20, 50, … up to ``number``."""
    size = 10 ** int(np.log10(max(number, 1.0)))
    return next(int(size * step) for step in (5, 2, 1) if size * step <= max(number, 1.0))


class Workers(Protocol):
    """Processes that play deals."""

    count: int

    def blocks(self, first: int, deals: int, seconds: float, stop: Stop) -> Iterator[Block]:
        """Blocks of deals ``first`` to ``deals`` in order; ``seconds`` is about what one deal takes."""


class _Counted:
    """A match in progress, played in blocks of deals."""

    def __init__(self, hands: Hands, workers: Workers | None, progress: Progress | None) -> None:
        self.hands, self.format, self.workers, self.progress = hands, hands.format, workers, progress
        self.turns = len(hands.format.seatings(0))
        self.reported = 0.0  # the time of the last progress report
        self.pace: Pace | None = None  # if the number of hands is left open
        self.deals = 0
        self.interrupted = False

    def run(self, loop: Any, hands: int, spec: str) -> MatchResult:
        format, self.deals = self.format, self.format.deals(hands)
        tally, ends, played = format.tally(), [], 0
        troubles: tuple[Trouble, ...] = ()
        began = time.perf_counter()
        with stopping() as stop:
            try:
                self._report(0)
                for block in self._blocks(loop, stop):
                    if len(block.points):
                        tally.add(block.points, played)
                        ends.append(block.ends)
                    played += len(block.points)
                    troubles = merged((*troubles, *block.troubles))
                    self._report(played)
                    if stop.is_set() or self.hands.interrupted:
                        break
            except KeyboardInterrupt:
                self.interrupted = True
        self.interrupted |= played < self.deals
        if played == 0:
            raise KeyboardInterrupt
        seconds = time.perf_counter() - began
        means, errors = tally.means_and_errors()
        return MatchResult(
            game=spec,
            names=tuple(self.hands.names),
            hands=played * self.turns,
            deals=played,
            seed=self.hands.seed,
            seconds=seconds,
            interrupted=self.interrupted or self.hands.interrupted,
            means=means,
            standard_errors=errors,
            totals=tally.totals(),
            format=format,
            start=self.hands.rules.new_initial_state(),
            ends=_joined(ends) if self.hands.keep else None,
            by_side=tally.by_side() if isinstance(tally, BySides) else (),
            troubles=troubles,
        )

    def _blocks(self, loop: Any, stop: Stop) -> Iterator[Block]:
        """All blocks in order: by compiled code, by workers, or at tables of this process."""
        if loop is None and self.workers is not None:
            yield from self._by_workers(self.workers, stop)
            return
        first = 0
        while first < self.deals:
            count = min(self.format.block, self.deals - first)
            if loop is None:
                block = self._plain(first, count, stop)
            else:
                points, ends = loop.play(first, count)
                block = Block(points, ends if self.hands.keep else None)
            first += len(block.points)
            yield block

    def _by_workers(self, workers: Workers, stop: Stop) -> Iterator[Block]:
        """Play here until it is clear that starting processes pays, then let them play the rest."""
        began, played = time.monotonic(), 0
        while played < self.deals:
            took = time.monotonic() - began
            if workers.count > 1 and played and took > TRYING and (self.pace is None or self.pace.decided):
                each = took / played
                if each * (self.deals - played) > WORTH_STARTING:
                    yield from workers.blocks(played, self.deals, each, stop)
                    return
            block = self._plain(played, 1, stop)
            played += len(block.points)
            yield block

    def _report(self, played: int) -> None:
        if self.progress is not None:
            self.reported = time.monotonic()
            self.progress(played * self.turns, self.deals * self.turns)

    def _plain(self, first: int, count: int, stop: Stop) -> Block:
        """Play a block at tables of this process."""

        def go_on(done: int) -> bool:
            if self.pace is not None:
                self.deals = self.pace.deals(first + done, self.deals, self.turns)
            if time.monotonic() - self.reported > REPORT_SECONDS:
                self._report(first + done)
            return first + done < self.deals

        return self.hands.block(first, count, stop, go_on)


def _joined(blocks: Sequence[Any]) -> Any:
    """Concatenate blocks of ends: arrays into an array, lists of moves into a list."""
    if isinstance(blocks[0], np.ndarray):
        return np.concatenate(blocks)
    kept = [deal for block in blocks for deal in block]
    if isinstance(kept[0][0], tuple):
        return [hand for deal in kept for hand in deal]
    return np.array(kept, np.int32)
