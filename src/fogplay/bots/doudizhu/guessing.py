"""How well hidden hands are guessed: positions from self-play, and what the true hands cost in logarithms.

The cost of a guess is the sum over ranks of minus the logarithm of the probability that it gave to the true number of
cards in the next player's hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu import inference, lockstep
from fogplay.bots.doudizhu.asking import Asking, Evaluate
from fogplay.bots.doudizhu.deltadou import look_around
from fogplay.bots.doudizhu.inference import LONGEST, Situations, Thinking, Worlds, some_of
from fogplay.bots.doudizhu.worlds import Bounds, bounds_of, weigh_counts
from fogplay.games.doudizhu_cards import NUM_RANKS
from fogplay.games.doudizhu_worlds import HAND
from fogplay.jit import kernel
from fogplay.simulators.doudizhu_features import FACTS, HANDS, HEAD_WORDS, OVER, SEAT, SEEN, WORDS
from fogplay.simulators.doudizhu_policy import COUNTS, ways_buffer
from fogplay.simulators.streams import many_streams

DOUBT = 0.05  # the share of the even guess that is mixed into one from few worlds: none may be impossible


class Guessed(NamedTuple):
    """What the true hands cost per position, with standard errors over positions."""

    positions: int
    evenly: float  # where every deal is equally likely
    inferred: float
    error: float  # of the difference


def self_play(evaluate: Evaluate, decks: int, seed: int, share: float, heat: float = 0.0) -> Situations:
    """Positions from games of networks against themselves, each kept with probability ``share``; all hands are there.

    Only positions in which somebody has fewer than 15 cards are kept, as in the paper.
    """
    words, facts = np.zeros((decks, WORDS), np.uint64), np.zeros((decks, FACTS), np.int32)
    played = np.zeros((decks, LONGEST), np.int16), np.zeros((decks, LONGEST), np.uint64)
    rng, ways, luck, found = many_streams(seed, 1)[0], ways_buffer(), np.random.default_rng(seed), []
    lockstep.deal_lanes(seed, 0, words, facts, rng.copy())
    going, seat = np.arange(decks), 0
    while len(going):
        kept = going[luck.random(len(going)) < share]
        found.append(some_of(Situations(words, facts, *played), kept))
        seen, legal = np.zeros((len(going), SEEN), np.int64), np.zeros((len(going), HEAD_WORDS), np.int64)
        lockstep.look_from(going, words, facts, seen, legal)
        lockstep.move_by(going, words, facts, evaluate(seat, seen), legal, heat, ways, rng)
        lockstep.note(going, words, facts, *played)
        going, seat = going[facts[going, OVER] == 0], (seat + 1) % 3
    fields = [np.concatenate(field) for field in zip(*found, strict=True)]
    own = Situations(fields[0], fields[1], fields[2], fields[3])
    return some_of(own, np.flatnonzero(inference.fewest_cards(own) < 15))


def without_hidden(own: Situations) -> Situations:
    """The same positions without the hands that the players to move do not see."""
    words, rows = own.words.copy(), np.arange(len(own.words))
    for step in (1, 2):
        words[rows, HANDS + (own.facts[:, SEAT] + step) % 3] = 0
    return own._replace(words=words)


def measure(own: Situations, evaluate: Evaluate, thinking: Thinking, seed: int = 0) -> Guessed:
    """What the true hands of positions cost if they are guessed evenly, and if they are inferred."""
    hidden, rng = without_hidden(own), many_streams(seed, len(own.words))
    asking = Asking(evaluate)
    outputs, _ = look_around(hidden, asking, rng)
    worlds = inference.infer(hidden, outputs, asking, thinking, rng)
    evenly = np.array([even_marginals(words, int(facts[SEAT])) for words, facts in zip(*hidden[:2], strict=True)])
    inferred = (1.0 - DOUBT) * world_marginals(hidden, worlds) + DOUBT * evenly
    first, second = cost(own, evenly), cost(own, inferred)
    error = float((first - second).std() / np.sqrt(max(len(first) - 1, 1)))
    return Guessed(len(first), float(first.mean()), float(second.mean()), error)


def cost(own: Situations, marginals: NDArray[np.float64]) -> NDArray[np.float64]:
    """[roots] what the true hands cost under ``marginals[roots, 15, 5]``."""
    held = own.words[np.arange(len(own.words)), HANDS + (own.facts[:, SEAT] + 1) % 3]
    counts = (held[:, None] >> (4 * np.arange(NUM_RANKS, dtype=np.uint64))) & np.uint64(15)
    given = np.take_along_axis(marginals, counts.astype(np.int64)[..., None], 2)[..., 0]
    found: NDArray[np.float64] = -np.log(given).sum(1)
    return found


def world_marginals(own: Situations, worlds: Worlds) -> NDArray[np.float64]:
    """[roots, 15, 5] the weight of the worlds in which the next player holds so many cards of a rank."""
    found = np.zeros((len(own.words), NUM_RANKS, COUNTS))
    rows = np.arange(len(own.words))
    held = worlds.hands[rows, :, (own.facts[:, SEAT] + 1) % 3]
    for rank in range(NUM_RANKS):
        counts = (held >> np.uint64(4 * rank)) & np.uint64(15)
        for count in range(COUNTS):
            found[:, rank, count] = (worlds.weights * (counts == count)).sum(1)
    return found


def even_marginals(words: NDArray[np.uint64], seat: int) -> NDArray[np.float64]:
    """[15, 5] the same where every deal is equally likely, exactly."""
    weights, found = np.zeros((NUM_RANKS, COUNTS)), np.zeros((NUM_RANKS, COUNTS))
    pool = Bounds(*split_of(words, seat))
    weigh_counts(pool, weights[0], 0.0, weights)
    for rank in range(NUM_RANKS):
        others = np.ones(1)
        for other in range(NUM_RANKS):
            if other != rank:
                others = np.convolve(others, weights[other])
        change = (int(pool.gain) >> 4 * rank & 15) - (int(pool.loss) >> 4 * rank & 15)
        for count in range(COUNTS):
            if weights[rank, count] > 0:
                found[rank, count + change] = weights[rank, count] * others[HAND - count]
    total: NDArray[np.float64] = found / found.sum(1, keepdims=True)
    return total


@kernel
def split_of(words, seat):
    """``bounds_of``, for plain Python."""
    return bounds_of(words, seat)
