"""Self-play with search: many games at once, in threads, and what there is to learn from every decision."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu import arena
from fogplay.bots.doudizhu.asking import Evaluate
from fogplay.bots.doudizhu.deltadou import Mind, Settings
from fogplay.bots.doudizhu.evaluators import by_networks
from fogplay.bots.doudizhu.inference import LONGEST, Situations
from fogplay.bots.doudizhu.lockstep import ask_bot, deal_lanes, make_all, note, seen_only
from fogplay.engines import spread
from fogplay.games.doudizhu_cards import having_2
from fogplay.games.doudizhu_heads import KICKERS, NUM_KICKERS, PAIRS, cards_of_head, category_of, rank_of
from fogplay.jit import kernel
from fogplay.simulators.doudizhu_features import (
    BOMBS,
    FACTS,
    HANDS,
    HEAD_WORDS,
    MOVES,
    OPEN,
    OVER,
    SEAT,
    WORDS,
    look,
    look_open,
)
from fogplay.simulators.doudizhu_lanes import HEAD, KIND, MOST_DOUBLINGS, NUMBER, POOL, TAKEN
from fogplay.simulators.doudizhu_policy import KICKER_KIND, kicker_pool, next_head
from fogplay.simulators.streams import many_streams, uniform
from fogplay.strategies.network import Network

PARTS = 64  # of games played in processes
KEPT = 16  # heads of a decision whose shares are kept: the most tried ones


class Samples(NamedTuple):
    """Decisions to learn from."""

    seat: NDArray[np.int8]  # [decisions]
    seen: NDArray[np.int64]  # [decisions, 44] with the open hands at the end
    legal: NDArray[np.int64]  # [decisions, 5]
    heads: NDArray[np.int16]  # [decisions, 16]
    shares: NDArray[np.float32]  # [decisions, 16] how often the search tried moves with these heads
    choice: NDArray[np.int32]  # [decisions, 3] the move made: its head, the kind and number of its kickers
    sets: NDArray[np.int64]  # [decisions, 2] the kickers that could be taken, and that were
    results: NDArray[np.float32]  # [decisions, 2] won or lost, and points, for the own side


class Played(NamedTuple):
    """Games of self-play."""

    samples: Samples
    winner: NDArray[np.int32]  # [games] the seat that finished first
    bombs: NDArray[np.int32]  # [games]


def empty(decisions: int) -> Samples:
    """Memory for decisions."""
    return Samples(
        np.zeros(decisions, np.int8),
        np.zeros((decisions, OPEN), np.int64),
        np.zeros((decisions, HEAD_WORDS), np.int64),
        np.zeros((decisions, KEPT), np.int16),
        np.zeros((decisions, KEPT), np.float32),
        np.zeros((decisions, 3), np.int32),
        np.zeros((decisions, 2), np.int64),
        np.zeros((decisions, 2), np.float32),
    )


def joined(parts: list[Samples]) -> Samples:
    """All decisions of several lists."""
    return Samples._make(np.concatenate(fields) for fields in zip(*parts, strict=True))


# ---- What is kept of a decision


@kernel
def write_samples(lanes, words, facts, heads, cards, samples, first):
    """Write decisions with more than one legal move to ``samples`` from ``first`` on; return the end.

    ``samples.seat`` becomes the seat; ``shares`` have the move made alone. ``samples.results[:, 0]`` is the lane until
    its game has ended.
    """
    for place in range(len(lanes)):
        lane, seat = lanes[place], np.int64(facts[lanes[place], SEAT])
        hand, head = words[lane, HANDS + seat], np.int64(heads[place])
        seen, legal = samples.seen[first], samples.legal[first]
        look(words[lane], facts[lane], seat, seen, legal)
        only = next_head(legal, -1)
        category = category_of(head)
        kind = KICKER_KIND[np.uint64(category)]
        if next_head(legal, only) < 0 and kind < 0:
            continue
        look_open(words[lane], seat, seen)
        samples.seat[first], samples.results[first, 0] = seat, lane
        samples.heads[first, :], samples.shares[first, :] = 0, 0.0
        samples.heads[first, 0], samples.shares[first, 0] = head, 1.0
        samples.choice[first, HEAD], samples.choice[first, KIND], samples.choice[first, NUMBER] = head, kind, 0
        samples.sets[first, :] = 0
        if kind >= 0:
            samples.choice[first, NUMBER] = NUM_KICKERS[np.uint64(category)]
            kickers = cards[place] - cards_of_head(category, rank_of(head))
            if KICKERS[np.uint64(category)] == PAIRS:
                kickers = having_2(kickers)
            samples.sets[first, POOL] = np.int64(kicker_pool(hand, category, rank_of(head)))
            samples.sets[first, TAKEN] = np.int64(kickers)
        first += 1
    return first


@kernel
def draw_by_tries(searches, row, heat, rng):
    """An action of a searched root, drawn by its tries to the power 1 / ``heat``."""
    tried, count = searches.trees.tried[row, 0], searches.trees.num_actions[row, 0]
    top = 0
    for action in range(count):
        top = max(top, tried[action])
    total = 0.0
    for action in range(count):
        total += (tried[action] / max(top, 1)) ** (1.0 / heat)
    left, chosen = uniform(rng) * total, 0
    for action in range(count):
        weight = (tried[action] / max(top, 1)) ** (1.0 / heat)
        if weight > 0.0:
            chosen = action
            left -= weight
            if left < 0.0:
                break
    return chosen


@kernel
def draw_moves(searches, searched, heat, heads, cards, rng):
    """Replace the moves of searched roots by moves drawn by their tries."""
    for row in range(len(searched)):
        action = draw_by_tries(searches, row, heat, rng[searched[row]])
        heads[searched[row]] = searches.heads[row, 0, action]
        cards[searched[row]] = searches.cards[row, 0, action]


@kernel
def share_tries(searches, row, heads, shares):
    """Fill ``heads[16]`` and ``shares[16]`` with how often moves of each head were tried."""
    heads[:], shares[:] = 0, 0.0
    filled, total = 0, 0.0
    for action in range(searches.trees.num_actions[row, 0]):
        tried = np.float64(searches.trees.tried[row, 0, action])
        if tried == 0.0:
            continue
        place = 0
        while place < filled and heads[place] != searches.heads[row, 0, action]:
            place += 1
        if place == filled and filled == KEPT:
            place = int(np.argmin(shares))
            if shares[place] >= tried:
                continue
            shares[place] = 0.0
        filled = max(filled, place + 1)
        heads[place] = searches.heads[row, 0, action]
        shares[place] += tried
    for place in range(filled):
        total += shares[place]
    for place in range(filled):
        shares[place] /= total


@kernel
def share_all(searches, searched, lanes, samples, first, last):
    """``share_tries`` for the samples from ``first`` to ``last`` whose lanes were searched."""
    row = 0
    for place in range(first, last):
        lane = np.int64(samples.results[place, 0])
        while row < len(searched) and lanes[searched[row]] < lane:
            row += 1
        if row < len(searched) and lanes[searched[row]] == lane:
            share_tries(searches, row, samples.heads[place], samples.shares[place])


def _finished(samples: Samples, winner: NDArray[np.int32], bombs: NDArray[np.int32]) -> Samples:
    """Put the results of games in place of their lanes."""
    lanes = samples.results[:, 0].astype(np.int64)
    own = np.where((winner[lanes] == 0) == (samples.seat == 0), 1.0, -1.0)
    samples.results[:, 0] = own
    samples.results[:, 1] = own * 2.0 ** np.minimum(bombs[lanes], MOST_DOUBLINGS)
    return samples


# ---- Games


def _play(seed: int, first: int, games: int, mind: Mind | None, heat: float) -> Played:
    """Games between players of one mind, or of the rules of thumb without one."""
    words, facts = np.zeros((games, WORDS), np.uint64), np.zeros((games, FACTS), np.int32)
    past = np.zeros((games, LONGEST), np.int16), np.zeros((games, LONGEST), np.uint64)
    rng, bot = np.random.SeedSequence((seed, first)).generate_state(2, np.uint64), arena.bot(arena.RULES)
    deal_lanes(seed, first, words, facts, rng.copy())
    samples, end, seat = empty(games * 40), 0, 0
    while True:
        lanes = np.flatnonzero(facts[:, OVER] == 0)
        if len(lanes) == 0:
            break
        if end + len(lanes) > len(samples.seat):
            samples = joined([samples, empty(games * 40)])
        before = words.copy(), facts.copy()
        begin = end
        if mind is None:
            ask_bot(lanes, words, facts, bot, rng)
            note(lanes, words, facts, *past)
            made = facts[lanes, MOVES] - 1
            end = write_samples(lanes, *before, past[0][lanes, made], past[1][lanes, made], samples, end)
        else:
            own = seen_only(Situations(words[lanes], facts[lanes], past[0][lanes], past[1][lanes]), seat)
            streams = many_streams([seed, int(facts[lanes[0], MOVES])], first + games)[first + lanes]
            decided = mind.think(own, streams)
            if heat > 0.0:
                draw_moves(decided.searches, decided.searched, heat, decided.heads, decided.cards, streams)
            end = write_samples(lanes, *before, decided.heads, decided.cards, samples, end)
            share_all(decided.searches, decided.searched, lanes, samples, begin, end)
            make_all(lanes, words, facts, decided.heads, decided.cards)
            note(lanes, words, facts, *past)
        seat = (seat + 1) % 3
    samples = Samples._make(field[:end] for field in samples)
    winner, bombs = facts[:, SEAT].copy(), facts[:, BOMBS].copy()
    return Played(_finished(samples, winner, bombs), winner, bombs)


def play(
    seed: int, games: int, threads: int, evaluate: Evaluate | None, settings: Settings | None = None, heat: float = 1.0
) -> Played:
    """Games of self-play, shared by threads; without an evaluator they are played by the rules of thumb.

    A move is drawn by the tries of the search to the power 1 / ``heat``; 0 takes the most tried one.
    """

    def part(first: int, count: int) -> Played:
        mind = None if evaluate is None else Mind(evaluate, settings or Settings())
        return _play(seed, first, count, mind, heat)

    with ThreadPoolExecutor(threads) as pool:
        return _together(list(pool.map(lambda numbers: part(*numbers), _parts(games, threads))))


def play_in_processes(
    seed: int,
    games: int,
    networks: list[Network] | None,
    settings: Settings,
    heat: float,
    engine: str,
    workers: int = 0,
) -> Played:
    """The same in processes of this machine or of a cluster (``engines.spread``), each with its own networks.

    A game does not depend on the process that plays it, but on the part that it is in: there are always as many.
    """
    tasks = [(seed, first, count, networks, settings, heat) for first, count in _parts(games, PARTS)]
    return _together(spread(play_part, tasks, engine, workers))


def play_part(
    seed: int, first: int, games: int, networks: list[Network] | None, settings: Settings, heat: float
) -> Played:
    """Some of the games of ``play_in_processes``."""
    return _play(seed, first, games, None if networks is None else Mind(by_networks(networks), settings), heat)


def _parts(games: int, number: int) -> list[tuple[int, int]]:
    """The first game and the number of games of every part."""
    each = -(-games // number)
    return [(first, min(each, games - first)) for first in range(0, games, each)]


def _together(done: list[Played]) -> Played:
    return Played(
        joined([each.samples for each in done]),
        np.concatenate([each.winner for each in done]),
        np.concatenate([each.bombs for each in done]),
    )
