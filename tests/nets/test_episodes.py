"""Training in episodes of self-play with search, and the paper's convolutions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.games.doudizhu import Doudizhu
from fogplay.games.doudizhu_heads import NUM_HEADS
from fogplay.games.doudizhu_moves import legal_heads
from fogplay.simulators.doudizhu_features import BOMBS, SEEN

torch = pytest.importorskip("torch")
from fogplay.bots.doudizhu import evaluators, fpmcts, records, selfplay, training  # noqa: E402
from fogplay.bots.doudizhu.deltadou import Settings  # noqa: E402
from fogplay.nets.averages import Average  # noqa: E402
from fogplay.nets.episodes import Episodes, Reservoir  # noqa: E402
from fogplay.scalars import CURVE, read_rows  # noqa: E402
from fogplay.strategies import network  # noqa: E402

SMALL = {
    "bootstrap": 30, "games": 2, "playouts": 4, "capacity": 400, "bootstrap_passes": 0.25, "width": 8, "blocks": 1,
    "batch": 16,
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


def test_what_a_search_expects_is_kept() -> None:
    found = selfplay.play(2, 60, 2, evaluators.by_rules(), Settings(playouts=20, sure=2.0), 0.3).samples
    known = ~np.isnan(found.expected[:, 0])
    assert (known == (found.shares.max(1) < 1.0))[found.shares.max(1) < 1.0].all(), "whatever was tried is known"
    win, points = found.expected[known].T
    assert np.abs(win).max() <= 1.0 + 1e-5
    assert np.abs(points).max() <= 16.0
    assert np.corrcoef(win, found.results[known, 0])[0, 1] > 0.1
    assert np.corrcoef(points, win)[0, 1] > 0.7
    heuristic = selfplay.play(1, 10, 1, None).samples
    assert np.isnan(heuristic.expected).all()


def test_points_are_expected_with_the_bombs_that_were_played() -> None:
    """Simulations that win at once, and one in four that loses: +1 and -1 in units of the points at the root."""
    own, expected = fpmcts.searches(1, 8, 1, 1, 2), np.full(2, np.nan, np.float32)
    records.expect(own, 0, 0.5, expected)
    assert np.isnan(expected).all(), "nothing was tried"
    own.trees.num_actions[0, 0] = 2
    own.trees.tried[0, 0] = 5, 3
    own.trees.total[0, 0] = own.trees.wins[0, 0] = 5, -1
    for bombs, points in ((0, 0.5), (2, 2.0), (9, 8.0)):
        own.facts[0, BOMBS] = bombs
        records.expect(own, 0, 0.5, expected)
        assert expected.tolist() == [0.5, points]


def test_a_goal_is_a_mean_of_the_result_and_what_was_expected(tmp_path: Path) -> None:
    run = small(tmp_path, expected=0.0)
    imitator, decisions = run.learner, selfplay.play(1, 6, 1, None).samples._asdict()
    seats = decisions.pop("seat")
    least = min(np.bincount(seats))
    batch = {
        name: torch.stack([torch.from_numpy(array[seats == seat][:least]) for seat in range(3)])
        for name, array in decisions.items()
    }
    batch["expected"] = torch.where(torch.arange(least)[:, None] % 2 == 0, 0.25, torch.nan)
    batch["expected"] = batch["expected"].expand_as(batch["results"])
    one = small(tmp_path / "one", expected=0.5).learner
    one.actors.load_state_dict(imitator.actors.state_dict())
    other = dict(batch)
    mixed = 0.5 * batch["results"] + 0.5 * 0.25
    other["results"] = torch.where(batch["expected"].isnan(), batch["results"], mixed)
    (found, report), (goal, _) = one.loss(**batch), imitator.loss(**other)
    assert found.item() == pytest.approx(goal.item(), rel=1e-5)
    assert report[1].tolist() == pytest.approx(imitator.loss(**batch)[1][1].tolist()), "the log has the result's error"


def test_those_who_play_are_an_average() -> None:
    net = torch.nn.Linear(1, 1, bias=False)
    average = Average(net, 0.5)
    values = []
    for value in (4.0, 8.0, 16.0):
        torch.nn.init.constant_(net.weight, value)
        average.add()
        values.append(float(average.net.weight))
    assert values[0] == 4.0, "where networks began does not count"
    assert values[1] == pytest.approx(4 + 4 * 10 / 11)
    for _ in range(60):
        average.add()
    assert float(average.net.weight) == pytest.approx(16.0)


def asked_often(most: int) -> Callable[[], bool]:
    """Says "stop" from the call with this number on."""
    calls = itertools.count()
    return lambda: next(calls) >= most


@pytest.mark.parametrize("most", [0, 1, 30, 75])
def test_interrupted_games_go_on_as_if_nothing_had_happened(tmp_path: Path, most: int) -> None:
    settings, evaluate, file = Settings(playouts=4), evaluators.by_rules(), tmp_path / "games"
    whole = selfplay.play(3, 4, 2, evaluate, settings, 1.0)
    own = selfplay.begin(4, 2)
    ended = selfplay.go_on(3, own, 1, evaluate, settings, 1.0, asked_often(most))
    assert not ended
    records.save(file, own, {"seed": 3})
    again, about = records.load(file)
    assert about["seed"] == 3
    for one, other in zip(own, again, strict=True):
        assert one.first == other.first
        for name in ("length", "heads", "cards", "tried_heads", "tried", "expected"):
            assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name == "expected"), name
    assert selfplay.go_on(3, again, 2, evaluate, settings, 1.0)
    found = selfplay.together([selfplay.played(3, each) for each in again])
    assert np.array_equal(found.winner, whole.winner)
    for name, field in found.samples._asdict().items():
        assert np.array_equal(field, getattr(whole.samples, name), equal_nan=name == "expected"), name


def test_games_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """They did not keep what the search expected."""
    own = selfplay.begin(2, 1)
    assert selfplay.go_on(3, own, 1, evaluators.by_rules(), Settings(playouts=4), 1.0)
    records.save(tmp_path / "games", own, {})
    arrays, about = storage.read(tmp_path / "games", records.KIND)
    del arrays["expected"]
    storage.write(tmp_path / "games", records.KIND, arrays, about)
    again = records.load(tmp_path / "games")[0][0]
    assert np.array_equal(again.tried, own[0].tried)
    assert np.isnan(again.expected).all()


def test_games_are_saved_while_they_are_played(tmp_path: Path) -> None:
    lengths: list[int] = []
    own = selfplay.begin(6, 2)

    def save() -> None:
        records.save(tmp_path / "games", own, {})
        lengths.append(sum(int(each.length.sum()) for each in records.load(tmp_path / "games")[0]))

    assert selfplay.go_on(1, own, 2, evaluators.by_rules(), Settings(playouts=8), 1.0, save=save, every=0.001)
    assert lengths == sorted(lengths)
    assert len(lengths) > 3


def test_a_failing_thread_stops_the_others() -> None:
    def broken(seat: int, seen: Any) -> Any:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        selfplay.go_on(1, selfplay.begin(4, 2), 2, broken, Settings(playouts=4), 1.0)


def nothing(_evaluate: Any) -> dict[str, float]:
    return {"judged": 1}


def test_an_interruption_within_an_episode_changes_nothing(tmp_path: Path) -> None:
    whole, parts = small(tmp_path / "whole"), small(tmp_path / "parts")
    whole.run(2, 10.0, nothing, lambda row: None, lambda: False)
    stops = 0
    for most in itertools.count(5, 15):
        parts.run(2, 10.0, nothing, lambda row: None, asked_often(most))
        if parts.done == 3 and parts.unjudged is None:
            break
        stops += 1
    assert stops > 3
    here, there = (read_rows(run.folder / CURVE) for run in (whole, parts))
    for one, other in zip(here, there, strict=True):
        assert one.pop("play_seconds") > 0
        assert other.pop("play_seconds") > 0
        assert one.pop("learn_seconds") > 0
        assert other.pop("learn_seconds") > 0
        assert one == other


def test_a_run_killed_anywhere_loses_no_games(tmp_path: Path) -> None:
    """In a judgement, and between any two moves; the reservoir is there again too."""

    def killed(_evaluate: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small(tmp_path).run(2, 10.0, killed, lambda row: None, lambda: False)
    moves, kept = 0, 0
    for most in itertools.count(5, 15):
        run = small(tmp_path)
        run.resume()
        assert bool(run.reservoir.kept[0]) == (run.done > 1)
        run.run(2, 10.0, nothing, lambda row: None, asked_often(most))
        if run.done == 3 and run.unjudged is None:
            break
        records_of = records.load(run.file(run.done))[0] if run.file(run.done).exists() else []
        now = 1000 * run.done + sum(int(each.length.sum()) for each in records_of)
        assert now >= moves
        moves, kept = now, kept + (now % 1000 > 0)
    assert kept > 2
    rows = read_rows(tmp_path / CURVE)
    assert [(row["episode"], row["judged"]) for row in rows] == [(0, 1), (1, 1), (2, 1)]
    last = small(tmp_path)
    last.resume()
    assert len(last.reservoir.kept[0]["seen"]) == len(run.reservoir.kept[0]["seen"])


def test_a_judgement_that_would_take_too_long_is_left_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, now = small(tmp_path), [0.0]
    monkeypatch.setattr("fogplay.nets.episodes.time.monotonic", lambda: now[0])

    def judge(_evaluate: Any) -> dict[str, float]:
        now[0] += 60.0
        return {"judged": 1}

    last = run.run(5, 1.5, judge, lambda row: None, lambda: False)
    assert (last["episode"], run.done) == (0, 2)
    assert run.unjudged is not None
    again = small(tmp_path)
    again.resume()
    assert again.run(5, 0.9, judge, lambda row: None, lambda: False)["episode"] == 1


def test_old_games_are_removed(tmp_path: Path) -> None:
    run = small(tmp_path, games=1, playouts=1)
    run.run(6, 10.0, lambda evaluate: {}, lambda row: None, lambda: False)
    assert sorted(path.name for path in tmp_path.glob("games_*")) == [
        f"games_{each}.safetensors" for each in (3, 4, 5, 6)
    ]


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
    for module in ("players", "actors"):
        here, there = (getattr(each.learner, module).state_dict() for each in (run, again))
        assert all(torch.allclose(here[name], there[name], atol=2e-3) for name in here)
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
    alone = [selfplay.play_part(7, first, 1, networks, thinking, 1.0) for first in range(3)]
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
