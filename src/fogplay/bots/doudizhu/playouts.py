"""Perfect-information Monte Carlo for Doudizhu: candidates tried in sampled worlds, by playouts and exact endings.

Worlds are drawn as the cards allow. They can be weighted by how well the moves so far fit the hands in them, as the
rules of thumb would have played these. Every candidate meets the same worlds. Half of the candidates, those that did
worse, are dropped again and again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu import arena, endgame
from fogplay.bots.doudizhu.arena import Bot, finish
from fogplay.bots.doudizhu.endgame import LIMIT, NODES, REST, Search, alpha_beta
from fogplay.bots.doudizhu.partition import best
from fogplay.bots.doudizhu.position import Sight
from fogplay.bots.doudizhu.rules import choose, move_wish
from fogplay.games.doudizhu_cards import num_cards
from fogplay.games.doudizhu_heads import NUM_HEADS, PASS, is_bomb
from fogplay.games.doudizhu_moves import follow, list_moves
from fogplay.games.doudizhu_worlds import HAND, MOST, draw_split
from fogplay.jit import kernel, piece
from fogplay.simulators.streams import uniform

MOST_WORLDS, MOST_CANDIDATES = 1024, 12
_GOLDEN = 0.6180339887498949  # multiples of it, without the whole part, are spread evenly
SEAT, TO_BEAT, LEADER, PASSES, HEAD = range(5)


class Table(NamedTuple):
    """Everything that is public, and the own hand; seat 0 is the landlord."""

    seat: int
    hand: np.uint64
    to_beat: int
    passes: int
    split: NDArray[np.uint64]  # [7] how the others' hands are drawn: pool, least, most; gains and losses of the two
    facts: NDArray[np.int64]  # [moves, 5] of every move so far: the seat, what was to beat, whose, passes, its head
    cards: NDArray[np.uint64]  # [moves]


class Settings(NamedTuple):
    """How much to think, and what of."""

    playouts: int  # per move
    worlds: int  # drawn per move
    candidates: int
    exact: int  # endings with at most so many cards are solved
    doubt: float  # how likely a move is that the rules of thumb would not have made, from 0 to 1
    pass_doubt: float  # the same for a pass
    effective: float  # the share of the worlds that must count, at least
    doubling: float  # how much the score counts, from 0 (winning only) to 1
    trust: float  # taken from the mean of every candidate but the one that the rules of thumb prefer
    solver_nodes: int  # positions for one ending; a playout decides it if that is not enough
    all_nodes: int  # positions for all endings of a move


class Mind(NamedTuple):
    """A worker's memory and scratch."""

    bot: Bot
    search: Search
    worlds: NDArray[np.uint64]  # [1024, 3] hands
    weights: NDArray[np.float64]  # [1024] cumulated
    heads: NDArray[np.int64]  # [12] candidates
    cards: NDArray[np.uint64]  # [12]
    wishes: NDArray[np.float64]  # [12] what the rules of thumb think of them
    prior: NDArray[np.float64]  # [12] added to their means
    won: NDArray[np.float64]  # [12] playouts won
    reward: NDArray[np.float64]  # [12] with bombs counted
    tried: NDArray[np.int64]  # [12] playouts
    hands: NDArray[np.uint64]  # [3]
    numbers: NDArray[np.float64]  # [15]
    ways: NDArray[np.float64]
    head_wish: NDArray[np.float64]  # [309]
    head_cards: NDArray[np.uint64]  # [309]
    rng: NDArray[np.uint64]  # [2]


def mind(numbers: NDArray[np.float64] | None = None) -> Mind:
    """Memory for one worker."""
    few = MOST_CANDIDATES
    return Mind(
        arena.bot(arena.RULES, numbers),
        endgame.search(doubling=True),
        np.zeros((MOST_WORLDS, 3), np.uint64),
        np.zeros(MOST_WORLDS),
        np.zeros(few, np.int64),
        np.zeros(few, np.uint64),
        np.zeros(few),
        np.zeros(few),
        np.zeros(few),
        np.zeros(few),
        np.zeros(few, np.int64),
        np.zeros(3, np.uint64),
        np.zeros(15),
        np.zeros((16, MOST + 1)),
        np.zeros(NUM_HEADS),
        np.zeros(NUM_HEADS, np.uint64),
        np.zeros(2, np.uint64),
    )


@piece
def sight_of(hands, seat, to_beat, leader):
    """What a seat sees of these hands."""
    after, before = (seat + 1) % 3, (seat + 2) % 3
    unseen = hands[after] + hands[before]
    return Sight(seat, hands[seat], unseen, num_cards(hands[after]), num_cards(hands[before]), to_beat, leader)


# ---- Candidates


@kernel
def list_candidates(sight, most, mind):
    """Fill ``mind.heads``, ``cards`` and ``wishes`` with the moves that the rules of thumb like best; return how many.

    Moves with the same head and other kickers are one candidate, with the kickers that the hand can best spare.
    """
    bot, moves = mind.bot, mind.bot.moves
    mind.head_wish[:] = -np.inf
    now = best(sight.hand, 0, bot.memo)[0]
    enemies = max(sight.left, sight.left_before)
    count = list_moves(sight.hand, sight.to_beat, moves.heads, moves.cards)
    for place in range(count):
        head, cards = moves.heads[place], moves.cards[place]
        wish = move_wish(sight, head, cards, now, enemies, bot.numbers, bot.memo)
        if wish > mind.head_wish[head]:
            mind.head_wish[head], mind.head_cards[head] = wish, cards
    filled = 0
    while filled < most:
        head = np.argmax(mind.head_wish)
        if mind.head_wish[head] == -np.inf:
            break
        mind.heads[filled], mind.cards[filled] = head, mind.head_cards[head]
        mind.wishes[filled] = mind.head_wish[head]
        mind.head_wish[head] = -np.inf
        filled += 1
    return prefer(sight, filled, most, mind)


@kernel
def prefer(sight, filled, most, mind):
    """Put the move that the rules of thumb make first among the candidates; return how many there are."""
    bot = mind.bot
    head, cards = choose(sight, bot.numbers, bot.memo, bot.groups, bot.moves)
    place = 0
    while place < filled and mind.heads[place] != head:
        place += 1
    if place == filled:
        if filled < most:
            filled += 1
        else:
            place -= 1
    wish = mind.wishes[place] if place < filled else 0.0
    for each in range(place, 0, -1):
        mind.heads[each], mind.cards[each], mind.wishes[each] = (
            mind.heads[each - 1],
            mind.cards[each - 1],
            mind.wishes[each - 1],
        )
    mind.heads[0], mind.cards[0], mind.wishes[0] = head, cards, wish
    return filled


# ---- Worlds


@kernel
def draw_worlds(table, settings, mind):
    """Fill ``mind.worlds`` and their cumulated weights."""
    seat = table.seat
    for world in range(settings.worlds):
        for rank in range(15):
            mind.numbers[rank] = uniform(mind.rng)
        bounds = table.split
        drawn, _ = draw_split(bounds[0], bounds[1], bounds[2], HAND, mind.numbers, mind.ways)
        hands = mind.worlds[world]
        hands[seat] = table.hand
        hands[(seat + 1) % 3] = drawn + bounds[3] - bounds[5]
        hands[(seat + 2) % 3] = bounds[0] - drawn + bounds[4] - bounds[6]
        mind.weights[world] = likelihood(table, settings, mind, hands)
    temper(settings, mind)


@kernel
def temper(settings, mind):
    """Turn the logarithms in ``mind.weights`` into cumulated weights.

    They are flattened, by a power below 1, until a share of the worlds counts: a few worlds with all the weight would
    only add noise.
    """
    weights = mind.weights[: settings.worlds]
    top, power = -np.inf, 1.0
    for log in weights:
        top = max(top, log)
    while power > 0.01:
        total, squares = 0.0, 0.0
        for log in weights:
            weight = np.exp(power * (log - top))
            total += weight
            squares += weight * weight
        if total * total / squares >= settings.effective * settings.worlds:
            break
        power *= 0.8
    total = 0.0
    for world in range(settings.worlds):
        total += np.exp(power * (weights[world] - top))
        weights[world] = total


@kernel
def likelihood(table, settings, mind, now):
    """How well the others' moves so far fit the hands that they would have had: the logarithm."""
    hands, bot, found = mind.hands, mind.bot, 0.0
    hands[0], hands[1], hands[2] = now[0], now[1], now[2]
    if settings.doubt >= 1.0 and settings.pass_doubt >= 1.0:
        return found
    for move in range(len(table.cards) - 1, -1, -1):
        seat, head = table.facts[move, SEAT], table.facts[move, HEAD]
        hands[seat] += table.cards[move]
        if seat == table.seat:
            continue
        sight = sight_of(hands, seat, table.facts[move, TO_BEAT], table.facts[move, LEADER])
        expected, _ = choose(sight, bot.numbers, bot.memo, bot.groups, bot.moves)
        if expected != head:
            found += np.log(settings.pass_doubt if head == PASS else settings.doubt)
    return found


@piece
def pick_world(turn, settings, mind):
    """The number of a world for a turn: over the turns, each comes as often as its weight says, as evenly as can be."""
    number = (turn * _GOLDEN) % 1.0 * mind.weights[settings.worlds - 1]
    world = np.searchsorted(mind.weights[: settings.worlds], number, side="right")
    return min(world, settings.worlds - 1)


# ---- Search


@kernel
def deliberate(table, settings, mind, count):
    """Try ``count`` candidates; sort them, the best first, with ``mind.won``, ``reward`` and ``tried`` beside them."""
    mind.prior[:] = -settings.trust
    mind.prior[0] = 0.0
    mind.won[:] = 0.0
    mind.reward[:] = 0.0
    mind.tried[:] = 0
    mind.search.nodes[NODES] = 0
    mind.search.keys[:, REST] = 0  # what earlier moves left would decide which endings are solved within the limit
    draw_worlds(table, settings, mind)
    alive, left = count, settings.playouts
    stages, turn = 1, 0
    while 2**stages < count:
        stages += 1
    for stage in range(stages):
        share = max(left // (stages - stage) // alive, 1)
        for _ in range(share):
            turn += 1
            world = pick_world(turn, settings, mind)
            for place in range(alive):
                try_move(table, settings, mind, world, place)
        left -= share * alive
        rank_candidates(alive, settings, mind)
        alive = max((alive + 1) // 2, 1)
        if alive == 1 or left <= 0:
            break


@kernel
def rank_candidates(alive, settings, mind):
    """Sort the candidates still alive by their means, the best first."""
    for place in range(1, alive):
        here = place
        while here > 0 and mean_of(here, settings, mind) > mean_of(here - 1, settings, mind):
            exchange(mind.heads, here)
            exchange(mind.cards, here)
            exchange(mind.wishes, here)
            exchange(mind.prior, here)
            exchange(mind.won, here)
            exchange(mind.reward, here)
            exchange(mind.tried, here)
            here -= 1


@piece
def exchange(values, here):
    values[here], values[here - 1] = values[here - 1], values[here]


@piece
def mean_of(place, settings, mind):
    return mind.reward[place] / max(mind.tried[place], 1) + mind.prior[place]


@kernel
def try_move(table, settings, mind, world, place):
    """Play a candidate in a world to the end and count the result."""
    seat, hands = table.seat, mind.hands
    head, cards = mind.heads[place], mind.cards[place]
    hands[0], hands[1], hands[2] = mind.worlds[world, 0], mind.worlds[world, 1], mind.worlds[world, 2]
    hands[seat] -= cards
    bombs = np.int64(is_bomb(head))
    if hands[seat] == 0:
        landlord = seat == 0
    else:
        to_beat, passes = follow(table.to_beat, table.passes, head)
        landlord, more = judge((seat + 1) % 3, to_beat, passes, settings, mind)
        bombs += more
    won = landlord == (seat == 0)
    mind.tried[place] += 1
    mind.won[place] += won
    mind.reward[place] += (1.0 if won else -1.0) * (1.0 + settings.doubling * ((1 << bombs) - 1))


@kernel
def judge(seat, to_beat, passes, settings, mind):
    """Whether the landlord wins with ``mind.hands``, and how many bombs come: exact in endings, else played out."""
    hands, search = mind.hands, mind.search
    if num_cards(hands[0]) + num_cards(hands[1]) + num_cards(hands[2]) <= settings.exact:
        search.nodes[LIMIT] = min(search.nodes[NODES] + settings.solver_nodes, settings.all_nodes)
        wide = np.inf if settings.doubling > 0.0 else 1.0  # the sign is enough if only winning counts
        value = alpha_beta(hands, seat, to_beat, passes, -wide, wide, search)
        if search.nodes[NODES] <= search.nodes[LIMIT]:
            return value > 0.0, np.int64(np.log2(abs(value)) + 0.5)
    return finish(hands, seat, to_beat, passes, mind.bot, mind.bot, mind.rng)
