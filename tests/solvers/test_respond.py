"""Responses to a model: what they win, what they risk, and mixing beside them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fogplay
from fogplay import FogplayError, Strategy, flatten, respond, solve, tradeoff
from fogplay.evaluate import best_response, measure
from fogplay.evaluate.responses import against_model, mix
from fogplay.solvers.respond import trust
from fogplay.strategies import TabularStrategy
from fogplay.trees import FlatGame
from tests import oracles
from tests.helpers import as_policy, random_probabilities
from tests.helpers import fogplay as run


def model_of(flat: FlatGame, seed: int = 1) -> Strategy:
    return TabularStrategy.of(flat, random_probabilities(flat, seed), "random")


def test_winnings_and_guarantees_are_what_the_oracles_say() -> None:
    flat = flatten("leduc(suits=unseen)")
    ours, model = random_probabilities(flat, 1), random_probabilities(flat, 2)
    quality = against_model(flat, ours, model)
    root = flat.root
    for seat in range(2):
        joint = model.copy()
        joint[flat.slots_of(seat)] = ours[flat.slots_of(seat)]
        assert quality.winnings[seat] == pytest.approx(oracles.expected_values(root, as_policy(flat, joint))[seat])
        worst = -oracles.best_response_value(root, as_policy(flat, ours), 1 - seat)
        assert quality.guaranteed is not None
        assert quality.guaranteed[seat] == pytest.approx(worst)
    assert quality.nash_conv == pytest.approx(-sum(quality.guaranteed or ()))


def test_mixing_is_a_choice_before_the_game_begins() -> None:
    """So everything that is linear in plans is the same mixture, though no single infoset mixes like that."""
    flat = flatten("leduc(suits=unseen)")
    one, other, model = (random_probabilities(flat, seed) for seed in (1, 2, 3))
    for share in (0.0, 0.3, 1.0):
        mixed = against_model(flat, mix(flat, one, other, share), model).winnings
        apart = [against_model(flat, each, model).winnings for each in (one, other)]
        np.testing.assert_allclose(mixed, share * np.array(apart[0]) + (1 - share) * np.array(apart[1]), atol=1e-12)
    assert np.abs(mix(flat, one, other, 0.3) - (0.3 * one + 0.7 * other)).max() > 0.05


@pytest.mark.parametrize("spec", ["kuhn", "leduc(suits=unseen)", "goofspiel(4)", "bluff(1,1,3)", "ocp(12)", "rps"])
def test_restricted_nash_dominates_mixing(spec: str) -> None:
    """At every confidence p nothing earns more of p · winnings + (1 - p) · guaranteed, so mixing does not either."""
    flat = flatten(spec)
    points = tradeoff(flat, model_of(flat), (0.25, 0.5, 0.75, 0.9), algorithm="lp")
    restricted = [point for point in points if point.method == "rnr"]
    mixed = [point for point in points if point.method == "mixing"]
    assert [point.confidence for point in restricted] == [0.0, 0.25, 0.5, 0.75, 0.9]
    assert len(mixed) == 11
    close = 1e-7 * flat.payoff_range
    for best in restricted:
        p = best.confidence
        for point in (*mixed, *restricted):
            assert best.guaranteed is not None
            assert point.guaranteed is not None
            for seat in range(2):
                reached = p * best.winnings[seat] + (1 - p) * best.guaranteed[seat]
                assert p * point.winnings[seat] + (1 - p) * point.guaranteed[seat] <= reached + close
    exploitation = [point.exploitation for point in restricted]
    risk = [point.nash_conv for point in restricted]
    assert (np.diff(exploitation[1:]) >= -close).all()
    assert (np.diff(risk) >= -close).all()
    assert mixed[-1].exploitation >= max(exploitation) - close  # the best response itself


def test_the_ends_are_equilibrium_and_best_response() -> None:
    flat = flatten("leduc")
    model = model_of(flat)
    best = respond(flat, model, 1.0, algorithm="lp")
    safe = respond(flat, model, 0.0, algorithm="lp")
    for seat in range(2):
        earned, _ = best_response(flat, model.probabilities, seat)
        assert best.quality.winnings[seat] == pytest.approx(earned, abs=1e-7)
    assert safe.quality.nash_conv == pytest.approx(0, abs=1e-7)
    assert measure(flat, safe.strategy.probabilities).nash_conv == pytest.approx(0, abs=1e-7)


def test_three_players_respond_to_the_two_others() -> None:
    flat = flatten("kuhn(players=3)")
    model = model_of(flat)
    best = respond(flat, model, 1.0, iterations=3_000)
    for seat in range(3):
        earned, _ = best_response(flat, model.probabilities, seat)
        assert best.quality.winnings[seat] == pytest.approx(earned, abs=1e-3)
    assert best.quality.guaranteed is None


def test_sampling_comes_close_to_the_exact_response() -> None:
    flat = flatten("leduc(suits=unseen)")
    model = model_of(flat)
    for kind in ("rnr", "dbr"):
        exact = respond(flat, model, 0.75, kind=kind, algorithm="lp")
        sampled = respond(flat, model, 0.75, kind=kind, algorithm="os-mccfr", iterations=3_000_000, seed=1)
        for a, b in zip(exact.quality.winnings, sampled.quality.winnings, strict=True):
            assert a == pytest.approx(b, abs=0.15)
        assert sampled.quality.nash_conv == pytest.approx(exact.quality.nash_conv, abs=0.4)
        assert sampled.strategy.parameters["epsilon"] == 0.5
        assert sampled.strategy.method == kind


def test_confidence_follows_the_observations() -> None:
    flat = flatten("kuhn")
    visits = np.zeros(flat.num_slots, np.int64)
    visits[flat.slots(3)] = [4, 6]
    model = TabularStrategy.of(flat, flat.uniform(), "counts", visits=visits)
    confidence = trust(flat, model, 0.8, "dbr", 10.0)
    assert isinstance(confidence, np.ndarray)
    assert confidence.tolist() == [0.4 if number == 3 else 0.0 for number in range(flat.num_infosets)]
    plain = trust(flat, TabularStrategy.of(flat, flat.uniform(), "x"), 0.8, "dbr", 10.0)
    assert isinstance(plain, np.ndarray)
    assert set(plain.tolist()) == {0.8}
    assert trust(flat, model, 0.8, "rnr", 10.0) == 0.8


def test_a_model_nobody_observed_is_not_trusted_at_all() -> None:
    flat = flatten("kuhn")
    model = TabularStrategy.of(flat, random_probabilities(flat, 1), "counts", visits=np.zeros(flat.num_slots, np.int64))
    assert respond(flat, model, 1.0, kind="dbr", algorithm="lp").quality.nash_conv == pytest.approx(0, abs=1e-9)


def test_progress_covers_all_seats_and_confidences() -> None:
    seen: list[fogplay.Progress] = []
    flat = flatten("kuhn")
    tradeoff(flat, model_of(flat), (0.5, 1.0), iterations=50, progress=seen.append)
    assert {now.iterations for now in seen} == {3 * 2 * 50}
    done = [now.iteration for now in seen]
    assert done == sorted(done)
    assert done[-1] == 300
    assert all(a.seconds <= b.seconds for a, b in pairwise(seen))


def test_a_run_resumes_seat_by_seat(tmp_path: Path) -> None:
    flat = flatten("kuhn")
    model, checkpoint = model_of(flat), tmp_path / "c"
    how: dict[str, Any] = {"algorithm": "os-mccfr", "seed": 3}
    whole = respond(flat, model, 0.5, iterations=4_000, **how)
    respond(flat, model, 0.5, iterations=1_000, checkpoint=checkpoint, **how)
    assert {path.name for path in tmp_path.iterdir()} == {"c.0", "c.1"}
    again = respond(flat, model, 0.5, iterations=4_000, checkpoint=checkpoint, resume=True, **how)
    assert again.strategy.probabilities.tolist() == whole.strategy.probabilities.tolist()
    with pytest.raises(FogplayError, match="confidence"):  # of another game: its name tells
        respond(flat, model, 0.6, iterations=4_000, checkpoint=checkpoint, resume=True, **how)


def test_the_commands(tmp_path: Path) -> None:
    solve("kuhn", "uct", 10_000, seed=1).strategy.save(tmp_path / "uct.safetensors")
    done = run("respond", "kuhn", "--to", "uct.safetensors", "--confidence", "0.9", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout.splitlines()[-1])
    expected = respond("kuhn", Strategy.load(tmp_path / "uct.safetensors"), 0.9).quality
    assert facts["winnings"] == list(expected.winnings)
    assert facts["nash_conv"] == expected.nash_conv
    saved = Strategy.load(tmp_path / facts["out"])
    assert saved.method == "rnr"
    assert saved.parameters["confidence"] == 0.9

    done = run("tradeoff", "kuhn", "--to", "uct.safetensors", "-a", "lp", "--out", "curve.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mixing" in done.stdout
    rows = (tmp_path / "curve.csv").read_text().splitlines()
    assert rows[0] == "method,confidence,exploitation,nash_conv,winnings_0,winnings_1,guaranteed_0,guaranteed_1"
    assert len(rows) == 1 + 8 + 11
    assert (tmp_path / "curve.png").stat().st_size > 10_000
    assert (tmp_path / "curve.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("respond", "kuhn", "--to", "none.safetensors"), "there is no file none.safetensors"),
        (("respond", "leduc", "--to", "m.safetensors"), "this strategy is for kuhn"),
        (
            ("respond", "kuhn", "--to", "m.safetensors", "--confidence", "1.2"),
            "confidence must be a number from 0 to 1",
        ),
        (
            ("respond", "kuhn", "--to", "m.safetensors", "--confidence", "nan"),
            "confidence must be a number from 0 to 1",
        ),
        (("respond", "kuhn", "--to", "m.safetensors", "--kind", "nash"), "kind must be rnr or dbr"),
        (("respond", "kuhn", "--to", "m.safetensors", "--kind", "dbr", "--half", "-1"), "half must be a number"),
        (("respond", "kuhn", "--to", "m.safetensors", "--out", "m.safetensors"), "would overwrite the model"),
        (("respond", "kuhn", "--to", "m.safetensors", "-a", "cfr++"), "did you mean"),
        (("tradeoff", "kuhn", "--to", "m.safetensors", "--confidences", "0,x"), "must be numbers from 0 to 1"),
        (("tradeoff", "kuhn", "--to", "m.safetensors", "--confidences", "0,7"), "confidence must be a number"),
        (("tradeoff", "kuhn", "--to", "m.safetensors", "--out", "no/such/place"), "there is no folder"),
    ],
)
def test_mistakes_get_one_line(arguments: tuple[str, ...], says: str, tmp_path: Path) -> None:
    flat = flatten("kuhn")
    TabularStrategy.of(flat, flat.uniform(), "uniform").save(tmp_path / "m.safetensors")
    before = (tmp_path / "m.safetensors").read_bytes()
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert says in done.stderr
    assert (tmp_path / "m.safetensors").read_bytes() == before
