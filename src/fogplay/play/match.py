"""``match``: many hands of any game between agents, and the winnings of each."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fogplay import checks
from fogplay.errors import FogplayError
from fogplay.interrupts import Stop, stopping
from fogplay.play.agent import Uniform, begin
from fogplay.play.formats import Block, Duplicate, Format, Rotation, Sides
from fogplay.play.luck import Luck
from fogplay.play.table import Table
from fogplay.simulators.find import part_of
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

    @property
    def unit(self) -> str:
        return self.format.unit

    @property
    def scale(self) -> float:
        """Units per point of the game's payoffs."""
        return self.format.scale

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
) -> MatchResult:
    """Play at least ``hands`` hands of a game (its spec, its rules, or flattened) between agents, one per player.

    Without ``hands`` there are 100,000, or as many as take about a minute if compiled code cannot play these agents:
    the first hands are measured, and ``note`` is called with a line that says so.
    ``keep`` keeps the hands for logs; ``spec`` is the game's name in the result. Ctrl-C ends the match early and keeps
    the hands played so far. ``expect`` is called with the kernel before a compiled loop begins, and ``flatten`` may be
    a function that shows progress.
    """
    wanted, seed = checks.hands(HANDS if hands is None else hands), checks.seed(seed)
    rules, known_as = (_Flattened(game), game.name) if isinstance(game, FlatGame) else named(game)
    spec = spec or known_as
    require_seats(rules, spec, len(agents))
    format = format_for(game if isinstance(game, FlatGame) else rules, agents, spec, flatten)
    if keep and wanted > format.most_kept:
        raise FogplayError(f"at most {format.most_kept:,} hands can be kept, not {wanted:,}: ask for fewer hands")
    if keep and isinstance(format, Sides):
        raise FogplayError(f"a log of {spec} needs one agent for every seat: name {rules.num_players()}")
    called = tuple(names) if names is not None else tuple(f"player {number}" for number in range(len(agents)))
    loop = format.compiled(agents, seed)
    if loop is not None and expect is not None:
        expect(loop.kernel)
    play = _Counted(rules, format, agents, called, seed, keep, progress)
    if hands is None and loop is None:
        play.pace = Pace(note)
    return play.run(loop, wanted, spec)


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


def format_for(
    game: Any, agents: Sequence[Any] = (), spec: str | None = None, flatten: Callable[..., FlatGame] = flatten
) -> Format:
    """The format of a game's matches: duplicate if its simulator provides deals, else a rotation of the seats.

    The game is flattened if compiled code can then play these agents, unless it is large.
    """
    if isinstance(game, FlatGame):
        return Rotation(game.num_players, game)
    if agents and len(agents) != int(game.num_players()):
        return Sides(sides_of(game))
    found = part_of(game, "match_deals")
    source = found(game) if found is not None else None
    if source is not None:
        return Duplicate(source)
    flat = None
    if agents and all(isinstance(agent, TabularStrategy | Uniform) for agent in agents) and _soon_flattened(game):
        with contextlib.suppress(NoTreeError):
            flat = flatten(game, name=spec)
    return Rotation(int(game.num_players()), flat)


def _soon_flattened(game: Any) -> bool:
    """Whether building a tree takes less time than playing most matches without one."""
    try:
        return estimate_nodes(game.new_initial_state()) <= MOST_NODES
    except Exception:  # the game's own code fails: flattening says where
        return True


def play_hand(
    game: Any,
    luck: Luck,
    agents: Sequence[Any],
    names: Sequence[str] | None = None,
    seed: int = 0,
) -> Table:
    """Play one hand between agents, one per seat; return the table at its end."""
    for seat, agent in enumerate(agents):
        begin(agent, game, seat, seed)
    table = Table(game, luck, names)
    while not table.is_over:
        for seat in table.to_act:
            table.take(seat, agents[seat].act(table.view(seat)))
    return table


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


class _Counted:
    """A match in progress, played in blocks of deals."""

    def __init__(
        self,
        rules: Any,
        format: Format,
        agents: Sequence[Any],
        names: tuple[str, ...],
        seed: int,
        keep: bool,
        progress: Progress | None,
    ) -> None:
        self.rules, self.format, self.agents, self.names = rules, format, agents, names
        self.seed, self.keep, self.progress = seed, keep, progress
        self.luck = format.luck(seed)
        self.reported = 0.0  # the time of the last progress report
        self.pace: Pace | None = None  # if the number of hands is left open
        self.deals = 0
        self.interrupted = False

    def run(self, loop: Any, hands: int, spec: str) -> MatchResult:
        format, self.deals = self.format, self.format.deals(hands)
        turns = len(format.seatings(0))
        tally, ends, played = format.tally(), [], 0
        began = time.perf_counter()
        with stopping() as stop:
            try:
                self._report(0, turns)
                while played < self.deals and not stop.is_set():
                    first, count = played, min(format.block, self.deals - played)
                    plain = loop is None
                    block = self._plain(first, count, stop) if plain else self._compiled(loop, first, count)
                    if len(block.points):
                        tally.add(block.points, first)
                        ends.append(block.ends)
                    played += len(block.points)
                    if self.interrupted:
                        break
                    self._report(played, turns)
            except KeyboardInterrupt:
                self.interrupted = True
        self.interrupted |= played < self.deals
        if played == 0:
            raise KeyboardInterrupt
        seconds = time.perf_counter() - began
        means, errors = tally.means_and_errors()
        return MatchResult(
            game=spec,
            names=self.names,
            hands=played * turns,
            deals=played,
            seed=self.seed,
            seconds=seconds,
            interrupted=self.interrupted,
            means=means,
            standard_errors=errors,
            totals=tally.totals(),
            format=format,
            start=self.rules.new_initial_state(),
            ends=_joined(ends) if self.keep else None,
        )

    def _report(self, played: int, turns: int) -> None:
        if self.progress is not None:
            self.reported = time.monotonic()
            self.progress(played * turns, self.deals * turns)

    def _compiled(self, loop: Any, first: int, count: int) -> Block:
        points, ends = loop.play(first, count)
        return Block(points, ends if self.keep else None)

    def _plain(self, first: int, count: int, stop: Stop) -> Block:
        """Play a block at a table, hand by hand; a signal keeps the completed deals."""
        format, players = self.format, int(self.rules.num_players())
        turns = len(format.seatings(0))
        scores, ends, done = np.zeros((count, turns, players)), [], 0
        try:
            for place in range(count):
                if stop.is_set() or first + place >= self.deals:
                    break
                deal = first + place
                luck, kept = self.luck(deal), []
                for turn, seating in enumerate(format.seatings(deal)):
                    sitting = [self.agents[player] for player in seating]
                    called = [self.names[player] for player in seating]
                    with stop.at_once():
                        table = play_hand(self.rules, luck, sitting, called, self.seed + deal)
                    scores[place, turn] = table.scores
                    if self.keep:
                        kept.append(format.end(table.moves))
                ends.append(kept)
                done = place + 1
                if self.pace is not None:
                    self.deals = self.pace.deals(first + done, self.deals, turns)
                if time.monotonic() - self.reported > REPORT_SECONDS:
                    self._report(first + done, turns)
        except KeyboardInterrupt:
            self.interrupted = True
        return Block(format.counted(scores[:done]), ends[:done])


def _joined(blocks: Sequence[Any]) -> Any:
    """Concatenate blocks of ends: arrays into an array, lists of moves into a list."""
    if isinstance(blocks[0], np.ndarray):
        return np.concatenate(blocks)
    kept = [deal for block in blocks for deal in block]
    if isinstance(kept[0][0], tuple):
        return [hand for deal in kept for hand in deal]
    return np.array(kept, np.int32)
