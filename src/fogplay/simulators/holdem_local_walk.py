"""Kernels of the local best response in two-player limit hold'em (``holdem_local.py``).

On a deal the responder has two cards. The hands that the opponent may have are listed once, so that those which the
board of a round allows come first: all 1,225 before the flop, the first 1,081 on the flop, 1,035 on the turn and 990 on
the river. A *range* is a weight per hand: the probability that the opponent plays to a node with it.
"""

from __future__ import annotations

import numpy as np

from fogplay.cards.buckets import FLOP, PREFLOP, RIVER, TURN, board_entry, bucket_on, preflop_bucket
from fogplay.cards.deck import CARDS, draw_cards, pair_number
from fogplay.cards.evaluator import evaluate7
from fogplay.cards.index import preflop_class
from fogplay.games.game import TERMINAL
from fogplay.jit import kernel, piece
from fogplay.simulators.streams import uniform
from fogplay.strategies.packing import WHOLE
from fogplay.trees.betting import paid_by

ROUNDS = 4
HANDS = 1225  # that the opponent may have before the flop
LAST_HANDS = 990  # and on the river
SEEN = (0, 3, 4, 5)  # cards on the board by round
HOLE, FLOP_AT, TURN_AT, RIVER_AT = 0, 2, 5, 6  # where a deal has its cards

_1 = np.uint64(1)


@kernel
def list_hands(deal, pairs, hands, counts):
    """Fill ``hands[1225]`` with numbers of the opponent's hands, and ``counts[4]`` with how many a round allows.

    ``deal[7]`` has the responder's cards, the flop, the turn and the river; ``pairs[1326, 2]`` all hands.
    """
    found = 0
    for street in range(RIVER, PREFLOP - 1, -1):
        for hand in range(len(pairs)):
            if _until(deal, pairs[hand, 0], pairs[hand, 1]) == street:
                hands[found] = hand
                found += 1
        counts[street] = found


@piece
def _until(deal, low, high):
    """The last round whose board allows a hand; -1: the responder has one of its cards."""
    until = RIVER
    for place in range(len(deal)):
        if deal[place] == low or deal[place] == high:
            met = -1 if place < FLOP_AT else PREFLOP if place < TURN_AT else FLOP if place < RIVER_AT else TURN
            until = min(until, met)
    return until


@kernel
def add_showdown(tables, deal, turn, river, pairs, hands, count, score, met):
    """Add to ``score[hands]`` what a showdown brings against each hand, 1, 0 or -1, and to ``met[hands]`` a 1.

    The board is the deal's flop with another ``turn`` and ``river``; hands with one of these are left out.
    """
    first, second = np.int64(deal[0]), np.int64(deal[1])
    a, b, c = np.int64(deal[2]), np.int64(deal[3]), np.int64(deal[4])
    own = np.int64(evaluate7(tables, a, b, c, turn, river, first, second))
    for place in range(count):
        low, high = np.int64(pairs[hands[place], 0]), np.int64(pairs[hands[place], 1])
        if low != turn and low != river and high != turn and high != river:
            other = np.int64(evaluate7(tables, a, b, c, turn, river, low, high))
            score[place] += np.float64(own > other) - np.float64(own < other)
            met[place] += 1.0


@kernel
def fill_equity(tables, deal, deck, rng, rollouts, pairs, hands, counts, before, equity, met):
    """Fill ``equity[4, 1225]``: what the responder wins of a stake of 1 against each hand if both check from now on.

    Exact on the turn and on the river; from sampled boards on the flop (``rollouts``) and before it
    (``before[169, 1326]``, against hands as a class of the responder's meets them). ``deck[52]`` begins with the deal;
    it is shuffled, and ``met[1225]`` is scratch.
    """
    for street in range(FLOP, RIVER + 1):
        for place in range(HANDS):
            equity[street, place] = 0.0
            met[place] = 0.0
        if street == FLOP:
            for _ in range(rollouts):
                draw_cards(deck, TURN_AT, 2, uniform(rng))
                turn, river = np.int64(deck[TURN_AT]), np.int64(deck[RIVER_AT])
                add_showdown(tables, deal, turn, river, pairs, hands, counts[street], equity[street], met)
        elif street == TURN:
            dealt = np.uint64(0)
            for place in range(RIVER_AT):
                dealt |= _1 << np.uint64(deal[place])
            for card in range(CARDS):
                if (dealt >> np.uint64(card)) & _1 == 0:
                    turn, river = np.int64(deal[TURN_AT]), np.int64(card)
                    add_showdown(tables, deal, turn, river, pairs, hands, counts[street], equity[street], met)
        else:
            turn, river = np.int64(deal[TURN_AT]), np.int64(deal[RIVER_AT])
            add_showdown(tables, deal, turn, river, pairs, hands, counts[street], equity[street], met)
        for place in range(counts[street]):
            equity[street, place] /= max(met[place], 1.0)
    row = before[preflop_class(deal[0], deal[1])]
    for place in range(HANDS):
        hand = hands[place]
        equity[PREFLOP, place] = row[moved(deal, pairs[hand, 0], pairs[hand, 1])]


@piece
def moved(deal, low, high):
    """The number of a hand when suits are exchanged so that the responder's higher card is a club.

    Its lower card is then a club or a diamond.
    """
    first, second = max(deal[0], deal[1]) & 3, min(deal[0], deal[1]) & 3
    low = low - (low & 3) + _suit(first, second, low & 3)
    return pair_number(low, high - (high & 3) + _suit(first, second, high & 3))


@piece
def _suit(first, second, suit):
    """Where a suit goes: the first to 0, the second to 1, the others to what is left, in order."""
    if suit == first:
        return 0
    if suit == second:
        return 1
    place = suit
    if first > suit:
        place += 1
    if second > suit and second != first:
        place += 1
    return place


@kernel
def fill_before(tables, deck, rng, rollouts, pairs, score, met, before):
    """Fill ``before[169, 1326]``: the responder's equity before the flop by class, from sampled boards.

    ``score`` and ``met``, ``[1326]``, are scratch, and ``deck[52]`` is shuffled.
    """
    for high in range(13):
        for low in range(13):
            one = 4 * max(high, low)
            other = 4 * min(high, low) + (0 if high > low else 1)  # suited above the diagonal
            for place in range(CARDS):
                deck[place] = place
            deck[0], deck[one] = deck[one], deck[0]
            for place in range(1, CARDS):
                if deck[place] == other:
                    deck[1], deck[place] = deck[place], deck[1]
            score[:], met[:] = 0.0, 0.0
            for _ in range(rollouts):
                draw_cards(deck, 2, 3, uniform(rng))
                draw_cards(deck, 5, 2, uniform(rng))
                _add_board(tables, deck, pairs, score, met)
            row = before[preflop_class(one, other)]
            for hand in range(len(pairs)):
                row[hand] = score[hand] / max(met[hand], 1.0)


@piece
def _add_board(tables, deck, pairs, score, met):
    """The same as ``add_showdown`` for all hands that avoid the deck's first seven cards."""
    dealt = np.uint64(0)
    for place in range(RIVER_AT + 1):
        dealt |= _1 << np.uint64(deck[place])
    a, b, c, d, e = np.int64(deck[2]), np.int64(deck[3]), np.int64(deck[4]), np.int64(deck[5]), np.int64(deck[6])
    own = np.int64(evaluate7(tables, a, b, c, d, e, np.int64(deck[0]), np.int64(deck[1])))
    for hand in range(len(pairs)):
        low, high = np.int64(pairs[hand, 0]), np.int64(pairs[hand, 1])
        if (dealt >> np.uint64(low) | dealt >> np.uint64(high)) & _1 == 0:
            other = np.int64(evaluate7(tables, a, b, c, d, e, low, high))
            score[hand] += np.float64(own > other) - np.float64(own < other)
            met[hand] += 1.0


@kernel
def fill_buckets(signals, deal, pairs, hands, counts, bucket):
    """Fill ``bucket[4, 1225]`` with the opponent's buckets."""
    for street in range(ROUNDS):
        board = deal[FLOP_AT:]
        entry = np.uint64(0)
        if street > PREFLOP:
            entry = board_entry(signals, street, board)
        for place in range(counts[street]):
            low, high = np.int64(pairs[hands[place], 0]), np.int64(pairs[hands[place], 1])
            if street == PREFLOP:
                bucket[street, place] = preflop_bucket(signals, low, high)
            else:
                bucket[street, place] = bucket_on(signals, street, entry, low, high)


@kernel
def respond(nodes, down, slot, stride, share, me, bucket, equity, counts, stack, range_):
    """What the local best response earns in seat ``me`` on this deal, in chips, over all hands of the opponent.

    At each of its decisions it takes the action that would be best if both checked and called from then on. ``down``
    has what each player pays then; ``stack[n]`` and ``range_[n, 1225]`` are scratch.
    """
    total, top = 0.0, 0
    stack[0] = 0
    for place in range(HANDS):
        range_[0, place] = 1.0
    while top >= 0:
        node = stack[top]
        here, weights = nodes[node], range_[top]
        if here.player == TERMINAL:
            total += _ending(here, me, weights, equity)
            top -= 1
        elif here.player == me:
            stack[top] = choose(
                nodes, down, slot, stride, share, me, node, bucket[here.street], equity[here.street],
                counts[here.street], weights,
            )  # fmt: skip
        else:
            for number in range(here.count - 1, -1, -1):  # the first action last: it takes the place of its node
                possible = 0.0
                for place in range(counts[here.street]):
                    at = slot[node] + np.int64(bucket[here.street, place]) * stride[node] + number
                    played = weights[place] * (share[at] / WHOLE)
                    range_[top + number, place] = played
                    if place < LAST_HANDS:
                        possible += played
                stack[top + number] = here.first_child + number if possible > 0.0 else -1
            top += here.count - 1
        while top >= 0 and stack[top] < 0:
            top -= 1
    return total / LAST_HANDS


@piece
def _ending(end, me, weights, equity):
    """What a terminal node is worth, summed over the opponent's hands that the whole board allows."""
    both = end.in_hand == 3
    mine, theirs = np.float64(paid_by(end.slot, me)), np.float64(paid_by(end.slot, 1 - me))
    total = 0.0
    for place in range(LAST_HANDS):
        total += weights[place] * (equity[RIVER, place] if both else 1.0)
    return total * (theirs if both or (end.in_hand >> me) & 1 == 1 else -mine)


@kernel
def choose(nodes, down, slot, stride, share, me, node, bucket, equity, count, weights):
    """The node after the action that is best if both check and call from then on."""
    here = nodes[node]
    call = here.first_child + here.calling
    possible, ahead = 0.0, 0.0
    for place in range(count):
        possible += weights[place]
        ahead += weights[place] * equity[place]
    best, worth = call, down[call] * ahead
    if here.calling > 0:
        folded = -np.float64(paid_by(nodes[here.first_child].slot, me)) * possible
        if folded > worth:
            best, worth = np.int64(here.first_child), folded
    if here.count > here.calling + 1:
        after = call + 1
        theirs = nodes[after]
        stays, ahead = 0.0, 0.0
        for place in range(count):
            at = slot[after] + np.int64(bucket[place]) * stride[after]
            staying = weights[place] * (1.0 - share[at] / WHOLE)
            stays += staying
            ahead += staying * equity[place]
        won = np.float64(paid_by(nodes[theirs.first_child].slot, 1 - me))
        if (possible - stays) * won + down[theirs.first_child + theirs.calling] * ahead > worth:
            best = np.int64(after)
    return best


@kernel
def play_deals(
    tables, signals, sees, nodes, down, slot, stride, share, pairs, before, rollouts, deck, rng, scratch, earned,
    control,
):  # fmt: skip
    """Fill ``earned[deals, 2]`` by seat, and ``control[deals, 3]``: equity against all hands, by round from the flop.

    Without ``sees`` the opponent does not look at its cards. ``deck``, ``rng`` and ``scratch`` are mutated.
    """
    for number in range(len(earned)):
        for first, count in ((0, 3), (3, 3), (6, 1)):
            draw_cards(deck, first, count, uniform(rng))
        for place in range(RIVER_AT + 1):
            scratch.deal[place] = deck[place]
        list_hands(scratch.deal, pairs, scratch.hands, scratch.counts)
        fill_equity(
            tables, scratch.deal, deck, rng, rollouts, pairs, scratch.hands, scratch.counts, before, scratch.equity,
            scratch.met,
        )  # fmt: skip
        if sees:
            fill_buckets(signals, scratch.deal, pairs, scratch.hands, scratch.counts, scratch.bucket)
        for street in range(FLOP, RIVER + 1):
            control[number, street - 1] = 0.0
            for place in range(scratch.counts[street]):
                control[number, street - 1] += scratch.equity[street, place] / scratch.counts[street]
        for me in range(2):
            earned[number, me] = respond(
                nodes, down, slot, stride, share, me, scratch.bucket, scratch.equity, scratch.counts, scratch.stack,
                scratch.range_,
            )  # fmt: skip
