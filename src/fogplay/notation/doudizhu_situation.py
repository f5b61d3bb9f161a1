"""A situation of Doudizhu as a player types it: the cards in hand, the three shown ones, and all moves so far."""

from __future__ import annotations

import re

import numpy as np

from fogplay.errors import FogplayError
from fogplay.games.doudizhu import PLAYERS, SHOWN, Doudizhu, why_illegal
from fogplay.games.doudizhu_cards import FULL_DECK, NUM_RANKS, RANKS, deck_copies, show, unpack
from fogplay.games.doudizhu_heads import LEAD
from fogplay.games.doudizhu_moves import all_moves, follow
from fogplay.games.doudizhu_worlds import HAND, draw_hands, less
from fogplay.games.game import CHANCE
from fogplay.notation.doudizhu import parse_cards, parse_move

ROLES = ("the landlord", "the peasant after the landlord", "the peasant before the landlord")
SIZES = (HAND + SHOWN, HAND, HAND)
_BETWEEN = re.compile(r"[\s,;|]+")


def situation_of(game: Doudizhu, hand: str, shown: str | None, history: str, seed: int) -> list[tuple[int, int]]:
    """The events of a hand that agrees with what was typed; others' cards are drawn at random.

    The history begins with the landlord's first move, so its length says who is to move.
    """
    if game.bidding:
        raise FogplayError("advise is about play after the bidding: leave out bidding=True")
    moves, played = read_history(history)
    seat = len(moves) % PLAYERS
    held = parse_cards(hand)
    own = _dealt(held, played[seat], seat)
    common = _shown(shown, own, seat)
    others = [(seat + 1) % PLAYERS, (seat + 2) % PLAYERS]
    is_landlord = (others[0] == 0, others[1] == 0)
    _require_deck([held, *played, less(common, played[0]) if seat else 0])
    gone = (played[others[0]], played[others[1]])
    hands = [0] * PLAYERS
    hands[seat] = own
    drawn = draw_hands(own, common, gone, is_landlord, np.random.default_rng(seed))
    for other, holds in zip(others, drawn, strict=True):
        hands[other] = holds + played[other]
    dealt = [hands[0] - common, hands[1], hands[2], common]
    chance = [(CHANCE, rank) for word in dealt for rank in unpack(word)]
    return [*chance, *((place % PLAYERS, move) for place, move in enumerate(moves))]


def read_history(text: str) -> tuple[list[int], list[int]]:
    """The numbers of all moves, and what each seat has played; a move that cannot be is refused."""
    moves: list[int] = []
    played, to_beat, passes = [0] * PLAYERS, LEAD, 0
    for word in filter(None, _BETWEEN.split(text)):
        place, seat = len(moves) + 1, len(moves) % PLAYERS
        where = f"move {place} of the history, {word!r} by {ROLES[seat]}, cannot be"
        for other, cards in enumerate(played):
            if len(unpack(cards)) == SIZES[other]:
                raise FogplayError(f"{where}: {ROLES[other]} has no cards left, so the hand is over")
        try:
            move = parse_move(word)
        except FogplayError as error:
            raise FogplayError(f"{where}: {error}") from None
        cards = int(all_moves().cards[move])
        why = why_illegal(int(FULL_DECK), to_beat, cards)
        if why is not None:
            raise FogplayError(f"{where}: {why.replace('you lead, and must play', 'a player who leads must play')}")
        played[seat] += cards
        if len(unpack(played[seat])) > SIZES[seat]:
            raise FogplayError(f"{where}: that is more than {SIZES[seat]} cards from one player")
        _require_deck(played, where)
        head = int(all_moves().heads[move])
        to_beat, passes = (int(each) for each in follow(to_beat, passes, head))
        moves.append(move)
    for seat, cards in enumerate(played):
        if len(unpack(cards)) == SIZES[seat]:
            raise FogplayError(f"the hand is over: {ROLES[seat]} has no cards left after this history")
    return moves, played


def _dealt(hand: int, gone: int, seat: int) -> int:
    """All cards that the player to move was dealt."""
    count, before = len(unpack(hand)), len(unpack(gone))
    if count + before != SIZES[seat]:
        more = f"has played {before} of {SIZES[seat]} cards" if before else f"begins with {SIZES[seat]} cards"
        raise FogplayError(
            f"--hand has {count} cards: after this history {ROLES[seat]} is to move, who {more}; type the "
            f"{SIZES[seat] - before} cards held now"
        )
    _require_deck([hand, gone])
    return hand + gone


def _shown(text: str | None, own: int, seat: int) -> int:
    """The three shown cards; the landlord need not type them, since it holds them."""
    if text is None:
        if seat:
            raise FogplayError("--shown: type the three cards that the landlord took, such as --shown 37K")
        return sum(1 << 4 * rank for rank in unpack(own)[:SHOWN])
    cards = parse_cards(text)
    if len(unpack(cards)) != SHOWN:
        raise FogplayError(f"--shown has {len(unpack(cards))} cards; there are {SHOWN} shown cards")
    if seat == 0 and less(cards, own):
        raise FogplayError(f"--shown: the landlord took {show(cards)}, but never had {show(less(cards, own))}")
    return cards


def _require_deck(words: list[int], where: str = "this situation cannot be") -> None:
    """Refuse more cards of a rank than the deck has."""
    for rank in range(NUM_RANKS):
        count = sum(word >> 4 * rank & 15 for word in words)
        if count > deck_copies(rank):
            raise FogplayError(f"{where}: that makes {count} cards {RANKS[rank]}; the deck has {deck_copies(rank)}")
