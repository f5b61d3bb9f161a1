"""Bots: legal everywhere, as documented, and as strong as they should be."""

from __future__ import annotations

import numpy as np
import pytest

from fogplay.agents import match
from fogplay.bots.holdem import BOTS, RULES_BUCKETS, RULES_GRID, TRAINED, bot, default, yardsticks
from fogplay.cards.buckets import Grid
from fogplay.errors import FogplayError
from fogplay.evaluate.full import evaluate_locally
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import Holdem
from fogplay.games.limit import CALL, FOLD, RAISE
from fogplay.games.registry import load
from fogplay.play import Dealt, Table
from fogplay.strategies.betting import betting_of
from fogplay.strategies.policy import BettingPolicy
from fogplay.trees.betting import node_after

TWO = load("holdem(grid=ehs:1/1/1/1)")
THREE = load("holdem(players=3,max_raises=[2,2,1,1],grid=ehs:1/1/1/1)")


def made(name: str, rules: Holdem) -> BettingPolicy:
    return bot(name, rules, betting_of(str(rules)))


@pytest.mark.xdist_group("trees of a gigabyte")
@pytest.mark.parametrize("rules", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", list(BOTS))
def test_probabilities_add_up_at_every_infoset(name: str, rules: Holdem) -> None:
    if name in TRAINED and rules == THREE:
        why = rf"{name} is for two players" if 3 not in TRAINED[name] else r"max_raises is \[3, 4, 4, 4\] there"
        with pytest.raises(FogplayError, match=why):
            made(name, rules)
        return
    policy = made(name, rules)
    nodes = policy.betting.nodes
    buckets = Grid.parse(policy.grid).counts if policy.grid else (1, 1, 1, 1)
    for round_ in range(4):
        here = np.flatnonzero((nodes["player"] != TERMINAL) & (nodes["street"] == round_))
        first = policy.slot[here][:, None] + np.arange(buckets[round_]) * policy.stride[here][:, None].astype(np.int64)
        total = np.zeros(first.shape, int)
        for action in range(3):
            offered = nodes["count"][here][:, None] > action
            total += np.where(offered, policy.share[np.minimum(first + action, len(policy.share) - 1)], 0)
        assert (total == 255).all()


def shares(policy: BettingPolicy, betting: tuple[str, ...], bucket: int = 0) -> dict[int, float]:
    """What a policy does after some betting: probabilities of the letters f, c, r."""
    node = node_after(policy.betting, betting)
    here = policy.betting.nodes[node]
    first = int(policy.slot[node]) + bucket * int(policy.stride[node])
    offset = 1 - int(here["calling"])
    return {offset + action: policy.share[first + action] / 255 for action in range(int(here["count"]))}


def test_simple_bots_do_what_they_are_called() -> None:
    assert shares(made("always-fold", TWO), ("",)) == {FOLD: 1, CALL: 0, RAISE: 0}
    assert shares(made("always-fold", TWO), ("c",)) == {CALL: 1, RAISE: 0}
    assert shares(made("always-call", TWO), ("rrr",)) == {FOLD: 0, CALL: 1}
    assert shares(made("always-raise", TWO), ("rr",)) == {FOLD: 0, CALL: 0, RAISE: 1}
    assert shares(made("always-raise", TWO), ("rrr",)) == {FOLD: 0, CALL: 1}
    assert shares(made("probe", TWO), ("",)) == pytest.approx({FOLD: 0, CALL: 0.5, RAISE: 0.5}, abs=0.003)
    assert shares(made("probe", TWO), ("rrr",)) == {FOLD: 0, CALL: 1}
    assert shares(made("uniform", TWO), ("",)) == pytest.approx({FOLD: 1 / 3, CALL: 1 / 3, RAISE: 1 / 3}, abs=0.003)


def test_rules_are_as_documented() -> None:
    rules = made("rules", TWO)
    assert rules.grid == RULES_GRID
    assert RULES_BUCKETS == 100
    # The river, checked to: bet from 0.52 on, bluff below 0.35 (more on the button), slow-play from 0.9 on.
    quiet = ("cc", "cc", "cc", "")
    assert shares(rules, quiet, 60) == {CALL: 0, RAISE: 1}
    assert shares(rules, quiet, 45) == {CALL: 1, RAISE: 0}
    assert shares(rules, quiet, 10)[RAISE] == pytest.approx(0.1, abs=0.003)
    assert shares(rules, (*quiet[:3], "c"), 10)[RAISE] == pytest.approx(0.2, abs=0.003)
    assert shares(rules, quiet, 95)[CALL] == pytest.approx(0.2, abs=0.003)
    # Facing a bet of 20 into 20: odds 20 / 60, strength less 0.03 for the bet.
    bet = ("cc", "cc", "cc", "r")
    assert shares(rules, bet, 37) == {FOLD: 0, CALL: 1, RAISE: 0}
    assert shares(rules, bet, 35)[FOLD] == pytest.approx(0.96, abs=0.003)
    assert shares(rules, bet, 35)[RAISE] == pytest.approx(0.04, abs=0.003)
    assert shares(rules, bet, 80) == {FOLD: 0, CALL: 0, RAISE: 1}
    assert shares(rules, bet, 65) == {FOLD: 0, CALL: 1, RAISE: 0}
    assert shares(rules, bet, 99)[CALL] == pytest.approx(0.15, abs=0.003)
    # Against two opponents a hand must beat both.
    three = made("rules", THREE)
    assert shares(three, ("ccc", "ccc", "ccc", ""), 60) == {CALL: 1, RAISE: 0}
    assert shares(three, ("ccc", "ccc", "ccc", ""), 80) == {CALL: 0, RAISE: 1}


def test_rules_beat_simple_bots_and_sparring_beats_rules() -> None:
    for other, margin in (("always-raise", 1000), ("probe", 1000), ("always-call", 500), ("always-fold", 300)):
        played = match(TWO, ["rules", other], 20_000, seed=1)
        assert played.means[0] - 4 * played.standard_errors[0] > margin
    for other, margin in (("rules", 50), ("always-raise", 200), ("probe", 400)):
        played = match(TWO, ["sparring", other], 100_000, seed=1)
        assert played.means[0] - 4 * played.standard_errors[0] > margin
    played = match(THREE, ["rules", "probe", "always-raise"], 60_000, seed=1)
    assert played.means[0] - 4 * played.standard_errors[0] > 50


def test_sparring_acts_like_its_probabilities() -> None:
    sparring = made("sparring", TWO)
    cards = [0, 1, 48, 51]
    chosen = [sparring.act(Table(TWO, Dealt(cards, [(step + 0.5) / 255])).view(1)) for step in range(255)]
    assert chosen == sorted(chosen)  # one after the other, as the luck grows
    shares = sparring.distribution(Table(TWO, Dealt(cards, [0.5])).view(1))
    assert shares == pytest.approx([chosen.count(action) / 255 for action in (FOLD, CALL, RAISE)])
    assert chosen.count(RAISE) > 200  # a pair of aces


def test_unknown_bots() -> None:
    with pytest.raises(FogplayError, match="there is no bot 'nobody'; there are always-fold"):
        made("nobody", TWO)


def test_smooth_uct_beats_all_others() -> None:
    """Two players; ``average`` is safer, and wins less from weak bots."""
    for other, least in (("sparring", 20), ("rules", 100), ("probe", 500), ("always-raise", 500), ("always-call", 300)):
        for name, share in (("smooth-uct", 1.0), ("smooth-uct-average", 0.2)):
            played = match(TWO, [name, other], 200_000, seed=1)
            assert played.means[0] > share * least, (name, other)


def test_the_champion_is_harder_to_exploit_than_the_others() -> None:
    """It wins less than ``smooth-uct`` from weak bots, and loses less to an opponent that knows it."""
    for other, least in (("rules", 20), ("probe", 300), ("always-raise", 200), ("always-call", 300)):
        played = match(TWO, ["champion", other], 200_000, seed=1)
        assert played.means[0] > least, other
    lost = [
        evaluate_locally(made(name, TWO), TWO, hands=2_000).exploitability
        for name in ("champion", "smooth-uct-average")
    ]
    assert lost[0] < 0.7 * lost[1]


@pytest.mark.slow
def test_smooth_uct_beats_others_with_three_players() -> None:
    three = load("holdem(players=3,grid=ehs:1/1/1/1)")
    for others in (["rules", "rules"], ["always-raise", "probe"]):
        for name in ("smooth-uct", "smooth-uct-average"):
            played = match(three, [name, *others], 100_000, seed=1)
            assert played.means[0] > 5 * played.standard_errors[0], (name, others, played.means[0])


def test_the_strongest_bot_and_the_yardsticks() -> None:
    """Trained bots know the usual betting; with other betting, or three players, the others measure."""
    for spec, best, last in (
        ("holdem", "champion", "smooth-uct"),
        ("holdem(players=3)", "smooth-uct", "rules"),
        ("holdem(max_raises=[1,1,1,1])", "rules", "rules"),
    ):
        rules = load(spec)
        assert default(rules) == best
        assert yardsticks(rules)[-1] == last
    assert default(load("holdem(rounds=1,ranks=4,suits=1,hole=1)")) is None
    assert yardsticks(load("holdem(rounds=1,ranks=4,suits=1,hole=1)")) == ()
