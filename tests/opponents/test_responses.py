"""From hands to a response: how much of what could be won from the true player, and what is lost to data too few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fogplay
from fogplay import TabularStrategy, flatten, learn_model, respond
from fogplay.evaluate import best_response
from fogplay.evaluate.responses import AgainstModel, against_model
from fogplay.opponents import record
from tests.play.helpers import match_of

FLAT = flatten("leduc")
EQUILIBRIUM = fogplay.solve(FLAT, "cfr+", 1_000).strategy.probabilities


def biased() -> np.ndarray[Any, Any]:
    """A player who calls half the time where an equilibrium would play, and plays the equilibrium otherwise."""
    calling = np.zeros(FLAT.num_slots)
    for infoset in range(FLAT.num_infosets):
        here = FLAT.slots(infoset)
        calling[here] = [action == "call" for action in FLAT.actions[here]]
    return 0.5 * EQUILIBRIUM + 0.5 * calling


TRUE = biased()
CEILING = sum(best_response(FLAT, TRUE, seat)[0] for seat in range(2))


def model_from(hands: int, seed: int, **settings: Any) -> TabularStrategy:
    """What the equilibrium player can learn of the biased one from so many hands, seen from its own seat."""
    played = match_of(FLAT, [EQUILIBRIUM, TRUE], hands, seed=seed, keep=True)
    return learn_model(FLAT, record(FLAT, played.ends, ["us", "them"], seen_by="us"), "them", **settings)


def quality(model: TabularStrategy, confidence: float, kind: str) -> AgainstModel:
    """The response to a model, measured against the true player."""
    response = respond(FLAT, model, confidence, kind=kind, iterations=500).strategy
    return against_model(FLAT, response.probabilities, TRUE)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("settings", "kind"), [({}, "dbr"), ({"method": "tree"}, "rnr")], ids=["counts, dbr", "tree, rnr"]
)
def test_20000_hands_win_80_per_cent_with_nothing_tuned(settings: dict[str, Any], kind: str, seed: int) -> None:
    won = sum(quality(model_from(20_000, seed, **settings), 1.0, kind).winnings)
    assert 0.8 * CEILING < won <= CEILING


@pytest.mark.parametrize("seed", [1, 2])
def test_with_few_hands_a_data_biased_response_loses_less(seed: int) -> None:
    """500 hands: less at worst, at every confidence, and less to the true player where the model is trusted fully."""
    model = model_from(500, seed)
    at_worst = {kind: [quality(model, p, kind).nash_conv for p in (0.5, 0.75, 0.9, 1.0)] for kind in ("rnr", "dbr")}
    assert (5 * np.array(at_worst["dbr"]) < at_worst["rnr"]).all()
    safe = sum(against_model(FLAT, EQUILIBRIUM, TRUE).winnings)
    rnr, dbr = (sum(quality(model, 1.0, kind).winnings) for kind in ("rnr", "dbr"))
    assert rnr < dbr
    assert dbr > safe  # it gains from what was seen, where the other fools itself
