"""Measuring a strategy of a game that is too large to be measured exactly: by matches against the game's bots.

``yardsticks(rules)`` in ``bots/<game>.py`` names the bots, from the weakest to the strongest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fogplay.agents.resolve import BOTS, UNIFORM
from fogplay.play import Uniform, match
from fogplay.simulators import part_of

HANDS = 100_000  # per match, which takes about half a second
QUICK_HANDS = 20_000
AT_A_TABLE = 200  # hands, where no compiled loop plays them
CERTAIN = 2.0  # standard errors beyond which a result is called won or lost


@dataclass(frozen=True)
class Yardstick:
    """The result of a match against one bot."""

    bot: str
    mean: float  # won per hand by the strategy, in ``unit``
    standard_error: float
    unit: str
    hands: int

    @property
    def verdict(self) -> str:
        if abs(self.mean) <= CERTAIN * self.standard_error:
            return "undecided"
        return "wins" if self.mean > 0 else "loses"


def yardsticks_of(rules: Any) -> tuple[str, ...]:
    """The bots to measure strategies of these rules by; none if the game has none."""
    named = part_of(rules, "yardsticks", BOTS)
    return tuple(named(rules)) if named is not None else ()


def measure_by_matches(
    strategy: Any,
    rules: Any,
    hands: int = HANDS,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[Yardstick]:
    """Play a strategy against each of the game's yardsticks, which take all other seats."""
    names = yardsticks_of(rules)
    found = []
    for number, name in enumerate(names):
        bot = part_of(rules, "bots", BOTS)([name], rules, (strategy,))[name]  # one at a time: some are large
        others = [bot] * (int(rules.num_players()) - 1)
        played = match(rules, [strategy, *others], hands, seed=seed)
        if progress is not None:
            progress(number + 1, len(names))
        found.append(Yardstick(name, played.means[0], played.standard_errors[0], played.unit, played.hands))
        if played.interrupted:
            break
    return found


def quick_score(strategy: Any, rules: Any, hands: int = QUICK_HANDS) -> Yardstick:
    """A short match against the strongest yardstick, or against ``uniform``, at a table, if the game has none."""
    names, others = yardsticks_of(rules), int(rules.num_players()) - 1
    if names:
        bot = part_of(rules, "bots", BOTS)([names[-1]], rules, (strategy,))[names[-1]]
        played = match(rules, [strategy, *[bot] * others], hands)
        return Yardstick(names[-1], played.means[0], played.standard_errors[0], played.unit, played.hands)
    played = match(rules, [strategy, *[Uniform()] * others], AT_A_TABLE)
    return Yardstick(UNIFORM, played.means[0], played.standard_errors[0], played.unit, played.hands)


@dataclass(frozen=True)
class Visits:
    """How often a learner met the infosets of a game."""

    infosets: int
    never: int  # infosets that were never visited, where the strategy knows nothing
    median: float  # visits per infoset


def visits_of(strategy: Any) -> Visits | None:
    """The visits per infoset behind a strategy; None if they were not recorded."""
    visits = getattr(strategy, "infoset_visits", None)
    if visits is None or len(visits) == 0:
        return None
    return Visits(len(visits), int((visits == 0).sum()), float(np.median(visits)))
