"""Many games side by side between networks and compiled bots, so that a network is asked about many hands at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu import arena
from fogplay.bots.doudizhu.agents import Compiled, known_number
from fogplay.bots.doudizhu.arena import Bot
from fogplay.bots.doudizhu.deltadou import Mind
from fogplay.bots.doudizhu.inference import LONGEST, Situations
from fogplay.bots.doudizhu.position import Sight
from fogplay.games.doudizhu import PLAYERS, Observation
from fogplay.games.doudizhu_cards import num_cards
from fogplay.games.doudizhu_heads import LEAD, head_of
from fogplay.games.doudizhu_moves import all_moves
from fogplay.jit import kernel
from fogplay.simulators.doudizhu_features import (
    BOMBS,
    FACTS,
    HANDS,
    HEAD_WORDS,
    LAST,
    MOVES,
    OVER,
    PASSES,
    PLAYED,
    SEAT,
    SEEN,
    SHOWN,
    TO_BEAT,
    WORDS,
    look,
)
from fogplay.simulators.doudizhu_lanes import begin, make
from fogplay.simulators.doudizhu_policy import cards_of_move, draw_move, ways_buffer
from fogplay.simulators.doudizhu_random import deal_cards, seed_game
from fogplay.simulators.streams import many_streams

Forward = Callable[[int, NDArray[np.int64]], NDArray[np.float32]]  # outputs of a seat's network for what it sees


class Networks(NamedTuple):
    """A player that asks a network for each seat, and takes its best move or draws one at a temperature."""

    outputs: Forward
    heat: float = 0.0


class Thinker(NamedTuple):
    """A player that thinks about many positions at once, such as ``deltadou.Mind``; ``seed`` is for its luck."""

    mind: Mind
    seed: int = 0


class Single(NamedTuple):
    """A bot at a table that is asked about one position at a time; ``seed`` is for its luck."""

    bot: Compiled
    seed: int = 0


Player = Networks | Bot | Thinker | Single


@kernel
def deal_lanes(seed, first, words, facts, rng):
    """Deal game ``first + lane`` of a seed on every lane."""
    for lane in range(len(words)):
        seed_game(seed, first + lane, rng)
        own, second, third, shown = deal_cards(rng)
        begin(words[lane], facts[lane], own, second, third, shown)


@kernel
def ask_bot(lanes, words, facts, bot, rng):
    """Let a bot move on some lanes."""
    for place in range(len(lanes)):
        lane = lanes[place]
        hands, seat, to_beat = words[lane], int(facts[lane, SEAT]), int(facts[lane, TO_BEAT])
        after, before = hands[HANDS + (seat + 1) % 3], hands[HANDS + (seat + 2) % 3]
        leader = seat if to_beat == LEAD else (seat + 2 - int(facts[lane, PASSES])) % 3
        sight = Sight(seat, hands[seat], after + before, num_cards(after), num_cards(before), to_beat, leader)
        head, cards = arena.ask(bot, sight, rng)
        make(words[lane], facts[lane], head, cards)


@kernel
def look_from(lanes, words, facts, seen, legal):
    """Fill what the player to move sees on some lanes."""
    for place in range(len(lanes)):
        lane = lanes[place]
        look(words[lane], facts[lane], np.int64(facts[lane, SEAT]), seen[place], legal[place])


@kernel
def move_by(lanes, words, facts, outputs, legal, heat, ways, rng):
    """Make the moves that networks' outputs give on some lanes."""
    for place in range(len(lanes)):
        lane = lanes[place]
        hand = words[lane, HANDS + facts[lane, SEAT]]
        head, kickers, _ = draw_move(outputs[place], legal[place], hand, heat, ways, rng)
        make(words[lane], facts[lane], head, cards_of_move(head, kickers))


@kernel
def make_all(lanes, words, facts, heads, cards):
    """Make a move on each of some lanes."""
    for place in range(len(lanes)):
        make(words[lanes[place]], facts[lanes[place]], heads[place], cards[place])


@kernel
def note(lanes, words, facts, heads, cards):
    """Write down the last moves of some lanes."""
    for place in range(len(lanes)):
        lane = lanes[place]
        move = facts[lane, MOVES] - 1
        heads[lane, move], cards[lane, move] = head_of(words[lane, LAST]), words[lane, LAST]


def seen_only(own: Situations, seat: int) -> Situations:
    """Situations without the hands that a seat does not see."""
    own.words[:, [HANDS + (seat + 1) % 3, HANDS + (seat + 2) % 3]] = 0
    return own


def play(seed: int, first: int, decks: int, landlord: Player, peasants: Player) -> tuple[NDArray[Any], NDArray[Any]]:
    """[decks] whether the landlord won each game, and how many bombs were played."""
    words, facts = np.zeros((decks, WORDS), np.uint64), np.zeros((decks, FACTS), np.int32)
    heads, cards = np.zeros((decks, LONGEST), np.int16), np.zeros((decks, LONGEST), np.uint64)
    rng, ways = np.random.SeedSequence((seed, first)).generate_state(2, np.uint64), ways_buffer()
    deal_lanes(seed, first, words, facts, rng.copy())
    seat = 0
    while True:
        lanes = np.flatnonzero(facts[:, OVER] == 0)
        if len(lanes) == 0:
            return facts[:, SEAT] == 0, facts[:, BOMBS].astype(np.int64)
        player = landlord if seat == 0 else peasants
        if isinstance(player, Networks):
            seen, legal = np.zeros((len(lanes), SEEN), np.int64), np.zeros((len(lanes), HEAD_WORDS), np.int64)
            look_from(lanes, words, facts, seen, legal)
            move_by(lanes, words, facts, player.outputs(seat, seen), legal, player.heat, ways, rng)
        elif isinstance(player, Thinker):
            own = seen_only(Situations(words[lanes], facts[lanes], heads[lanes], cards[lanes]), seat)
            streams = many_streams([player.seed, seed, first, int(facts[lanes[0], MOVES])], decks)[lanes]
            decided = player.mind.think(own, streams)
            make_all(lanes, words, facts, decided.heads, decided.cards)
        elif isinstance(player, Single):
            own = seen_only(Situations(words[lanes], facts[lanes], heads[lanes], cards[lanes]), seat)
            chosen = _ask_each(player, own, [player.seed, seed, first, int(facts[lanes[0], MOVES])])
            make_all(lanes, words, facts, chosen[0], chosen[1])
        else:
            ask_bot(lanes, words, facts, player, rng)
        note(lanes, words, facts, heads, cards)
        seat = (seat + 1) % 3


class Comparison(NamedTuple):
    """What one player did against another over decks that were played twice with sides swapped."""

    decks: int
    wins: float  # the fraction of games that it won
    wins_error: float  # the standard error over decks
    points: float  # per game
    points_error: float
    landlord: float  # the fraction of games won as the landlord
    peasants: float


def compare(one: Player, other: Player, decks: int, seed: int = 0, first: int = 0) -> Comparison:
    """Play decks twice with sides swapped."""
    return compared(*_play_both(one, other, decks, seed, first))


def compare_in_threads(
    one: Callable[[], Player], other: Callable[[], Player], decks: int, threads: int, seed: int = 0
) -> Comparison:
    """The same with the decks shared by threads, each of which makes its own players."""
    return compared(*play_in_threads(one, other, decks, threads, seed))


def play_in_threads(
    one: Callable[[], Player], other: Callable[[], Player], decks: int, threads: int, seed: int = 0, first: int = 0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """[decks, 2] whether ``one`` won as the landlord and as the peasants, and its points.

    A thread plays some decks one way round, and another one the same decks the other way.
    """
    each, end = max(-(-2 * decks // max(threads, 2)), 1), first + decks
    tasks = [(start, min(each, end - start), turn) for turn in range(2) for start in range(first, end, each)]
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(lambda task: _play_one_way(one(), other(), seed, *task), tasks))
    parts = [found[: len(found) // 2], found[len(found) // 2 :]]
    won, score = (np.stack([np.concatenate([part[field] for part in side]) for side in parts], 1) for field in range(2))
    return won, score


def _play_both(one: Player, other: Player, decks: int, seed: int, first: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """[decks, 2] whether ``one`` won as the landlord and as the peasants, and its points."""
    sides = [_play_one_way(one, other, seed, first, decks, turn) for turn in range(2)]
    won, score = (np.stack([side[field] for side in sides], 1) for field in range(2))
    return won, score


def _play_one_way(
    one: Player, other: Player, seed: int, first: int, decks: int, turn: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """[decks] whether ``one`` won as the landlord (``turn`` 0) or as the peasants, and its points."""
    landlord_won, bombs = play(seed, first, decks, *((one, other) if turn == 0 else (other, one)))
    won = landlord_won == (turn == 0)
    return won.astype(np.float64), np.where(won, 1, -1) * 2.0**bombs


def compared(won: NDArray[Any], score: NDArray[Any]) -> Comparison:
    """The means and their errors over decks."""
    by_deck, points = won.mean(1), score.mean(1)
    root = np.sqrt(max(len(won) - 1, 1))
    return Comparison(
        len(won),
        by_deck.mean(),
        by_deck.std() / root,
        points.mean(),
        points.std() / root,
        won[:, 0].mean(),
        won[:, 1].mean(),
    )


def _ask_each(player: Single, own: Situations, seeds: list[int]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """The moves of a bot in all situations, asked one after the other."""
    luck = np.random.default_rng(seeds).random(len(own.words))
    moves = [player.bot.move(observation_of(own, row), float(luck[row])) for row in range(len(own.words))]
    return all_moves().heads[moves].astype(np.int64), all_moves().cards[moves]


def observation_of(own: Situations, row: int) -> Observation:
    """What a bot at a table sees of a situation; the landlord sits in seat 0."""
    words, facts = own.words[row], own.facts[row]
    seat, to_beat, passes, moves = (int(facts[fact]) for fact in (SEAT, TO_BEAT, PASSES, MOVES))
    hand, played, shown = int(words[HANDS + seat]), tuple(map(int, words[PLAYED : PLAYED + PLAYERS])), int(words[SHOWN])
    left = tuple((20 if place == 0 else 17) - int(num_cards(np.uint64(played[place]))) for place in range(PLAYERS))
    past = tuple(known_number(cards) for cards in own.cards[row, :moves])
    return Observation(seat, 0, hand, shown, left, played, past, to_beat, passes, int(facts[BOMBS]), ())
