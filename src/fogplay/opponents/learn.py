"""``learn_model``: from the hands that a player played to a strategy."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.checks import number, one_of, whole
from fogplay.errors import FogplayError
from fogplay.opponents.counts import Observed, dirichlet, learn
from fogplay.opponents.decision_tree import decision_trees, phases_of
from fogplay.opponents.histories import Histories, listed, read
from fogplay.opponents.walk import Completions, complete
from fogplay.strategies import TabularStrategy
from fogplay.trees import FlatGame, flatten

METHODS = {"counts": "counts", "tree": "decision-tree"}  # the name in the interface, and in a strategy
ROUNDS = {"counts": 100, "tree": 30}  # of expectation-maximisation; trees change their shape and never fully converge


def learn_model(
    game: Any,
    histories: Histories | str | os.PathLike[str],
    player: str | None = None,
    *,
    method: str = "counts",
    prior: float = 1.0,
    toward: TabularStrategy | None = None,
    min_hands: float = 20.0,
    rounds: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TabularStrategy:
    """A model of one player as a strategy, learned from hands it played, whatever its seat.

    ``method`` is ``counts`` (how often each action was chosen at each infoset) or ``tree`` (one decision tree per phase
    over the game's features, with leaves of at least ``min_hands`` observations). Each infoset gets ``prior`` more
    observations, distributed as in the strategy ``toward`` (uniformly by default); at seats where the player never sat
    these are the only ones. At most ``rounds`` rounds of expectation-maximisation (100 for counts, 30 for trees)
    complete unseen cards; they stop when little changes.

    The model's ``visits`` count how often each action was seen (rounded expectations if cards were unseen): how far
    the model can be trusted at each infoset.
    """
    rounds = check_settings(method, prior, min_hands, rounds)
    flat = flatten(game)
    histories = histories if isinstance(histories, Histories) else read(histories)
    completions = complete(flat, histories)
    player = _who(histories, player)
    observed = _hands_of(player, histories, completions, flat)
    start = flat.uniform() if toward is None else toward.on(flat)
    counting = dirichlet(flat, prior, start)
    fit = counting
    parameters: dict[str, Any] = {"player": player, "prior": prior, "toward": toward.method if toward else "uniform"}
    if method == "tree":
        fit = decision_trees(flat, phases_of(flat, np.logical_or.reduce(observed.seats)), prior, start, min_hands)
        parameters["min_hands"] = min_hands
    learned = learn(flat, observed, fit, counting, start, rounds, progress)
    return TabularStrategy.of(
        flat,
        learned.strategy,
        METHODS[method],
        parameters=parameters | {"rounds": learned.rounds, "histories": histories.source},
        iterations=int(observed.times.sum()),
        visits=np.rint(learned.counts).astype(np.int64),
    )


def check_settings(method: str, prior: float, min_hands: float, rounds: int | None) -> int:
    """The number of rounds, after checking all settings."""
    one_of("method", method, METHODS)
    number("prior", prior, 0, 1e12)
    number("min_hands", min_hands, 1, 1e12)
    return ROUNDS[method] if rounds is None else whole("rounds", rounds, 1)


def _who(histories: Histories, player: str | None) -> str:
    names = histories.names
    if player is None and len(names) == 1:
        return names[0]
    if player is None:
        raise FogplayError(f"{histories.source} has hands of {listed(names)}; say whose model to learn (--player NAME)")
    if player not in names:
        raise FogplayError(f"{histories.source} has no hands of {player!r}; choose one of {listed(names)}")
    return player


def _hands_of(player: str, histories: Histories, completions: Completions, flat: FlatGame) -> Observed:
    """The hands of the player, grouped by the seats it had."""
    at = [tuple(name == player for name in hand.names) for hand in histories.hands]
    played = np.array([any(each) for each in at])
    arrangements = sorted({each for each in at if any(each)})
    number: NDArray[np.int64] = np.array([arrangements.index(each) for each in at if any(each)])
    sizes = np.diff(completions.start)
    kept = np.repeat(played, sizes)
    theirs = Completions(
        np.concatenate([[0], np.cumsum(sizes[played])]), completions.node[kept], completions.chance[kept]
    )
    return Observed(np.array(arrangements), number, histories.counts[played], theirs)
