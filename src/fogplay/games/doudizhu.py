"""Doudizhu (Fight the Landlord): three players, 54 cards, the landlord against two peasants who win or lose together.

The cards are ranks, since suits have no meaning (``doudizhu_cards.py``). Actions are move numbers from 0 (pass) to
27,471 (``doudizhu_moves.py``), and bids from 0 (pass) to 3 where there is bidding. Seat 0 is the landlord unless there
is bidding. docs/games/doudizhu.md has the rules and how other programs read them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fogplay.errors import FogplayError
from fogplay.games.doudizhu_cards import FULL_DECK, RANKS, counts_of, num_cards, show
from fogplay.games.doudizhu_heads import LEAD, beats, describe, head_of, is_bomb
from fogplay.games.doudizhu_moves import all_moves, follow, legal_moves
from fogplay.games.doudizhu_worlds import HAND, draw_hands, draw_split, less, ways_buffer
from fogplay.games.game import CHANCE, TERMINAL, Game, State

PLAYERS, SHOWN = 3, 3
DEALT = PLAYERS * HAND  # cards dealt before the three that are shown
HIGHEST_BID = 3
NOBODY = -1
PASS_BID, PASS_MOVE = 0, 0
BID_NAMES = ("pass", "bid 1", "bid 2", "bid 3")


@dataclass(frozen=True)
class Doudizhu(Game):
    """Doudizhu: get rid of your cards first, as the landlord alone or as one of two peasants."""

    name = "doudizhu"
    bidding: bool = False  # players bid 1 to 3 in turn, once each, to become the landlord; else seat 0 is
    spring: bool = False  # the score doubles if the peasants play no card, or the landlord only once

    def __post_init__(self) -> None:
        for parameter in ("bidding", "spring"):
            value = getattr(self, parameter)
            if not isinstance(value, bool):
                raise FogplayError(f"{self.name}: {parameter} must be True or False, not {value!r}")

    def num_players(self) -> int:
        return PLAYERS

    def sides(self) -> tuple[int, ...] | None:
        """The landlord against the peasants; None with bidding, where the seats do not say who is the landlord."""
        return None if self.bidding else (0, 1, 1)

    def side_names(self) -> tuple[str, ...]:
        return ("landlord", "peasants")

    def side_unit(self) -> tuple[str, float]:
        """The paper's ADP, points per hand: 1 for the winning side, whose seats win 2 together, times the doublings."""
        return ("ADP", 2.0)

    def num_distinct_actions(self) -> int:
        return len(all_moves().cards)

    def max_game_length(self) -> int:
        """The most decisions of a game: 54 cards played one by one, two passes after each, and the bids."""
        return 54 * PLAYERS + PLAYERS * self.bidding

    def instead_of_a_tree(self) -> str:
        """What to do, since the game is too large to flatten."""
        return "it is played by sampling and search (uct, smooth-uct, os-mccfr, es-mccfr), without a tree"

    def new_initial_state(self) -> DoudizhuState:
        return DoudizhuState(self, Position())

    def after_deal(self, hands: Sequence[int], shown: int, landlord: int = 0) -> DoudizhuState:
        """The landlord's first decision, given the three hands of 17 cards and the three shown cards as words."""
        sizes = [int(num_cards(np.uint64(hand))) for hand in (*hands, shown)]
        if len(hands) != PLAYERS or sizes != [HAND] * PLAYERS + [SHOWN]:
            raise FogplayError(
                f"a deal has three hands of {HAND} cards and {SHOWN} shown cards, not {', '.join(map(str, sizes))}"
            )
        if sum(map(int, hands)) + int(shown) != int(FULL_DECK):
            raise FogplayError(f"a deal has every card once; these are {' '.join(map(show, (*hands, shown)))}")
        if landlord not in range(PLAYERS):
            raise FogplayError(f"the landlord must be seat 0, 1 or 2, not {landlord!r}")
        start = Position(tuple(map(int, hands)), DEALT + SHOWN, int(shown), landlord=landlord)
        return DoudizhuState(self, start.begun())


class Position(NamedTuple):
    """Everything about a hand at one moment."""

    hands: tuple[int, ...] = (0, 0, 0)  # what each seat holds now, as words
    dealt: int = 0  # how many cards have been dealt
    shown: int = 0  # the landlord's three extra cards
    bids: tuple[int, ...] = ()
    landlord: int = NOBODY
    player: int = CHANCE
    moves: tuple[int, ...] = ()  # the numbers of all moves, from the landlord's first
    played: tuple[int, ...] = (0, 0, 0)  # what each seat has played, as words
    to_beat: int = LEAD  # a head
    passes: int = 0  # in a row
    bombs: int = 0  # and rockets, played so far

    def begun(self) -> Position:
        """The start of play: the landlord takes the shown cards."""
        hands = tuple(hand + self.shown * (seat == self.landlord) for seat, hand in enumerate(self.hands))
        return self._replace(hands=hands, player=self.landlord)


class Observation(NamedTuple):
    """What a player sees: its own hand and everything public. Cards are words."""

    seat: int
    landlord: int  # NOBODY while there is bidding
    hand: int  # what this seat holds now
    shown: int  # the landlord's three extra cards; none while there is bidding
    cards_left: tuple[int, ...]  # [3] how many cards each seat holds
    played: tuple[int, ...]  # [3] what each seat has played
    moves: tuple[int, ...]  # the numbers of all moves; the landlord made the first, and seats follow in turn
    to_beat: int  # the head to beat, LEAD if there is none
    passes: int  # since the move to beat
    bombs: int  # and rockets, played so far
    bids: tuple[int, ...]

    @property
    def unseen(self) -> int:
        """The cards that the two others hold together (and, while there is bidding, the hidden three)."""
        return int(FULL_DECK) - self.hand - sum(self.played)

    @property
    def leader(self) -> int:
        """The seat whose move is to beat; this seat, if it leads."""
        return self.seat if self.to_beat == LEAD else (self.seat - 1 - self.passes) % PLAYERS


class DoudizhuState(State):
    """A state is the game and a ``Position``."""

    __slots__ = ("at", "game")

    def __init__(self, game: Doudizhu, at: Position) -> None:
        self.game, self.at = game, at

    def current_player(self) -> int:
        return self.at.player

    def is_bidding(self) -> bool:
        """Whether the player to act bids."""
        return self.at.player >= 0 and self.at.landlord == NOBODY

    def legal_actions(self) -> list[int]:
        """Move numbers in ascending order, or bids."""
        at = self.at
        if self.is_bidding():
            return [PASS_BID, *range(max(at.bids, default=0) + 1, HIGHEST_BID + 1)]
        number = all_moves().number
        return [number[cards] for cards in legal_moves(at.hands[at.player], at.to_beat)[1].tolist()]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The rank of the next card, 0 for a three to 14 for the red joker."""
        at = self.at
        left = counts_of(int(FULL_DECK) - sum(at.hands) - at.shown)
        total = sum(left)
        return [(rank, count / total) for rank, count in enumerate(left) if count]

    def child(self, action: int) -> DoudizhuState:
        if self.at.player == CHANCE:
            return DoudizhuState(self.game, self._after_card(action))
        if self.is_bidding():
            return DoudizhuState(self.game, self._after_bid(action))
        return DoudizhuState(self.game, self._after_move(action))

    def _after_card(self, rank: int) -> Position:
        at, card = self.at, 1 << 4 * rank
        if at.dealt >= DEALT:
            after = at._replace(shown=at.shown + card, dealt=at.dealt + 1)
            return after.begun() if after.dealt == DEALT + SHOWN else after
        owner = at.dealt // HAND
        hands = tuple(hand + card * (seat == owner) for seat, hand in enumerate(at.hands))
        after = at._replace(hands=hands, dealt=at.dealt + 1)
        if after.dealt < DEALT:
            return after
        return after._replace(player=0) if self.game.bidding else after._replace(landlord=0)

    def _after_bid(self, bid: int) -> Position:
        bids = (*self.at.bids, bid)
        if bid < HIGHEST_BID and len(bids) < PLAYERS:
            return self.at._replace(bids=bids, player=len(bids))
        if max(bids) == PASS_BID:
            return self.at._replace(bids=bids, player=TERMINAL)
        return self.at._replace(bids=bids, player=CHANCE, landlord=bids.index(max(bids)))

    def _after_move(self, action: int) -> Position:
        at, seat = self.at, self.at.player
        head, cards = int(all_moves().heads[action]), int(all_moves().cards[action])
        hands = tuple(hand - cards * (each == seat) for each, hand in enumerate(at.hands))
        played = tuple(gone + cards * (each == seat) for each, gone in enumerate(at.played))
        to_beat, passes = follow(at.to_beat, at.passes, head)
        return at._replace(
            hands=hands,
            played=played,
            moves=(*at.moves, action),
            to_beat=int(to_beat),
            passes=int(passes),
            bombs=at.bombs + bool(is_bomb(head)),
            player=(seat + 1) % PLAYERS if hands[seat] else TERMINAL,
        )

    def seen_by(self, action: int) -> Sequence[int]:
        """A card is seen by its owner, the three shown cards and everything that is played by all."""
        if self.at.player == CHANCE and self.at.dealt < DEALT:
            return (self.at.dealt // HAND,)
        return range(PLAYERS)

    def observation(self, player: int) -> Observation:
        """What a player sees."""
        at = self.at
        left = tuple(int(num_cards(np.uint64(hand))) for hand in at.hands)
        return Observation(
            player, at.landlord, at.hands[player], at.shown, left, at.played, at.moves, at.to_beat, at.passes, at.bombs,
            at.bids,
        )  # fmt: skip

    def determinise(self, player: int, rng: np.random.Generator) -> DoudizhuState:
        """Other cards for the others: every deal that agrees with what this player saw is equally likely."""
        at, others = self.at, [(player + 1) % PLAYERS, (player + 2) % PLAYERS]
        hands = list(at.hands)
        if at.shown == 0:
            hands[others[0]], hands[others[1]] = _hidden_hands(at.hands[player], rng)
        else:
            own = at.hands[player] + at.played[player]
            played = (at.played[others[0]], at.played[others[1]])
            landlord = (others[0] == at.landlord, others[1] == at.landlord)
            hands[others[0]], hands[others[1]] = draw_hands(own, at.shown, played, landlord, rng)
        return DoudizhuState(self.game, at._replace(hands=tuple(hands)))

    def score(self) -> int:
        """What each peasant wins or loses: 1, times the bid, doubled by every bomb and rocket and by a spring."""
        at = self.at
        doublings = at.bombs + (self.game.spring and self.is_spring())
        return (max(at.bids) if at.bids else 1) << doublings

    def is_spring(self) -> bool:
        """Whether the peasants have played no card, or the landlord only once."""
        at = self.at
        made = [[move for move in at.moves[first::PLAYERS] if move != PASS_MOVE] for first in range(PLAYERS)]
        return len(made[0]) == 1 if at.hands[at.landlord] else not made[1] and not made[2]

    def returns(self) -> list[float]:
        """The landlord wins or loses twice the score, each peasant once."""
        at = self.at
        if at.landlord == NOBODY:
            return [0.0] * PLAYERS
        score = float(self.score() if at.hands[at.landlord] == 0 else -self.score())
        return [2 * score if seat == at.landlord else -score for seat in range(PLAYERS)]

    def information_state_string(self, player: int) -> str:
        """The seat, its cards, the shown cards, the bids if there are any, and all moves."""
        at = self.at
        bids = f"|bids {' '.join(map(str, at.bids))}" if self.game.bidding else ""
        names = " ".join(map(move_name, at.moves))
        return f"{player}:{show(at.hands[player])}|{show(at.shown)}{bids}|{names}"

    def action_to_string(self, player: int, action: int) -> str:
        if player == CHANCE:
            return f"deal {RANKS[action]}"
        return BID_NAMES[action] if self.is_bidding() else move_name(action)

    def __str__(self) -> str:
        at = self.at
        moves = " ".join(map(move_name, at.moves))
        return (
            f"{' '.join(show(hand) or '-' for hand in at.hands)}|{show(at.shown)}|{' '.join(map(str, at.bids))}|{moves}"
        )


@functools.cache
def move_name(number: int) -> str:
    """A move by its number, as people write it: its cards in ascending order, or pass."""
    return show(all_moves().cards[number]) or "pass"


def move_number(cards: int) -> int | None:
    """The number of the move that these cards are, or None if they are not a move; no cards are a pass."""
    return all_moves().number.get(int(cards))


def why_illegal(hand: int, to_beat: int, cards: int) -> str | None:
    """Why a hand may not play ``cards`` after a move with head ``to_beat``, in words; None if it may."""
    lacking = less(int(cards), int(hand))
    if lacking:
        return f"you do not hold {show(lacking)}"
    head = int(head_of(np.uint64(cards)))
    if head < 0:
        return f"{show(cards)} is not a move"
    if head == LEAD:
        return "you lead, and must play" if to_beat == LEAD else None
    if not beats(head, to_beat):
        return f"{show(cards)} ({describe(head)}) does not beat a {describe(to_beat)}"
    return None


def _hidden_hands(own: int, rng: np.random.Generator) -> tuple[int, int]:
    """Two other hands while the three cards are still hidden."""
    hands: list[int] = []
    for _ in range(2):
        pool = int(FULL_DECK) - own - sum(hands)
        words: Any = (np.uint64(pool), np.uint64(0), np.uint64(pool))
        hands.append(int(draw_split(*words, HAND, rng.random(len(RANKS)), ways_buffer())[0]))
    return hands[0], hands[1]
