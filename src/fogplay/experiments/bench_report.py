"""The tables that ``fogplay bench`` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from fogplay.experiments.bench_rows import Row, compare, speedups
from fogplay.experiments.contestants import OURS


class ReportTable(NamedTuple):
    """A table to print."""

    title: str
    columns: tuple[str, ...]
    lines: list[tuple[str, ...]]


def report_tables(rows: Sequence[Row]) -> list[ReportTable]:
    """What the command prints: all contestants on the games that peers have, then how fogplay's cost grows."""
    if any(row.threads * row.processes > 1 for row in rows):
        return [_sharing(rows)]
    compared = {(each.game, each.race, each.peer): each for each in compare(rows)}
    shared = [row for row in rows if any(row.game == game for game, _, _ in compared)]
    ours = sorted((row for row in rows if row.contestant == OURS), key=lambda row: row.nodes or 0)
    speed: list[tuple[str, ...]] = []
    quality: list[tuple[str, ...]] = []
    size: list[tuple[str, ...]] = []
    for row in shared:
        against = compared.get((row.game, row.race, row.contestant))
        spread = f"{_show(row.slowest_round)} to {_show(row.fastest_round)}" if row.rounds else ""
        iterations = f"{row.iterations_to_target:,}" if row.iterations_to_target else ""
        who = (row.game, f"{row.contestant} {row.version}", row.algorithm)
        times = _times(against.speed if against else None)
        speed.append((*who, f"{row.unit}s", _show(row.iterations_per_second), spread, times, row.note))
        if row.target:
            times = _times(against.to_target if against else None)
            quality.append((*who, iterations, _show(row.seconds_to_target), times))
        size.append((*who, _show(row.build_seconds), _megabytes(row.start_bytes), _megabytes(row.peak_bytes)))
    targets = " or ".join(sorted({f"{row.target:g}" for row in rows if row.target}))
    side_by_side = [
        ReportTable(
            "Speed: the median round, and how many times as fast fogplay is",
            ("game", "contestant", "algorithm", "unit", "units/s", "slowest to fastest", "fogplay's", ""),
            speed,
        ),
        ReportTable(
            f"Seconds of iterating to nash_conv {targets}, from a fresh start",
            ("game", "contestant", "algorithm", "units", "seconds", "fogplay's"),
            quality,
        ),
        ReportTable(
            "Memory of the process: before the game is built, and the peak while it iterates",
            ("game", "contestant", "algorithm", "build s", "MB before", "peak MB"),
            size,
        ),
    ]
    return [*(side_by_side if shared else []), *_growth(ours)]


def _growth(rows: Sequence[Row]) -> list[ReportTable]:
    """By game, from small to large; the first algorithm of each game shows the cost of building."""
    first = {row.game: row for row in reversed(rows)}
    building: list[tuple[str, ...]] = []
    iterating: list[tuple[str, ...]] = []
    for row in rows:
        what = (row.game, f"{row.nodes:,}" if row.nodes else row.note)
        if row is first[row.game]:
            built = (_show(row.build_seconds), _show(row.nodes_per_second))
            building.append((*what, *built, _megabytes(row.tree_bytes), _show(row.bytes_per_node)))
        each = 1e9 / row.iterations_per_second if row.iterations_per_second else None
        cost = (f"{row.unit}s", _show(row.iterations_per_second), _show(each), _show(row.nanoseconds_per_node))
        iterating.append((*what, row.algorithm, *cost, _megabytes(row.table_bytes), _megabytes(row.peak_bytes)))
    return [
        ReportTable(
            "How fogplay's cost grows: building the tree",
            ("game", "nodes", "seconds", "nodes/s", "MB", "bytes/node"),
            building,
        ),
        ReportTable(
            "How fogplay's cost grows: iterating, and the memory of the whole process",
            ("game", "nodes", "algorithm", "unit", "units/s", "ns each", "ns/node", "MB of tables", "peak MB"),
            iterating,
        ),
    ]


def _sharing(rows: Sequence[Row]) -> ReportTable:
    lines: list[tuple[str, ...]] = []
    for row, times in zip(rows, speedups(rows), strict=True):
        alone = row.threads * row.processes == 1
        spread = f"{_show(row.slowest_round)} to {_show(row.fastest_round)}" if row.rounds else ""
        lost = "" if row.lost_share is None else f"{100 * row.lost_share:.2g} %"
        got = "" if row.core_share is None else f"{100 * row.core_share:.0f} %"
        rate = _show(row.iterations_per_second)
        lines.append((row.game, row.algorithm, rate, spread, "" if alone else _times(times), got, lost, row.note))
    columns = ("game", "algorithm", "episodes/s", "slowest to fastest", "one thread's", "of its cores", "lost", "")
    return ReportTable("A second core: two threads that share tables, or two concurrent runs", columns, lines)


def _times(ratio: float | None) -> str:
    return f"{_show(ratio)} ×" if ratio else ""


def _show(number: float | None) -> str:
    """Three significant digits, without an exponent."""
    if number is None:
        return ""
    digits = 2 - math.floor(math.log10(abs(number))) if number else 0
    return f"{round(number, digits):,.{max(digits, 0)}f}"


def _megabytes(size: int | None) -> str:
    return _show(size / 1e6) if size is not None else ""
