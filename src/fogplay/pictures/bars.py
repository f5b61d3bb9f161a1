"""Action bars: the probabilities of actions, one bar per situation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fogplay.errors import FogplayError
from fogplay.pictures.svg import COLOURS, document, rectangle, text, title

WIDTH, TALL, NAMES = 480.0, 24.0, 168.0
NARROW = 0.09  # shares below which a bar has no words


def draw_bars(rows: Mapping[str, Mapping[str, float]], heading: str = "") -> str:
    """A bar for each of ``rows``, from the name of a situation to the probability of each action."""
    if not rows:
        raise FogplayError("there is no situation to draw: the strategy has no infosets")
    colours = colours_of([action for shares in rows.values() for action in shares])
    parts, y = [], 8.0
    if heading:
        parts.append(text(8, y + 16, heading, 16, anchor="start"))
        y += 28
    for name, shares in rows.items():
        parts.append(_bar(name, shares, colours, y))
        y += TALL + 6
    legend, tall = _legend(colours, y)
    words = "; ".join(f"{name}: {in_words(shares)}" for name, shares in rows.items())
    return document(WIDTH, y + tall, [*parts, legend], f"{heading} {words}".strip())


def colours_of(actions: Sequence[str]) -> dict[str, int]:
    """A colour per action, in the order of their first appearance."""
    return {action: place % COLOURS for place, action in enumerate(dict.fromkeys(actions))}


def in_words(shares: Mapping[str, float]) -> str:
    """``67 % fold, 33 % call``."""
    return ", ".join(f"{100 * share:.0f} % {action}" for action, share in shares.items() if share >= 0.005)


def segments(
    shares: Mapping[str, float],
    colours: Mapping[str, int],
    x: float,
    y: float,
    wide: float,
    tall: float,
    titled: bool = True,
) -> str:
    """A bar without its name; ``titled`` parts say what they are to a pointer that rests on them."""
    parts = []
    for action, share in shares.items():
        if share > 0:
            told = title(f"{action} {share:.1%}") if titled else ""
            parts.append(rectangle(x, y, wide * share, tall, f"a{colours[action]}", inside=told))
        x += wide * max(share, 0.0)
    return "".join(parts)


def _bar(name: str, shares: Mapping[str, float], colours: Mapping[str, int], y: float) -> str:
    short = name if len(name) <= 24 else name[:23] + "…"
    parts = [text(NAMES - 8, y + 18, short, 14, anchor="end")]
    wide = WIDTH - NAMES - 8
    parts.append(segments(shares, colours, NAMES, y, wide, TALL))
    x = NAMES
    for share in shares.values():
        if share >= NARROW:
            percent = text(x + wide * share / 2, y + 18, f"{100 * share:.0f} %", 13)
            parts.append(
                percent.replace("<text ", '<text style="fill:#fff;paint-order:stroke;stroke:#000;stroke-width:2" ')
            )
        x += wide * max(share, 0.0)
    return "".join(parts)


def _legend(colours: Mapping[str, int], y: float) -> tuple[str, float]:
    """The colours with their actions, and the height."""
    parts, x, top = [], 8.0, y
    for action, colour in colours.items():
        short = action if len(action) <= 24 else action[:23] + "…"
        wide = 30 + 9 * len(short)
        if x + wide > WIDTH:
            x, y = 8.0, y + 24
        parts.append(rectangle(x, y + 4, 14, 14, f"a{colour}") + text(x + 20, y + 16, short, 14, anchor="start"))
        x += wide
    return "".join(parts), y + 30 - top
