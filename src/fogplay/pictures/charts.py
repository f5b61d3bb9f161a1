"""Lines over the work done, such as nash_conv over iterations, both on logarithmic scales."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fogplay.pictures.svg import document, number, rectangle, text

WIDTH, HEIGHT = 640.0, 340.0
LEFT, RIGHT, TOP, BOTTOM = 74.0, 16.0, 34.0, 44.0
COLOURS = 4


def draw_lines(lines: Mapping[str, Sequence[tuple[float, float]]], across: str, up: str) -> str:
    """Each line's points ``(x, y)``; those that are not positive are left out, as logarithms need."""
    kept = {name: [(x, y) for x, y in points if x > 0 and y > 0] for name, points in lines.items()}
    points = [point for each in kept.values() for point in each]
    if not points:
        return document(WIDTH, 80, [text(WIDTH / 2, 45, "No measurement yet", 18, "soft")], "no measurement yet")
    low_x, high_x = _range([x for x, _ in points])
    low_y, high_y = _range([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        right = (math.log10(x) - low_x) / (high_x - low_x)
        above = (math.log10(y) - low_y) / (high_y - low_y)
        return LEFT + right * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - above * (HEIGHT - TOP - BOTTOM)

    parts = [rectangle(LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM, "panel")]
    for power in range(math.ceil(low_x), math.floor(high_x) + 1):
        parts.append(text(place(10.0**power, 10**low_y)[0], HEIGHT - BOTTOM + 18, f"{10.0**power:g}", 13, "soft"))
    for power in range(math.ceil(low_y), math.floor(high_y) + 1):
        parts.append(text(LEFT - 6, place(10**low_x, 10.0**power)[1] + 4, f"{10.0**power:g}", 13, "soft", "end"))
    for number_, (name, each) in enumerate(kept.items()):
        joined = " ".join(f"{number(x)},{number(y)}" for x, y in (place(*point) for point in each))
        parts.append(f'<polyline class="s{number_ % COLOURS}" stroke-width="2.5" points="{joined}"/>')
        parts.append(rectangle(LEFT + 36 + 150 * number_, 10, 14, 14, f"a{number_ % COLOURS}"))
        parts.append(text(LEFT + 150 * number_ + 56, 22, name[:18], 14, anchor="start"))
    parts.append(text(WIDTH / 2, HEIGHT - 8, across, 14, "soft"))
    parts.append(text(8, TOP - 12, up, 14, "soft", "start"))
    last = "; ".join(f"{name}: {each[-1][1]:.3g} at {each[-1][0]:g}" for name, each in kept.items() if each)
    return document(WIDTH, HEIGHT, parts, f"{up} over {across}. {last}")


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The decades around some values, at least one."""
    low, high = math.floor(math.log10(min(values)) * 4) / 4, math.ceil(math.log10(max(values)) * 4) / 4
    return (low, high) if high - low >= 1 else (low - (1 - high + low) / 2, high + (1 - high + low) / 2)
