"""Lines over the work done, such as nash_conv over iterations, on logarithmic scales, or a score on a plain one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fogplay.pictures.svg import COLOURS, document, number, rectangle, text

WIDTH, HEIGHT = 480.0, 270.0  # narrow, so that its words can be read on a phone; the legend comes on top
LEFT, RIGHT, BOTTOM = 62.0, 22.0, 42.0
ROW, COLUMN = 21.0, 232.0  # of the legend
LETTERS = 26  # of a name in the legend
TICKS = 5  # at most, on a plain scale
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Points = Sequence[tuple[float, float]]


def draw_lines(lines: Mapping[str, Points], across: str, up: str, plain: bool = False) -> str:
    """Each line's points ``(x, y)``; what is not positive is left out where logarithms are taken.

    ``plain`` is for values that may be negative: then only the work is on a logarithmic scale.
    """
    kept = {name: [(x, y) for x, y in points if x > 0 and (plain or y > 0)] for name, points in lines.items()}
    points = [point for each in kept.values() for point in each]
    if not points:
        return document(WIDTH, 80, [text(WIDTH / 2, 45, "No measurement yet", 18, "soft")], "no measurement yet")
    marks = _marks([y for _, y in points]) if plain else _decades([y for _, y in points])
    low_x, high_x, ticks_x = _decades([x for x, _ in points])
    low_y, high_y, ticks_y = marks
    top = 30 + ROW * math.ceil(len(kept) / 2)
    tall = top + HEIGHT - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        above = ((y if plain else math.log10(y)) - low_y) / (high_y - low_y)
        right = (math.log10(x) - low_x) / (high_x - low_x)
        return LEFT + right * (WIDTH - LEFT - RIGHT), tall - above * (tall - top)

    parts = [rectangle(LEFT, top, WIDTH - LEFT - RIGHT, tall - top, "panel")]
    for x in ticks_x:
        parts.append(text(place(x, ticks_y[0])[0], tall + 18, _tick(x), 13, "soft"))
    for y in ticks_y:
        parts.append(text(LEFT - 6, place(ticks_x[0], y)[1] + 4, _tick(y), 13, "soft", "end"))
    for number_, (name, each) in enumerate(kept.items()):
        parts.append(_line([place(*point) for point in each], number_ % COLOURS))
        x, y = 8 + COLUMN * (number_ % 2), 6 + ROW * (number_ // 2)
        short = name if len(name) <= LETTERS else name[: LETTERS - 1] + "…"
        parts.append(rectangle(x, y, 14, 14, f"a{number_ % COLOURS}") + text(x + 20, y + 12, short, 14, anchor="start"))
    parts.append(text((LEFT + WIDTH) / 2, tall + 36, across, 14, "soft"))
    parts.append(text(8, top - 8, up, 14, "soft", "start"))
    last = "; ".join(f"{name}: {each[-1][1]:.3g} at {each[-1][0]:g}" for name, each in kept.items() if each)
    return document(WIDTH, tall + BOTTOM, parts, f"{up} over {across}. {last}")


def _line(points: Points, colour: int) -> str:
    """A line, or a dot where there is only one point."""
    joined = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    line = f'<polyline class="s{colour}" stroke-width="2.5" points="{joined}"/>'
    if len(points) != 1:
        return line
    return f'<circle class="a{colour}" cx="{number(points[0][0])}" cy="{number(points[0][1])}" r="4"/>'


def _tick(value: float) -> str:
    """A mark on an axis; powers of ten with many digits as such."""
    power = round(math.log10(value)) if value > 0 else 0
    if abs(power) > 3 and math.isclose(value, 10.0**power):
        return "10" + str(power).translate(RAISED)
    return f"{value:g}"


def _decades(values: Sequence[float]) -> tuple[float, float, list[float]]:
    """The logarithms around some values, at least a decade, and the powers of ten between them."""
    low, high = math.floor(math.log10(min(values)) * 4) / 4, math.ceil(math.log10(max(values)) * 4) / 4
    if high - low < 1:
        low, high = low - (1 - high + low) / 2, high + (1 - high + low) / 2
    return low, high, [10.0**power for power in range(math.ceil(low), math.floor(high) + 1)]


def _marks(values: Sequence[float]) -> tuple[float, float, list[float]]:
    """A plain scale around some values, and round numbers on it."""
    low, high = min(values), max(values)
    wide = high - low or abs(high) or 1.0
    step = 10.0 ** math.floor(math.log10(wide / TICKS))
    step = next(step * factor for factor in (1, 2, 5, 10) if wide / (step * factor) <= TICKS - 1)
    first, last = math.floor(low / step), math.ceil(high / step)
    first, last = (first, last) if last > first else (first - 1, last + 1)
    return first * step, last * step, [step * tick for tick in range(first, last + 1)]
