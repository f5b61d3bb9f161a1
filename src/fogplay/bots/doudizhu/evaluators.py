"""Who answers the questions of a search: the shipped networks, or the rules of thumb where there are none.

An evaluator is called with a seat and ``seen[rows, 32]``, what the seat sees, and returns ``outputs[rows, 476]``.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu import arena
from fogplay.bots.doudizhu.asking import Evaluate
from fogplay.bots.doudizhu.partition import best, split
from fogplay.bots.doudizhu.position import Sight, enemy_left, partner_left
from fogplay.bots.doudizhu.rules import move_wish, sure_win
from fogplay.errors import FogplayError
from fogplay.games.doudizhu_cards import NUM_RANKS, copies_of
from fogplay.games.doudizhu_heads import KICKERS, LEAD, PAIRS, cards_of_head, category_of, rank_of
from fogplay.games.doudizhu_moves import list_moves
from fogplay.jit import kernel, piece
from fogplay.simulators.doudizhu_features import SEEN, SEEN_FACTS, SEEN_LEFT, SEEN_TO_BEAT
from fogplay.simulators.doudizhu_policy import (
    KICKER_KIND,
    KICKER_KINDS,
    KICKER_SCORES,
    OUTPUTS,
    POINTS,
    WIN,
    next_head,
)
from fogplay.strategies.network import Network, load

SEATS = ("landlord", "after", "before")
FOLDER = Path(__file__).parent / "weights"
_HEAT = 3.0  # of the rules' wishes
_CARDS_PER_TURN, _TURN = 3.0, 0.35  # how many cards an enemy plays per turn, and what a turn ahead is worth
_KICKER, _SPARE = 4.0, 0.2
_CERTAIN = 12.0  # the score of a bot's move, where those of all others are 0
_5, _3, _F = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_1, _2 = np.uint64(1), np.uint64(2)


# ---- Networks


def by_networks(networks: Sequence[Network]) -> Evaluate:
    """An evaluator that asks one network for each seat: the landlord, the peasant after it, the one before it."""
    for name, network in zip(SEATS, networks, strict=True):
        if network.shape.words != SEEN or network.shape.outputs != OUTPUTS:
            raise FogplayError(
                f"the network of the {name} has {network.shape.words} words and {network.shape.outputs} outputs; "
                f"Doudizhu needs {SEEN} and {OUTPUTS}"
            )
    return lambda seat, seen: networks[seat].outputs(seen)


def shipped() -> Evaluate:
    """An evaluator that asks the networks of the package."""
    return in_folder(FOLDER)


@functools.cache
def in_folder(folder: Path) -> Evaluate:
    """An evaluator that asks the networks of a folder: landlord, after and before, with the ending .safetensors."""
    return by_networks(networks_in(folder))


def networks_in(folder: Path) -> list[Network]:
    """The networks of a folder."""
    if not folder.is_dir():
        raise FogplayError(f"deltadou plays by networks, which this installation lacks: there is no folder {folder}")
    return [load(folder / f"{name}.safetensors") for name in SEATS]


# ---- Rules of thumb


def by_rules() -> Evaluate:
    """An evaluator that asks the rules of thumb: their wishes as scores, a guess from turns left as the result."""
    own = threading.local()  # a bot has scratch, which threads must not share

    def evaluate(seat: int, seen: NDArray[np.int64]) -> NDArray[np.float32]:
        if not hasattr(own, "bot"):
            own.bot = arena.bot(arena.RULES)
        outputs = np.zeros((len(seen), OUTPUTS), np.float32)
        judge_all(seat, np.ascontiguousarray(seen), own.bot, outputs)
        return outputs

    return evaluate


def by_bot(kind: int) -> Evaluate:
    """An evaluator that asks a compiled bot (``arena.RHCP``, …): its move is all but certain; it knows no results."""
    own = threading.local()

    def evaluate(seat: int, seen: NDArray[np.int64]) -> NDArray[np.float32]:
        if not hasattr(own, "bot"):
            own.bot, own.rng = arena.bot(kind), np.array([1, 2], np.uint64)
        outputs = np.zeros((len(seen), OUTPUTS), np.float32)
        mark_moves(seat, np.ascontiguousarray(seen), own.bot, own.rng, outputs)
        return outputs

    return evaluate


def knowing(evaluate: Evaluate, others: Evaluate, seats: Sequence[int]) -> Evaluate:
    """An evaluator that asks another one about some seats: a search with it knows how they play."""
    return lambda seat, seen: others(seat, seen) if seat in seats else evaluate(seat, seen)


@kernel
def mark_moves(seat, seen, bot, rng, outputs):
    """Fill ``outputs[rows, 476]``, which are zeros, with the moves of a compiled bot."""
    for row in range(len(seen)):
        head, cards = arena.ask(bot, sight_from(seat, seen[row]), rng)
        outputs[row, head] = _CERTAIN
        score_kickers(head, cards, outputs[row])


@piece
def bits_by_nibble(word):
    """How many bits of each nibble are set: the cards of a thermometer."""
    word = np.uint64(word)
    word -= (word >> _1) & _5
    return (word & _3) + ((word >> _2) & _3)


@piece
def num_bits(word):
    """How many bits are set."""
    word = bits_by_nibble(word)
    word = (word & _F) + ((word >> np.uint64(4)) & _F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@piece
def sight_from(seat, seen):
    """What the rules are asked with, from what a network sees."""
    left = np.uint64(seen[SEEN_LEFT]) >> np.uint64(20)
    twenty = np.uint64((1 << 20) - 1)
    to_beat = next_head(seen[SEEN_TO_BEAT:], -1)
    leader = seat
    if to_beat < 0:
        to_beat = np.int64(LEAD)
    elif seen[SEEN_FACTS] & 16 != 0:
        leader = (seat + 2) % 3
    else:
        leader = (seat + 1) % 3
    return Sight(
        seat, bits_by_nibble(seen[0]), bits_by_nibble(seen[1]), num_bits(left & twenty),
        num_bits(left >> np.uint64(20)), to_beat, leader,
    )  # fmt: skip


@kernel
def judge_all(seat, seen, bot, outputs):
    """Fill ``outputs[rows, 476]`` by the rules of thumb."""
    for row in range(len(seen)):
        sight = sight_from(seat, seen[row])
        score_moves(sight, bot, outputs[row])
        outputs[row, WIN] = outputs[row, POINTS] = guess_result(sight, bot)


@kernel
def score_moves(sight, bot, outputs):
    """Score the heads of legal moves by the rules' wishes, and kickers by those of the best move of their kind."""
    for kind in range(KICKER_KINDS):
        for rank in range(NUM_RANKS):
            outputs[KICKER_SCORES + NUM_RANKS * kind + rank] = -_SPARE * rank
    moves, now, most = bot.moves, best(sight.hand, 0, bot.memo)[0], max(sight.left, sight.left_before)
    count = list_moves(sight.hand, sight.to_beat, moves.heads, moves.cards)
    before, top = np.int64(-1), -np.inf
    for place in range(count):
        head, cards = moves.heads[place], moves.cards[place]
        score = min(max(move_wish(sight, head, cards, now, most, bot.numbers, bot.memo) / _HEAT, -50.0), 50.0)
        if head != before:
            before, top = head, -np.inf
        if score > top:  # moves of a head come one after the other; the kickers of the last head of a kind stay
            top = score
            outputs[head] = score
            score_kickers(head, cards, outputs)


@piece
def score_kickers(head, cards, outputs):
    """Prefer the kickers of a move."""
    category = category_of(head)
    kind = KICKER_KIND[np.uint64(category)]
    if kind >= 0:
        kickers = cards - cards_of_head(category, rank_of(head))
        each = 2 if KICKERS[np.uint64(category)] == PAIRS else 1
        for rank in range(NUM_RANKS):
            chosen = copies_of(kickers, rank) >= each
            outputs[KICKER_SCORES + NUM_RANKS * kind + rank] = (_KICKER if chosen else 0.0) - _SPARE * rank


@kernel
def guess_result(sight, bot):
    """The expected result from -1 to 1: how many turns the own side is ahead of the other."""
    count = split(sight.hand, bot.memo, bot.groups)
    if sight.to_beat == LEAD and sure_win(sight, count, bot.groups) >= 0:
        return 1.0
    own = min(float(count), max(partner_left(sight) / _CARDS_PER_TURN, 1.0))
    enemy = max(enemy_left(sight) / _CARDS_PER_TURN, 1.0)
    return math.tanh(_TURN * (enemy - own + (0.5 if sight.to_beat == LEAD else 0.0)))
