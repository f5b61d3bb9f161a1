"""Training in episodes of self-play with search, and the paper's convolutions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fogplay.errors import FogplayError
from fogplay.games.doudizhu import Doudizhu
from fogplay.games.doudizhu_heads import NUM_HEADS
from fogplay.games.doudizhu_moves import legal_heads
from fogplay.simulators.doudizhu_features import SEEN

torch = pytest.importorskip("torch")
from fogplay.bots.doudizhu import evaluators, selfplay, training  # noqa: E402
from fogplay.bots.doudizhu.deltadou import Settings  # noqa: E402
from fogplay.nets.episodes import Episodes, Reservoir  # noqa: E402
from fogplay.nets.training import CURVE, read_rows  # noqa: E402
from fogplay.strategies import network  # noqa: E402

SMALL = {
    "bootstrap": 30, "games": 2, "playouts": 4, "capacity": 400, "bootstrap_steps": 3, "steps": 2, "width": 8,
    "blocks": 1, "batch": 16,
}  # fmt: skip


def small(folder: Path, **more: object) -> Episodes:
    torch.set_num_threads(1)
    return training.episodes(Doudizhu(), folder, "cpu", 0, {**SMALL, **more})


def test_decisions_of_the_heuristic_are_legal_and_have_results() -> None:
    found = selfplay.play(1, 40, 2, None)
    samples = found.samples
    assert len(samples.seat) > 300
    bits = np.unpackbits(np.ascontiguousarray(samples.legal).view(np.uint8), axis=1, bitorder="little")[:, :NUM_HEADS]
    assert bits[np.arange(len(bits)), samples.heads[:, 0]].all(), "the moves made are legal"
    assert (bits.sum(1) > 1).mean() > 0.8
    own = samples.results[:, 0]
    assert set(np.unique(own)) == {-1.0, 1.0}
    assert (np.abs(samples.results[:, 1]) >= 1).all()
    assert (np.sign(samples.results[:, 1]) == own).all()
    landlords = own[samples.seat == 0].mean()
    assert landlords == pytest.approx(2 * (found.winner == 0).mean() - 1, abs=0.35)


def test_games_do_not_depend_on_the_number_of_threads() -> None:
    one, two = (selfplay.play(3, 4, threads, evaluators.by_rules(), Settings(playouts=4), 1.0) for threads in (1, 2))
    assert (one.winner == two.winner).all()
    for seat in range(3):
        here, there = (each.samples.seen[each.samples.seat == seat] for each in (one, two))
        assert sorted(here.tolist()) == sorted(there.tolist())


def test_shares_are_those_of_the_search() -> None:
    found = selfplay.play(2, 3, 1, evaluators.by_rules(), Settings(playouts=12, sure=2.0), 1.0)
    shares = found.samples.shares
    assert np.allclose(shares.sum(1), 1.0, atol=1e-5)
    assert (shares.max(1) < 1.0).any(), "the search tries more than one move"
    hand = int(found.samples.seen[0, 0])
    assert legal_heads(sum(1 << 4 * rank for rank in range(15) if hand >> 4 * rank & 1)).any()


def test_a_reservoir_keeps_the_newest() -> None:
    reservoir = Reservoir(2, "cpu")
    for start in (0, 4, 8):
        reservoir.add({"seat": np.array([0, 1, 0, 0]), "seen": np.arange(start, start + 4)}, 5)
    assert reservoir.kept[0]["seen"].tolist() == [4, 6, 7, 8, 10, 11][-5:]
    assert reservoir.kept[1]["seen"].tolist() == [1, 5, 9]


def test_convolutions_in_numpy_and_torch_agree(tmp_path: Path) -> None:
    learner = small(tmp_path, blocks=2).learner
    with torch.no_grad():
        for name, array in learner.actors.arrays.items():
            array.add_(torch.rand_like(array), alpha=0.2 if name.endswith("variance") else 0.05)
    seen = np.random.default_rng(0).integers(-(2**63), 2**63, (20, SEEN))
    run = small(tmp_path)
    run.learner = learner
    for seat, each in enumerate(run.networks().values()):
        here, there = each.outputs(seen), learner.outputs(seat, seen)
        assert np.abs(here - there).max() < 0.03 * max(1.0, np.abs(here).max())


def test_episodes_play_learn_judge_and_resume(tmp_path: Path) -> None:
    run = small(tmp_path)
    last = run.run(
        1,
        10.0,
        lambda evaluate: {"judged": evaluate(1, np.ones((3, SEEN), np.int64)).shape[0]},
        lambda row: None,
        lambda: False,
    )
    assert (last["episode"], last["judged"], run.done) == (1, 3, 2)
    assert sum(last[f"wins_{name}"] for name in training.SEATS) == pytest.approx(1.0)
    assert [row["episode"] for row in read_rows(tmp_path / CURVE)] == [0, 1]
    again = small(tmp_path)
    again.resume()
    assert (again.done, again.learner.updates) == (2, run.learner.updates)
    seen = np.ones((4, SEEN), np.int64)
    assert np.abs(again.learner.outputs(0, seen) - run.learner.outputs(0, seen)).max() < 0.05
    loaded = network.load(tmp_path / "landlord.safetensors")
    assert np.abs(loaded.outputs(seen) - again.learner.outputs(0, seen)).max() < 0.05
    with pytest.raises(FogplayError, match="another shape"):
        small(tmp_path, width=16).resume()


def test_heat_falls(tmp_path: Path) -> None:
    run = small(tmp_path, heat=[1.0, 0.5], cooled=10)
    heats = []
    for run.done in (0, 1, 6, 11, 30):
        heats.append(run.heat())
    assert heats == [1.0, 1.0, 0.75, 0.5, 0.5]


def test_impossible_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FogplayError, match="there is no setting 'playout'"):
        small(tmp_path, playout=3)
    with pytest.raises(FogplayError, match="games must be a whole number"):
        small(tmp_path, games=0)


def test_processes_play_what_this_one_would(tmp_path: Path) -> None:
    """Every engine plays the same games; ``sequential`` stands for the others."""
    run = small(tmp_path)
    networks, thinking = list(run.networks().values()), training.deliberation(4)
    found = selfplay.play_in_processes(7, 3, networks, thinking, 1.0, "sequential")
    mind = selfplay.Mind(evaluators.by_networks(networks), thinking)
    alone = [selfplay._play(7, first, 1, mind, 1.0) for first in range(3)]
    assert found.winner.tolist() == [int(each.winner[0]) for each in alone]
    assert np.array_equal(found.samples.choice, np.concatenate([each.samples.choice for each in alone]))


def test_an_unknown_engine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FogplayError, match="engine must be threads or loky or ray or sequential, not 'dusk'"):
        training.episodes(Doudizhu(), tmp_path, "cpu", 0, SMALL, "dusk")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["loky", "ray"])
def test_a_run_is_the_same_on_every_engine(tmp_path: Path, engine: str) -> None:
    curves = []
    for name in ("sequential", engine):
        run = training.episodes(Doudizhu(), tmp_path / name, "cpu", 0, SMALL, name)
        run.run(1, 10.0, lambda evaluate: {}, lambda row: None, lambda: False)
        curves.append([row["policy"] for row in read_rows(tmp_path / name / CURVE)])
    assert np.allclose(curves[0], curves[1])
