"""Whole games between compiled bots: playouts, tuning and quick comparisons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu import partition, plain, position, rules
from fogplay.bots.doudizhu.partition import Groups, Memo
from fogplay.bots.doudizhu.position import Moves, Sight
from fogplay.games.doudizhu_cards import num_cards
from fogplay.games.doudizhu_heads import LEAD, is_bomb
from fogplay.games.doudizhu_moves import count_moves, follow, nth_move
from fogplay.jit import kernel, piece
from fogplay.simulators.doudizhu_random import deal_cards, seed_game
from fogplay.simulators.streams import below

RANDOM, GREEDY, RHCP, RULES = range(4)


class Bot(NamedTuple):
    """A compiled bot with what it needs to play."""

    kind: int
    numbers: NDArray[np.float64]
    memo: Memo
    groups: Groups
    moves: Moves


def bot(kind: int, numbers: NDArray[np.float64] | None = None) -> Bot:
    """A compiled bot; ``numbers`` are those of the rules of thumb."""
    own = rules.numbers() if numbers is None else numbers
    found = plain.rhcp_memo() if kind == RHCP else rules.memo_of(own)
    return Bot(kind, own, found, partition.groups(), position.moves())


@piece
def ask(bot, sight, rng):
    """The head and the cards of a bot's move."""
    if bot.kind == RULES:
        return rules.choose(sight, bot.numbers, bot.memo, bot.groups, bot.moves)
    if bot.kind == RHCP:
        return plain.rhcp(sight, bot.memo, bot.groups, bot.moves)
    if bot.kind == GREEDY:
        return plain.greedy(sight, bot.moves)
    return nth_move(sight.hand, sight.to_beat, below(rng, count_moves(sight.hand, sight.to_beat)))


@kernel
def finish(hands, seat, to_beat, passes, landlord, peasant, rng):
    """Play a game to its end; return whether the landlord won, and how many bombs were played.

    ``hands[3]`` is mutated; ``landlord`` and ``peasant`` are bots.
    """
    bombs = 0
    while True:
        after, before = (seat + 1) % 3, (seat + 2) % 3
        sight = Sight(
            seat,
            hands[seat],
            hands[after] + hands[before],
            num_cards(hands[after]),
            num_cards(hands[before]),
            to_beat,
            seat if to_beat == LEAD else (seat + 2 - passes) % 3,
        )
        if seat == 0:
            head, cards = ask(landlord, sight, rng)
        else:
            head, cards = ask(peasant, sight, rng)
        hands[seat] -= cards
        bombs += is_bomb(head)
        if hands[seat] == 0:
            return seat == 0, bombs
        to_beat, passes = follow(to_beat, passes, head)
        seat = after


@kernel
def compare(seed, first, decks, one, other, rng, hands, won, score):
    """Play decks twice with sides swapped; fill ``won[decks, 2]`` and ``score[decks, 2]`` for ``one``.

    It is the landlord in the first game of a deck. ``rng[2]`` and ``hands[3]`` are scratch.
    """
    for deck in range(decks):
        for turn in range(2):
            seed_game(seed, first + deck, rng)
            own, second, third, shown = deal_cards(rng)
            hands[0], hands[1], hands[2] = own + shown, second, third
            if turn == 0:
                landlord_won, bombs = finish(hands, 0, LEAD, 0, one, other, rng)
            else:
                landlord_won, bombs = finish(hands, 0, LEAD, 0, other, one, rng)
            won[deck, turn] = landlord_won == (turn == 0)
            score[deck, turn] = (1 if won[deck, turn] else -1) * (1 << bombs)


@kernel
def asked(bot, sight, rng):
    """The head and the cards of a bot's move."""
    return ask(bot, sight, rng)
