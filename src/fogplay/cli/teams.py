"""Matches of teams at the command line: how much to play, decks in files, and results by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fogplay import checks
from fogplay.cli.console import say, table
from fogplay.errors import FogplayError
from fogplay.storage import atomically

DECKS = 1000  # by default
NOTATION = "fogplay.notation"
NORMAL_95 = 1.959964
LARGEST_FILE = 1 << 30  # bytes


class Order(NamedTuple):
    """What to play: the options of a match, checked."""

    hands: int | None  # None: as many as suit the agents
    decks: list[Any] | None
    limit: float | None
    workers: int | None

    @classmethod
    def read(
        cls,
        rules: Any,
        spec: str,
        agents: Sequence[str],
        hands: int | None,
        decks: int | None,
        deck_file: Path | None,
        save_decks: Path | None,
        limit: float | None,
        workers: int | None,
    ) -> Order:
        """Refuse options that do not go together; otherwise choose what was left open."""
        from fogplay.play import format_for, sides_of

        teams = len(agents) == len(set(sides_of(rules)))
        if hands is not None and decks is not None:
            raise FogplayError("--hands and --decks both say how much to play; give one of them")
        if (deck_file is not None or save_decks is not None) and not teams:
            _decks_of(rules, spec)
            raise FogplayError(f"--deck-file and --save-decks need one agent for each side of {spec}: name two")
        if limit is not None:
            checks.number("--time-limit", limit, 0.001, 86400.0)
        if workers is not None:
            checks.whole("--workers", workers, 1, 1024)
        dealt = None if deck_file is None else read_decks(deck_file, rules, spec)
        if not teams and decks is None:
            return cls(hands, None, limit, workers)
        turns = len(format_for(rules, agents if teams else ()).seatings(0))
        if decks is not None:
            hands = checks.whole("--decks", decks, 1, checks.MOST_HANDS // turns) * turns
        if dealt is not None:
            hands = _of_the_file(len(dealt), hands, turns, deck_file)
        if hands is None and teams:
            hands = DECKS * turns
        return cls(hands, dealt, limit, (workers or cores()) if teams else workers)


def _of_the_file(there: int, hands: int | None, turns: int, file: Path | None) -> int:
    if hands is not None and hands > there * turns:
        raise FogplayError(f"{file} has {there:,} decks, fewer than the {-(-hands // turns):,} asked for")
    return there * turns if hands is None else hands


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _decks_of(rules: Any, spec: str) -> Any:
    """The game's own way to read and write decks."""
    from fogplay.simulators import part_of

    own = part_of(rules, "decks_of", NOTATION)
    if own is None:
        raise FogplayError(f"{spec} has no form for decks in files; leave --deck-file and --save-decks out")
    return own(rules)


def read_decks(file: Path, rules: Any, spec: str) -> list[Any]:
    """The decks of a file."""
    form = _decks_of(rules, spec)
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise FogplayError(f"{file} has more than {LARGEST_FILE >> 30} GB: that is not a file of decks")
        data = file.read_bytes()
    except OSError as error:
        raise FogplayError(f"--deck-file: {file} cannot be read ({error.strerror})") from None
    decks: list[Any] = form.read_decks(data, str(file))
    return decks


def write_decks(file: Path, rules: Any, spec: str, outcome: Any) -> None:
    """Write the decks that a match was played with."""
    from fogplay.play import Table

    luck = outcome.format.luck(outcome.seed)
    decks = [Table(rules, luck(deal)).moves for deal in range(outcome.deals)]
    data = _decks_of(rules, spec).written_decks(decks, str(file))
    with atomically(file) as temporary:
        Path(temporary).write_bytes(data)


def show_sides(game: str, outcome: Any, asked: int | None) -> None:
    """The results of a match of teams: wins and points, together and by side, with 95 % intervals over decks."""
    early = "stopped early, " if outcome.interrupted else ""
    of = f" of {asked:,}" if outcome.interrupted and asked is not None else ""
    turns = outcome.hands // outcome.deals
    dealt = f"{outcome.deals:,} decks, each with {turns} assignments of the sides"
    say(f"{game}: {early}{outcome.hands:,}{of} hands ({dealt}) in {outcome.seconds:.2f} s")
    show = table("player", "side", "hands", "wins (WP)", "95 %", outcome.unit, "95 %")
    for row in outcome.by_side:
        wins, points = 100 * NORMAL_95 * row.wins_error, NORMAL_95 * row.error
        name = outcome.names[row.player] if row.side == outcome.by_side[0].side else ""
        show.add_row(
            name, row.side, f"{row.hands:,}", f"{100 * row.wins:.2f} %", f"± {wins:.2f}", f"{row.mean:+.4f}",
            f"± {points:.4f}",
        )  # fmt: skip
    say(show)


def show_troubles(outcome: Any) -> None:
    """What players did wrong, one line each."""
    for each in outcome.troubles:
        times = "once" if each.times == 1 else f"{each.times:,} times"
        say(f"{outcome.names[each.player]} {each.kind} {times} (first: {each.first})")
