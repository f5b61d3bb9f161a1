"""What networks see of Doudizhu, and how their outputs become moves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fogplay.games.doudizhu_cards import FULL_DECK, counts_of, num_cards, pack, show, unpack
from fogplay.games.doudizhu_heads import LEAD, NUM_HEADS, head_of
from fogplay.games.doudizhu_moves import legal_heads, legal_moves
from fogplay.simulators import doudizhu_features as features
from fogplay.simulators.doudizhu_lanes import GROUPS, Lanes
from fogplay.simulators.doudizhu_policy import OUTPUTS, cards_of_move, draw_move, move_probability, ways_buffer


def bits(words: np.ndarray) -> np.ndarray:
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")


def arrays(size: int) -> dict[str, np.ndarray]:
    def new(*more: int, dtype: type = np.float32) -> np.ndarray:
        return np.zeros((GROUPS, size, *more), dtype)

    return {
        "seen": new(features.OPEN, dtype=np.int64), "legal": new(5, dtype=np.int64), "playing": new(dtype=np.bool_),
        "choice": new(3, dtype=np.int32), "sets": new(2, dtype=np.int64), "results": new(3), "logarithms": new(),
    }  # fmt: skip


def test_lanes_play_whole_games_in_step() -> None:
    size, rng = 8, np.random.default_rng(1)
    lanes, kept, games = Lanes(size, 1), arrays(8), 0
    for step in range(120):
        lanes.observe(step, kept["seen"], kept["legal"], kept["playing"])
        for group in range(GROUPS):
            seat = (step + group) % 3
            for lane in range(size):
                words, facts = lanes.words[group, lane], lanes.facts[group, lane]
                assert kept["playing"][seat, lane] == (facts[features.OVER] == 0)
                if facts[features.OVER]:
                    continue
                assert facts[features.SEAT] == seat
                assert sum(words[:6].tolist()) == FULL_DECK, "hands and played cards are the deck"
                legal = legal_heads(int(words[seat]), int(facts[features.TO_BEAT])) > 0
                assert (bits(kept["legal"][seat, lane])[:NUM_HEADS] == legal).all()
        outputs = rng.normal(size=(GROUPS, size, OUTPUTS)).astype(np.float32)
        rest = (kept[name] for name in ("choice", "sets", "results", "logarithms"))
        lanes.move(step, outputs, kept["legal"], 1.0, *rest)
        games += int(kept["results"][:, :, 2].sum())
    assert games > GROUPS * size, "games end, and new ones begin"


def test_a_seat_sees_nothing_of_how_the_others_hold_their_cards() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        deck = rng.permutation(unpack(int(FULL_DECK)))
        words, facts = np.zeros(features.WORDS, np.uint64), np.zeros(features.FACTS, np.int32)
        words[:3] = [pack(deck[first : first + 17].tolist()) for first in (0, 17, 34)]
        seat = int(rng.integers(3))
        facts[features.SEAT] = seat
        looks = []
        for _ in range(2):
            seen, legal = np.zeros(features.SEEN, np.int64), np.zeros(5, np.int64)
            features.look(words, facts, seat, seen, legal)
            looks.append((seen.tolist(), legal.tolist()))
            others = [(seat + 1) % 3, (seat + 2) % 3]
            mixed = rng.permutation(unpack(int(words[others].sum())))
            words[others] = pack(mixed[:17].tolist()), pack(mixed[17:].tolist())
        assert looks[0] == looks[1]


def test_what_is_seen_is_what_is_there() -> None:
    words, facts = np.zeros(features.WORDS, np.uint64), np.zeros(features.FACTS, np.int32)
    hand = pack([0, 0, 0, 3, 4, 5, 6, 7, 13, 14])
    words[:3] = hand, pack([1, 1]), pack([2])
    facts[features.BOMBS] = 2
    seen, legal = np.zeros(features.SEEN, np.int64), np.zeros(5, np.int64)
    features.look(words, facts, 0, seen, legal)
    nibbles = [bin(int(seen[0]) >> 4 * rank & 15).count("1") for rank in range(15)]
    assert nibbles == list(counts_of(hand))
    left = int(seen[features.SEEN_LEFT])
    assert [bin(left >> 20 * place & 0xFFFFF).count("1") for place in range(3)] == [10, 2, 1]
    assert int(seen[features.SEEN_FACTS]) >> 6 & 15 == 0b11, "two bombs"


def test_who_cannot_answer_can_only_pass() -> None:
    rng, seen = np.random.default_rng(3), set()
    for _ in range(60):
        hand = pack(rng.permutation(unpack(int(FULL_DECK)))[: int(rng.integers(1, 21))].tolist())
        assert features.can_answer(np.uint64(hand), LEAD)
        for to_beat in range(1, NUM_HEADS):
            wanted = bool((legal_heads(hand, to_beat)[1:] > 0).any())
            assert features.can_answer(np.uint64(hand), to_beat) == wanted, (show(hand), to_beat)
            seen.add(wanted)
    assert seen == {True, False}


HANDS = [
    "3334445556789TJ",  # planes, chains and many kickers
    "33344455566BR",  # the jokers never go together
    "333344445566772",
    "3456789TJQKA2BR",
    "33344455566677789TBR",
]


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("heat", [0.5, 1.0, 2.0])
def test_probabilities_of_all_moves_add_up_to_one(hand: str, heat: float) -> None:
    word = pack(["3456789TJQKA2BR".index(card) for card in hand])
    rng = np.random.default_rng(len(hand))
    outputs, ways = rng.normal(size=OUTPUTS).astype(np.float32), ways_buffer()
    legal = np.zeros(5, np.int64)
    held = np.zeros(5, np.int64)
    features.mark_heads(np.uint64(word), held, 0)
    features.mark_legal(np.uint64(word), LEAD, held, 0, legal)
    heads, cards = legal_moves(word)
    total = sum(
        math.exp(move_probability(outputs, legal, np.uint64(word), head, each, heat, ways))
        for head, each in zip(heads, cards, strict=True)
    )
    assert total == pytest.approx(1.0, abs=1e-5)


def test_moves_are_drawn_with_their_probabilities() -> None:
    word = pack([0, 0, 0, 1, 1, 1, 2, 2, 5, 13, 14])
    rng, state, ways = np.random.default_rng(3), np.array([1, 2], np.uint64), ways_buffer()
    outputs = rng.normal(size=OUTPUTS).astype(np.float32)
    held, legal = np.zeros(5, np.int64), np.zeros(5, np.int64)
    features.mark_heads(np.uint64(word), held, 0)
    features.mark_legal(np.uint64(word), LEAD, held, 0, legal)
    heads, cards = legal_moves(word)
    expected = {
        int(each): math.exp(move_probability(outputs, legal, np.uint64(word), head, each, 1.0, ways))
        for head, each in zip(heads, cards, strict=True)
    }
    drawn: dict[int, int] = {}
    for _ in range(draws := 20_000):
        head, kickers, logarithm = draw_move(outputs, legal, np.uint64(word), 1.0, ways, state)
        move = int(cards_of_move(head, kickers))
        assert head_of(np.uint64(move)) == head, show(move)
        assert math.exp(logarithm) == pytest.approx(expected[move], rel=1e-4)
        drawn[move] = drawn.get(move, 0) + 1
    for move, probability in expected.items():
        sigma = math.sqrt(probability * (1 - probability) / draws)
        assert drawn.get(move, 0) / draws == pytest.approx(probability, abs=5 * sigma + 1e-3), show(move)


def test_the_best_move_has_the_best_head_and_the_best_kickers() -> None:
    word = pack([0, 0, 0, 1, 1, 1, 2, 3, 5, 13, 14])
    ways, state = ways_buffer(), np.array([1, 2], np.uint64)
    held, legal = np.zeros(5, np.int64), np.zeros(5, np.int64)
    features.mark_heads(np.uint64(word), held, 0)
    features.mark_legal(np.uint64(word), LEAD, held, 0, legal)
    heads, cards = legal_moves(word)
    rng = np.random.default_rng(4)
    for _ in range(20):
        outputs = rng.normal(size=OUTPUTS).astype(np.float32)
        head, kickers, _ = draw_move(outputs, legal, np.uint64(word), 0.0, ways, state)
        assert outputs[head] == max(outputs[each] for each in heads)
        chances = {
            int(each): move_probability(outputs, legal, np.uint64(word), head, each, 1.0, ways)
            for other, each in zip(heads, cards, strict=True)
            if other == head
        }
        assert chances[int(cards_of_move(head, kickers))] == pytest.approx(max(chances.values()), abs=1e-6)
        assert num_cards(np.uint64(word)) == 11
