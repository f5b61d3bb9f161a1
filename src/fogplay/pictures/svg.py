"""Pieces of SVG as text. Everything that a person or a game may have written is escaped here."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Colours by class, so that a picture follows a page's or a browser's light and dark mode.
STYLE = """<style>
.fp{--fp-table:#e4efe7;--fp-edge:#9db8a6;--fp-ink:#14231b;--fp-soft:#4a5c52;--fp-face:#fff;--fp-line:#8a938d;
--fp-back:#2d5d8c;--fp-black:#16181a;--fp-red:#b3151c;--fp-green:#0b6b35;--fp-blue:#1748b0;--fp-turn:#9a4b00;
--fp-panel:#fff;--fp-0:#0072b2;--fp-1:#d55e00;--fp-2:#009e73;--fp-3:#cc79a7;--fp-4:#e69f00;--fp-5:#56b4e9;
font-family:system-ui,'DejaVu Sans',sans-serif}
@media(prefers-color-scheme:dark){.fp{--fp-table:#17352a;--fp-edge:#3c6350;--fp-ink:#eef5f0;--fp-soft:#b4c6bb;
--fp-face:#f4f2ea;--fp-line:#6d756f;--fp-back:#3f78b0;--fp-turn:#ffc46b;--fp-panel:#10251d;--fp-0:#2e9bdc}}
.fp text{fill:var(--fp-ink)}.fp .soft{fill:var(--fp-soft)}.fp .turn{fill:var(--fp-turn);font-weight:700}
.fp .table{fill:var(--fp-table);stroke:var(--fp-edge)}.fp .face{fill:var(--fp-face);stroke:var(--fp-line)}
.fp .back{fill:var(--fp-back);stroke:var(--fp-face);stroke-width:2}
.fp .panel{fill:var(--fp-panel);stroke:var(--fp-edge)}
.fp .black,.fp .suit-s,.fp .suit-c{color:var(--fp-black);fill:currentColor}
.fp .red,.fp .suit-h,.fp .suit-d{color:var(--fp-red);fill:currentColor}.fp .backed{color:var(--fp-back)}
.four .suit-c{color:var(--fp-green)!important}.four .suit-d{color:var(--fp-blue)!important}
.fp .line{stroke:var(--fp-line);fill:none}.fp .a0{fill:var(--fp-0)}.fp .a1{fill:var(--fp-1)}.fp .a2{fill:var(--fp-2)}
.fp .a3{fill:var(--fp-3)}.fp .a4{fill:var(--fp-4)}.fp .a5{fill:var(--fp-5)}.fp .none{fill:var(--fp-line);opacity:.3}
.fp .s0{stroke:var(--fp-0);fill:none}.fp .s1{stroke:var(--fp-1);fill:none}.fp .s2{stroke:var(--fp-2);fill:none}
.fp .s3{stroke:var(--fp-3);fill:none}.fp .s4{stroke:var(--fp-4);fill:none}.fp .s5{stroke:var(--fp-5);fill:none}
.fp g:focus-visible{outline:3px solid var(--fp-turn)}
</style>"""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
COLOURS = 6  # classes a0, a1, …: a palette that colour-blind people can tell apart (Okabe and Ito)


@dataclass(frozen=True)
class Picture:
    """A drawing: notebooks show it, and ``save`` writes it."""

    svg: str

    def _repr_html_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as an SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")


def escape(text: object) -> str:
    """Any text as SVG or HTML may hold it, in attributes too; control characters are dropped."""
    return html.escape(_CONTROL.sub("", str(text)), quote=True)


def number(value: float) -> str:
    """A coordinate, short."""
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, words: object, size: float = 16, kind: str = "", anchor: str = "middle") -> str:
    """A line of text; ``kind`` is a class."""
    named = f' class="{kind}"' if kind else ""
    place = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}" text-anchor="{anchor}"'
    return f"<text {place}{named}>{escape(words)}</text>"


def rectangle(x: float, y: float, width: float, height: float, kind: str, radius: float = 0, inside: str = "") -> str:
    """A rectangle; ``inside`` may hold its title."""
    round_ = f' rx="{number(radius)}"' if radius else ""
    size = f'width="{number(width)}" height="{number(height)}"'
    return f'<rect x="{number(x)}" y="{number(y)}" {size}{round_} class="{kind}">{inside}</rect>'


def title(words: object) -> str:
    """What a pointer that rests on an element shows."""
    return f"<title>{escape(words)}</title>"


def document(width: float, height: float, parts: Sequence[str], label: str, role: str = "img", kind: str = "fp") -> str:
    """A whole picture; ``label`` is what a screen reader says. In a ``group``, parts have labels of their own."""
    size = f'viewBox="0 0 {number(width)} {number(height)}" width="100%"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="{role}" aria-label="{escape(label)}" {size}'
    return f'{head} style="max-width:{number(1.6 * width)}px">{STYLE}{"".join(parts)}</svg>'


def wrapped(words: str, width: int) -> list[str]:
    """Lines of at most ``width`` letters, broken at spaces where there are any."""
    lines = []
    for line in words.splitlines() or [""]:
        rest = line
        while len(rest) > width:
            cut = rest.rfind(" ", width // 2, width + 1)
            cut = cut if cut > 0 else width
            lines.append(rest[:cut].rstrip())
            rest = rest[cut:].lstrip()
        lines.append(rest)
    return lines
