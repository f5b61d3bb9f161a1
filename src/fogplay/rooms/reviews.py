"""What the reference would have done at each decision of a hand, and what the person's choice cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fogplay.agents.resolve import UNIFORM
from fogplay.errors import FogplayError
from fogplay.rooms.company import Company
from fogplay.rooms.replays import decisions_of
from fogplay.rooms.rollouts import Estimate, estimate, possible


def review_of(
    company: Company, events: Sequence[Sequence[int]], seat: int, names: Sequence[str], seed: int
) -> list[dict[str, Any]]:
    """One entry per decision with a choice: the situation, the options, the choice, the reference's probabilities.

    ``values`` is what each option earns if everybody follows the reference from there: exact on trees, else by
    rollouts, then with ``errors``; None where neither is possible. ``cost`` is how much less the choice earns than the
    best option, and ``error`` its standard error (0 on trees).
    """
    reference, rng = company.reference, np.random.default_rng(seed)
    if reference.name == UNIFORM:
        return []  # nothing to learn from it
    found = []
    for made in decisions_of(company.rules, events, seat, names):
        if len(made.view.legal) < 2:
            continue
        advice, place = reference.advise(made.view), made.view.legal.index(made.action)
        values, cost, error = advice.values, advice.cost(place), 0.0
        if values is None and possible(reference.agent, made):
            rough = _estimated(company, made, rng)
            if rough is not None:
                values, (cost, error) = rough.values, rough.cost(place)
        found.append(
            {
                "situation": made.situation,
                "options": list(made.options),
                "chosen": place,
                "by": advice.by,
                "shares": list(advice.probabilities),
                "values": None if values is None else list(values),
                "cost": cost,
                "error": error,
            }
        )
    return found


def _estimated(company: Company, made: Any, rng: np.random.Generator) -> Estimate | None:
    try:
        return estimate(company.rules, company.reference.agent, made, rng)
    except FogplayError:  # no world was found, or the reference does not know a situation
        return None
