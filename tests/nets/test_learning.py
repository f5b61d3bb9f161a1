"""Networks that learn: the same numbers as the compiled twins, runs that resume, files that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fogplay.errors import FogplayError
from fogplay.games.doudizhu import Doudizhu

torch = pytest.importorskip("torch")
from fogplay.bots.doudizhu import arena, lockstep, training  # noqa: E402
from fogplay.nets import runs  # noqa: E402
from fogplay.nets.distributions import log_probability  # noqa: E402
from fogplay.nets.training import Plan  # noqa: E402
from fogplay.scalars import CURVE, LOG, read_rows  # noqa: E402
from fogplay.simulators.doudizhu_features import SEEN  # noqa: E402
from fogplay.strategies import network  # noqa: E402

SMALL = {"size": 8, "steps": 12, "batch": 48, "width": 16, "blocks": 1, "decisions": 1e6}


def small(folder: Path, seed: int = 0, **more: object) -> training.Training:
    return training.trainer(Doudizhu(), folder, "cpu", seed, {**SMALL, **more})


def never() -> bool:
    return False


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_moves_have_the_probabilities_they_were_drawn_with(tmp_path: Path) -> None:
    learner = small(tmp_path).learner
    with torch.no_grad():
        for array in learner.actors.arrays.values():
            array.add_(torch.randn_like(array), alpha=0.3)
    for _ in range(4):  # rounds: the first has the beginnings of games only
        learner.play()
        moves = learner.moves
        with torch.no_grad():
            outputs = torch.stack([learner._outputs(seen) for seen in moves.seen[:-1]])
        kept = (moves.legal[:-1], moves.choice[:-1], moves.sets[:-1])
        found, entropy = log_probability(outputs, *kept, training.LAYOUT)
        missed = (found - moves.logarithms[:-1]).abs() * moves.playing[:-1]
        assert float(missed.max()) < 1e-4
        assert float(entropy.min()) >= 0.0
    assert bool((moves.choice[..., 2] > 0).any()), "some moves have kickers"


def test_numpy_and_torch_agree(tmp_path: Path) -> None:
    run = small(tmp_path)
    run.learner.play()
    run.learner.learn()
    seen = run.learner.moves.seen[0, :, :, :SEEN]
    there = run.learner.actors(seen).detach().numpy()
    for seat, each in enumerate(run.networks().values()):
        here = each.outputs(seen[seat].numpy())
        assert np.abs(here - there[seat]).max() < 0.02 * max(1.0, np.abs(here).max())


def test_advantages_are_those_of_the_definition(tmp_path: Path) -> None:
    learner = small(tmp_path).learner
    for _ in range(3):
        learner.play()
    found, goals = learner.advantages()
    moves, decay = learner.moves, learner.settings.decay
    with torch.no_grad():
        values = torch.stack([learner._values(seen).reshape(3, -1, 2) for seen in moves.seen])
    for group in range(3):
        for lane in range(8):
            ahead = torch.zeros(2)
            for step in reversed(range(learner.settings.steps)):
                seat, after = (step + group) % 3, (step + 1 + group) % 3
                result = moves.results[step, seat, lane]
                if not moves.playing[step, seat, lane]:
                    ahead = torch.zeros(2)
                    continue
                goes_on = 1.0 - result[2]
                surprise = result[:2] + goes_on * values[step + 1, after, lane] - values[step, seat, lane]
                ahead = surprise + decay * goes_on * ahead
                assert torch.allclose(found[step, seat, lane], ahead, atol=1e-5)
                assert torch.allclose(goals[step, seat, lane], ahead + values[step, seat, lane], atol=1e-5)


def test_a_run_resumes_where_it_was_saved(tmp_path: Path) -> None:
    run = small(tmp_path)
    judged = run.run(Plan(600, 10.0, 0.0), lambda evaluate: training.judge(evaluate, 4), lambda row: None, never)
    assert 0.0 <= judged["rhcp_wins"] <= 1.0
    assert len(read_rows(tmp_path / CURVE)) == 1
    with open(tmp_path / LOG, "a") as log:  # what a run wrote after it had saved
        log.write(json.dumps({"decisions": 10**9}) + "\n" + '{"decis')
    again = small(tmp_path, seed=5)
    again.resume()
    assert (again.learner.decisions, again.learner.updates) == (run.learner.decisions, run.learner.updates)
    assert read_rows(tmp_path / LOG)[-1]["decisions"] == run.learner.decisions
    for name, array in run.learner.actors.arrays.items():
        assert torch.allclose(again.learner.actors.arrays[name], array, atol=1e-3), name
    weight = run.learner.actors.arrays["up"]
    moments = [
        each.learner.optimisers[0].state[each.learner.actors.arrays["up"]]["exp_avg_sq"] for each in (run, again)
    ]
    assert moments[0].shape == weight.shape
    assert torch.allclose(moments[0].mean(-1), moments[1].mean(-1), rtol=1e-3)
    before = again.learner.decisions
    again.run(Plan(before + 100, 10.0), lambda networks: {}, lambda row: None, never)
    assert again.learner.decisions > before


def test_networks_that_play_are_an_average(tmp_path: Path) -> None:
    run = small(tmp_path, average=0.8, rate=[0.01, 0.01], warm=1)
    learner = run.learner
    assert learner.players is learner.actors, "nothing is learned yet"
    mean = 0.0
    for round_ in range(1, 8):
        learner.play()
        learner.learn()
        share = max(0.2, 10 / (9 + round_))
        mean = (1 - share) * mean + share * learner.actors.arrays["up"].detach().numpy().astype(np.float64)
    assert np.abs(learner.players.arrays["up"].numpy() - mean).max() < 1e-6
    assert np.abs(learner.actors.arrays["up"].detach().numpy() - mean).max() > 1e-3
    assert np.abs(run.networks()["landlord"].arrays["up"] - mean[0]).max() < 1e-6
    run.save()
    again = small(tmp_path)
    again.resume()
    newest = again.networks()["landlord"].arrays["up"]
    assert np.abs(newest - learner.actors.arrays["up"][0].detach().numpy()).max() < 1e-3


def test_damaged_and_foreign_runs_are_refused(tmp_path: Path) -> None:
    run = small(tmp_path)
    run.save()
    with pytest.raises(FogplayError, match="another shape"):
        small(tmp_path, width=32).resume()
    small(tmp_path, clip=0.5).resume()  # a setting that may change
    file = next(tmp_path.glob("critic-*.safetensors"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-3] + b"abc")
    with pytest.raises(FogplayError, match="damaged"):
        small(tmp_path).resume()
    file.write_bytes(whole[:1000])
    with pytest.raises(FogplayError, match="damaged"):
        small(tmp_path).resume()
    (tmp_path / runs.INDEX).write_text("{}")
    with pytest.raises(FogplayError, match="not the index"):
        small(tmp_path).resume()


def test_networks_are_files_that_play(tmp_path: Path) -> None:
    run = small(tmp_path)
    run.save()
    for name, each in run.networks().items():
        loaded = network.load(tmp_path / f"{name}.safetensors")
        assert loaded.about["name"] == name
        assert loaded.about["game"] == str(Doudizhu())
        seen = np.ones((3, SEEN), np.int64)
        assert np.abs(loaded.outputs(seen) - each.outputs(seen)).max() < 0.01
    path = tmp_path / "landlord.safetensors"
    path.write_bytes(path.read_bytes()[:-2] + b"xx")
    with pytest.raises(FogplayError, match="damaged"):
        network.load(path)
    with pytest.raises(FogplayError, match="not a network"):
        network.Network.from_arrays({}, {})


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"sise": 3}, "no setting 'sise'"),
        ({"steps": 4}, "multiple of 3"),
        ({"batch": 7}, "must divide"),
        ({"rate": 0.1}, "two numbers"),
        ({"clip": "x"}, "a number from"),
        ({"width": 16.5}, "a whole number"),
    ],
)
def test_impossible_settings_are_refused(tmp_path: Path, chosen: dict[str, object], message: str) -> None:
    with pytest.raises(FogplayError, match=message):
        small(tmp_path, **chosen)


def test_bots_side_by_side_play_the_games_that_they_play_one_by_one() -> None:
    decks, seed = 40, 3
    rules, rhcp = arena.bot(arena.RULES), arena.bot(arena.RHCP)
    won, score = np.zeros((decks, 2), np.bool_), np.zeros((decks, 2), np.int64)
    arena.compare(seed, 0, decks, rules, rhcp, np.zeros(2, np.uint64), np.zeros(3, np.uint64), won, score)
    found = lockstep.compare(rules, rhcp, decks, seed)
    assert found.wins == won.mean()
    assert found.points == score.mean()


@pytest.mark.slow
def test_networks_learn(tmp_path: Path) -> None:
    """100,000 decisions with small networks: from losing nearly always against the plain bot to winning some."""
    run = small(tmp_path, size=64, steps=24, batch=512, width=64, decisions=3e5, rate=[2e-3, 2e-4])
    own = list(run.networks().values())
    first = training.judge(lambda seat, seen: own[seat].outputs(seen), 200)
    last = run.run(Plan(150_000, 20.0), lambda evaluate: training.judge(evaluate, 200), lambda row: None, never)
    assert last["rhcp_wins"] > first["rhcp_wins"] + 4 * (last["rhcp_wins_error"] + first["rhcp_wins_error"])
