"""The picture of Doudizhu: the own hand, the last play of every seat, and how many cards each has left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fogplay.games.doudizhu import BID_NAMES, HIGHEST_BID, NOBODY, PASS_MOVE, PLAYERS, SHOWN, move_name
from fogplay.games.doudizhu_cards import RANKS
from fogplay.games.doudizhu_worlds import HAND
from fogplay.games.game import CHANCE
from fogplay.pictures.cards import Card
from fogplay.pictures.picture import won
from fogplay.pictures.scene import Place, Scene
from fogplay.pictures.sight import Sight

JOKERS = {"B": "black", "R": "red"}


def scene_of(sight: Sight) -> Scene:
    """All cards that this seat may know, in the order of their ranks."""
    told = _Told(sight)
    places = []
    for seat, name in enumerate(sight.names):
        role = "" if told.landlord == NOBODY else " (landlord)" if seat == told.landlord else " (peasant)"
        known = told.hands[seat]
        shown = known if seat == sight.seat or sight.over else ()
        note = f"{len(known)} card{'s' * (len(known) != 1)}" + (", passes" if told.last[seat] == "pass" else "")
        bid = f", bids {BID_NAMES[told.bids[seat]]}" if seat in told.bids and told.landlord == NOBODY else ""
        ended = won(sight, seat)
        played = told.last[seat] if told.last[seat] not in ("", "pass") else ""
        places.append(
            Place(
                f"{name}{role}",
                tuple(_face(rank) for rank in sorted(shown, key=_order, reverse=True) if rank is not None),
                f"{note}{bid}{', ' if ended else ''}{ended}",
                seat in sight.to_act,
                played=tuple(_face(RANKS.index(letter)) for letter in played),
            )
        )
    extra = " ".join(RANKS[rank] for rank in told.extra if rank is not None)
    return Scene(tuple(places), sight.seat, caption=f"The landlord took {extra}" if extra else "")


def _order(rank: int | None) -> int:
    return -1 if rank is None else rank


def _face(rank: int) -> Card:
    letter = RANKS[rank]
    return Card("Jo", "", JOKERS[letter]) if letter in JOKERS else Card(letter)


class _Told:
    """What was dealt, bid and played, as far as it was seen; a hidden card is None."""

    def __init__(self, sight: Sight) -> None:
        self.hands: list[list[int | None]] = [[] for _ in range(PLAYERS)]
        self.extra: list[int | None] = []
        self.bids: dict[int, int] = {}
        self.last = [""] * PLAYERS  # the last play of each seat, as long as it is of this trick
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

    def _deal(self, dealt: int, rank: int | None) -> None:
        if dealt < PLAYERS * HAND:
            self.hands[dealt // HAND].append(rank)
            return
        self.extra.append(rank)
        if len(self.extra) == SHOWN:
            self.hands[self.landlord] += self.extra

    def _bid(self, event: Any) -> None:
        self.bids[event.seat] = event.action
        if (event.action == HIGHEST_BID or len(self.bids) == PLAYERS) and max(self.bids.values()):
            self.landlord = max(self.bids, key=lambda seat: self.bids[seat])

    def _play(self, seat: int, move: int) -> None:
        if move == PASS_MOVE:
            self.passes, self.last[seat] = self.passes + 1, "pass"
            return
        if self.passes == PLAYERS - 1:
            self.last = [""] * PLAYERS
        self.passes, self.last[seat] = 0, move_name(move)
        _take(self.hands[seat], self.last[seat])


def _take(hand: list[int | None], cards: Sequence[str]) -> None:
    for letter in cards:
        rank = RANKS.index(letter)
        hand.remove(rank if rank in hand else None)
