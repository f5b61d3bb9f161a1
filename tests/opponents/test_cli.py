"""``fogplay match`` and ``fogplay model`` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fogplay as fp
from fogplay.opponents.histories import read
from tests.helpers import fogplay, random_probabilities

HEAD = "# fogplay histories 1\n# game: kuhn(players=2,pot=2)\n"


def last_json(output: str) -> Any:
    return json.loads(output.splitlines()[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two strategies of Kuhn poker, one of Leduc, and hands that one of them saw."""
    here = tmp_path_factory.mktemp("opponents")
    kuhn, leduc = fp.flatten("kuhn"), fp.flatten("leduc")
    fp.solve(kuhn, "lp").strategy.save(here / "best.safetensors")
    fp.TabularStrategy.of(kuhn, random_probabilities(kuhn, 4), "random").save(here / "odd.safetensors")
    fp.TabularStrategy.of(leduc, leduc.uniform(), "uniform").save(here / "leduc.safetensors")
    done = fogplay(
        "match", "kuhn", "best.safetensors", "odd.safetensors", "--hands", "3001", "--seed", "7", "--log", "seen.txt",
        "--seen-by", "best", "--json", cwd=here,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (here / "match.json").write_text(done.stdout)
    return here


def test_match(folder: Path) -> None:
    facts = last_json((folder / "match.json").read_text())
    assert facts["game"] == "kuhn(players=2,pot=2)"
    assert facts["hands"] == 3001
    assert facts["seed"] == 7
    first, second = facts["players"]
    assert (first["name"], second["name"]) == ("best", "odd")
    assert first["agent"] == "best.safetensors"
    assert first["mean"] == pytest.approx(-second["mean"])
    low, high = first["interval"]
    assert low < first["mean"] < high
    hands = read(folder / "seen.txt")
    assert len(hands.order) == 3001
    assert hands.names == ("best", "odd")
    for hand in hands.hands:
        assert hand.moves[hand.names.index("best")] != "?"
    assert any("?" in hand.moves for hand in hands.hands)
    again = fogplay("match", "kuhn", "best.safetensors", "odd.safetensors", "-n", "3001", "--seed", "7", cwd=folder)
    assert f"{first['mean']:+.5f}" in again.stdout
    assert again.returncode == 0


def test_model(folder: Path) -> None:
    command = ["model", "kuhn", "--from", "seen.txt", "--player", "odd", "--out", "model.safetensors"]
    facts = last_json(fogplay(*command, "--prior", "0.5", "--json", cwd=folder).stdout)
    assert facts["hands"] == facts["hands_in_file"] == 3001
    assert facts["player"] == "odd"
    assert facts["method"] == "counts"
    assert facts["infosets"] == 12
    assert facts["rounds"] > 1
    assert facts["out"] == "model.safetensors"
    model = fp.Strategy.load(folder / "model.safetensors")
    same = fp.learn_model("kuhn", folder / "seen.txt", "odd", prior=0.5)
    assert model.probabilities.tolist() == same.probabilities.tolist()
    assert fogplay("evaluate", "model.safetensors", cwd=folder).returncode == 0
    shown = fogplay("inspect", "model.safetensors", "Q:b", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    assert "visits" in shown.stdout
    tree = fogplay(*command, "--method", "tree", "--toward", "best.safetensors", "--min-hands", "40", cwd=folder)
    assert "a model of odd from 3,001 of 3,001 hands, by tree" in tree.stdout
    assert fp.Strategy.load(folder / "model.safetensors").method == "counts"  # another kind of model is kept aside
    assert fp.Strategy.load(folder / "model-2.safetensors").method == "decision-tree"
    assert fogplay("match", "kuhn", "model.safetensors", "uniform", "-n", "10", cwd=folder).returncode == 0


def test_names_are_made_distinct_and_plain(folder: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a|b: c#.safetensors"
    odd.write_bytes((folder / "odd.safetensors").read_bytes())
    done = fogplay("match", "kuhn(players=2)", str(odd), str(odd), "-n", "4", "--log", "l.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "l.txt").names == ("a-b- c-", "a-b- c--2")
    done = fogplay("match", "kuhn(players=3)", *["uniform"] * 3, "-n", "4", "--log", "l.txt", "--json", cwd=tmp_path)
    assert [row["name"] for row in last_json(done.stdout)["players"]] == ["uniform", "uniform-2", "uniform-3"]
    assert last_json(done.stdout)["players"][0]["standard_error"] is None
    default = fogplay("model", "kuhn(players=3)", "--from", "l.txt", "--player", "uniform-2", "--json", cwd=tmp_path)
    assert Path(tmp_path / last_json(default.stdout)["out"]).exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["match", "kuhn", "uniform"], "kuhn is for 2 players; 1 agents were named"),
        (["match", "kuhn", "uniform", "none.safetensors"], "there is no file none.safetensors; an agent is a saved"),
        (["match", "kuhn", "uniform", "leduc.safetensors"], "leduc.safetensors: this strategy is for leduc"),
        (["match", "kuhn", "uniform", "seen.txt"], "seen.txt is damaged, or not a file that fogplay wrote"),
        (["match", "kuhn", "uniform", "uniform", "--hands", "0"], "hands must be a whole number from 1"),
        (["match", "kuhn", "uniform", "uniform", "--seed", "-1"], "seed must be a whole number from 0"),
        (["match", "kuhn", "uniform", "uniform", "--log", "no/such/log"], "there is no folder no/such"),
        (["match", "kuhn", "uniform", "uniform", "--log", "."], ". is a folder; --log takes a file's name"),
        (["match", "kuhn", "uniform", "uniform", "--seen-by", "uniform"], "add --log FILE"),
        (["match", "kuhn", "uniform", "uniform", "--log", "l", "--seen-by", "bob"], "there are uniform, uniform-2"),
        (["model", "kuhn", "--from", "none.txt", "--player", "a"], "there is no file none.txt"),
        (["model", "kuhn", "--from", "seen.txt"], "seen.txt has hands of best, odd; say whose model to learn"),
        (["model", "kuhn", "--from", "seen.txt", "--player", "eve"], "no hands of 'eve'; choose one of best, odd"),
        (
            ["model", "leduc", "--from", "seen.txt", "--player", "odd"],
            "hands of kuhn, not of leduc",
        ),
        (["model", "kuhn", "--from", "best.safetensors", "--player", "odd"], "line 1: not text in UTF-8"),
        (
            ["model", "kuhn", "--from", "wrong.txt", "--player", "odd"],
            "wrong.txt, line 4, move 3: 'raise' is not",
        ),
        (["model", "kuhn", "--from", "seen.txt", "--player", "odd", "--prior", "-2"], "prior must be a number from 0"),
        (
            ["model", "kuhn", "--from", "seen.txt", "--player", "odd", "--method", "net"],
            "method must be counts or tree",
        ),
        (["model", "kuhn", "--from", "seen.txt", "--player", "odd", "--out", "no/file"], "there is no folder no"),
        (
            ["model", "pam", "--from", "pam.txt", "--method", "tree"],
            "pam has no features() for decision trees; use --method counts",
        ),
    ],
)
def test_mistakes_end_in_one_line(folder: Path, arguments: list[str], message: str) -> None:
    good = "odd|best: deal J; ?; pass; bet; pass"
    (folder / "wrong.txt").write_text(f"{HEAD}{good}\n{good.replace('pass; bet', 'raise; bet')}\n")
    (folder / "pam.txt").write_text("me|me: start 1,1 and 1,2; east\n")
    done = fogplay(*arguments, cwd=folder)
    assert done.returncode == 2, done.stdout
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert message in done.stderr
    assert done.stdout == ""


def test_commands_start_without_scikit_learn() -> None:
    import subprocess
    import sys

    script = "import sys, fogplay.cli; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_game_that_hides_nothing_says_so(tmp_path: Path) -> None:
    done = fogplay("match", "pam", "uniform", "uniform", "-n", "20", "--log", "l", "--seen-by", "uniform", cwd=tmp_path)
    assert done.returncode == 0
    assert "pam does not tell what a player never sees" in " ".join(done.stderr.split())
    assert "?" not in (tmp_path / "l").read_text()
