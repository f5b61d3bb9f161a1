"""DeltaDou's worlds: inference against enumeration, and guesses at hidden hands."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from fogplay.bots.doudizhu import (
    DeltaSettings,
    guessing,
    inference,
)
from fogplay.bots.doudizhu.asking import Asking, Evaluate
from fogplay.bots.doudizhu.deltadou import look_around
from fogplay.bots.doudizhu.evaluators import by_networks
from fogplay.bots.doudizhu.inference import Situations, Worlds
from fogplay.games.doudizhu_cards import FULL_DECK, NUM_RANKS, counts_of, num_cards, pack, unpack
from fogplay.games.doudizhu_worlds import less
from fogplay.simulators.doudizhu_features import (
    FACTS,
    HANDS,
    HEAD_WORDS,
    MOVES,
    PLAYED,
    SEAT,
    SEEN,
    SHOWN,
    WORDS,
    look,
)
from fogplay.simulators.doudizhu_lanes import begin, make
from fogplay.simulators.doudizhu_policy import BELIEF, move_probability, ways_buffer
from fogplay.simulators.streams import many_streams
from tests.bots.networks import hidden, played_on, tiny_networks


def every_world(words: NDArray[np.uint64], seat: int) -> dict[int, float]:
    """What the next player may hold, with the number of deals: a slow twin of the bounds and of the prior."""
    first, second = (seat + 1) % 3, (seat + 2) % 3
    gone = [int(words[PLAYED + each]) for each in range(3)]
    shown = [int(words[SHOWN]) if each == 0 else 0 for each in range(3)]
    unseen = int(FULL_DECK) - int(words[HANDS + seat]) - sum(gone)
    pool = int(FULL_DECK) - int(words[HANDS + seat]) - gone[seat] - shown[first] - shown[second]
    size = (20 if first == 0 else 17) - len(unpack(gone[first]))
    found: dict[int, float] = {}
    for counts in itertools.product(*(range(count + 1) for count in counts_of(unseen))):
        hand = pack(rank for rank, count in enumerate(counts) for _ in range(count))
        if sum(counts) != size:
            continue
        if less(shown[first], hand + gone[first]) or less(shown[second], unseen - hand + gone[second]):
            continue
        dealt = counts_of(hand + gone[first] - shown[first])
        found[hand] = math.prod(math.comb(there, count) for there, count in zip(counts_of(pool), dealt, strict=True))
    return found


def slow_likelihood(own: Situations, root: int, hands: Sequence[int], evaluate: Evaluate, heat: float) -> float:
    """The logarithm of the probability of all moves of the others, one after the other."""
    words, facts, found = np.zeros(WORDS, np.uint64), np.zeros(FACTS, np.int32), 0.0
    dealt = [np.uint64(hand) + own.words[root, PLAYED + seat] for seat, hand in enumerate(hands)]
    begin(words, facts, dealt[0] - own.words[root, SHOWN], dealt[1], dealt[2], own.words[root, SHOWN])
    for move in range(own.facts[root, MOVES]):
        seat, head, cards = int(facts[SEAT]), int(own.heads[root, move]), own.cards[root, move]
        if seat != own.facts[root, SEAT]:
            seen, legal = np.zeros((1, SEEN), np.int64), np.zeros(HEAD_WORDS, np.int64)
            look(words, facts, seat, seen[0], legal)
            outputs = evaluate(seat, seen)[0]
            found += move_probability(outputs, legal, words[HANDS + seat], head, cards, heat, ways_buffer())
        make(words, facts, head, cards)
    return found


THINKING = DeltaSettings().thinking._replace(
    below=21, proposals=20_000, different=1500, moves=192, heat=1.3, floor=1e-9, belief=0.0
)


def test_inference_is_exact_where_all_worlds_are_drawn() -> None:
    evaluate = by_networks(tiny_networks())
    own = hidden(played_on(3, 12, 9, evaluate))
    rng = many_streams(1, len(own.words))
    outputs, _ = look_around(own, Asking(evaluate), rng)
    assert len(own.words) >= 10
    assert {0, 1, 2} == set(own.facts[:, SEAT])
    for trust in (0.0, 1.0):
        worlds = inference.infer(own, outputs, Asking(evaluate), THINKING._replace(trust=trust), rng)
        for root, seat in enumerate(own.facts[:, SEAT]):
            expected = every_world(own.words[root], int(seat))
            hands = worlds.hands[root, : worlds.number[root]]
            assert set(hands[:, (seat + 1) % 3].tolist()) == set(expected)
            for world in hands:
                chance = slow_likelihood(own, root, world.tolist(), evaluate, 1.3)
                expected[int(world[(seat + 1) % 3])] *= math.exp(chance)
            total = sum(expected.values())
            exact = [expected[hand] / total for hand in hands[:, (seat + 1) % 3].tolist()]
            assert worlds.weights[root, : len(exact)] == pytest.approx(exact, rel=2e-3)


def test_beliefs_alone_and_blended() -> None:
    """With belief 1 a world weighs as the product of the network's scores of its numbers says."""
    evaluate = by_networks(tiny_networks(2))
    own = hidden(played_on(4, 6, 8, evaluate))
    rng = many_streams(1, len(own.words))
    outputs, _ = look_around(own, Asking(evaluate), rng)
    alone = inference.infer(own, outputs, Asking(evaluate), THINKING._replace(belief=1.0), rng)
    bayes = inference.infer(own, outputs, Asking(evaluate), THINKING, rng)
    blend = inference.infer(own, outputs, Asking(evaluate), THINKING._replace(belief=0.25), rng)
    for root, seat in enumerate(own.facts[:, SEAT]):
        by_hand = [
            dict(zip(w.hands[root, : w.number[root], (seat + 1) % 3].tolist(), w.weights[root], strict=False))
            for w in (alone, bayes, blend)
        ]
        scores = outputs[root, BELIEF:].reshape(NUM_RANKS, 5)
        exact = {
            hand: math.exp(sum(scores[rank, count] for rank, count in enumerate(counts_of(hand))))
            for hand in by_hand[0]
        }
        assert [by_hand[0][hand] * sum(exact.values()) for hand in exact] == pytest.approx([*exact.values()], rel=2e-3)
        mixed = {hand: by_hand[0][hand] ** 0.25 * by_hand[1][hand] ** 0.75 for hand in exact}
        assert [by_hand[2][hand] * sum(mixed.values()) for hand in exact] == pytest.approx([*mixed.values()], rel=5e-3)


def test_worlds_are_drawn_as_often_as_they_weigh() -> None:
    hands = np.arange(12, dtype=np.uint64).reshape(1, 4, 3)
    worlds = Worlds(np.array([3]), hands, np.array([[0.5, 0.3, 0.2, 0.0]]))
    drawn, rng = np.zeros((1, 1000, 3), np.uint64), many_streams(5, 1)
    inference.resample(worlds, drawn, np.zeros(1000, np.int64), rng)
    assert [int((drawn[0, :, 0] == 3 * world).sum()) for world in range(4)] == [500, 300, 200, 0]
    assert 150 < (drawn[0, :500, 0] == 0).sum() < 350  # in random order


def test_early_in_a_game_worlds_are_drawn_evenly() -> None:
    evaluate = by_networks(tiny_networks())
    own = hidden(played_on(6, 4, 34, evaluate))
    rng = many_streams(2, len(own.words))
    outputs, _ = look_around(own, Asking(evaluate), rng)
    thinking = THINKING._replace(below=0, different=800)
    worlds = inference.infer(own, outputs, Asking(evaluate), thinking, rng)
    for root, seat in enumerate(own.facts[:, SEAT]):
        sizes = {tuple(int(num_cards(hand)) for hand in world) for world in worlds.hands[root]}
        gone = [len(unpack(int(own.words[root, PLAYED + each]))) for each in range(3)]
        assert sizes == {(20 - gone[0], 17 - gone[1], 17 - gone[2])}
        assert worlds.weights[root] == pytest.approx(1 / 800)
        sums = worlds.hands[root].sum(1) + own.words[root, PLAYED : PLAYED + 3].sum()
        assert (sums == FULL_DECK).all()
        assert (worlds.hands[root, :, seat] == own.words[root, HANDS + seat]).all()


def test_even_guesses_are_exact() -> None:
    own = hidden(played_on(12, 5, 9, by_networks(tiny_networks())))
    for words, facts in zip(own.words, own.facts, strict=True):
        expected = np.zeros((NUM_RANKS, 5))
        for hand, deals in every_world(words, int(facts[SEAT])).items():
            expected[np.arange(NUM_RANKS), counts_of(hand)] += deals
        exact = expected / expected.sum(1, keepdims=True)
        assert guessing.even_marginals(words, int(facts[SEAT])) == pytest.approx(exact)


def test_hands_are_guessed_better_by_who_knows_the_players() -> None:
    """The players draw from sharp random networks: with these, inference tells much; with others, nothing good."""
    true, false = by_networks(tiny_networks(5, 2.0)), by_networks(tiny_networks(6, 2.0))
    own = guessing.self_play(true, 12, 3, 0.2, heat=1.0)
    thinking = THINKING._replace(proposals=200, different=100, trust=0.0, heat=1.0, floor=0.01)
    known, unknown = (guessing.measure(own, evaluate, thinking) for evaluate in (true, false))
    assert known.positions == unknown.positions >= 20
    assert known.evenly == unknown.evenly
    assert known.inferred < known.evenly - 2 * known.error
    assert known.inferred < unknown.inferred


# ---- Search
