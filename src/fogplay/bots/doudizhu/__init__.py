"""Named bots for Doudizhu, each on a view of one seat; docs/bots/doudizhu.md tells how they play.

``random`` draws every legal move with the same probability, kickers counted, so that heads with many kickers are drawn
often (it is ``uniform`` by another name). ``greedy`` and ``rhcp`` are plain (``plain.py``), ``rules`` has rules of
thumb (``rules.py``), ``strong`` searches (``playouts.py``); ``strong-fast`` thinks a quarter as long, ``strong-slow``
four times as long, ``strong:PLAYOUTS`` as long as it is told to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fogplay.bots.doudizhu import arena
from fogplay.bots.doudizhu.agents import STRONG, Advice, Candidate, Compiled, Random, Strong
from fogplay.bots.doudizhu.playouts import MOST_WORLDS, Settings
from fogplay.errors import FogplayError
from fogplay.games.doudizhu import Doudizhu

__all__ = [
    "ADJUSTABLE",
    "BOTS",
    "STRONG",
    "Advice",
    "Candidate",
    "Compiled",
    "Random",
    "Settings",
    "Strong",
    "bot",
    "bots",
    "default",
    "names",
]


def thinking(factor: float) -> Settings:
    """The settings of ``strong`` with this many times the playouts."""
    worlds = min(max(round(STRONG.worlds * factor), 1), MOST_WORLDS)
    return STRONG._replace(playouts=round(STRONG.playouts * factor), worlds=worlds)


BOTS: dict[str, Callable[[], Any]] = {
    "random": Random,
    "greedy": lambda: Compiled(arena.GREEDY),
    "rhcp": lambda: Compiled(arena.RHCP),
    "rules": lambda: Compiled(arena.RULES),
    "strong": Strong,
    "strong-fast": lambda: Strong(thinking(0.25)),
    "strong-slow": lambda: Strong(thinking(4)),
}


ADJUSTABLE = ("strong",)


def default(rules: Doudizhu) -> str:
    """The bot that plays if none is named."""
    return "strong"


def bot(text: str) -> Any:
    """A bot by its name, with ``:PLAYOUTS`` after one of ``ADJUSTABLE``."""
    name, colon, playouts = text.partition(":")
    if name not in BOTS or (colon and name not in ADJUSTABLE):
        raise FogplayError(f"there is no bot '{text}'; there are {', '.join(BOTS)} and strong:PLAYOUTS")
    if not colon:
        return BOTS[name]()
    try:
        return Strong(thinking(int(float(playouts)) / STRONG.playouts))
    except (ValueError, OverflowError) as error:
        why = f"{error}" if isinstance(error, FogplayError) else f"{playouts!r} is not a number"
        raise FogplayError(f"{why}; write strong:PLAYOUTS, such as strong:{4 * STRONG.playouts}") from None


def names(rules: Doudizhu) -> tuple[str, ...]:
    """The bots that can play these rules: all of them."""
    return tuple(BOTS)


def bots(wanted: Sequence[str], rules: Doudizhu, company: Sequence[Any] = ()) -> dict[str, Any]:
    """Bots by name."""
    return {name: bot(name) for name in wanted}
