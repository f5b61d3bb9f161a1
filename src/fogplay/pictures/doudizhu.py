"""The picture of Doudizhu: the own hand, the last play of every seat, and how many cards each has left."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from fogplay.games.doudizhu import BID_NAMES, HIGHEST_BID, NOBODY, PASS_MOVE, PLAYERS, SHOWN, move_name
from fogplay.games.doudizhu_cards import RANKS
from fogplay.games.doudizhu_worlds import HAND
from fogplay.games.game import CHANCE
from fogplay.pictures.cards import Card
from fogplay.pictures.picture import won
from fogplay.pictures.scene import Place, Scene
from fogplay.pictures.sight import Sight

JOKERS = {"B": "black", "R": "red"}
SUITS = "shcd"  # in the order in which cards of a rank get them


class Held(NamedTuple):
    """A card of somebody's, as far as it is known."""

    rank: int | None
    suit: str = ""  # for its picture only: suits mean nothing, and rules know none


def scene_of(sight: Sight) -> Scene:
    """All cards that this seat may know, in the order of their ranks."""
    told = _Told(sight)
    places = []
    for seat, name in enumerate(sight.names):
        role = "" if told.landlord == NOBODY else " (landlord)" if seat == told.landlord else " (peasant)"
        known = told.hands[seat]
        shown = known if seat == sight.seat or sight.over else ()
        note = f"{len(known)} card{'s' * (len(known) != 1)}" + (", passed" if told.last[seat] == "pass" else "")
        bid = f", bid {BID_NAMES[told.bids[seat]]}" if seat in told.bids and told.landlord == NOBODY else ""
        ended = won(sight, seat)
        places.append(
            Place(
                f"{name}{role}",
                tuple(_face(card) for card in sorted(map(told.suited, shown), key=_order) if card.rank is not None),
                f"{note}{bid}{', ' if ended else ''}{ended}",
                seat in sight.to_act,
                played=tuple(map(_face, told.front[seat])),
            )
        )
    extra = " ".join(RANKS[rank] for rank in sorted(card.rank for card in told.extra if card.rank is not None))
    return Scene(tuple(places), sight.seat, caption=f"The landlord took {extra}" if extra else "")


def _order(card: Held) -> tuple[int, int]:
    """The highest first; cards of a rank by suit."""
    return -1 if card.rank is None else -card.rank, SUITS.find(card.suit)


def _face(card: Held) -> Card:
    assert card.rank is not None
    letter = RANKS[card.rank]
    if letter in JOKERS:
        return Card("Jo", "", JOKERS[letter], picture=f"joker-{JOKERS[letter]}")
    return Card(letter, picture=letter + card.suit)


class _Told:
    """What was dealt, bid and played, as far as it was seen.

    Cards get suits as soon as this seat sees them: the own ones when they are dealt, those of others when they are
    played or turned over. So no card changes its suit, and none is there twice.
    """

    def __init__(self, sight: Sight) -> None:
        self.seat = sight.seat
        self.hands: list[list[Held]] = [[] for _ in range(PLAYERS)]
        self.extra: list[Held] = []
        self.bids: dict[int, int] = {}
        self.last = [""] * PLAYERS  # the last play of each seat, as long as it is of this trick
        self.front: list[list[Held]] = [[] for _ in range(PLAYERS)]  # its cards
        self.copies: Counter[int] = Counter()  # of each rank: how many have got a suit
        self.landlord = NOBODY if sight.game.bidding else 0
        self.passes = 0
        dealt = 0
        for event in sight.seen:
            if event.seat == CHANCE:
                self._deal(dealt, event.action)
                dealt += 1
            elif self.landlord == NOBODY:
                self._bid(event)
            else:
                self._play(event.seat, event.action)

    def suited(self, card: Held) -> Held:
        """The card with a suit that no other card of its rank has."""
        if card.rank is None or card.suit or RANKS[card.rank] in JOKERS:
            return card
        self.copies[card.rank] += 1
        return Held(card.rank, SUITS[self.copies[card.rank] - 1])

    def _deal(self, dealt: int, rank: int | None) -> None:
        if dealt < PLAYERS * HAND:
            owner, card = dealt // HAND, Held(rank)
            self.hands[owner].append(self.suited(card) if owner == self.seat else card)
            return
        self.extra.append(self.suited(Held(rank)))
        if len(self.extra) == SHOWN:
            self.hands[self.landlord] += self.extra

    def _bid(self, event: Any) -> None:
        self.bids[event.seat] = event.action
        if (event.action == HIGHEST_BID or len(self.bids) == PLAYERS) and max(self.bids.values()):
            self.landlord = max(self.bids, key=lambda seat: self.bids[seat])

    def _play(self, seat: int, move: int) -> None:
        if move == PASS_MOVE:
            self.passes, self.last[seat], self.front[seat] = self.passes + 1, "pass", []
            return
        if self.passes == PLAYERS - 1:
            self.last, self.front = [""] * PLAYERS, [[] for _ in range(PLAYERS)]
        self.passes, self.last[seat] = 0, move_name(move)
        self.front[seat] = [self._taken(self.hands[seat], RANKS.index(letter)) for letter in self.last[seat]]

    def _taken(self, hand: list[Held], rank: int) -> Held:
        """A card of a rank, which leaves the hand: one with a suit if there is one, and if need be an unknown one."""
        fitting = [card for card in hand if card.rank == rank] or [card for card in hand if card.rank is None]
        found = max(fitting, key=lambda card: card.suit != "")
        hand.remove(found)
        return self.suited(Held(rank, found.suit))
