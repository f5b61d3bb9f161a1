"""Games in Gambit's format: what OpenSpiel writes, what people write by hand, and what is wrong with files."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import gambit

from fogplay import FogplayError, evaluate, flatten, load, solve
from fogplay.evaluate.situations import situations
from fogplay.opponents import histories
from fogplay.strategies import TabularStrategy
from tests.helpers import fogplay

from .specs import every_state, play

# A bet on a coin that player 1 sees and player 2 does not; the ante is paid at the root, names are missing or repeated.
COIN = """EFG 2 R "A \\"coin\\"" { "Ann" "" }
"what it is about"

c "" 1 "toss" { "heads" 1/3 "tails" 2/3 } 1 "ante" { 1, -1 }
p "" 1 1 "saw it" { "bet" "pass" } 0
p "" 2 1 "" { "call" "fold" } 0
t "" 2 "" { 2.5 -2.5 }
t "" 3 "" { 1 -1 }
t "" 4 "" { -1 1 }
p "" 1 2 "saw it" { "same" "same" } 0
p "" 2 1 0
t "" 5 "" { -5/2 25e-1 }
t "" 3
t "" 4 "" { -1 1 }
"""


def written(folder: Path, text: str, name: str = "game.efg") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("theirs", "ours", "nodes"),
    [
        ("kuhn_poker", "kuhn", 58),
        ("kuhn_poker(players=3)", "kuhn(players=3)", 617),
        ("leduc_poker", "leduc", 9457),
        ("liars_dice(dice_sides=3)", "bluff(1,1,3)", None),
    ],
)
def test_the_same_games_as_open_spiel_writes_them(tmp_path: Path, theirs: str, ours: str, nodes: int | None) -> None:
    file = written(tmp_path, gambit.export_gambit(pyspiel.load_game(theirs)))
    read, known = flatten(file), flatten(ours)
    assert len(read.infosets) == len(known.infosets)
    assert len(read.tree.player) == len(known.tree.player)
    assert nodes in (None, len(read.tree.player))
    here, there = (evaluate(TabularStrategy.of(each, each.uniform(), "even")) for each in (known, read))
    assert there.values == pytest.approx(here.values)
    assert there.nash_conv == pytest.approx(here.nash_conv)


def test_what_people_write(tmp_path: Path) -> None:
    game = load(written(tmp_path, COIN))
    assert (game.num_players(), len(list(every_state(game)))) == (2, 11)
    assert [outcome for _, outcome in game.new_initial_state().chance_outcomes()] == pytest.approx([1 / 3, 2 / 3])
    assert play(game, "heads", "bet", "call").returns() == [3.5, -3.5]  # with the ante
    assert play(game, "tails", "1", "call").returns() == [-1.5, 1.5]
    assert play(game, "tails", "1", "fold").returns() == [2, -2]  # an outcome told before
    heads, tails = play(game, "heads"), play(game, "tails")
    assert heads.information_state_string(0) == "Ann: saw it"
    assert tails.information_state_string(0) == "Ann: saw it #2"
    assert heads.child(0).information_state_string(1) == tails.child(0).information_state_string(1) == "2: 1"
    assert [tails.action_to_string(0, action) for action in tails.legal_actions()] == ["1", "2"]
    assert str(tails.child(1)) == "tails 2"
    assert load(written(tmp_path, COIN.replace('p "" 2 1 0', 'p "" 02 001 0'), "other.efg")).nodes == game.nodes
    assert load(str(game)) == game
    assert hash(load(str(game))) == hash(game)


def test_every_algorithm_takes_one(tmp_path: Path) -> None:
    file = written(tmp_path, COIN)
    value = solve(file, "lp").strategy
    assert evaluate(value).nash_conv < 1e-9
    for algorithm in ("cfr+", "smooth-uct", "es-mccfr"):
        assert solve(file, algorithm, 20_000, seed=1).nash_conv < 0.1


ALONE = """EFG 2 R "One player; the second move may not remember the first" { "Ann" }
p "" 1 1 "first" { "left" "right" } 0
p "" 1 2 "second" { "on" "off" } 0
t "" 1 "" { 3 }
t "" 2 "" { 1 }
p "" 1 2 0
t "" 3 "" { 2 }
t "" 4 "" { 0 }
"""


@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [
        ("cfr+", {}),
        ("es-mccfr", {}),
        ("cs-mccfr", {}),
        ("os-mccfr", {"updates": "parallel"}),
        ("os-mccfr", {"updates": "alternating"}),
        ("smooth-uct", {}),
    ],
)
def test_one_player(tmp_path: Path, algorithm: str, settings: dict[str, str]) -> None:
    """Who plays alone learns what is best, and an average is taken of it."""
    file = written(tmp_path, ALONE.replace('p "" 1 2 0', 'p "" 1 3 "third" { "on" "off" } 0'))
    found = solve(file, algorithm, 20_000, seed=1, **settings)
    assert found.nash_conv < 0.05


def test_what_is_forgotten_counts_as_often_as_it_was_done(tmp_path: Path) -> None:
    flat = flatten(written(tmp_path, ALONE))
    chosen = flat.uniform()
    chosen[flat.slots(flat.infosets.index("Ann: first"))] = [0.75, 0.25]
    seen = situations(flat, chosen)
    assert seen.value[flat.slots(flat.infosets.index("Ann: second"))] == pytest.approx([2.75, 0.75])
    chosen[flat.slots(flat.infosets.index("Ann: first"))] = [1, 0]
    assert situations(flat, chosen).value[flat.slots(flat.infosets.index("Ann: second"))] == pytest.approx([3, 1])


def test_histories_open_no_files(tmp_path: Path) -> None:
    """What a file of hands says of its game is compared as text."""
    told = histories.Histories((), np.zeros(0, np.int64), "repeated(/elsewhere/no.efg,2)", "hands.txt")
    histories.require_game(told, "repeated(/here/no.efg,2)")
    with pytest.raises(FogplayError, match="has hands of"):
        histories.require_game(told, "repeated(/here/another.efg,2)")


def test_what_needs_memory_is_not_offered_next(tmp_path: Path) -> None:
    for text, offered in ((ALONE, False), (COIN, True)):
        written(tmp_path, text)
        done = fogplay("solve", "game.efg", "-n", "100", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert ("fogplay evaluate" in done.stdout) == offered
        assert "fogplay inspect" in done.stdout


def test_nothing_to_play(tmp_path: Path) -> None:
    written(
        tmp_path, 'EFG 2 R "" { "Ann" "Bob" } c "" 1 "" { "a" 1/2 "b" 1/2 } 0 t "" 1 "" { 1 -1 } t "" 2 "" { -1 1 }'
    )
    done = fogplay("play", "game.efg", "--against", "uniform", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is nothing to play: nobody decides anything in game.efg" in done.stderr


def test_at_the_command_line(tmp_path: Path) -> None:
    written(tmp_path, COIN)
    done = fogplay("solve", "game.efg", "-n", "500", "-a", "cfr+", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = fogplay("inspect", "game.safetensors", "Ann: saw it #2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "same" not in done.stdout
    done = fogplay("solve", "other.efg", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "fogplay: cannot read other.efg: No such file or directory\n")


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("EFG 2", "NFG 1", "line 1: the file does not begin with EFG"),
        ("EFG 2", "EFG 1", "line 1: version 1 of the format is not supported; only version 2 is"),
        ('{ "Ann" "" }', "{ }", "line 1: a game has 1 to 127 players, not 0"),
        ('{ "Ann" "" }', '"Ann"', "expected the players' names in braces, found 'Ann'"),
        ("1/3", "1/4", "line 4: probabilities must sum to 1, not 0.9166666667"),
        ("1/3", "4/3", "line 4: probabilities must sum to 1, not 2"),
        ('1/3 "tails" 2/3', '-1 "tails" 2', "line 4: a probability of -1 is less than 0"),
        ("EFG 2 R", "EFG 2 X", "line 1: expected R or D after the version"),
        ('p "" 2 1 0', 'p "" ² 1 0', "line 11: expected the player's number, found '²'"),
        ('p "" 2 1 0', f'p "" {"1" * 5000} 1 0', "line 11: expected the player's number, found '111"),
        ('p "" 2 1 0', 'p "" 2 one 0', "line 11: expected the infoset's number, found 'one'"),
        ('p "" 2 1 0', 'p "" 2 1', "line 12: expected the number of an outcome, or 0, found 't'"),
        ('p "" 2 1 0', 'p "" 2 1 0 { 1 2 }', "line 11: outcome 0 means no outcome"),
        ('p "" 2 1 0', 'p "" 2 1 0 "nothing"', "line 11: outcome 0 means no outcome"),
        ('t "" 3\n', 't "" 3 "" { 1 1 }\n', "line 13: outcome 3 has different payoffs than at its first occurrence"),
        ("1/3", "1/0", "line 4: '1/0' is not a probability"),
        ("2.5 -2.5", "2.5", "line 7: outcome 2 has payoffs for 1 players, but there are 2"),
        ("2.5 -2.5", "2.5 many", "line 7: 'many' is not a payoff"),
        ("2.5 -2.5", "1e200 0", "line 7: a payoff must be at most 1e+100 in size"),
        ("2.5 -2.5", "1e99999999999 0", "line 7: '1e99999999999' is not a payoff"),
        ("2.5 -2.5", "²/3 0", "line 7: '²/3' is not a payoff"),
        ("2.5 -2.5", "nan 0", "line 7: 'nan' is not a payoff"),
        ("2.5 -2.5", "{ 2.5 -2.5", "line 7: a brace opens inside another"),
        ('p "" 2 1 0', 'p "" 3 1 0', "line 11: there is no player 3; players are numbered from 1 to 2"),
        ('p "" 2 1 0', 'p "" 2 7 0', "line 11: infoset 7 occurs for the first time, without its actions"),
        ('p "" 2 1 0', 'p "" 2 1 { "call" } 0', "line 11: infoset 1 of player 2 has different actions"),
        ('p "" 2 1 "" { "call" "fold" }', 'p "" 2 1 "" { }', "line 6: infoset 1 has no actions"),
        ('t "" 3\n', 't "" 9\n', "line 13: outcome 9 occurs for the first time, without its payoffs"),
        ('t "" 3\n', 'x "" 3\n', "line 13: expected a node, which begins with c, p or t, found 'x'"),
        ('t "" 3\n', "t 3\n", "line 13: expected the node's name in quotes, found '3'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, before: str, after: str, says: str) -> None:
    assert before in COIN
    with pytest.raises(FogplayError, match=re.escape(says)) as error:
        load(written(tmp_path, COIN.replace(before, after)))
    assert "\n" not in str(error.value)


def test_where_a_file_ends(tmp_path: Path) -> None:
    for text, says in (
        (COIN + 't "" 3\n', "line 15: the tree is complete, but the file goes on with 't'"),
        (COIN[: COIN.rindex("t ")], "line 13: the file ends before the tree is complete"),
        ('EFG 2 R\n"A coin', "line 2: a quotation mark is never closed"),
        ("", "line 1: expected EFG at the start of the file, found the end of the file"),
    ):
        with pytest.raises(FogplayError, match=re.escape(says)):
            load(written(tmp_path, text))
    (tmp_path / "binary.efg").write_bytes(b"EFG 2 R \xff\xfe")
    with pytest.raises(FogplayError, match="is not text in UTF-8"):
        load(str(tmp_path / "binary.efg"))


def test_damaged_files_end_in_a_refusal_or_a_game(tmp_path: Path) -> None:
    """Whatever is changed, nothing but FogplayError comes out."""
    rng, refused = random.Random(1), 0
    for _ in range(400):
        letters = list(COIN)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(letters))
            letters[at] = rng.choice(['"', "{", "}", "0", "1", "²", " ", "p", "t", "c", "/", "-", "e9", ""])
        try:
            game = load(written(tmp_path, "".join(letters)))
        except FogplayError:
            refused += 1
        else:
            assert len(list(every_state(game))) == len(game.nodes)
    assert 100 < refused < 400
