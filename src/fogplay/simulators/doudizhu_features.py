"""What a network sees of a game of Doudizhu: 64-bit words whose bits are its inputs, compiled for CPU and GPU.

A game in progress is one *lane*: a row of words (cards) and a row of facts. Cards enter as a *thermometer*: bit k of a
rank's nibble is set if there are more than k cards of the rank. Sets of heads have one bit per head, in five words.
"""

from __future__ import annotations

import numpy as np

from fogplay.games.doudizhu_cards import first_rank, has_rocket, having_1, having_2, having_3, having_4, num_cards
from fogplay.games.doudizhu_heads import (
    BOMB,
    FIRST_HEAD,
    KICKERS,
    LEAD,
    NO_KICKERS,
    NUM_CATEGORIES,
    PASS,
    ROCKET_HEAD,
    SOLO,
    category_of,
    starts_in,
)
from fogplay.games.doudizhu_kickers import count_kickers
from fogplay.games.doudizhu_moves import starts_above
from fogplay.games.doudizhu_worlds import without
from fogplay.jit import kernel, piece

LAST_MOVES = 9
HEAD_WORDS = 5  # 309 bits

# A lane's words: the hands of the three seats, what each has played, the shown cards, the last moves (newest first).
HANDS, PLAYED, SHOWN, LAST = 0, 3, 6, 7
WORDS = LAST + LAST_MOVES
# A lane's facts. Seat 0 is the landlord. OVER: the game has ended, or none has begun.
SEAT, TO_BEAT, PASSES, BOMBS, MOVES, OVER, FACTS = range(7)

# The words that a network sees, in this order; the others are seen in the order in which they follow the player.
SEEN_CARDS = 6 + LAST_MOVES  # own hand, unseen, shown and not played, played by each, last moves
SEEN_LEFT, SEEN_FACTS = SEEN_CARDS, SEEN_CARDS + 1
SEEN_TO_BEAT = SEEN_FACTS + 1
SEEN_OWN = SEEN_TO_BEAT + HEAD_WORDS
SEEN_UNSEEN = SEEN_OWN + HEAD_WORDS
SEEN = SEEN_UNSEEN + HEAD_WORDS  # 32
OPEN = SEEN + 2 + 2 * HEAD_WORDS  # 44: with the hands of both others, for a critic that sees everything

_1 = np.uint64(1)


@piece
def thermometer(cards):
    """The word whose nibbles have as many bits set, from below, as there are cards of the rank."""
    return (
        having_1(cards)
        | (having_2(cards) << np.uint64(1))
        | (having_3(cards) << np.uint64(2))
        | (having_4(cards) << np.uint64(3))
    )


@piece
def lowest(count):
    """A word with its ``count`` lowest bits set; fewer than 64."""
    return (_1 << np.uint64(count)) - _1


@piece
def set_bit(words, at, bit):
    """Set a bit of the int64 words that begin at ``at``."""
    words[at + (bit >> 6)] |= np.int64(_1 << np.uint64(bit & 63))


@kernel
def mark_category(hand, category, starts, words, at):
    """Set the bits of a category's heads that begin at one of ``starts`` and for which the hand has kickers."""
    while starts != 0:
        rank = first_rank(starts)
        starts &= starts - _1
        if KICKERS[np.uint64(category)] == NO_KICKERS or count_kickers(hand, category, rank) > 0:
            set_bit(words, at, FIRST_HEAD[np.uint64(category)] + rank)


@kernel
def mark_heads(hand, words, at):
    """Fill five words with the heads that a hand has; none is a pass."""
    for place in range(HEAD_WORDS):
        words[at + place] = 0
    for category in range(SOLO, NUM_CATEGORIES):
        mark_category(hand, category, starts_in(hand, category), words, at)


@kernel
def mark_legal(hand, to_beat, held, at, legal):
    """Fill ``legal[5]`` with the heads that may be played; ``held`` has, from ``at``, the heads that the hand has."""
    if to_beat == LEAD:
        for place in range(HEAD_WORDS):
            legal[place] = held[at + place]
        return
    for place in range(HEAD_WORDS):
        legal[place] = 0
    set_bit(legal, 0, PASS)
    if to_beat == ROCKET_HEAD:
        return
    category = category_of(to_beat)
    mark_category(hand, category, starts_above(hand, to_beat), legal, 0)
    if category != BOMB:
        mark_category(hand, BOMB, having_4(hand), legal, 0)
    if held[at + HEAD_WORDS - 1] & np.int64(_1 << np.uint64(ROCKET_HEAD & 63)) != 0:
        set_bit(legal, 0, ROCKET_HEAD)


@kernel
def can_answer(hand, to_beat):
    """Whether a hand has a move besides a pass: ``mark_legal`` at a tenth of the time of ``look``."""
    if to_beat == LEAD:
        return True
    if to_beat == ROCKET_HEAD:
        return False
    category = category_of(to_beat)
    if has_rocket(hand) or (category != BOMB and having_4(hand) != 0):
        return True
    starts = starts_above(hand, to_beat)
    while starts != 0:
        if KICKERS[np.uint64(category)] == NO_KICKERS or count_kickers(hand, category, first_rank(starts)) > 0:
            return True
        starts &= starts - _1
    return False


@kernel
def look(words, facts, seat, seen, legal):
    """Fill ``seen[32]`` with what a seat sees of a lane and ``legal[5]`` with its legal heads, both int64."""
    after, before = (seat + 1) % 3, (seat + 2) % 3
    hand = words[HANDS + seat]
    unseen = words[HANDS + after] + words[HANDS + before]
    seen[0] = np.int64(thermometer(hand))
    seen[1] = np.int64(thermometer(unseen))
    seen[2] = np.int64(thermometer(without(words[SHOWN], words[PLAYED])))
    seen[3] = np.int64(thermometer(words[PLAYED + seat]))
    seen[4] = np.int64(thermometer(words[PLAYED + after]))
    seen[5] = np.int64(thermometer(words[PLAYED + before]))
    for place in range(LAST_MOVES):
        seen[6 + place] = np.int64(thermometer(words[LAST + place]))
    left = lowest(num_cards(hand))
    left |= lowest(num_cards(words[HANDS + after])) << np.uint64(20)
    left |= lowest(num_cards(words[HANDS + before])) << np.uint64(40)
    seen[SEEN_LEFT] = np.int64(left)
    to_beat = facts[TO_BEAT]
    about = _1 << np.uint64(seat)
    if to_beat == LEAD:
        about |= np.uint64(8)
    else:
        about |= np.uint64(16 if facts[PASSES] == 0 else 32)  # whether the seat before made the move, or the next one
    about |= lowest(min(facts[BOMBS], 4)) << np.uint64(6)
    about |= lowest(min(facts[MOVES], LAST_MOVES)) << np.uint64(10)
    seen[SEEN_FACTS] = np.int64(about)
    for place in range(HEAD_WORDS):
        seen[SEEN_TO_BEAT + place] = 0
    if to_beat != LEAD:
        set_bit(seen, SEEN_TO_BEAT, to_beat)
    mark_heads(hand, seen, SEEN_OWN)
    mark_heads(unseen, seen, SEEN_UNSEEN)
    mark_legal(hand, to_beat, seen, SEEN_OWN, legal)


@kernel
def look_open(words, seat, seen):
    """Fill ``seen[32:44]`` with the hands of the two others and the heads that they have."""
    for place in range(2):
        hand = words[HANDS + (seat + 1 + place) % 3]
        seen[SEEN + place] = np.int64(thermometer(hand))
        mark_heads(hand, seen, SEEN + 2 + HEAD_WORDS * place)
