"""Goofspiel (Ross 1971): both players bid cards simultaneously for prizes that come in a known order."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.games.game import TERMINAL, Game, State, require_choice, require_whole
from fogplay.jit import kernel

NO_BID = -1


@dataclass(frozen=True)
class Goofspiel(Game):
    """Goofspiel for two: cards 1 to N each, prizes 1 to N; the higher bid takes the prize, a tie discards it.

    The defaults are the variant of the 2011 paper (section 2.2): descending prizes, hidden bids, payoff by the sign of
    the result. ``goofspiel(5,ascending,revealed,percent)`` is the variant of the 2009 paper (section 6).
    """

    name = "goofspiel"
    cards: int = 4
    order: str = "descending"  # of the prizes: descending or ascending
    bids: str = "hidden"  # hidden: players see only who won a prize; revealed: also both bids, after the round
    payoff: str = "win"  # win: 1, 0, -1; points: the difference in points; percent: 100, 50, 0

    def __post_init__(self) -> None:
        require_whole(self.name, "cards", self.cards, 2, 13)
        require_choice(self.name, "order", self.order, ("descending", "ascending"))
        require_choice(self.name, "bids", self.bids, ("hidden", "revealed"))
        require_choice(self.name, "payoff", self.payoff, ("win", "points", "percent"))

    @functools.cached_property
    def prizes(self) -> tuple[int, ...]:
        upwards = tuple(range(1, self.cards + 1))
        return upwards if self.order == "ascending" else upwards[::-1]

    @functools.cached_property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """The actions of every hand; a hand is a bit mask, action a bids the card a + 1."""
        return tuple(
            tuple(action for action in range(self.cards) if hand >> action & 1) for hand in range(1 << self.cards)
        )

    @functools.cached_property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """What a player who bids a against b sees of a round: a, then > or < or =, then b if bids are revealed."""
        cards = range(1, self.cards + 1)
        return tuple(
            tuple(f" {own}{_sign(own, other)}{other if self.bids == 'revealed' else ''}" for other in cards)
            for own in cards
        )

    @functools.cached_property
    def possible(self) -> dict[str, int]:
        """The other's bids, as a bit mask, that each word for a round allows."""
        allowed: dict[str, int] = {}
        for row in self.words:
            for other, word in enumerate(row):
                allowed[word[1:]] = allowed.get(word[1:], 0) | 1 << other
        return allowed

    def num_distinct_actions(self) -> int:
        return self.cards

    def new_initial_state(self) -> GoofspielState:
        full = (1 << self.cards) - 1
        return GoofspielState(self, 0, NO_BID, full, full, 0, "0:", "1:", 0)


def _sign(own: int, other: int) -> str:
    return ">" if own > other else "<" if own < other else "="


class GoofspielState(State):
    """The bid on the table, both hands, the lead of player 0 in points, and what each player has seen so far."""

    __slots__ = ("bid", "game", "hand0", "hand1", "lead", "played", "player", "seen0", "seen1")

    def __init__(
        self,
        game: Goofspiel,
        played: int,
        bid: int,
        hand0: int,
        hand1: int,
        lead: int,
        seen0: str,
        seen1: str,
        player: int,
    ) -> None:
        self.game = game
        self.played = played  # rounds
        self.bid = bid  # of player 0 in this round, unseen by player 1, or NO_BID
        self.hand0 = hand0
        self.hand1 = hand1
        self.lead = lead
        self.seen0 = seen0
        self.seen1 = seen1
        self.player = player

    def current_player(self) -> int:
        return self.player

    def legal_actions(self) -> tuple[int, ...]:
        return self.game.hands[self.hand1 if self.player else self.hand0]

    def child(self, action: int) -> GoofspielState:
        if self.player == 0:
            hand0 = self.hand0 ^ 1 << action
            return GoofspielState(
                self.game, self.played, action, hand0, self.hand1, self.lead, self.seen0, self.seen1, 1
            )
        return self._after_round(self.bid, action)

    def _after_round(self, bid0: int, bid1: int) -> GoofspielState:
        """Award the prize; with one card left the last round is played too, as nobody has a choice."""
        game = self.game
        hand0, hand1 = self.hand0, self.hand1 ^ 1 << bid1
        lead = self.lead + _gain(game.prizes[self.played], bid0, bid1)
        words = game.words
        seen0 = self.seen0 + words[bid0][bid1]
        seen1 = self.seen1 + words[bid1][bid0]
        player = 0
        if self.played == game.cards - 2:
            lead += _gain(game.prizes[-1], hand0, hand1)
            player = TERMINAL
        return GoofspielState(game, self.played + 1, NO_BID, hand0, hand1, lead, seen0, seen1, player)

    def information_state_string(self, player: int) -> str:
        return self.seen1 if player else self.seen0

    def determinise(self, player: int, rng: Any) -> GoofspielState:
        """The same results, with bids of the other player drawn evenly from all that agree with them."""
        game, full = self.game, (1 << self.game.cards) - 1
        seen = (self.seen1 if player else self.seen0)[2:].split()
        mine = [int(word.replace("<", ">").replace("=", ">").partition(">")[0]) - 1 for word in seen]
        theirs = draw_bids(tuple(game.possible[word] for word in seen), rng)
        hand = full & ~sum(1 << bid for bid in theirs)
        other = f"{1 - player}:" + "".join(game.words[bid][own] for own, bid in zip(mine, theirs, strict=True))
        if player == 0:
            return GoofspielState(
                game, self.played, self.bid, self.hand0, hand, self.lead, self.seen0, other, self.player
            )
        bid = int(rng.choice(game.hands[hand])) if self.bid != NO_BID else NO_BID
        if bid != NO_BID:
            hand ^= 1 << bid
        return GoofspielState(game, self.played, bid, hand, self.hand1, self.lead, other, self.seen1, self.player)

    def features(self) -> dict[str, float]:
        """A phase is a round; both players know the lead, and each knows its own cards."""
        hand, lead = (self.hand1, -self.lead) if self.player else (self.hand0, self.lead)
        left = {f"holds {card + 1}": float(hand >> card & 1) for card in range(self.game.cards)}
        return {"phase": self.played, "seat": self.player, "lead": lead, **left}

    def action_to_string(self, player: int, action: int) -> str:
        return f"bid {action + 1}"

    def returns(self) -> list[float]:
        lead = self.lead
        if self.game.payoff == "points":
            return [float(lead), float(-lead)]
        result = float((lead > 0) - (lead < 0))
        return [result, -result] if self.game.payoff == "win" else [50 + 50 * result, 50 - 50 * result]

    def __str__(self) -> str:
        hidden = "" if self.bid == NO_BID else f"|bid {self.bid + 1}"
        return f"{self.seen0}|{self.seen1}{hidden}"


def draw_bids(allowed: tuple[int, ...], rng: Any) -> list[int]:
    """One bid per round, no card twice, drawn evenly from all such lists; ``allowed`` has a bit mask per round."""
    ways = ways_to_bid(allowed)
    used, bids = 0, []
    for mask in allowed:
        left = int(rng.integers(ways[used]))
        free = mask & ~used
        while True:
            card = free & -free
            count = int(ways[used | card])
            if left < count:
                break
            left, free = left - count, free ^ card
        used |= card
        bids.append(card.bit_length() - 1)
    return bids


@functools.lru_cache(maxsize=64)
def ways_to_bid(allowed: tuple[int, ...]) -> NDArray[np.int64]:
    """[sets of cards] in how many ways bids can be made after those of a set, one bid per round so far."""
    ways = np.zeros(1 << max((mask.bit_length() for mask in allowed), default=0), np.int64)
    count_ways(np.array(allowed, np.int64), ways)
    return ways


@kernel
def count_ways(allowed: Any, ways: Any) -> None:
    """Fill ``ways``; adding a card makes a set's number larger, so later sets come first."""
    for used in range(len(ways) - 1, -1, -1):
        played, rest = 0, used
        while rest:
            rest &= rest - 1
            played += 1
        if played >= len(allowed):
            ways[used] = played == len(allowed)
            continue
        free = allowed[played] & ~used
        while free:
            card = free & -free
            ways[used] += ways[used | card]
            free ^= card


def _gain(prize: int, bid0: int, bid1: int) -> int:
    return prize if bid0 > bid1 else -prize if bid0 < bid1 else 0
