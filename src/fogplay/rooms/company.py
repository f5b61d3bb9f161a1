"""Who sits at the other seats of a room, and who reviews the person's choices."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay.agents import names_of, resolve
from fogplay.agents.advice import SEARCH, SHEETS, Reference, evaluated, searchers, sensible
from fogplay.agents.resolve import BOTS, UNIFORM, require_known
from fogplay.errors import FogplayError
from fogplay.games.registry import load, presets, registered
from fogplay.play import Uniform
from fogplay.simulators import part_of, prepare
from fogplay.strategies import Strategy
from fogplay.strategies import load as load_strategy
from fogplay.strategies.policy import BettingPolicy

BEST = "best"
OF_BOT = "The strongest bot of this game that moves quickly: {}."
OF_RULES = (
    "The best player that needs no file: an equilibrium, solved when you sit down, if the game is small; else a search."
)
SEARCHES = {
    "search:smooth-uct:200": "Thinks before every move, but not for long: 200 simulations of Smooth UCT.",
    SEARCH: "Thinks before every move: 2,000 simulations of Smooth UCT.",
    "search:smooth-uct:20000": "Thinks ten times as long: 20,000 simulations of Smooth UCT.",
    "search:uct:2000": "Thinks before every move: 2,000 simulations of UCT, which does not aim at an equilibrium.",
}
FOR_SHEETS = "Thinks for half a second before every move, as players of rule sheets do."
AT_RANDOM = "Makes every move with the same probability: the weakest opponent to practise with."
_SAFE = re.compile(r"[a-z][a-z0-9-]*(\([A-Za-z0-9_=,\[\] -]{0,200}\))?")
_making = threading.Lock()


@dataclass(frozen=True)
class Opponent:
    """An opponent to choose: what to name it by, and a sentence on its strength."""

    text: str
    sentence: str


@dataclass(frozen=True)
class Company:
    """The rules, the agents at all other seats, their names, and who reviews."""

    rules: Any
    others: tuple[Any, ...]
    names: tuple[str, ...]
    reference: Reference

    @property
    def is_quick(self) -> bool:
        """Whether everybody looks moves up, without thinking and without a memory, and so can be shared by rooms."""
        return all(map(looks_up, (*self.others, self.reference.agent)))

    @property
    def is_shared(self) -> bool:
        """Whether several threads may play with it at the same time."""
        return self.is_quick and not getattr(self.rules, "one_thread", False)


def looks_up(agent: Any) -> bool:
    """Whether an agent is a table of numbers."""
    return isinstance(agent, Strategy | BettingPolicy | Uniform)


def checked_spec(spec: str, offered: Sequence[str] = ()) -> str:
    """A spec that a page may ask for: one that was offered, or a registered game with plain parameters.

    Files are read only if whoever started the server offered them.
    """
    text = spec.strip()
    if text in offered:
        return text
    name = text.partition("(")[0]
    if not _SAFE.fullmatch(text) or name not in {*registered(), *presets()}:
        raise FogplayError(f"no game is called {text[:60]!r} here; choose one of the list, such as {offered[0]!r}")
    load(text)
    return text


def opponents_for(spec: str, files: Sequence[Path] = (), agents: Sequence[str] = ()) -> tuple[Opponent, ...]:
    """The opponents that a page may offer for a game, each with a sentence on its strength.

    ``files`` are saved strategies and ``agents`` other texts that were offered; those of other games are left out.
    """
    rules = load(spec)
    own, default = part_of(rules, "opponents", BOTS), part_of(rules, "default", BOTS)
    bots = dict(own(rules)) if own is not None else {}
    best = default(rules) if default is not None else None
    found = {BEST: OF_RULES if best is None else OF_BOT.format(best)}
    for text in agents:
        with contextlib.suppress(FogplayError):
            require_known([text], rules)
            found[text] = "Offered by whoever started the server."
    for path in files:
        with contextlib.suppress(FogplayError):
            strategy = load_strategy(path)
            strategy.require_game(rules)
            found[str(path)] = f"A saved strategy: {strategy.method} after {strategy.iterations:,} iterations."
    found |= bots
    if hasattr(rules, "sheet"):
        found[SHEETS] = FOR_SHEETS
    found |= SEARCHES | ({} if UNIFORM in bots else {UNIFORM: AT_RANDOM})
    return tuple(Opponent(text, sentence) for text, sentence in found.items())


def company_for(spec: str, opponent: str) -> Company:
    """Seat an opponent at all other seats. It may take seconds: small games are solved, large tables are read."""
    rules = load(spec)
    others = int(rules.num_players()) - 1
    with _making:
        prepare(rules)
        best = functools.partial(_own_best, spec, rules)
        if opponent == BEST:
            reference = best()
            return Company(rules, tuple(reference.seated(rules, others)), _names([reference.name] * others), reference)
        thinks = opponent.startswith("search:")
        agents = searchers(rules, others, opponent) if thinks else resolve([opponent] * others, rules)
        if agents and isinstance(agents[0], Strategy):
            reference = evaluated(Path(opponent).stem, agents[0], rules, spec)
        else:
            reference = best()
    return Company(rules, tuple(agents), _names([opponent] * others), reference)


def _own_best(spec: str, rules: Any) -> Reference:
    """A good player of a game; one that thinks is this room's own."""
    found = _best(spec)
    if looks_up(found.agent):
        return found
    return dataclasses.replace(found, agent=searchers(rules, 1, found.name)[0])


@functools.lru_cache(maxsize=16)
def _best(spec: str) -> Reference:
    return sensible(load(spec), spec)


def _names(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(names_of(texts, texts if all("/" not in text for text in texts) else ()))
