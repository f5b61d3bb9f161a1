"""Models of players of limit hold'em from competition logs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fogplay import FogplayError, load
from fogplay.bots.holdem import bot
from fogplay.games.holdem import Holdem
from fogplay.opponents import write_log
from fogplay.opponents.betting import learn_betting, node_features, read_log
from fogplay.play import match
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.strategies.betting import betting_of
from fogplay.strategies.policy import policy_of
from fogplay.trees.betting import betting_tree
from tests.helpers import fogplay

RULES = load("holdem(grid=ehs:10/10/10/10)")
assert isinstance(RULES, Holdem)
SIMULATOR = HoldemSimulator.of(RULES)
GOOD = "STATE:0:rc/rrc/rc/cc:5d5c|9hQd/8dAs8s/4h/6d:60|-60:Alice|Bob"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rule-based bot and one that calls or raises, 6,000 hands, all cards in the log."""
    file = tmp_path_factory.mktemp("logs") / "hands.log"
    players = [bot(name, RULES, betting_of(str(RULES))) for name in ("rules", "probe")]
    write_log(file, match(RULES, players, 6_000, seed=1, keep=True, names=["rules", "probe"]))
    return file


def without_cards_of_who_folded(log: Path, target: Path) -> Path:
    """The same log as the table sees it: hole cards only of hands that came to a showdown."""
    lines = []
    for line in log.read_text().splitlines():
        if line.startswith("STATE:"):
            parts = line.split(":")
            held, _, board = parts[3].partition("/")
            if "f" in parts[2]:
                held = "|"
            parts[3] = held + ("/" + board if board else "")
            lines.append(":".join(parts))
    target.write_text("\n".join(lines) + "\n")
    return target


def test_a_log_is_read_hand_by_hand(log: Path) -> None:
    hands = read_log(log, 2)
    assert len(hands) == 6_000
    assert {name for _, hand in hands for name in hand.names} == {"rules", "probe"}
    assert all(len(hole) == 2 for _, hand in hands for hole in hand.holes)


def test_features_are_those_the_rules_name() -> None:
    """Of a state and of its node in the betting tree, the bucket aside."""
    betting = betting_tree(RULES)
    features, rng = node_features(betting, RULES), np.random.default_rng(1)
    for _ in range(50):
        state, node = RULES.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                state = state.child(int(rng.choice([action for action, _ in state.chance_outcomes()])))
                continue
            told = state.features()
            expected = [told[name] for name in ("seat", "raises", "raises this round", "own raises")]
            assert features[node].tolist() == expected
            choice = int(rng.integers(len(state.legal_actions())))
            node = int(betting.nodes[node].first_child) + choice
            state = state.child(state.legal_actions()[choice])


@pytest.mark.parametrize("hidden", [False, True])
def test_a_model_plays_like_the_player(log: Path, tmp_path: Path, hidden: bool) -> None:
    """probe never folds and calls as often as it raises, whatever it holds, also where its cards were not shown."""
    source = without_cards_of_who_folded(log, tmp_path / "seen.log") if hidden else log
    model = learn_betting(SIMULATOR, source, "probe")
    assert model.iterations == 6_000
    told = np.array([model.probabilities(0, bucket) for bucket in range(3, 8)])  # a leaf may hold 20 hands only
    assert told[:, 0].max() < 0.05
    assert told[:, 1:].mean(axis=0) == pytest.approx([0.5, 0.5], abs=0.05)
    assert np.abs(told[:, 1:] - 0.5).max() < 0.25
    rules = learn_betting(SIMULATOR, source, "rules")
    weak, strong = rules.probabilities(0, 3), rules.probabilities(0, 7)
    assert strong[2] > 0.8 > 0.3 > weak[2]  # it raises good hands, and seldom bad ones


def test_the_model_predicts_winnings(log: Path) -> None:
    """In the place of the player it was learned from, a model wins about as much."""
    betting = betting_of(str(RULES))
    caller = bot("always-call", RULES, betting)
    model = policy_of(learn_betting(SIMULATOR, log, "rules"), RULES)
    true, learned = (
        match(RULES, [player, caller], 100_000, seed=2).means[0] for player in (bot("rules", RULES, betting), model)
    )
    assert learned == pytest.approx(true, abs=0.35 * abs(true))
    assert learned > 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no hands; expected lines that begin with STATE:"),
        ("# a comment\nSCORE:0|0:A|B\n", "has no hands; expected lines that begin with STATE:"),
        (f"{GOOD}\nSTATE:1:rc\n", "line 2: expected a hand, STATE:number:betting:cards:values:names, found 3 parts"),
        (GOOD.replace("|9hQd", ""), "line 1: 2 names and 1 hands in a game for 2 players"),
        (GOOD.replace("9hQd", "9hQx"), "line 1: "),
        (GOOD.replace("9hQd", "5d5c"), "line 1: .* no card twice"),
        (
            GOOD.replace("rc/rrc", "rc/rrq"),
            "line 1: expected a hand, STATE:number:betting:cards:values:names, found 'STATE:0:rc/rrq",
        ),
        (GOOD.replace("rc/rrc", "rrrrrrc/rrc"), "line 1: 'r' is not possible"),
        (GOOD.replace("rc/rrc/rc/cc", "rc/rrc"), "line 1: the hand is not over"),
        (GOOD.replace("rc/rrc/rc/cc", "rf/cc"), "line 1: the betting goes on after the hand is over"),
    ],
)
def test_what_is_wrong_with_a_log(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "bad.log"
    file.write_text(text)
    with pytest.raises(FogplayError, match=says):
        learn_betting(SIMULATOR, file, "Alice")


def test_the_command(log: Path, tmp_path: Path) -> None:
    done = fogplay("model", str(RULES), "--from", str(log), "--player", "probe", "--out", "m.safetensors", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a model of probe from 6,000 hands" in done.stdout
    done = fogplay("model", str(RULES), "--from", str(log), cwd=tmp_path)
    assert done.returncode == 2
    assert "hands of rules, probe; say whose model to learn" in done.stderr
    done = fogplay("model", str(RULES), "--from", str(log), "--player", "nobody", cwd=tmp_path)
    assert done.returncode == 2
    assert "no hands of 'nobody'" in done.stderr
