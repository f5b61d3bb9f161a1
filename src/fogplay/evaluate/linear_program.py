"""Exact equilibria of two-player zero-sum games by the sequence-form linear program (Koller et al. 1996).

Maximise the value v that player 0 can guarantee with a realisation plan x, subject to: at every decision point of
player 1, the value is at most that of each of its sequences. The dual variables are player 1's realisation plan.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.evaluate.exact import behaviour, require_perfect_recall
from fogplay.interrupts import apart
from fogplay.trees import FlatGame, SequenceForm
from fogplay.trees.sequences import RestrictedForm


def equilibrium(flat: FlatGame) -> tuple[float, NDArray[np.float64]]:
    """The value of a two-player constant-sum game to player 0, and an equilibrium as ``probabilities[slots]``."""
    if flat.num_players != 2 or flat.constant_sum is None:
        kind = f"{flat.num_players} players" if flat.num_players != 2 else "payoffs whose sum is not constant"
        raise FogplayError(f"the linear program needs a two-player zero-sum game; {flat.name} has {kind}: try -a cfr+")
    require_perfect_recall(flat)
    from scipy import optimize, sparse  # late, so that other commands start faster

    form = flat.sequences
    scale = float(np.abs(form.entry_weight).max(initial=0.0)) or 1.0  # the solver's tolerances are absolute
    plan0, plan1 = _plan_of_choices(form, 0), _plan_of_choices(form, 1)
    payoff = plan0.T @ _payoff_matrix(form, scale) @ plan1  # [sequences of 0, sequences of 1]
    flow0, flow1 = _flow(form, 0) @ plan0, _flow(form, 1) @ plan1  # [1 + points, sequences]
    plans, points = payoff.shape[0], flow1.shape[0]
    # Variables: x over player 0's sequences, then v and one value per point of player 1.
    objective = np.zeros(plans + points)
    objective[plans] = -1.0
    start = np.zeros(flow0.shape[0])
    start[0] = 1.0
    program = {
        "A_ub": sparse.hstack([-payoff.T, flow1.T]).tocsr(),
        "b_ub": np.zeros(payoff.shape[1]),
        "A_eq": sparse.hstack([flow0, sparse.csr_matrix((flow0.shape[0], points))]).tocsr(),
        "b_eq": start,
        "bounds": [(0, None)] * plans + [(None, None)] * points,
    }
    result = apart(lambda: optimize.linprog(objective, method="highs", **program))  # Ctrl-C need not wait for it
    if result.status != 0:
        raise FogplayError(f"the linear program of {flat.name} was not solved: {result.message}")
    plan = np.concatenate([result.x[:plans], -result.ineqlin.marginals])
    return float(-result.fun) * scale, behaviour(flat, np.maximum(plan, 0.0))


def _payoff_matrix(form: SequenceForm, scale: float) -> Any:
    """Player 0's payoffs divided by ``scale``: a sparse matrix over the two players' sequences."""
    from scipy import sparse

    first, end = form.sequence_range[1], form.sequence_range[2]
    stop = form.entry_start[first]
    return sparse.csr_matrix(
        (form.entry_weight[:stop] / scale, form.entry_others[0, :stop] - first, form.entry_start[: first + 1]),
        shape=(int(first), int(end - first)),
    )


def _plan_of_choices(form: SequenceForm, player: int) -> Any:
    """The realisation plan as a linear function of the player's choices: the identity unless the player may be forced.

    If it may, a sequence is either chosen, or forced from its parent with probability ``floor``; the parent again was
    chosen or forced, and so on: I + N + N² + …, where N leads from a sequence to its parent.
    """
    from scipy import sparse

    base, end = int(form.sequence_range[player]), int(form.sequence_range[player + 1])
    plan = sparse.identity(end - base, format="csr")
    if not isinstance(form, RestrictedForm):
        return plan
    points = slice(form.point_range[player], form.point_range[player + 1])
    counts = form.point_actions[points].astype(np.int64)
    slots = np.repeat(form.point_slot[points], counts) + np.arange(counts.sum())
    slots = slots - np.repeat(np.cumsum(counts) - counts, counts)
    rows, columns = 1 + np.arange(counts.sum()), np.repeat(form.point_parent[points] - base, counts)
    forced = sparse.csr_matrix((form.floor[slots], (rows, columns)), shape=plan.shape)
    forced.eliminate_zeros()
    term = forced
    while term.nnz:
        plan, term = plan + term, forced @ term
    return plan


def _flow(form: SequenceForm, player: int) -> Any:
    """One row for the empty sequence, which is 1, and one per point: the sum of its sequences minus its parent."""
    from scipy import sparse

    base = form.sequence_range[player]
    points = slice(form.point_range[player], form.point_range[player + 1])
    counts = form.point_actions[points]
    number = 1 + np.arange(len(counts))
    rows = np.concatenate([[0], np.repeat(number, counts), number])
    columns = np.concatenate([np.arange(1 + counts.sum()), form.point_parent[points] - base])
    signs = np.concatenate([np.ones(1 + counts.sum()), -np.ones(len(counts))])
    return sparse.csr_matrix((signs, (rows, columns)), shape=(len(counts) + 1, int(counts.sum()) + 1))
