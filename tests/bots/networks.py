"""Small networks for Doudizhu, and positions from games that they play."""

from __future__ import annotations

import numpy as np

from fogplay.bots.doudizhu import (
    inference,
    lockstep,
)
from fogplay.bots.doudizhu.asking import Evaluate
from fogplay.bots.doudizhu.inference import Situations
from fogplay.games.doudizhu_cards import num_cards
from fogplay.simulators.doudizhu_features import (
    FACTS,
    HANDS,
    HEAD_WORDS,
    OVER,
    SEAT,
    SEEN,
    WORDS,
)
from fogplay.simulators.doudizhu_policy import OUTPUTS, ways_buffer
from fogplay.strategies.dense import DenseShape
from fogplay.strategies.network import Network

TINY = DenseShape(SEEN, OUTPUTS, 8, 1)


def tiny_networks(seed: int = 0, scale: float = 0.3) -> list[Network]:
    rng = np.random.default_rng(seed)
    return [
        Network(TINY, {name: scale * rng.standard_normal(size) for name, size in TINY.arrays().items()}, {})
        for _ in range(3)
    ]


def played_on(seed: int, decks: int, most: int, evaluate: Evaluate) -> Situations:
    """Games of networks that draw their moves, each at some later move where at most ``most`` cards are hidden."""
    words, facts = np.zeros((decks, WORDS), np.uint64), np.zeros((decks, FACTS), np.int32)
    heads, cards = np.zeros((decks, inference.LONGEST), np.int16), np.zeros((decks, inference.LONGEST), np.uint64)
    rng, ways, found = np.array([seed, 7], np.uint64), ways_buffer(), []
    lockstep.deal_lanes(seed, 0, words, facts, rng.copy())
    going = np.arange(decks)
    while len(going):
        seen, legal = np.zeros((len(going), SEEN), np.int64), np.zeros((len(going), HEAD_WORDS), np.int64)
        lockstep.look_from(going, words, facts, seen, legal)
        seat = int(facts[going[0], SEAT])
        lockstep.move_by(going, words, facts, evaluate(seat, seen), legal, 1.0, ways, rng)
        lockstep.note(going, words, facts, heads, cards)
        going = going[facts[going, OVER] == 0]
        for lane in going:
            hands = words[lane, [HANDS + (facts[lane, SEAT] + step) % 3 for step in (1, 2)]]
            if sum(int(num_cards(hand)) for hand in hands) <= most:
                found.append((words[lane].copy(), facts[lane].copy(), heads[lane].copy(), cards[lane].copy()))
        going = np.array([lane for lane in going if not any((words[lane] == other[0]).all() for other in found)], int)
    return Situations(*(np.array(field) for field in zip(*found, strict=True)))


def hidden(own: Situations) -> Situations:
    """The same without the hands that the player to move does not see."""
    words = own.words.copy()
    for root, seat in enumerate(own.facts[:, SEAT]):
        words[root, [HANDS + (seat + 1) % 3, HANDS + (seat + 2) % 3]] = 0
    return own._replace(words=words)


# ---- Worlds
