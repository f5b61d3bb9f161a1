"""Games written for Gambit: what is read back is the same tree, node by node."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import fogplay as fp
from fogplay.evaluate import measure
from fogplay.games.registry import presets, registered
from fogplay.trees.efg import write_efg
from tests.games.specs import FULLY_WALKED, SPECS
from tests.helpers import fogplay

MOST_NODES = 20_000
SLOW = ("pam(3,3,5)", "holdem(rounds=2,ranks=4,suits=2,hole=2,board=[0,3],max_raises=[1,1])")  # to flatten
LARGE = {"doudizhu"}  # games without a small version


def smallest(name: str) -> list[str]:
    return [spec for spec in SPECS[name] if spec in FULLY_WALKED]


def test_every_registered_game_is_covered() -> None:
    for name in {*registered(), *presets()} - LARGE:
        assert name not in SPECS or smallest(name), name


@pytest.mark.parametrize("spec", [spec for spec in FULLY_WALKED if spec not in SLOW])
def test_what_is_written_is_read_back(spec: str, tmp_path: Path) -> None:
    before = fp.flatten(spec)
    if before.num_nodes > MOST_NODES:
        pytest.skip("its smaller versions are written")
    write_efg(before, tmp_path / "game.efg")
    after = fp.flatten(str(tmp_path / "game.efg"))
    for name, one, other in zip(before.tree._fields, before.tree, after.tree, strict=True):
        assert np.array_equal(one, other), name
    assert [name.partition(": ")[2].partition(" #")[0] for name in after.infosets] == [
        " ".join(name.split()).partition(" #")[0] for name in before.infosets
    ]
    assert before.recall_lost is None or after.recall_lost is not None
    if before.recall_lost is None:
        rng = np.random.default_rng(1)
        probabilities = before.shares(rng.random(before.num_slots))
        assert measure(after, probabilities) == measure(before, probabilities)


def test_games_of_open_spiel_that_are_played_at_the_same_time(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    before = write_efg("pyspiel:goofspiel(imp_info=True,num_cards=3,points_order=descending)", tmp_path / "game.efg")
    after = fp.flatten(str(tmp_path / "game.efg"))
    assert after.digest == before.digest


def test_names_with_quotes_backslashes_and_line_breaks(tmp_path: Path) -> None:
    class Odd(fp.Game):
        name = "odd"

        def new_initial_state(self) -> fp.State:
            return At("start")

    class At(fp.State):
        def __init__(self, at: str) -> None:
            self.at = at

        def current_player(self) -> int:
            return 0 if self.at == "start" else fp.TERMINAL

        def legal_actions(self) -> list[int]:
            return [0, 1]

        def child(self, action: int) -> fp.State:
            return At("end")

        def information_state_string(self, player: int) -> str:
            return 'a "quoted"\nname\\'

        def action_to_string(self, player: int, action: int) -> str:
            return ('say "go"', "back\\slash")[action]

        def returns(self) -> list[float]:
            return [0.1 + 0.2, -1e-17]

    write_efg(Odd(), tmp_path / "odd.efg")
    read = fp.flatten(str(tmp_path / "odd.efg"))
    assert read.infosets == ('1: a "quoted" name/',)
    assert read.actions == ('say "go"', "back/slash")
    assert read.tree.payoffs.tolist() == [[0.1 + 0.2, -1e-17]] * 2


def test_the_command(tmp_path: Path) -> None:
    done = fogplay("games", "kuhn", "--efg", "kuhn.efg", "--json", cwd=tmp_path)
    assert json.loads(done.stdout.splitlines()[-1])["nodes"] == 58
    assert fp.solve(str(tmp_path / "kuhn.efg"), "lp").nash_conv == pytest.approx(0, abs=1e-9)
    refused = fogplay("games", "--efg", "kuhn.efg", cwd=tmp_path)
    assert refused.returncode == 2
    assert re.search("fogplay games GAME --efg", refused.stderr)
