"""Local best responses in hold'em: known values, a slow twin, and never more than a best response."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import fogplay as fp
from fogplay.bots.holdem import bots
from fogplay.cards.buckets import bucket_for
from fogplay.cards.deck import pair_number
from fogplay.cards.evaluator import evaluate, evaluator
from fogplay.cards.index import preflop_class
from fogplay.errors import FogplayError
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import Holdem
from fogplay.simulators.holdem_boards import Deck, pairs
from fogplay.simulators.holdem_local import LocalGame, check_down, equity_before, local_game, new_scratch, regressed
from fogplay.simulators.holdem_local_walk import fill_buckets, fill_equity, list_hands, moved, respond
from fogplay.strategies.policy import signals_of
from fogplay.trees.betting import paid_by

RULES = Holdem()
PAIRS = pairs(Deck(13, 4))
DEAL = (50, 33, 4, 22, 47, 9, 30)  # the responder's cards, then the board


@pytest.fixture(scope="module")
def before() -> Any:
    return equity_before()


def game_of(name: str, before: Any) -> LocalGame:
    policy = bots([name], RULES)[name]
    return LocalGame(RULES, policy, check_down(policy.betting), before)


def test_it_takes_everything_from_who_always_folds(before: Any) -> None:
    found = game_of("always-fold", before).measure(200)
    assert found is not None
    assert found.values == pytest.approx((500, 1000), abs=1e-6)
    assert found.standard_error == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("name", "best"), [("always-call", 1163.4758), ("always-raise", 3697.6929)])
def test_it_earns_almost_as_much_as_a_best_response_to_simple_players(name: str, best: float, before: Any) -> None:
    found = game_of(name, before).measure(400, seed=1)
    assert found is not None
    assert 0.8 * best < found.mean < best + 2 * found.standard_error
    assert 10 < found.standard_error < 0.1 * best


def test_threads_do_not_change_the_result(before: Any) -> None:
    game = game_of("always-raise", before)
    one, two = game.measure(300, seed=3, threads=1), game.measure(300, seed=3, threads=3)
    assert one is not None
    assert two is not None
    assert (one.values, one.standard_error) == (two.values, two.standard_error)
    assert game.measure(300, seed=4).values != one.values  # type: ignore[union-attr]


@pytest.mark.parametrize("seat", [0, 1])
def test_a_slow_twin_finds_the_same(seat: int, before: Any) -> None:
    """One hand of the opponent after the other, by names instead of lists."""
    game = game_of("sparring", before)
    scratch = new_scratch(game.policy.betting)
    scratch.deal[:] = DEAL
    deck = np.array([*DEAL, *(card for card in range(52) if card not in DEAL)], np.uint8)
    rng = np.random.SeedSequence(0).generate_state(2, np.uint64)
    list_hands(scratch.deal, PAIRS, scratch.hands, scratch.counts)
    assert scratch.counts.tolist() == [1225, 1081, 1035, 990]
    fill_equity(
        evaluator(), scratch.deal, deck, rng, 30, PAIRS, scratch.hands, scratch.counts, before, scratch.equity,
        scratch.met,
    )  # fmt: skip
    fill_buckets(signals_of(game.policy.grid), scratch.deal, PAIRS, scratch.hands, scratch.counts, scratch.bucket)
    policy = game.policy
    found = respond(
        policy.betting.nodes, game.down, policy.slot, policy.stride, policy.share, seat, scratch.bucket, scratch.equity,
        scratch.counts, scratch.stack, scratch.range_,
    )  # fmt: skip
    assert found == pytest.approx(_Twin(game, seat, scratch).value(0, dict.fromkeys(range(1225), 1.0)), abs=1e-9)


class _Twin:
    """The same by recursion, with numpy's numbers one by one; a range is a dictionary by place."""

    def __init__(self, game: LocalGame, seat: int, scratch: Any) -> None:
        self.policy, self.nodes, self.seat = game.policy, game.policy.betting.nodes, seat
        self.equity = scratch.equity.tolist()
        self.hands = [tuple(PAIRS[hand].tolist()) for hand in scratch.hands]
        signals = signals_of(game.policy.grid)
        self.bucket = [
            [
                bucket_for(signals, hand, DEAL[2 : 2 + seen]) if not set(hand) & set(DEAL[2 : 2 + seen]) else 0
                for hand in self.hands
            ]
            for seen in (0, 3, 4, 5)
        ]

    def value(self, node: int, weights: dict[int, float]) -> float:
        here = self.nodes[node]
        street = int(here["street"])
        if here["player"] == TERMINAL:
            possible = {place: weight for place, weight in weights.items() if not set(self.hands[place]) & set(DEAL)}
            return sum(weight * self.payment(here, place) for place, weight in possible.items()) / 990
        board = set(DEAL[2 : 2 + (0, 3, 4, 5)[street]])
        weights = {place: weight for place, weight in weights.items() if not set(self.hands[place]) & board}
        children = range(int(here["first_child"]), int(here["first_child"] + here["count"]))
        if here["player"] == self.seat:
            return self.value(max(children, key=lambda child: (self.worth(node, child, weights), -child)), weights)
        total = 0.0
        for number, child in enumerate(children):
            after = {place: weight * self.share(node, number, place) for place, weight in weights.items()}
            after = {place: weight for place, weight in after.items() if weight > 0}
            total += self.value(child, after) if after else 0.0
        return total

    def share(self, node: int, action: int, place: int) -> float:
        street = int(self.nodes[node]["street"])
        at = int(self.policy.slot[node]) + self.bucket[street][place] * int(self.policy.stride[node]) + action
        return float(self.policy.share[at]) / 255

    def payment(self, end: Any, place: int) -> float:
        mine, theirs = (int(paid_by(int(end["slot"]), seat)) for seat in (self.seat, 1 - self.seat))
        if end["in_hand"] == 3:
            own, other = (evaluate((*DEAL[2:], *hand)) for hand in (DEAL[:2], self.hands[place]))
            return theirs * ((own > other) - (own < other))
        return theirs if int(end["in_hand"]) >> self.seat & 1 else -mine

    def worth(self, node: int, child: int, weights: dict[int, float]) -> float:
        """What an action is worth if both check and call afterwards."""
        street, after = int(self.nodes[node]["street"]), self.nodes[child]
        if after["player"] == TERMINAL and after["in_hand"] != 3:
            return -sum(weights.values()) * int(paid_by(int(after["slot"]), self.seat))
        if child <= int(self.nodes[node]["first_child"] + self.nodes[node]["calling"]):
            return self.paid(child) * sum(weight * self.equity[street][place] for place, weight in weights.items())
        folds = {place: weight * self.share(child, 0, place) for place, weight in weights.items()}
        won = int(paid_by(int(self.nodes[int(after["first_child"])]["slot"]), 1 - self.seat))
        called = self.paid(int(after["first_child"] + after["calling"]))
        stays = ((weight - folds[place]) * self.equity[street][place] for place, weight in weights.items())
        return won * sum(folds.values()) + called * sum(stays)

    def paid(self, node: int) -> int:
        while self.nodes[node]["player"] != TERMINAL:
            node = int(self.nodes[node]["first_child"] + self.nodes[node]["calling"])
        return int(paid_by(int(self.nodes[node]["slot"]), 0))


def test_suits_are_exchanged_one_to_one() -> None:
    """So that the responder's cards become clubs, or a club and a diamond, and its class stays the same."""
    for own in ((50, 33), (48, 36), (51, 50), (7, 3), (0, 49)):
        others = [hand for hand in itertools.combinations(range(52), 2) if not set(hand) & set(own)]
        images = {int(moved(np.array(own), *hand)) for hand in others}
        assert len(images) == len(others)
        image = sorted(int(each) for each in PAIRS[int(moved(np.array(own), *sorted(own)))])
        assert [card % 4 for card in image] in ([0, 0], [1, 0], [0, 1])
        assert preflop_class(*image) == preflop_class(*own)


def test_equity_before_the_flop(before: Any) -> None:
    aces, kings = preflop_class(50, 51), int(pair_number(46, 47))
    assert before[aces, kings] == pytest.approx(2 * 0.82 - 1, abs=0.1)
    assert abs(before[aces].max()) <= 1


def test_controls_reduce_the_error() -> None:
    rng = np.random.default_rng(0)
    control = rng.normal(size=(400, 2))
    values = 3 + control @ [2.0, -1.0] + 0.1 * rng.normal(size=400)
    mean, error = regressed(values, control)
    assert mean == pytest.approx(3, abs=0.03)
    assert error == pytest.approx(0.1 / 20, rel=0.2)


def test_the_front_door() -> None:
    player = bots(["always-fold"], RULES)["always-fold"]
    found = fp.evaluate(player, "holdem", local=True, hands=200)
    assert found.exploitability == pytest.approx(750, abs=1e-6)
    assert "lower bound" in found.method
    with pytest.raises(FogplayError, match="one of them"):
        fp.evaluate(player, "holdem", local=True, full=True)
    with pytest.raises(FogplayError, match="hands"):
        fp.evaluate(player, "holdem", local=True, hands=10)
    with pytest.raises(FogplayError, match="52 cards"):
        local_game(Holdem(players=3), player)
    with pytest.raises(FogplayError, match="tables of numbers"):
        local_game(RULES, object())
