"""Who sits at the other seats of a room, and who reviews the person's choices."""

from __future__ import annotations

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
from fogplay.agents.resolve import UNIFORM, known_names
from fogplay.errors import FogplayError
from fogplay.games.registry import load, presets, registered
from fogplay.play import Uniform
from fogplay.simulators import prepare
from fogplay.strategies import Strategy
from fogplay.strategies import load as load_strategy
from fogplay.strategies.policy import BettingPolicy

BEST = "best"
SENTENCES = {
    BEST: "The best player that needs no file: the game's best bot, an equilibrium solved now, or a search.",
    SEARCH: "Thinks before every move: 2,000 simulations of Smooth UCT.",
    SHEETS: "Thinks for half a second before every move, as players of rule sheets do.",
    UNIFORM: "Makes every move with the same probability.",
}
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


def opponents_for(spec: str, files: Sequence[Path] = ()) -> tuple[Opponent, ...]:
    """The opponents that a page may offer for a game; ``files`` are saved strategies, those of other games left out."""
    rules = load(spec)
    found = {BEST: SENTENCES[BEST]}
    for name in known_names(rules):
        found[name] = SENTENCES.get(name, "A bot of this game.")
    found[SEARCH] = SENTENCES[SEARCH]
    if hasattr(rules, "sheet"):
        found[SHEETS] = SENTENCES[SHEETS]
    for path in files:
        try:
            strategy = load_strategy(path)
            strategy.require_game(rules)
        except FogplayError:
            continue
        found[str(path)] = f"A saved strategy: {strategy.method} after {strategy.iterations:,} iterations."
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
        agents = searchers(rules, others) if opponent == SEARCH else resolve([opponent] * others, rules)
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
