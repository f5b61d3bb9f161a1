"""Doudizhu as people write it: cards as 3456789TJQKA2 with B and R for the jokers, and what a terminal says.

``parse_cards`` also reads 10 for T, BJ and RJ (or X and D) for the jokers, small letters, any order, and spaces or
commas between cards; ``show`` of ``games/doudizhu_cards.py`` prints what it reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.doudizhu import (
    BID_NAMES,
    HIGHEST_BID,
    NOBODY,
    PASS_MOVE,
    PLAYERS,
    SHOWN,
    Doudizhu,
    move_name,
    move_number,
    why_illegal,
)
from fogplay.games.doudizhu_cards import RANKS, deck_copies, pack, show
from fogplay.games.doudizhu_heads import LEAD, describe
from fogplay.games.doudizhu_worlds import HAND
from fogplay.games.game import CHANCE
from fogplay.notation.talk import Question, Talk, begin

OTHER_NAMES = {"10": "T", "BJ": "B", "RJ": "R", "X": "B", "D": "R"}
PASSES = ("pass", "p", "-")
OFFERED = 12  # moves listed in a hint
_CARD = re.compile(r"10|[BR]J|[2-9TJQKABRXD]", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,+|/-]*")


def parse_cards(text: str) -> int:
    """The word of the cards in ``text``; the inverse of ``show``."""
    ranks, place = [], 0
    while True:
        gap = _BETWEEN.match(text, place)
        place = gap.end() if gap else place
        if place == len(text):
            break
        found = _CARD.match(text, place)
        if found is None:
            raise FogplayError(
                f"{text[place]!r} in {text!r} is not a card; write cards as {RANKS} (B and R: the jokers)"
            )
        name = found[0].upper()
        ranks.append(RANKS.index(OTHER_NAMES.get(name, name)))
        place = found.end()
    for rank in set(ranks):
        if ranks.count(rank) > deck_copies(rank):
            raise FogplayError(f"{text!r} has {ranks.count(rank)} cards {RANKS[rank]}; there are {deck_copies(rank)}")
    return pack(ranks)


def parse_move(text: str) -> int:
    """The number of the move in ``text``: its cards in any order, or pass."""
    if text.strip().lower() in PASSES:
        return PASS_MOVE
    cards = parse_cards(text)
    number = move_number(cards) if cards else None
    if number is None:
        raise FogplayError(f"{text!r} is not a move of Doudizhu; write its cards, such as 334455, or pass")
    return number


def read_move(text: str, hand: int, to_beat: int) -> int | str:
    """The number of a move that a hand may make, or in words why it may not."""
    if text.strip().lower() in PASSES:
        return PASS_MOVE if to_beat != LEAD else "you lead, and must play"
    try:
        cards = parse_cards(text)
    except FogplayError as error:
        return str(error)
    why = why_illegal(hand, to_beat, cards)
    number = move_number(cards)
    return number if why is None and number is not None else why or "it is not a move"


def spaced(cards: int) -> str:
    """Cards in groups of one rank: ``33 4 5 TTT 2 B R``."""
    letters = show(cards)
    return " ".join(letter * letters.count(letter) for letter in RANKS if letter in letters)


def talk_of(game: Doudizhu) -> type[DoudizhuTalk]:
    """The wording for this game."""
    return DoudizhuTalk


def decks_of(game: Doudizhu) -> ModuleType:
    """How decks are read from files and written to them."""
    from fogplay.notation import doudizhu_decks

    return doudizhu_decks


def wire_of(game: Doudizhu) -> Any:
    """How other programs read and write the game."""
    from fogplay.notation.doudizhu_wire import DoudizhuWire

    return DoudizhuWire(game)


def situation_of(game: Doudizhu, hand: str, shown: str | None, history: str, seed: int) -> list[tuple[int, int]]:
    """The events of a hand that agrees with a situation typed in."""
    from fogplay.notation import doudizhu_situation

    return doudizhu_situation.situation_of(game, hand, shown, history, seed)


class DoudizhuTalk(Talk):
    """Own cards and the shown ones, every move with the number of cards left, and what is to beat."""

    game: Doudizhu

    def __init__(self, game: Doudizhu, names: Sequence[str], seat: int) -> None:
        super().__init__(game, names, seat)
        self.common: list[int] = []  # the ranks of the shown cards
        self.dealt, self.turn, self.landlord = 0, 0, NOBODY if game.bidding else 0
        self.bids: list[int] = []
        self.left = [HAND] * PLAYERS

    @staticmethod
    def opening(game: Doudizhu, spec: str) -> str:
        said = "Type the cards that you play, such as 334455 or Q for a queen, or pass."
        return f"Doudizhu: the landlord against two peasants. {said}"

    def places(self) -> str:
        if self.landlord == NOBODY:
            return f"{', '.join(self.names)}; {self.names[0]} bid first."
        roles = ("landlord", "peasant after the landlord", "peasant before the landlord")
        return ", ".join(f"{name}: {role}" for name, role in zip(self.names, roles, strict=True))

    def news(self, seen: Sequence[Any]) -> list[str]:
        lines = []
        for event in seen[self.printed :]:
            self.shown.append(event.name is not None)
            if event.seat == CHANCE:
                lines += self._dealt(event.action)
            elif self.landlord == NOBODY:
                lines += self._bid(event.seat, event.action)
            else:
                lines.append(self._played(event.seat, event.action))
        self.printed = len(seen)
        return lines

    def _dealt(self, rank: int | None) -> list[str]:
        self.dealt += 1
        if self.dealt <= PLAYERS * HAND or rank is None:
            return []
        self.common.append(rank)
        if len(self.common) < SHOWN:
            return []
        self.left[self.landlord] += SHOWN
        mine, name = self.landlord == self.seat, begin(self.names[self.landlord])
        return [
            f"{name} {'are' if mine else 'is'} the landlord and take{'' if mine else 's'} {spaced(pack(self.common))}."
        ]

    def _bid(self, seat: int, bid: int) -> list[str]:
        self.bids.append(bid)
        if (bid == HIGHEST_BID or len(self.bids) == PLAYERS) and max(self.bids):
            self.landlord = self.bids.index(max(self.bids))
        void = len(self.bids) == PLAYERS and not max(self.bids)
        said = [] if seat == self.seat else [f"{begin(self.names[seat])}: {BID_NAMES[bid]}"]
        return [*said, *(["Nobody bids: there is no play."] if void else [])]

    def _played(self, seat: int, move: int) -> str:
        cards = move_name(move)
        s, name = "" if seat == self.seat else "s", begin(self.names[seat])
        if move == PASS_MOVE:
            return f"{name} pass{'es' if s else ''}."
        self.left[seat] -= len(cards)
        return f"{name} play{s} {cards} ({self.left[seat]} left)."

    def situation(self, view: Any) -> str:
        seen = view.observation
        held = f"You hold {spaced(seen.hand)}"
        if seen.landlord == NOBODY:
            return f"{held} and bid"
        return f"{held} and lead" if seen.to_beat == LEAD else f"{held}; to beat: {describe(seen.to_beat)}"

    def question(self, view: Any) -> Question:
        seen = view.observation
        if seen.landlord == NOBODY:
            allowed = {BID_NAMES[bid]: bid for bid in view.legal} | {str(bid): bid for bid in view.legal if bid}
            offered = ", ".join(BID_NAMES[bid] for bid in view.legal)
            return Question(f"Your cards: {spaced(seen.hand)}. Bid: {offered}? ", allowed, f"type one of {offered}")
        task = "You lead" if seen.to_beat == LEAD else f"To beat: {describe(seen.to_beat)}"
        names = [name for name in view.names if name != "pass"]
        more = f" and {len(names) - OFFERED} more" if len(names) > OFFERED else ""
        passing = "" if seen.to_beat == LEAD else ", or pass"
        hint = f"you can play {', '.join(names[:OFFERED])}{more}{passing}"
        if not names:
            hint = "nothing that you hold beats it: pass"
        allowed = {} if seen.to_beat == LEAD else dict.fromkeys(PASSES, PASS_MOVE)
        prompt = f"Your cards: {spaced(seen.hand)}. {task}. Cards to play{passing}? "
        return Question(prompt, allowed, hint, lambda text: read_move(text, seen.hand, seen.to_beat))
