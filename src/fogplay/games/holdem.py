"""Limit Texas hold'em for two or three players, as in the Annual Computer Poker Competition, and with smaller decks.

Seats are the competition's. With two players, seat 0 posts the big blind and seat 1, the button, the small blind
(reversed blinds); with three, seats 0 and 1 post blinds and seat 2 is the button. The last seat acts first before the
flop; afterwards the first seat still in the hand does. Payoffs are in chips.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fogplay.cards.buckets import Grid, Signals, bucket_for, signals
from fogplay.cards.deck import card_name
from fogplay.cards.evaluator import CATEGORIES, category, evaluate
from fogplay.errors import FogplayError
from fogplay.games import limit
from fogplay.games.game import CHANCE, TERMINAL, State, require_whole
from fogplay.games.limit import CALL, FOLD, LETTERS, RAISE, LimitGame, Observation

FULL_HAND = 5  # fewer cards make no straights, flushes or full houses
MOST_CARDS = 7
MOST_CHIPS = 60_000  # the most that one player can pay in a hand
BLINDS = {2: (10, 5), 3: (5, 10, 0)}
PAPER, EXACT = "paper", "exact"
SUITED_GRID = "ehs2-percentile:169/30/30/30"
PAPER_GRIDS = {2: "ehs2:169/1000/500/200", 3: "ehs2:169/1000/100/20"}  # table 1 of 2015
SHAPES = ((1, 1, 1, 1), (2, 1, 1), (2, 2), (3, 1), (4,))  # categories of four cards, the lowest first


@dataclass(frozen=True)
class Holdem(LimitGame):
    """Limit hold'em: two hole cards, four betting rounds, five cards on the board, four bets per round."""

    name = "holdem"
    players: int = 2
    rounds: int = 4
    ranks: int = 13  # the lowest of the 52-card deck: 3 are deuces, treys and fours
    suits: int = 4  # the first of clubs, diamonds, hearts, spades
    hole: int = 2  # cards that each player holds
    board: tuple[int, ...] = (0, 3, 1, 1)  # cards turned up before each round
    raises: tuple[int, ...] = (10, 10, 20, 20)  # what a bet or raise adds, in chips, by round
    max_raises: tuple[int, ...] = (3, 4, 4, 4)  # by round; before the flop the big blind is the first of four bets
    blinds: tuple[int, ...] = ()  # by seat; 10 and 5 with two players, 5, 10 and 0 with three
    grid: str = PAPER  # the card abstraction; exact: players see the cards themselves

    def __post_init__(self) -> None:
        require_whole(self.name, "players", self.players, 2, 3)
        require_whole(self.name, "rounds", self.rounds, 1, 4)
        require_whole(self.name, "ranks", self.ranks, 2, 13)
        require_whole(self.name, "suits", self.suits, 1, 4)
        require_whole(self.name, "hole", self.hole, 1, 2)
        self._settle("board", self.rounds, 0, MOST_CARDS - 1)
        self._settle("raises", self.rounds, 1, MOST_CHIPS)
        self._settle("max_raises", self.rounds, 0, 8)
        if self.blinds == ():
            object.__setattr__(self, "blinds", BLINDS[self.players])
        self._settle("blinds", self.players, 0, MOST_CHIPS)
        self._check_cards()
        if self.most_paid() > MOST_CHIPS:
            raise FogplayError(f"{self.name}: a player could pay {self.most_paid():,} chips, more than {MOST_CHIPS:,}")
        self._settle_grid()

    def _settle(self, parameter: str, length: int, low: int, high: int) -> None:
        """Check a list of whole numbers, and cut off the entries of rounds that are not played."""
        values = getattr(self, parameter)
        if not isinstance(values, tuple) or len(values) < length:
            raise FogplayError(
                f"{self.name}: {parameter} must be a list of {length} whole numbers, such as "
                f"[{','.join(map(str, (10, 5, 0, 0)[:length]))}], not {values!r}"
            )
        for value in values:
            require_whole(self.name, parameter, value, low, high)
        if parameter == "blinds" and len(values) > length:
            raise FogplayError(f"{self.name}: blinds must have {length} numbers, one per player, not {len(values)}")
        object.__setattr__(self, parameter, values[:length])

    def _check_cards(self) -> None:
        needed = self.players * self.hole + sum(self.board)
        if needed > self.num_cards():
            raise FogplayError(f"{self.name}: a hand needs {needed} cards, but the deck has {self.num_cards()}")
        if self.hole + sum(self.board) > MOST_CARDS:
            raise FogplayError(
                f"{self.name}: hole cards and board must be at most {MOST_CARDS} cards, "
                f"not {self.hole + sum(self.board)}"
            )

    def _settle_grid(self) -> None:
        if self.grid == PAPER:
            object.__setattr__(self, "grid", PAPER_GRIDS[self.players] if self.is_full() else EXACT)
        if self.grid == EXACT:
            return
        if not isinstance(self.grid, str):
            raise FogplayError(f"{self.name}: grid must be a grid such as {PAPER_GRIDS[2]}, or {EXACT}")
        object.__setattr__(self, "grid", Grid.parse(self.grid).spec)
        if not self.is_full():
            raise FogplayError(
                f"{self.name}: buckets need 52 cards, two hole cards and a board of 0, 3, 1 and 1; set grid={EXACT}"
            )

    @classmethod
    def suited(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Few buckets for two players: a minute visits each often enough to learn what to do there."""
        whole = not {"ranks", "suits", "hole", "board", "rounds"} & settings.keys()
        return {"grid": SUITED_GRID} if whole and settings.get("players", 2) == 2 else {}

    def is_full(self) -> bool:
        """Whether the cards are those of Texas hold'em, for which tables of hand strength exist."""
        return (self.num_cards(), self.hole, self.board) == (52, 2, (0, 3, 1, 1))

    def num_players(self) -> int:
        return self.players

    def num_cards(self) -> int:
        return self.ranks * self.suits

    def deck_card(self, card: int) -> int:
        """The number in the 52-card deck of a card of this game; the same number if there are four suits."""
        return 4 * (card // self.suits) + card % self.suits

    def card_to_string(self, card: int) -> str:
        return card_name(self.deck_card(card))

    def most_paid(self) -> int:
        """The most that a player can pay in a hand."""
        return max(self.blinds) + sum(size * count for size, count in zip(self.raises, self.max_raises, strict=True))

    def most_actions(self) -> int:
        """The most actions of any hand."""
        return limit.most_actions(self.players, self.max_raises)

    def first_to_act(self, round_: int) -> int:
        """The seat that acts first in a round; if it has folded, the next seat still in the hand does."""
        return self.players - 1 if round_ == 0 else 0

    def decisions(self) -> tuple[int, ...]:
        """[rounds] the decision nodes of the betting tree: 6,378 in total with two players."""
        return limit.decisions(self)

    def buckets(self) -> tuple[int, ...]:
        """[rounds] the number of buckets; without an abstraction, of sets of cards."""
        if self.grid == EXACT:
            return tuple(
                math.comb(self.num_cards(), self.hole)
                * math.prod(math.comb(self.num_cards(), count) for count in self.board[: round_ + 1])
                for round_ in range(self.rounds)
            )
        return Grid.parse(self.grid).counts

    def public_size(self) -> tuple[int, int] | None:
        """The numbers of decision nodes of the betting tree and of infosets; None without buckets."""
        if self.grid == EXACT:
            return None
        return sum(self.decisions()), sum(map(math.prod, zip(self.decisions(), self.buckets(), strict=True)))

    def instead_of_a_tree(self) -> str:
        """What to do if the game is too large to flatten."""
        return (
            "it is played and trained by sampling (uct, smooth-uct, os-mccfr, es-mccfr, cs-mccfr), without a tree; or "
            "choose a smaller deck, such as holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1])"
        )

    def new_initial_state(self) -> HoldemState:
        return HoldemState(self, (), ("",), self.blinds, (True,) * self.players, CHANCE, 0, (0, 0))


class HoldemState(State):
    """Cards (hole cards by seat, then the board), the betting of each round, what each has paid, who is in, who acts.

    A set of cards (one player's hole cards, a flop) is dealt card by card in ascending order, since the order has no
    meaning; every set is equally likely.
    """

    __slots__ = ("betting", "cards", "game", "in_hand", "outlook", "paid", "player", "to_settle")

    def __init__(
        self,
        game: Holdem,
        cards: tuple[int, ...],
        betting: tuple[str, ...],
        paid: tuple[int, ...],
        in_hand: tuple[bool, ...],
        player: int,
        to_settle: int,
        outlook: tuple[int, int],
    ) -> None:
        self.game = game
        self.cards = cards
        self.betting = betting
        self.paid = paid
        self.in_hand = in_hand
        self.player = player
        self.to_settle = to_settle  # how many must still act before the round is over
        self.outlook = outlook  # the pot at the start of the round, and what could still be added to it

    def current_player(self) -> int:
        return self.player

    def legal_actions(self) -> tuple[int, ...]:
        may_raise = self.betting[-1].count("r") < self.game.max_raises[len(self.betting) - 1]
        return limit.LEGAL[self.paid[self.player] < max(self.paid)][may_raise]

    def limit_actions(self) -> dict[str, int]:
        """The actions by the letters of the competition's notation."""
        return {LETTERS[action]: action for action in self.legal_actions()}

    def with_cards(self, cards: tuple[int, ...]) -> HoldemState:
        """The same point of the betting with other cards."""
        return HoldemState(
            self.game, cards, self.betting, self.paid, self.in_hand, self.player, self.to_settle, self.outlook
        )

    def observation(self, player: int) -> Observation:
        """What a player sees: its own cards and everything public."""
        return Observation(player, self.hole_cards(player), self.board_cards(), self.betting, self.paid, self.in_hand)

    def seen_by(self, action: int) -> Sequence[int]:
        """A hole card is seen by its owner, everything else by all."""
        if self.player == CHANCE and len(self.cards) < self.game.players * self.game.hole:
            return (len(self.cards) // self.game.hole,)
        return range(self.game.players)

    def determinise(self, player: int, rng: np.random.Generator) -> HoldemState:
        """Other hole cards for the others, drawn from all that this player does not see."""
        game = self.game
        mine, board = self.hole_cards(player), self.board_cards()
        left = [card for card in range(game.num_cards()) if card not in mine and card not in board]
        drawn = rng.permutation(left)[: (game.players - 1) * game.hole].tolist()
        cards: list[int] = []
        for seat in range(game.players):
            cards += mine if seat == player else sorted(drawn.pop() for _ in range(game.hole))
        return self.with_cards((*cards, *board))

    def hole_cards(self, player: int) -> tuple[int, ...]:
        return self.cards[player * self.game.hole : (player + 1) * self.game.hole]

    def board_cards(self) -> tuple[int, ...]:
        return self.cards[self.game.players * self.game.hole :]

    def _set_being_dealt(self) -> tuple[int, int]:
        """The start and the size of the set of cards that is being dealt."""
        held = self.game.players * self.game.hole
        if len(self.cards) < held:
            return len(self.cards) // self.game.hole * self.game.hole, self.game.hole
        round_ = len(self.betting) - 1
        return held + sum(self.game.board[:round_]), self.game.board[round_]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        begin, size = self._set_being_dealt()
        begun = self.cards[begin:]
        lowest = begun[-1] + 1 if begun else 0
        left = [card for card in range(lowest, self.game.num_cards()) if card not in self.cards]
        more = size - len(begun) - 1  # cards of the set that must come after this one
        ways = [math.comb(len(left) - 1 - place, more) for place in range(len(left))]
        total = sum(ways)
        return [(card, count / total) for card, count in zip(left, ways, strict=True) if count]

    def child(self, action: int) -> HoldemState:
        if self.player == CHANCE:
            return self._after_card(action)
        return self._after_action(action)

    def _after_card(self, card: int) -> HoldemState:
        game, cards, round_ = self.game, (*self.cards, card), len(self.betting) - 1
        if len(cards) < game.players * game.hole + sum(game.board[: round_ + 1]):
            return HoldemState(game, cards, self.betting, self.paid, self.in_hand, CHANCE, 0, (0, 0))
        return self._begin_round(cards, self.betting, self.paid, self.in_hand)

    def _begin_round(
        self, cards: tuple[int, ...], betting: tuple[str, ...], paid: tuple[int, ...], in_hand: tuple[bool, ...]
    ) -> HoldemState:
        game, round_ = self.game, len(betting) - 1
        first = game.first_to_act(round_)
        while not in_hand[first]:
            first = (first + 1) % game.players
        coming = zip(game.raises[round_:], game.max_raises[round_:], strict=True)
        most = max(paid) + sum(size * count for size, count in coming)
        to_come = sum(most - each for each, still_in in zip(paid, in_hand, strict=True) if still_in)
        return HoldemState(game, cards, betting, paid, in_hand, first, sum(in_hand), (sum(paid), to_come))

    def _after_action(self, action: int) -> HoldemState:
        game, player, paid, in_hand = self.game, self.player, self.paid, self.in_hand
        round_ = len(self.betting) - 1
        to_settle = self.to_settle - 1
        if action == FOLD:
            in_hand = (*in_hand[:player], False, *in_hand[player + 1 :])
        else:
            stake = max(paid)
            if action == RAISE:
                stake += game.raises[round_]
                to_settle = sum(in_hand) - 1
            paid = (*paid[:player], stake, *paid[player + 1 :])
        betting = (*self.betting[:-1], self.betting[-1] + LETTERS[action])
        if sum(in_hand) == 1 or (to_settle == 0 and round_ == game.rounds - 1):
            return HoldemState(game, self.cards, betting, paid, in_hand, TERMINAL, 0, self.outlook)
        if to_settle == 0:
            betting = (*betting, "")
            if game.board[round_ + 1] > 0:
                return HoldemState(game, self.cards, betting, paid, in_hand, CHANCE, 0, (0, 0))
            return self._begin_round(self.cards, betting, paid, in_hand)
        next_player = (player + 1) % game.players
        while not in_hand[next_player]:
            next_player = (next_player + 1) % game.players
        return HoldemState(game, self.cards, betting, paid, in_hand, next_player, to_settle, self.outlook)

    def information_state_string(self, player: int) -> str:
        """Own cards, then each round's cards and betting; with buckets, this round's bucket, then all the betting."""
        if self.game.grid != EXACT:
            return f"{self.bucket(player)}:{'/'.join(self.betting)}"
        rounds, seen = [], self.game.players * self.game.hole
        for count, letters in zip(self.game.board, self.betting, strict=False):
            rounds.append(f"{self._show(self.cards[seen : seen + count])}:{letters}")
            seen += count
        return f"{self._show(self.hole_cards(player))}{'|' if self.game.board[0] else ''}{'/'.join(rounds)}"

    def _show(self, cards: Sequence[int]) -> str:
        return "".join(map(self.game.card_to_string, cards))

    def bucket(self, player: int) -> int:
        """The bucket of a player's hand on this round."""
        return bucket_for(_signals(self.game.grid), self.hole_cards(player), self.board_cards())

    def calling_action(self) -> int:
        return CALL

    def betting_outlook(self) -> tuple[float, float]:
        return self.outlook

    def features(self) -> dict[str, float]:
        """The five of the 2011 paper (section 4.3): the seat counted from the button, raises, and the hand's bucket.

        With exact cards, the highest own card and the hand's category on the board replace the bucket.
        """
        features: dict[str, float] = {
            "phase": len(self.betting) - 1,
            "seat": (self.player + 1) % self.game.players,
            "raises": sum(round_.count("r") for round_ in self.betting),
            "raises this round": self.betting[-1].count("r"),
            "own raises": limit.raises_by(self.player, self.betting, self.game.players, self.game.first_to_act),
        }
        if self.game.grid != EXACT:
            return features | {"bucket": self.bucket(self.player)}
        mine = self.hole_cards(self.player)
        return features | {"rank": max(mine) // self.game.suits, "hand": self._category(mine + self.board_cards())}

    def _category(self, cards: Sequence[int]) -> int:
        if len(cards) >= FULL_HAND:
            return CATEGORIES.index(category(_strength(tuple(sorted(map(self.game.deck_card, cards))))))
        counts = sorted(Counter(card // self.game.suits for card in cards).values(), reverse=True)
        return SHAPES.index((*counts, *(1,) * (4 - len(cards))))

    def unseen(self, player: int) -> list[int]:
        """The other players' hole cards, except those shown down."""
        showdown, hole = sum(self.in_hand) > 1, self.game.hole
        hidden = [seat for seat in range(self.game.players) if seat != player and not (self.in_hand[seat] and showdown)]
        return [seat * hole + card for seat in hidden for card in range(hole)]

    def action_to_string(self, player: int, action: int) -> str:
        if player == CHANCE:
            return f"deal {self.game.card_to_string(action)}"
        return limit.WORDS[action]

    def returns(self) -> list[float]:
        board = self.board_cards()
        return limit.winnings(
            self.paid, self.in_hand, lambda seat: hand_strength(self.game, self.hole_cards(seat) + board)
        )

    def __str__(self) -> str:
        held = self.game.players * self.game.hole
        hands = [self.cards[at : at + self.game.hole] for at in range(0, min(held, len(self.cards)), self.game.hole)]
        text = " ".join(map(self._show, hands))
        return f"{text}|{self._show(self.board_cards())}|{'/'.join(self.betting)}"


def hand_strength(game: Holdem, cards: Sequence[int]) -> tuple[int, ...]:
    """A value that orders hands of equally many cards: by the best five cards, or by all if there are fewer."""
    if len(cards) >= FULL_HAND:
        return (_strength(tuple(sorted(map(game.deck_card, cards)))),)
    counts = Counter(card // game.suits for card in cards)
    ranks = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    shape = tuple(counts[rank] for rank in ranks)
    return (*shape, *(0,) * (len(cards) - len(shape)), *ranks)


@functools.lru_cache(maxsize=1 << 16)
def _strength(cards: tuple[int, ...]) -> int:
    return evaluate(cards)


@functools.lru_cache(maxsize=2)
def _signals(grid: str) -> Signals:
    return signals(Grid.parse(grid))
