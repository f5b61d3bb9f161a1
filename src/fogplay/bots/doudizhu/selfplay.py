"""Self-play with search: many games at once, in threads, and what there is to learn from every decision."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu import arena, records
from fogplay.bots.doudizhu.asking import Evaluate
from fogplay.bots.doudizhu.deltadou import Mind, Settings
from fogplay.bots.doudizhu.evaluators import by_networks
from fogplay.bots.doudizhu.inference import Situations
from fogplay.bots.doudizhu.lockstep import ask_bot, make_all, note, seen_only
from fogplay.bots.doudizhu.records import KEPT, Record, keep_found
from fogplay.engines import spread
from fogplay.games.doudizhu_cards import having_2
from fogplay.games.doudizhu_heads import KICKERS, NUM_KICKERS, PAIRS, cards_of_head, category_of, rank_of
from fogplay.jit import kernel
from fogplay.simulators.doudizhu_features import (
    BOMBS,
    HANDS,
    HEAD_WORDS,
    MOVES,
    OPEN,
    OVER,
    SEAT,
    look,
    look_open,
)
from fogplay.simulators.doudizhu_lanes import HEAD, KIND, MOST_DOUBLINGS, NUMBER, POOL, TAKEN
from fogplay.simulators.doudizhu_policy import KICKER_KIND, kicker_pool, next_head
from fogplay.simulators.streams import many_streams, uniform
from fogplay.strategies.network import Network

PARTS = 64  # of games played in processes


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
    expected: NDArray[np.float32]  # [decisions, 2] what the search expected of them; NaN: not known


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
        np.full((decisions, 2), np.nan, np.float32),
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
def share_all(tried_heads, tried, expected, samples, first, last):
    """Put what a search found into the samples from ``first`` to ``last``, where it tried anything."""
    for place in range(first, last):
        lane, total = np.int64(samples.results[place, 0]), 0.0
        samples.expected[place, 0], samples.expected[place, 1] = expected[lane, 0], expected[lane, 1]
        for option in range(tried.shape[1]):
            total += tried[lane, option]
        if total > 0.0:
            for option in range(tried.shape[1]):
                samples.heads[place, option] = tried_heads[lane, option]
                samples.shares[place, option] = tried[lane, option] / total


def _finished(samples: Samples, winner: NDArray[np.int32], bombs: NDArray[np.int32]) -> Samples:
    """Put the results of games in place of their lanes."""
    lanes = samples.results[:, 0].astype(np.int64)
    own = np.where((winner[lanes] == 0) == (samples.seat == 0), 1.0, -1.0)
    samples.results[:, 0] = own
    samples.results[:, 1] = own * 2.0 ** np.minimum(bombs[lanes], MOST_DOUBLINGS)
    return samples


# ---- Games


def _go_on(
    seed: int, own: Record, mind: Mind | None, heat: float, stopped: Callable[[], bool] = lambda: False
) -> Record:
    """Play games to their end or until ``stopped()``, by one mind or, without it, by the rules of thumb.

    The record is mutated. A move depends on the seed and on the game's number, not on when its game was interrupted.
    """
    words, facts = records.positions(seed, own)
    bot, first, games = arena.bot(arena.RULES), own.first, len(own.length)
    while not stopped():
        lanes = np.flatnonzero(facts[:, OVER] == 0)
        if len(lanes) == 0:
            break
        move = int(facts[lanes[0], MOVES])
        if mind is None:
            ask_bot(lanes, words, facts, bot, many_streams([seed, first, move], 1)[0])
        else:
            view = Situations(words[lanes], facts[lanes], own.heads[lanes], own.cards[lanes])
            streams = many_streams([seed, move], first + games)[first + lanes]
            decided = mind.think(seen_only(view, int(facts[lanes[0], SEAT])), streams)
            if heat > 0.0:
                draw_moves(decided.searches, decided.searched, heat, decided.heads, decided.cards, streams)
            points, kept = mind.settings.weights.points, (own.tried_heads, own.tried, own.expected)
            keep_found(decided.searches, decided.searched, lanes, move, points, *kept)
            make_all(lanes, words, facts, decided.heads, decided.cards)
        note(lanes, words, facts, own.heads, own.cards)
        own.length[lanes] = move + 1
    return own


def finished(seed: int, own: Record) -> bool:
    """Whether all games of a record have ended."""
    return bool((records.positions(seed, own)[1][:, OVER] != 0).all())


def played(seed: int, own: Record) -> Played:
    """What there is to learn from games that have ended."""
    words, facts = records.positions(seed, own, 0)
    samples, end = empty(int(own.length.sum())), 0
    for move in range(int(own.length.max(initial=0))):
        lanes = np.flatnonzero(own.length > move)
        heads, cards = own.heads[lanes, move].astype(np.int64), own.cards[lanes, move]
        begin, end = end, write_samples(lanes, words, facts, heads, cards, samples, end)
        found = own.tried_heads[:, move], own.tried[:, move], own.expected[:, move]
        share_all(*found, samples, begin, end)
        make_all(lanes, words, facts, heads, cards)
    samples = Samples._make(field[:end] for field in samples)
    winner, bombs = facts[:, SEAT].copy(), facts[:, BOMBS].copy()
    return Played(_finished(samples, winner, bombs), winner, bombs)


def begin(games: int, parts: int, searched: bool = True) -> list[Record]:
    """Records of games that begin, in so many parts."""
    return [records.new(first, count, searched) for first, count in _parts(games, parts)]


def go_on(
    seed: int, own: list[Record], threads: int, evaluate: Evaluate | None, settings: Settings, heat: float,
    stopped: Callable[[], bool] = lambda: False, save: Callable[[], None] = lambda: None, every: float = 20.0,
) -> bool:  # fmt: skip
    """Play the games of all records in threads; return whether they have ended, which they have unless ``stopped()``.

    ``save()`` is called ``every`` so many seconds. Without an evaluator, the rules of thumb play. A move is drawn by
    the tries of the search to the power 1 / ``heat``; 0 takes the most tried one.
    """
    failed = threading.Event()

    def part(record: Record) -> None:
        try:
            mind = None if evaluate is None else Mind(evaluate, settings)
            _go_on(seed, record, mind, heat, lambda: stopped() or failed.is_set())
        except BaseException:
            failed.set()  # so that the others do not play on in vain
            raise

    with ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(part, record) for record in own}
        while running:
            done, running = wait(running, every)
            if running:
                save()
            for each in done:
                each.result()
    return not stopped() or all(finished(seed, record) for record in own)


def play(
    seed: int, games: int, threads: int, evaluate: Evaluate | None, settings: Settings | None = None, heat: float = 1.0
) -> Played:
    """Whole games of self-play, shared by threads."""
    own = begin(games, threads, evaluate is not None)
    go_on(seed, own, threads, evaluate, settings or Settings(), heat)
    return together([played(seed, record) for record in own])


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
    return together(spread(play_part, tasks, engine, workers))


def play_part(
    seed: int, first: int, games: int, networks: list[Network] | None, settings: Settings, heat: float
) -> Played:
    """Some of the games of ``play_in_processes``."""
    mind = None if networks is None else Mind(by_networks(networks), settings)
    return played(seed, _go_on(seed, records.new(first, games, mind is not None), mind, heat))


def _parts(games: int, number: int) -> list[tuple[int, int]]:
    """The first game and the number of games of every part."""
    each = -(-games // number)
    return [(first, min(each, games - first)) for first in range(0, games, each)]


def together(done: list[Played]) -> Played:
    """All games of several parts."""
    return Played(
        joined([each.samples for each in done]),
        np.concatenate([each.winner for each in done]),
        np.concatenate([each.bombs for each in done]),
    )
