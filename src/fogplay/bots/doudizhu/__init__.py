"""Named bots for Doudizhu, each on a view of one seat; docs/bots/doudizhu.md tells how they play.

``random`` draws every legal move with the same probability, kickers counted, so that heads with many kickers are drawn
often (it is ``uniform`` by another name). ``greedy`` and ``rhcp`` are plain (``plain.py``), ``rules`` has rules of
thumb (``rules.py``), ``strong`` searches (``playouts.py``); ``strong-fast`` thinks a quarter as long, ``strong-slow``
four times as long, ``strong:8000`` with so many playouts. ``deltadou`` searches with networks and inference
(``deltadou.py``), ``deltadou:600`` with so many playouts; ``deltadou-plain`` draws worlds evenly, ``deltadou-policy``
asks its networks alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fogplay.bots.doudizhu import arena
from fogplay.bots.doudizhu.agents import STRONG, Advice, Candidate, Compiled, Random, Strong, checked
from fogplay.bots.doudizhu.deltadou import Settings as DeltaSettings
from fogplay.bots.doudizhu.player import DeltaDou, settings_from, without_inference
from fogplay.bots.doudizhu.playouts import MOST_WORLDS, Settings
from fogplay.errors import FogplayError
from fogplay.games.doudizhu import Doudizhu

__all__ = [
    "BOTS",
    "STRONG",
    "Advice",
    "Candidate",
    "Compiled",
    "DeltaDou",
    "DeltaSettings",
    "Random",
    "Settings",
    "Strong",
    "accepts",
    "bot",
    "bots",
    "default",
    "names",
    "opponents",
    "trainer",
]


def thinking(factor: float) -> Settings:
    """The settings of ``strong`` with this many times the playouts."""
    worlds = min(max(round(STRONG.worlds * factor), 1), MOST_WORLDS)
    return STRONG._replace(playouts=round(STRONG.playouts * factor), worlds=worlds)


DELTADOU = "deltadou"
BOTS: dict[str, Callable[[], Any]] = {
    "random": Random,
    "greedy": lambda: Compiled(arena.GREEDY),
    "rhcp": lambda: Compiled(arena.RHCP),
    "rules": lambda: Compiled(arena.RULES),
    "strong": Strong,
    "strong-fast": lambda: Strong(thinking(0.25)),
    "strong-slow": lambda: Strong(thinking(4)),
    DELTADOU: DeltaDou,
    "deltadou-plain": lambda: DeltaDou(without_inference(DeltaSettings())),
    "deltadou-policy": lambda: DeltaDou(DeltaSettings(playouts=0)),
}


STRENGTHS = {  # from the strongest to the weakest; shares of games won are those of docs/bots/doudizhu.md
    "deltadou:600": "deltadou with three times the playouts: wins 62 % of the games against strong.",
    DELTADOU: "Networks, and a search that infers the others' hands; about a tenth of a second per move.",
    "deltadou-plain": "deltadou without inference: the others' hands are drawn evenly.",
    "deltadou-policy": "The networks of deltadou alone, without a search: moves at once.",
    "strong-slow": "strong with four times the playouts.",
    "strong": "Tries its moves in sampled hands of the others: wins 63 % of the games against rules.",
    "strong-fast": "strong with a quarter of the playouts.",
    "rules": "Groups its cards well and follows rules of thumb about tricks and partners: wins 65 % against rhcp.",
    "rhcp": "Splits its cards into the most valuable groups: wins 56 % against greedy.",
    "greedy": "The longest lead and the lowest answer: wins 91 % against random.",
    "random": "Draws every move, kickers counted.",
}


def opponents(rules: Doudizhu) -> dict[str, str]:
    """A sentence on the strength of every bot, by name; the strongest come first."""
    return STRENGTHS


def _thinking(playouts: str) -> Settings:
    """The settings of ``strong:PLAYOUTS``."""
    try:
        return checked(thinking(int(float(playouts)) / STRONG.playouts))
    except (ValueError, OverflowError) as error:
        why = f"{error}" if isinstance(error, FogplayError) else f"{playouts!r} is not a number"
        raise FogplayError(f"{why}; write strong:PLAYOUTS, such as strong:{4 * STRONG.playouts}") from None


# Bots that take settings after a colon.
ADJUSTABLE: dict[str, Callable[[str], Any]] = {
    "strong": lambda playouts: Strong(_thinking(playouts)),
    DELTADOU: lambda settings: DeltaDou(settings_from(settings)),
}


def default(rules: Doudizhu) -> str:
    """The bot that plays if none is named."""
    return DELTADOU


def accepts(name: str, rules: Doudizhu) -> bool:
    """Whether a text is the name of a bot with its settings: ``deltadou:600``."""
    prefix, colon, _ = name.partition(":")
    return bool(colon) and prefix in ADJUSTABLE


def bot(name: str) -> Any:
    """A bot by its name, or by its name and settings."""
    prefix, colon, settings = name.partition(":")
    if colon and prefix in ADJUSTABLE:
        return ADJUSTABLE[prefix](settings)
    if name not in BOTS:
        raise FogplayError(f"there is no bot '{name}'; there are {', '.join(BOTS)}")
    return BOTS[name]()


def names(rules: Doudizhu) -> tuple[str, ...]:
    """The bots that can play these rules: all of them."""
    return tuple(BOTS)


def bots(wanted: Sequence[str], rules: Doudizhu, company: Sequence[Any] = ()) -> dict[str, Any]:
    """Bots by name."""
    return {name: bot(name) for name in wanted}


def trainer(
    rules: Doudizhu, folder: Path, device: str, seed: int, chosen: Mapping[str, Any], search: bool, engine: str
) -> tuple[Any, Any]:
    """A run that trains networks for these rules, and how to judge them: ``judge(evaluate, decks)``.

    With ``search`` it goes by episodes of self-play with search, as in the paper, played in threads or by an engine.
    """
    from fogplay.bots.doudizhu import training

    if not search:
        return training.trainer(rules, folder, device, seed, chosen), training.judge
    run = training.episodes(rules, folder, device, seed, chosen, engine)
    return run, lambda evaluate, decks: training.judge(evaluate, decks, run.plan.judged)
