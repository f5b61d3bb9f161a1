"""Hold'em learned on a GPU: the same numbers as on a CPU, and as close to equilibrium, run by torch without a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fogplay.errors import FogplayError
from fogplay.evaluate import measure
from fogplay.games.registry import load
from fogplay.simulators import holdem_tensors, simulator_for
from fogplay.simulators.holdem_public import PublicGame
from fogplay.simulators.holdem_tensors import TensorGame
from fogplay.solvers.solve import solve
from fogplay.trees.betting import betting_tree
from fogplay.vectors import WIDTH
from tests.simulators.test_holdem_public import SMALL, Counted, cards_of, flat_of


def _games(spec: str, most: int | None, rival: bool, boards: int = 1) -> tuple[PublicGame, TensorGame]:
    """The same game for a CPU and, on boards at once, for a GPU."""
    rules, cards = load(spec), cards_of(spec, most)
    betting = betting_tree(Counted(rules, tuple(cards.seen.counts)))
    opponent = cards_of(spec).seen if rival else None
    torch.set_num_threads(1)
    return (
        PublicGame(rules, betting, cards.seen, opponent, 1),
        TensorGame(rules, betting, cards.seen, opponent, "cpu", boards),
    )


def _boards(spec: str, count: int) -> list[Any]:
    rules, rng = load(spec), np.random.default_rng(0)
    return [rng.permutation(rules.ranks * rules.suits)[: sum(rules.board)] for _ in range(count)]


@pytest.mark.parametrize("spec", SMALL)
def test_a_board_at_a_time_teaches_what_it_teaches_on_a_cpu(spec: str) -> None:
    """With few buckets no regrets are equal, and rounding decides nothing."""
    on_cpu, tensors = _games(spec, 3, rival=False)
    for iteration, board in enumerate(_boards(spec, 7), 1):
        on_cpu.learn_on(board, float(iteration))
        tensors.learn_on(tensors.look([board]), float(iteration))
    expected = on_cpu.weights()
    assert expected.max() > 50
    np.testing.assert_allclose(tensors.weights(), expected, atol=1e-4 * expected.max())


@pytest.mark.parametrize("spec", SMALL)
def test_a_best_response_is_the_same_at_first(spec: str) -> None:
    """After one board the rivals' regrets are those of a CPU, whatever equal actions they chose on the last round."""
    on_cpu, tensors = _games(spec, 3, rival=True)
    (board,) = _boards(spec, 1)
    on_cpu.learn_on(board, 1.0)
    tensors.learn_on(tensors.look([board]), 1.0)
    for player, other in zip(tensors.rivals, on_cpu.rivals, strict=True):
        for street, table in enumerate(player.regret[:-1]):
            buckets, slots, lanes = table.shape
            expected = other.regret[street].reshape(-1, buckets, slots, WIDTH)
            found = table.numpy().reshape(buckets, slots, lanes // WIDTH, WIDTH).transpose(2, 0, 1, 3)
            np.testing.assert_allclose(found, expected, atol=1e-4)
        assert max(float(table.abs().max()) for table in player.regret[:-1]) > 1


def test_boards_at_once_meet_the_same_strategies() -> None:
    first, second = _boards(SMALL[1], 2)
    found = []
    for boards in ([first], [second], [first, second]):
        _, game = _games(SMALL[1], None, rival=True)
        game.learn_on(game.look(boards), 2.0)
        found.append(game.tables())
    for name, table in found[2].items():
        np.testing.assert_allclose(table, found[0][name] + found[1][name], atol=1e-4)


@pytest.mark.parametrize("rival", [False, True])
def test_it_comes_as_close_to_an_equilibrium(rival: bool) -> None:
    """300 iterations on 8 boards beside 2,400 on one."""
    on_cpu, tensors = _games(SMALL[0], None, rival, boards=8)
    for iteration in range(1, 2401):
        on_cpu.learn(iteration, seed=1)
    for iteration in range(1, 301):
        tensors.learn(iteration, seed=1)
    flat, cards = flat_of(SMALL[0]), cards_of(SMALL[0])
    expected, found = (
        measure(flat, cards.on_tree(flat, game.betting, game.weights())).nash_conv for game in (on_cpu, tensors)
    )
    assert found < 1.5 * expected
    assert found < 1.5  # chips, where blinds are 10 and 5


def test_a_game_continues_from_its_tables() -> None:
    _, whole = _games(SMALL[1], None, rival=True, boards=2)
    for iteration in range(1, 7):
        whole.learn(iteration, seed=3)
        if iteration == 3:
            kept = {name: table.copy() for name, table in whole.tables().items()}
    _, other = _games(SMALL[1], None, rival=True, boards=2)
    other.restore(kept)
    for iteration in range(4, 7):
        other.learn(iteration, seed=3)
    for name, table in whole.tables().items():
        np.testing.assert_array_equal(table, other.tables()[name])


@pytest.mark.filterwarnings("error")
def test_a_run_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The learner of a GPU, with tensors on a CPU."""
    monkeypatch.setattr(holdem_tensors, "on_gpu", lambda *given: TensorGame(*given, "cpu", 1))
    spec, path = "holdem(grid=ehs2:169/8/8/8)", tmp_path / "run.checkpoint"
    settings: dict[str, Any] = {"seed": 1, "device": "cuda", "opponent": "ehs2:169/9/9/1"}
    whole = solve(spec, "cfr-br", 3, **settings)
    solve(spec, "cfr-br", 1, checkpoint=path, **settings)
    rest = solve(spec, "cfr-br", 3, checkpoint=path, resume=True, **settings)
    assert (whole.iterations, rest.iterations) == (3, 3)
    np.testing.assert_array_equal(whole.strategy.share, rest.strategy.share)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_there_is_one_line() -> None:
    with pytest.raises(FogplayError, match="torch finds no NVIDIA GPU; use --device cpu"):
        solve("holdem(grid=ehs2:169/4/4/4)", "cfr-br", iterations=1, device="cuda")


def test_a_gpu_plays_only_what_it_can_know() -> None:
    assert simulator_for("leduc").public_game(None, 1, "cuda") is None
