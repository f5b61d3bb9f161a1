"""A betting strategy by cards: hands, boards, the chart, and what was never visited."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fogplay import FogplayError, solve
from fogplay.cards.buckets import Grid, bucket_for, signals
from fogplay.cards.deck import parse_cards
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.strategies import BettingStrategy
from fogplay.strategies.charts import chart, play_of, spot
from fogplay.strategies.packing import LEVELS
from tests.helpers import fogplay

GRID = "ehs2-percentile:169/5/5/5"
SPEC = f"holdem(max_raises=[2,2,1,1],grid={GRID})"


@pytest.fixture(scope="module")
def simulator() -> HoldemSimulator:
    return HoldemSimulator.of(SPEC)


@pytest.fixture(scope="module")
def learned(simulator: HoldemSimulator) -> BettingStrategy:
    """After so few episodes that many hands were never met."""
    found: BettingStrategy = solve(simulator, "uct", 2_000, seed=1).strategy
    return found


def test_visits_are_those_of_the_learner(simulator: HoldemSimulator) -> None:
    """To within the steps of √2, and exactly where there were none."""
    rng = np.random.default_rng(2)
    visits = (10 ** rng.uniform(-2, 9, simulator.num_slots)).astype(np.int64)
    visits[rng.random(len(visits)) < 0.8] = 0
    made = BettingStrategy.of(simulator.rules, simulator.betting, visits=visits, greedy=False, method="counted")
    buckets = simulator.rules.buckets()
    for number in rng.integers(0, len(simulator.betting.nodes), 300):
        node = simulator.betting.nodes[number]
        if node.player < 0:
            continue
        for bucket in range(0, buckets[node.street], 7):
            first = int(node.slot) + bucket * int(node.stride)
            true = int(visits[first : first + int(node.count)].sum())
            told = made.visits_at(int(number), bucket)
            assert told is not None
            assert (told == 0) == (true == 0)
            assert true / 1.5 <= told <= true * 1.5
    assert made.infoset_visits is not None
    assert len(made.infoset_visits) == sum(b * n for b, n in zip(buckets, simulator.rules.decisions(), strict=True))
    assert LEVELS[:6].tolist() == [0, 1, 1, 2, 3, 4]


def test_files_keep_visits_and_older_files_have_none(learned: BettingStrategy, tmp_path: Path) -> None:
    learned.save(tmp_path / "new.safetensors")
    read = BettingStrategy.read(tmp_path / "new.safetensors")
    assert read.levels is not None
    assert (read.levels == learned.levels).all()
    assert (read.share == learned.share).all()
    dataclasses.replace(learned, levels=None).save(tmp_path / "old.safetensors")
    old = BettingStrategy.read(tmp_path / "old.safetensors")
    assert old.levels is None
    assert old.visits_at(0, 0) is None
    assert old.infoset_visits is None
    assert (old.share == learned.share).all()
    said = fogplay("inspect", "old.safetensors", "AsAd", cwd=tmp_path)
    assert "not recorded" in said.stdout, said.stderr
    assert "Visits were not recorded" in fogplay("inspect", "old.safetensors", cwd=tmp_path).stdout


def test_a_hand_by_its_cards(learned: BettingStrategy) -> None:
    table = signals(Grid.parse(GRID))
    first = spot(learned)
    assert (first.seat, first.round, first.actions) == (1, 0, ("fold", "call", "raise"))
    aces = play_of(learned, first, "AsAd")
    assert aces.buckets == (bucket_for(table, parse_cards("AsAd")),)
    assert aces.probabilities == pytest.approx(tuple(learned.probabilities(0, aces.buckets[0])))
    assert play_of(learned, first, "aa").probabilities == aces.probabilities
    flop = spot(learned, "rc/", "Kh7d2c")
    hand = play_of(learned, flop, "QhJh")
    bucket = bucket_for(table, parse_cards("QhJh"), parse_cards("Kh7d2c"))
    assert hand.probabilities == pytest.approx(tuple(learned.probabilities(flop.node, bucket)))
    assert hand.visits == learned.visits_at(flop.node, bucket)
    assert spot(learned, board="Kh7d2c").betting == "cc/"
    assert spot(learned, board="Kh7d2c9s").betting == "cc/cc/"


def test_a_hand_without_suits_is_the_mean_over_those_the_board_leaves(learned: BettingStrategy) -> None:
    flop = spot(learned, "rc/", "Kh7d2c")
    suited = play_of(learned, flop, "KQs")
    assert suited.combinations == 3  # not in hearts
    each = [play_of(learned, flop, f"K{suit}Q{suit}").probabilities for suit in "cds"]
    assert suited.probabilities == pytest.approx(tuple(np.mean(each, axis=0)))
    assert play_of(learned, flop, "77").combinations == 3
    assert play_of(learned, spot(learned, None, "7h7d7c"), "77").combinations == 0


def test_the_chart_has_every_hand_once(learned: BettingStrategy) -> None:
    rows = chart(learned, spot(learned, "r"))
    assert [len(row) for row in rows] == [13] * 13
    hands = [play.hand for row in rows for play in row]
    assert len(set(hands)) == 169
    assert (rows[0][0].hand, rows[0][1].hand, rows[1][0].hand, rows[12][12].hand) == ("AA", "AKs", "AKo", "22")
    assert sum(play.combinations for row in rows for play in row) == 1326
    buckets = [play.buckets[0] for row in rows for play in row]
    assert sorted(buckets) == list(range(169))


def test_a_hand_that_was_never_visited_does_not_read_as_learned(learned: BettingStrategy, tmp_path: Path) -> None:
    """UCT calls where it knows nothing: the chart shows a dot there, and a hand says so."""
    at = spot(learned, "rrc/rrc/rc/", "Kh7d2c9s4h")
    rows = chart(learned, at)
    never = [play for row in rows for play in row if play.visits == 0 and play.combinations]
    assert never
    learned.save(tmp_path / "bot.safetensors")
    shown = fogplay(
        "inspect", "bot.safetensors", f"{never[0].hand}:{at.betting}", "--board", "Kh7d2c9s4h", cwd=tmp_path
    )
    assert "never" in shown.stdout, shown.stderr
    assert "Never visited while learning" in shown.stdout
    whole = fogplay("inspect", "bot.safetensors", f":{at.betting}", "--board", "Kh7d2c9s4h", cwd=tmp_path)
    assert "·" in whole.stdout
    assert f"never visited while learning: {never[0].hand}" in whole.stdout
    assert max(map(len, whole.stdout.splitlines()[2:16])) <= 80


@pytest.mark.parametrize(
    ("hand", "betting", "board", "says"),
    [
        ("AsAs", "", "", "twice"),
        ("AK", "", "", "AKs or AKo"),
        ("AAs", "", "", "pairs as TT"),
        ("As", "", "", "two cards"),
        ("KhQs", "rc/", "Kh7d2c", "both in the hand and on the board"),
        ("AsAd", "rc/", "", "the board has 3 cards, not 0"),
        ("AsAd", "r", "Kh7d2c", "the board has 0 cards, not 3"),
        ("AsAd", "", "Kh7d", "0, 3, 4 or 5 cards, not 2"),
        ("AsAd", "rx", "", "letters f, c and r"),
        ("zz", "", "", "is not a card"),
    ],
)
def test_refusals(learned: BettingStrategy, hand: str, betting: str, board: str, says: str) -> None:
    with pytest.raises(FogplayError, match=says):
        play_of(learned, spot(learned, betting, board), hand)
