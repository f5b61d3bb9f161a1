"""What the last round of a full measure costs on a GPU, by its settings.

    python benchmarks/river.py --player smooth-uct-average --lines 64 32 --ahead 4 8

For each setting: registers, blocks per multiprocessor, milliseconds of both kernels for some boards of the round before
(with nothing else running), the seconds that a full measure would spend in them, and a check against the first setting.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from typing import Any

import numpy as np

from fogplay.bots.holdem import bots
from fogplay.games.holdem import Holdem
from fogplay.simulators.holdem_full import full_game
from fogplay.simulators.holdem_vectors_gpu import SIMULATED, THREADS, cuda, sum_boards
from fogplay.simulators.holdem_walk_gpu import GpuWalk, _Place, _Turn, on_gpu

RULES, ALL_BOARDS, FLOP = Holdem(), 2_554_656, (3, 22, 41)
SEAT = 0


def turns_of(walk: GpuWalk, place: Any) -> list[_Turn]:
    """Some turns of a flop of three suits; the reach at their rivers is in the place's buffers."""
    reach, found = walk.begin(), []
    flop = walk._board((FLOP,))
    after = walk._down(1, flop, reach)
    for place.turn, board in enumerate(walk.next_boards((FLOP,))[: walk.turns]):
        now = (FLOP, board.cards)
        found.append(_Turn(now, walk.next_boards(now), *walk.finishing(now)))
        walk._down(2, walk._board(now), after)
    return found


def milliseconds(stream: Any, launch: Any, repeats: int) -> float:
    """Of one launch, in the fastest of some repetitions."""
    best = np.inf
    for _ in range(repeats):
        if SIMULATED:
            began = time.perf_counter()
            launch()
            best = min(best, 1000 * (time.perf_counter() - began))
            continue
        begin, end = cuda.event(), cuda.event()
        begin.record(stream)
        launch()
        end.record(stream)
        end.synchronize()
        best = min(best, cuda.event_elapsed_time(begin, end))
    return float(best)


def time_walk(walk: GpuWalk, repeats: int) -> tuple[dict[str, Any], Any]:
    """The figures of one setting, and the values of the first turn."""
    place = _Place(walk)
    walk.places.place = place
    turns = turns_of(walk, place)
    began = time.perf_counter()
    values = place.walk(walk, turns)[0][SEAT].copy()
    whole = time.perf_counter() - began
    seat, layout, stream = walk.seats[SEAT], walk.layout, place.stream
    lanes, boards = walk.lanes[SEAT][-1].chunks * values.shape[-1], sum(len(turn.boards) for turn in turns)
    grid = boards, -(-lanes // seat.lines), seat.branches

    def river() -> None:
        seat.kernel[grid, seat.lines, stream, seat.shared](
            place.cards, place.reach[SEAT], seat.weight, seat.own, place.value[SEAT]
        )

    def sums() -> None:
        sum_boards[(-(-lanes * layout.everything // THREADS), len(turns)), THREADS, stream](
            place.turns, layout.turn_at, layout.places_at, seat.largest, place.cards, place.value[SEAT],
            place.sums[SEAT],
        )  # fmt: skip

    one, other = milliseconds(stream, river, repeats), milliseconds(stream, sums, repeats)
    scale = 2 * ALL_BOARDS / boards / 1000  # both seats
    found: dict[str, Any] = {
        "lines": seat.lines, "ahead": layout.ahead, "turns": len(turns), "boards": boards, "shared": seat.shared,
        "river_ms": round(one, 3), "sum_ms": round(other, 3), "first_call_s": round(whole, 3),
        "all_rivers_s": round(one * scale, 1), "all_sums_s": round(other * scale, 1),
    }  # fmt: skip
    if not SIMULATED:
        found |= resources(seat)
    return found, values


def resources(seat: Any) -> dict[str, Any]:
    """What the compiler and the driver say about a kernel."""
    function = list(seat.kernel.overloads.values())[-1].library.get_cufunc()
    try:
        active = cuda.current_context().get_active_blocks_per_multiprocessor(function, seat.lines, seat.shared)
    except Exception as error:  # a missing figure must not end the measure
        active = str(error)
    attributes = function.attrs
    return {"registers": attributes.regs, "local": attributes.local, "blocks_per_multiprocessor": active}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--player", default="smooth-uct-average")
    parser.add_argument("--lines", type=int, nargs="*", default=[64, 32])
    parser.add_argument("--ahead", type=int, nargs="*", default=[4])
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    walk, first = full_game(RULES, bots([given.player], RULES)[given.player]).walk, None
    for lines, ahead in itertools.product(given.lines, given.ahead):
        began = time.perf_counter()
        made = on_gpu(walk, lines=lines, turns=given.turns, ahead=ahead)
        built = round(time.perf_counter() - began, 1)
        found, values = time_walk(made, given.repeats)
        first = values if first is None else first
        difference = float(np.abs(values - first).max() / np.abs(first).max())
        print(json.dumps(found | {"compiled_s": built, "difference": difference}), flush=True)


if __name__ == "__main__":
    main()
