"""``fogplay bench``: the numbers are what their names say, and a missing peer is not an error."""

from __future__ import annotations

import dataclasses
import json
import os
import sys

import pytest
from typer.testing import CliRunner

from fogplay.cli import app
from fogplay.errors import FogplayError
from fogplay.evaluate import measure
from fogplay.experiments import bench
from fogplay.experiments.bench import Progress, run_bench, split_games
from fogplay.experiments.bench_report import report_tables
from fogplay.experiments.bench_rows import Row, compare, read_csv, speedups, write_csv
from fogplay.experiments.contest import Worker
from fogplay.experiments.contestants import (
    OURS,
    SUITES,
    Entry,
    FogplayFullWidth,
    FogplaySampling,
    OpenSpielFullWidth,
    OpenSpielSampling,
    OpenSpielSearch,
)
from fogplay.games import load
from fogplay.trees import flatten

PEERS = ("LiteEFG", "OpenSpiel")


@pytest.fixture(scope="module")
def measured() -> tuple[list[Row], list[Progress]]:
    pytest.importorskip("pyspiel")
    pytest.importorskip("LiteEFG")
    seen: list[Progress] = []
    rows = run_bench("full-width", 0.1, seen.append, games=["kuhn", "ocp(5)"], rounds=2, target=0.05)
    return rows, seen


def test_every_contestant_is_measured_on_the_games_it_has(measured):
    rows, _ = measured
    assert [(row.game, row.contestant) for row in rows] == [
        ("kuhn", OURS), ("kuhn", "LiteEFG"), ("kuhn", "OpenSpiel"), ("ocp(5)", OURS),
    ]  # fmt: skip
    assert all(row.note == "" for row in rows)


def test_numbers_are_positive_and_agree_with_one_another(measured):
    rows, _ = measured
    for row in rows:
        assert 0 < row.slowest_round <= row.iterations_per_second <= row.fastest_round
        assert row.build_seconds > 0
        assert row.start_seconds > 0
        assert 10e6 < row.start_bytes <= row.peak_bytes
        assert 0 < row.nash_conv <= row.target == 0.05
        assert row.iterations_to_target >= 2
        # the timed run is about as fast as the rounds; loose, since this one is microseconds long
        assert 0 < row.seconds_to_target < 100 * row.iterations_to_target / row.iterations_per_second
    assert {row.infosets for row in rows if row.game == "kuhn"} == {12}


def test_sizes_are_the_trees_own(measured):
    rows, _ = measured
    ours = [row for row in rows if row.contestant == OURS]
    for row in ours:
        flat = flatten(row.game)
        assert (row.nodes, row.infosets, row.tree_bytes) == (flat.num_nodes, flat.num_infosets, flat.nbytes)
        assert row.bytes_per_node == pytest.approx(flat.nbytes / flat.num_nodes)
        assert row.nanoseconds_per_node * row.nodes * row.iterations_per_second == pytest.approx(1e9)
        assert row.nodes_per_second * row.build_seconds == pytest.approx(row.nodes)


def test_ratios_are_quotients_of_the_rows(measured):
    rows, _ = measured
    by_name = {row.contestant: row for row in rows if row.game == "kuhn"}
    found = compare(rows)
    assert [(each.game, each.peer) for each in found] == [("kuhn", peer) for peer in PEERS]
    for each in found:
        theirs = by_name[each.peer]
        assert each.speed * theirs.iterations_per_second == pytest.approx(by_name[OURS].iterations_per_second)
        assert each.to_target * by_name[OURS].seconds_to_target == pytest.approx(theirs.seconds_to_target)


def test_progress_counts_to_the_end(measured):
    _, seen = measured
    assert [now.done for now in seen] == list(range(1, len(seen) + 1))
    assert {now.steps for now in seen} == {len(seen)}


def test_csv_round_trip(measured, tmp_path):
    rows, _ = measured
    rows = [*rows, dataclasses.replace(rows[0], nodes=None, note='a "note", with a comma')]
    write_csv(rows, tmp_path / "rows.csv")
    assert read_csv(tmp_path / "rows.csv") == rows


def test_missing_peers_are_named_and_left_out(monkeypatch):
    ours = SUITES["full-width"][0]
    absent = Entry("Nowhere", "cfr+", "no_such_module_anywhere", "nowhere", FogplayFullWidth)
    monkeypatch.setitem(SUITES, "full-width", (ours, absent))
    assert bench.missing_peers() == ["Nowhere"]
    told = CliRunner().invoke(app, ["bench", "--seconds", "0.02", "--games", "kuhn"])
    assert told.exit_code == 0, told.output
    assert told.stderr.count("Nowhere is not installed") == 1
    assert "Nowhere" not in told.stdout
    assert "kuhn" in told.stdout
    told = CliRunner().invoke(app, ["bench", "--seconds", "0.02", "--games", "kuhn", "--json"])
    assert json.loads(told.stdout.splitlines()[-1])["missing"] == ["Nowhere"]


def test_a_contestant_that_fails_leaves_a_note_and_the_others_go_on(monkeypatch):
    ours = SUITES["full-width"][0]
    stranger = Entry("Stranger", "cfr+", "sys", "stranger", FogplayFullWidth)  # unknown to the worker's own table
    monkeypatch.setitem(SUITES, "full-width", (stranger, ours))
    failed, good = run_bench("full-width", 0.02, games=["kuhn"], rounds=1)
    assert "exit code" in failed.note
    assert failed.iterations_per_second is None
    assert good.iterations_per_second > 0
    assert compare([failed, good])[0].speed is None
    assert report_tables([failed, good])[0].title.startswith("Speed")
    assert "exit code" in report_tables([failed, good])[0].lines[0][-1]


@pytest.mark.skipif(sys.platform == "win32", reason="no alarms")
def test_a_build_that_takes_too_long_is_given_up():
    seat = bench._Seat("full-width", SUITES["full-width"][0], "leduc", "ocp(500)")
    with pytest.raises(bench._ContestantError, match=r"not built within 0\.05 s"):
        seat.ask("build", game="ocp(500)", limit=0.05)
    seat.close()


def test_a_target_out_of_reach_is_told(monkeypatch):
    monkeypatch.setitem(SUITES, "full-width", SUITES["full-width"][:1])
    (row,) = run_bench("full-width", 0.02, games=["kuhn"], rounds=1, target=1e-12, solve_limit=0.01)
    assert row.seconds_to_target is None
    assert row.nash_conv > 1e-12
    assert "after 0.01 s" in row.note
    assert row.iterations_per_second > 0


def test_worker_counts_what_it_does():
    worker = Worker(SUITES["full-width"][0])
    worker.build("kuhn", 0.0)
    done = worker.rate_for(0.02)
    assert worker.contestant.done == done["iterations"]
    assert done["seconds"] >= 0.02
    found = worker.find(0.1, 10.0)
    assert worker.contestant.done == found["iterations"]
    assert found["nash_conv"] == measure(flatten("kuhn"), worker.contestant.learner.average()).nash_conv <= 0.1
    worker.repeat(found["iterations"])
    assert worker.contestant.nash_conv() == found["nash_conv"]


def test_openspiel_runs_the_same_algorithm_on_the_same_game():
    pytest.importorskip("pyspiel")
    for ours, theirs in (
        ("kuhn", "kuhn_poker"),
        ("leduc", "leduc_poker"),
        ("bluff(1,1,3)", "liars_dice(dice_sides=3)"),
    ):
        assert bench.openspiel_name(ours) == theirs
        mine, peer = FogplayFullWidth(), OpenSpielFullWidth()
        assert mine.build(ours)["infosets"] == peer.build(theirs)["infosets"]
        mine.iterate(20)
        peer.iterate(20)
        assert mine.nash_conv() == pytest.approx(peer.nash_conv(), rel=1e-9)


def test_names_of_games():
    assert split_games("leduc, bluff(1,1,5),kuhn") == ["leduc", "bluff(1,1,5)", "kuhn"]
    assert bench.openspiel_name("kuhn(players=2)") == "kuhn_poker"
    assert bench.openspiel_name("ocp(13)") is None
    assert bench.openspiel_name("pyspiel:leduc_poker(players=2)") == "leduc_poker(players=2)"
    for suite, games in bench.GAMES.items():
        assert suite in SUITES
        assert all(load(game) for game in games)


def test_mistakes_end_in_one_line():
    with pytest.raises(FogplayError, match="no suite 'sampled'"):
        run_bench("sampled")
    with pytest.raises(FogplayError, match="no game is called"):
        run_bench(games=["kuuhn"])
    with pytest.raises(FogplayError, match="greater than 0"):
        run_bench(seconds=0)


def test_command_line_json(monkeypatch, tmp_path):
    monkeypatch.setitem(SUITES, "full-width", SUITES["full-width"][:1])
    out = tmp_path / "rows.csv"
    told = CliRunner().invoke(app, ["bench", "--seconds", "0.02", "--games", "kuhn", "--out", str(out), "--json"])
    assert told.exit_code == 0, told.output
    facts = json.loads(told.stdout.splitlines()[-1])
    assert facts["suite"] == "full-width"
    assert Row(**facts["rows"][0]) == read_csv(out)[0]


SAMPLERS = ("os-mccfr", "es-mccfr", "smooth-uct", "uct", "cs-mccfr")


@pytest.fixture(scope="module")
def sampled() -> tuple[list[Row], list[Progress]]:
    pytest.importorskip("pyspiel")
    seen: list[Progress] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "_compile", lambda *_: None)  # saves five processes; each compiles for itself if need be
        return run_bench("sampling", 0.05, seen.append, games=["kuhn"], rounds=2), seen


def test_every_sampler_is_measured_beside_its_rival(sampled):
    rows, seen = sampled
    assert seen[-1].done == seen[-1].steps == len(seen)
    assert [row.note for row in rows] == [""] * len(SUITES["sampling"])
    assert [row.algorithm for row in rows if row.contestant == OURS] == list(SAMPLERS)
    for row in rows:
        assert 0 < row.slowest_round <= row.iterations_per_second <= row.fastest_round
        assert row.nanoseconds_per_node is None  # an episode is no pass over the tree
        assert 0 < row.core_share <= 1
    by_algorithm = {row.algorithm: row for row in rows}
    found = {each.race: each.speed for each in compare(rows)}
    pairs = {
        "outcome sampling": ("os-mccfr", "OutcomeSamplingMCCFRSolver (C++)"),
        "external sampling": ("es-mccfr", "ExternalSamplingMCCFRSolver (C++)"),
        "search": ("smooth-uct", "ISMCTSBot (C++)"),
    }
    assert found.keys() == pairs.keys()
    for race, (mine, theirs) in pairs.items():
        rates = [by_algorithm[name].iterations_per_second for name in (mine, theirs)]
        assert found[race] == pytest.approx(rates[0] / rates[1])


def test_samplers_reach_the_target_where_they_have_a_strategy(sampled):
    rows, _ = sampled
    for row in rows:
        if row.algorithm == "ISMCTSBot (C++)":
            assert (row.target, row.nash_conv, row.seconds_to_target) == (None, None, None)
        else:
            assert 0 < row.nash_conv <= row.target == 0.5
            assert row.iterations_to_target >= 1000
            assert row.seconds_to_target > 0


def test_tables_of_samplers(sampled):
    rows, _ = sampled
    speed, quality, memory, building, growth = report_tables(rows)
    assert len(speed.lines) == len(memory.lines) == len(rows)
    assert len(quality.lines) == len(rows) - 1  # a search has no strategy
    assert [line[0] for line in building.lines] == ["kuhn"]  # once, however many algorithms
    assert [line[2] for line in growth.lines] == list(SAMPLERS)
    assert {line[3] for line in speed.lines} == {"episodes", "traversals", "simulations"}


def test_units_are_counted_alike():
    """An iteration of OpenSpiel's is one episode, or traversal, for each player."""
    pytest.importorskip("pyspiel")
    for solver in ("OutcomeSamplingMCCFRSolver", "ExternalSamplingMCCFRSolver"):
        peer = OpenSpielSampling(solver)
        for game, players in (("kuhn_poker", 2), ("kuhn_poker(players=3)", 3)):
            peer.build(game)
            iterations = 0

            class Counting:
                def run_iteration(self):
                    nonlocal iterations
                    iterations += 1

            peer.solver = Counting()
            for count in (1, 1, 1, 2, 7, 0, 300):
                peer.iterate(count)
            assert iterations == 312 // players


def test_openspiel_samplers_solve_the_same_game_about_as_well():
    pytest.importorskip("pyspiel")
    for algorithm, solver, bound in (  # the worst of twelve seeds, of either side: 0.048 and 0.013
        ("os-mccfr", "OutcomeSamplingMCCFRSolver", 0.06),
        ("es-mccfr", "ExternalSamplingMCCFRSolver", 0.02),
    ):
        mine, peer = FogplaySampling(algorithm), OpenSpielSampling(solver)
        mine.build("kuhn")
        peer.build("kuhn_poker")
        mine.iterate(100_000)
        peer.iterate(100_000)
        assert mine.nash_conv() < bound
        assert peer.nash_conv() < bound
        peer.restart()
        assert peer.nash_conv() > 0.5


def test_search_does_as_many_simulations_as_it_is_asked_for():
    pytest.importorskip("pyspiel")
    search = OpenSpielSearch()
    search.build("leduc_poker")
    assert search.state.current_player() == 0
    rollouts = 0

    class Bot:
        def __init__(self, _seed, _evaluator, exploration, simulations):
            nonlocal rollouts
            rollouts += simulations
            assert exploration == pytest.approx(0.6 * 26)

        def step(self, state):
            assert not state.is_chance_node()

    real = search.pyspiel
    search.pyspiel = type("Stub", (), {"ISMCTSBot": Bot, "RandomRolloutEvaluator": real.RandomRolloutEvaluator})
    search.iterate(123)
    assert rollouts == 123


def test_updates_lost_are_those_that_left_no_trace():
    contestant = FogplaySampling("uct")
    for game in ("kuhn", "leduc"):
        contestant.build(game)
        assert contestant.lost() is None
        contestant.iterate(1000)
        assert contestant.lost() == 0.0  # one thread loses nothing
        contestant.done = 1250
        assert contestant.lost() == pytest.approx(0.2)
    other = FogplaySampling("os-mccfr")
    other.iterate(10)
    assert other.lost() is None  # keeps no visits


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core")
def test_two_threads_and_two_runs_beside_one(monkeypatch):
    monkeypatch.setitem(SUITES, "threads", SUITES["threads"][:3])
    monkeypatch.setattr(bench, "_compile", lambda *_: None)
    alone, shared, apart = run_bench("threads", 0.05, games=["kuhn"], rounds=1)
    assert [(row.threads, row.processes) for row in (alone, shared, apart)] == [(1, 1), (2, 1), (1, 2)]
    assert {row.note for row in (alone, shared, apart)} == {""}
    assert 0 <= shared.lost_share < 0.5
    assert alone.lost_share is apart.lost_share is alone.target is None
    assert apart.peak_bytes > 1.5 * shared.peak_bytes  # two processes
    assert speedups([shared, alone, apart]) == [
        row.iterations_per_second / alone.iterations_per_second for row in (shared, alone, apart)
    ]
    (told,) = report_tables([alone, shared, apart])
    assert [line[1] for line in told.lines] == ["smooth-uct", "smooth-uct, 2 threads", "smooth-uct, 2 runs"]


def test_too_few_cores_are_told():
    many = dataclasses.replace(SUITES["threads"][1], threads=5000)
    seat = bench._Seat("threads", many, "kuhn", "kuhn")
    seat.close()
    assert seat.row.note == "needs 5000 cores"
