"""Strategies on disk: the round trip, and every kind of damage."""

from __future__ import annotations

import os
import pickle
import random
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from fogplay import FogplayError, Strategy, flatten, solve, storage
from fogplay.strategies import TabularStrategy
from tests.random_games import RandomGame, random_games


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "kuhn.safetensors"
    solve("kuhn", "dcfr", 50, alpha=1.25).strategy.save(path)
    return path


def assert_equal(one: Any, two: Any) -> None:
    for name in ("game", "infosets", "actions", "method", "parameters", "iterations", "seed", "version"):
        assert getattr(one, name) == getattr(two, name), name
    for name in ("probabilities", "infoset_player", "infoset_start", "action_values", "visits"):
        left, right = getattr(one, name), getattr(two, name)
        assert (left is None) == (right is None)
        if left is not None:
            assert left.tobytes() == right.tobytes()
            assert left.dtype == right.dtype


def test_round_trip(tmp_path: Path) -> None:
    strategy = solve("leduc", "dcfr", 50, alpha=1.25).strategy
    strategy.save(tmp_path / "leduc.safetensors")
    again = Strategy.load(tmp_path / "leduc.safetensors")
    assert_equal(strategy, again)
    assert isinstance(again.probabilities, np.memmap)
    assert again["Kh:"] == strategy["Kh:"]
    assert list(tmp_path.iterdir()) == [tmp_path / "leduc.safetensors"]


@given(random_games(), st.text(max_size=5), st.integers(0, 2**62))
@settings(max_examples=25, deadline=None)
def test_round_trip_of_any_strategy(tmp_path_factory: Any, game: RandomGame, odd: str, visits: int) -> None:
    flat = flatten(game, name=f"odd {odd}")
    strategy = TabularStrategy.of(
        flat,
        flat.uniform(),
        "by hand",
        parameters={"text": odd, "infinite": float("inf")},
        visits=np.full(flat.num_slots, visits),
        action_values=flat.uniform() / 3,
    )
    path = tmp_path_factory.mktemp("any") / "strategy"
    strategy.save(path)
    assert_equal(strategy, Strategy.load(path))


def test_it_is_a_plain_safetensors_file(saved: Path) -> None:
    assert safetensors.numpy.load_file(saved)["probabilities"].shape == (24,)


def test_arrays_of_any_width_are_aligned_and_read_alike_by_the_library(tmp_path: Path) -> None:
    arrays = {str(dtype.__name__): np.arange(3).astype(dtype) for dtype in storage.DTYPES.values()}
    storage.write(tmp_path / "file", "test", {**arrays, "none": np.zeros((0, 2))}, {"known": "ä"})
    read, about = storage.read(tmp_path / "file", "test")
    theirs = safetensors.numpy.load_file(tmp_path / "file")
    assert about == {"known": "ä"}
    assert read["none"].shape == theirs["none"].shape == (0, 2)
    for name, array in arrays.items():
        assert read[name].flags.aligned
        assert read[name].dtype == theirs[name].dtype == array.dtype
        assert read[name].tolist() == theirs[name].tolist() == array.tolist()


def test_what_killed_writers_left_is_swept_away(tmp_path: Path) -> None:
    path, other = tmp_path / "[run]", tmp_path / ".other.x.part"
    old, new = (tmp_path / f".[run].{name}.part" for name in ("old", "new"))
    for part in (old, new, other):
        part.write_bytes(b"half")
    for part in (old, other):
        os.utime(part, (0, 0))
    storage.write(path, "test", {}, {})
    assert {path.name for path in tmp_path.iterdir()} == {"[run]", ".[run].new.part", ".other.x.part"}


def test_truncation_anywhere_is_noticed(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in [0, 1, 7, 8, 9, 100, *random.Random(1).sample(range(len(whole)), 60), len(whole) - 1]:
        saved.write_bytes(whole[:length])
        with pytest.raises(FogplayError, match="damaged"):
            Strategy.load(saved)


def test_a_flipped_bit_anywhere_is_noticed(saved: Path) -> None:
    whole = saved.read_bytes()
    header = int.from_bytes(whole[:8], "little")
    rng = random.Random(2)
    places = [*range(24), *rng.sample(range(8, 8 + header), 150), *rng.sample(range(8 + header, len(whole)), 150)]
    for place in places:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.randrange(8)
        saved.write_bytes(flipped)
        with pytest.raises(FogplayError) as error:
            Strategy.load(saved)
        assert "\n" not in str(error.value)


def test_bytes_added_at_the_end_are_noticed(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes() + b"more")
    with pytest.raises(FogplayError, match="damaged"):
        Strategy.load(saved)


def test_another_games_strategy_is_refused(saved: Path) -> None:
    strategy = Strategy.load(saved)
    with pytest.raises(FogplayError, match="not for leduc"):
        strategy.on(flatten("leduc"))
    with pytest.raises(FogplayError, match=r"infoset .* is in one of them only"):
        strategy.on(flatten("ocp(cards=3)"))


def test_a_newer_format_a_pickle_and_other_files_are_refused(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "FORMAT", 0)
    with pytest.raises(FogplayError, match="format 1, written by a newer fogplay; this version reads up to 0"):
        Strategy.load(saved)
    monkeypatch.undo()

    class Bomb:
        def __reduce__(self) -> tuple[Any, tuple[str]]:
            return os.system, (f"touch {saved}.exploded",)

    saved.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FogplayError, match="damaged, or not a file that fogplay wrote"):
        Strategy.load(saved)
    assert not Path(f"{saved}.exploded").exists()
    safetensors.numpy.save_file({"probabilities": np.zeros(3)}, saved)
    with pytest.raises(FogplayError, match="fogplay did not write it"):
        Strategy.load(saved)
    with pytest.raises(FogplayError, match="there is no file"):
        Strategy.load(saved / "nowhere" if False else saved.with_name("nowhere"))
    with pytest.raises(FogplayError, match="is a folder"):
        Strategy.load(saved.parent)


def test_a_checkpoint_is_no_strategy(tmp_path: Path) -> None:
    solve("kuhn", "cfr", 10, checkpoint=tmp_path / "run")
    with pytest.raises(FogplayError, match="holds a checkpoint, not a strategy"):
        Strategy.load(tmp_path / "run")


def test_a_full_disk_leaves_what_was_there(saved: Path) -> None:
    before, strategy = saved.read_bytes(), solve("kuhn", "cfr", 3).strategy
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, most))
    try:
        with pytest.raises(FogplayError, match="File too large; existing files are unchanged"):
            strategy.save(saved)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_lookups() -> None:
    strategy = solve("kuhn", "cfr+", 100).strategy
    assert sum(strategy["K:"].values()) == pytest.approx(1)
    with pytest.raises(FogplayError, match="has no infoset 'A:'; its infosets look like 'J:'"):
        strategy["A:"]


def test_an_order_of_its_own_is_matched_by_name() -> None:
    flat = flatten("kuhn")
    strategy = solve(flat, "cfr+", 100).strategy
    turned = TabularStrategy(
        game=strategy.game,
        infosets=strategy.infosets[::-1],
        actions=strategy.actions,
        infoset_player=strategy.infoset_player[::-1],
        infoset_start=strategy.infoset_start,
        probabilities=strategy.probabilities.reshape(12, 2)[::-1].ravel(),
        method="turned",
    )
    assert turned.on(flat).tolist() == strategy.on(flat).tolist()


def test_a_header_of_unknown_types_is_refused(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes().replace(b'"dtype":"F64"', b'"dtype":"C64"'))
    with pytest.raises(FogplayError, match="damaged"):
        Strategy.load(saved)
