"""Public chance sampling and CFR-BR through ``solve``: strength, resuming, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fogplay import FogplayError, match, solve
from fogplay.solvers import ALGORITHMS
from fogplay.solvers.public_sampling import ORDER, PublicSampling

COARSE = "holdem(grid=ehs2:169/8/8/8)"


@pytest.mark.parametrize("algorithm", ["pcs-mccfr", "cfr-br"])
def test_a_few_boards_make_a_player_that_beats_simple_ones(algorithm: str) -> None:
    found = solve(COARSE, algorithm, 40, seed=1)
    assert (found.algorithm, found.iterations, found.strategy.game) == (algorithm, 40, found.strategy.game)
    for bot in ("always-call", "always-raise"):
        played = match("holdem", [found.strategy, bot], hands=20_000, seed=1)
        assert played.means[0] > 3 * played.standard_errors[0]


def test_a_run_that_was_stopped_ends_like_one_that_was_not(tmp_path: Path) -> None:
    whole = solve(COARSE, "cfr-br", 6, seed=2, opponent="ehs2:169/20/20/1")
    assert whole.parameters == {"opponent": "ehs2:169/20/20/1"}
    path = tmp_path / "run.checkpoint"
    solve(COARSE, "cfr-br", 3, seed=2, opponent="ehs2:169/20/20/1", checkpoint=path, threads=1)
    rest = solve(COARSE, "cfr-br", 6, seed=2, opponent="ehs2:169/20/20/1", checkpoint=path, resume=True, threads=2)
    assert np.array_equal(whole.strategy.share, rest.strategy.share)


@pytest.mark.parametrize("order", [None, np.arange(3)])
def test_tables_in_another_order_are_refused(order: np.ndarray | None) -> None:
    learner = PublicSampling(COARSE, "pcs-mccfr", {"seed": 1})
    kept = learner.tables()
    learner.restore(kept)
    with pytest.raises(FogplayError, match="of another version of fogplay, whose tables have another order"):
        learner.restore(
            {name: table for name, table in kept.items() if name != ORDER} | ({} if order is None else {ORDER: order})
        )


def test_what_it_refuses() -> None:
    for game in ("leduc", "holdem(players=3)"):
        with pytest.raises(FogplayError, match="for two players with a grid of buckets"):
            solve(game, "pcs-mccfr", 1)
    with pytest.raises(FogplayError, match="'nonsense' is not a grid"):
        solve(COARSE, "cfr-br", 1, opponent="nonsense")
    with pytest.raises(FogplayError, match="pcs-mccfr has no parameter 'opponent'"):
        solve(COARSE, "pcs-mccfr", 1, opponent="ehs2:169/8/8/8")
    assert ALGORITHMS["cfr-br"].steady
