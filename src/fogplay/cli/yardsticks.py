"""The end of ``solve`` and ``evaluate`` for games too large to be measured exactly: matches and visits."""

from __future__ import annotations

import dataclasses
from typing import Any

from fogplay.cli.console import Watch


def measured_by_matches(strategy: Any, rules: Any, hands: int, quiet: bool) -> dict[str, Any]:
    """Matches against the game's bots and visits per infoset, as parts of a result; empty where there are none."""
    from fogplay.agents.yardsticks import measure_by_matches, visits_of, yardsticks_of

    facts: dict[str, Any] = {}
    visits = visits_of(strategy)
    if visits is not None:
        facts["visits_per_infoset"] = dataclasses.asdict(visits)
    names = yardsticks_of(rules)
    if names and hands > 0:
        with Watch(quiet) as watch:
            watch.note(f"matching the result against {len(names)} bots, {hands:,} hands each")
            found = measure_by_matches(strategy, rules, hands)
        facts["matches"] = [dataclasses.asdict(each) | {"verdict": each.verdict} for each in found]
    return facts
