"""Bluff, or Liar's Dice: bid on the dice of both players, or call the bluff; the highest face is wild."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np

from fogplay.games.game import CHANCE, TERMINAL, Game, State, require_whole

NO_BID = -1


@dataclass(frozen=True)
class Bluff(Game):
    """Bluff for two: ``bluff(1,1,6)`` is one six-sided die each (2011 paper, section 2.2).

    A player sees its dice sorted, so chance has one node per player, whose outcomes are the sorted rolls with their
    multinomial probabilities, instead of one node per die.
    """

    name = "bluff"
    dice1: int = 1  # of player 0, who bids first
    dice2: int = 1  # of player 1
    faces: int = 6

    def __post_init__(self) -> None:
        require_whole(self.name, "dice1", self.dice1, 1, 5)
        require_whole(self.name, "dice2", self.dice2, 1, 5)
        require_whole(self.name, "faces", self.faces, 2, 12)

    @functools.cached_property
    def rolls(self) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
        """For each player the sorted rolls; a roll's index is its number."""
        faces = range(1, self.faces + 1)
        first, second = (
            tuple(itertools.combinations_with_replacement(faces, dice)) for dice in (self.dice1, self.dice2)
        )
        return first, second

    @functools.cached_property
    def chances(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """For each player the number and the multinomial probability of each roll."""
        return tuple(
            tuple((number, _orderings(roll) / self.faces ** len(roll)) for number, roll in enumerate(rolls))
            for rolls in self.rolls
        )

    @functools.cached_property
    def holds(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """For each player, roll and face: how many dice count towards a bid on that face, wild ones included."""
        faces = range(1, self.faces + 1)
        return tuple(
            tuple(tuple(sum(die in (face, self.faces) for die in roll) for face in faces) for roll in rolls)
            for rolls in self.rolls
        )

    @functools.cached_property
    def prefixes(self) -> tuple[tuple[str, ...], ...]:
        """For each player and roll: the beginning of an infoset's string."""
        return tuple(tuple(",".join(map(str, roll)) + ":" for roll in rolls) for rolls in self.rolls)

    @functools.cached_property
    def call(self) -> int:
        """The action that calls the bluff; lower actions are the bids, ordered by quantity and then by face."""
        return (self.dice1 + self.dice2) * self.faces

    @functools.cached_property
    def actions(self) -> tuple[tuple[int, ...], ...]:
        """The legal actions after each bid: every higher bid and the call; after NO_BID (the last entry) every bid."""
        return (*(tuple(range(bid + 1, self.call + 1)) for bid in range(self.call)), tuple(range(self.call)))

    @functools.cached_property
    def words(self) -> tuple[str, ...]:
        """Each bid as quantity-face, and the call."""
        bids = (f" {bid // self.faces + 1}-{bid % self.faces + 1}" for bid in range(self.call))
        return (*bids, " call")

    def num_distinct_actions(self) -> int:
        return self.call + 1

    def new_initial_state(self) -> BluffState:
        return BluffState(self, NO_BID, NO_BID, "", NO_BID, CHANCE)


def _orderings(roll: tuple[int, ...]) -> int:
    """The number of orders in which the dice can show this sorted roll."""
    repeats = (math.factorial(roll.count(face)) for face in set(roll))
    return math.factorial(len(roll)) // math.prod(repeats)


class BluffState(State):
    """The numbers of both rolls, the bids (and the call) as text, the last bid, and who acts."""

    __slots__ = ("bid", "bids", "game", "player", "roll0", "roll1")

    def __init__(self, game: Bluff, roll0: int, roll1: int, bids: str, bid: int, player: int) -> None:
        self.game = game
        self.roll0 = roll0
        self.roll1 = roll1
        self.bids = bids
        self.bid = bid
        self.player = player

    def current_player(self) -> int:
        return self.player

    def legal_actions(self) -> tuple[int, ...]:
        return self.game.actions[self.bid]

    def chance_outcomes(self) -> tuple[tuple[int, float], ...]:
        return self.game.chances[0 if self.roll0 < 0 else 1]

    def seen_by(self, action: int) -> tuple[int, ...]:
        """A roll is seen by its player, bids and calls by both."""
        return (0 if self.roll0 < 0 else 1,) if self.player == CHANCE else (0, 1)

    def determinise(self, player: int, rng: np.random.Generator) -> BluffState:
        """Another roll for the other player."""
        chances = [probability for _, probability in self.game.chances[1 - player]]
        other = int(rng.choice(len(chances), p=chances))
        rolls = (self.roll0, other) if player == 0 else (other, self.roll1)
        return BluffState(self.game, *rolls, self.bids, self.bid, self.player)

    def child(self, action: int) -> BluffState:
        game, player = self.game, self.player
        if player == CHANCE:
            if self.roll0 < 0:
                return BluffState(game, action, NO_BID, "", NO_BID, CHANCE)
            return BluffState(game, self.roll0, action, "", NO_BID, 0)
        if action == game.call:
            return BluffState(game, self.roll0, self.roll1, self.bids + " call", self.bid, TERMINAL)
        return BluffState(game, self.roll0, self.roll1, self.bids + game.words[action], action, 1 - player)

    def information_state_string(self, player: int) -> str:
        return self.game.prefixes[player][self.roll1 if player else self.roll0] + self.bids

    def features(self) -> dict[str, float]:
        """The bid to beat, and how many own dice support it and the most frequent own face."""
        holds = self.game.holds[self.player][self.roll1 if self.player else self.roll0]
        quantity, face = divmod(self.bid, self.game.faces) if self.bid >= 0 else (-1, -1)
        return {
            "phase": 0,
            "seat": self.player,
            "bids": self.bids.count(" "),
            "quantity": quantity + 1,
            "face": face + 1,
            "held of that face": holds[face] if face >= 0 else 0,
            "most held": max(holds),
            "face most held": holds.index(max(holds)) + 1,
        }

    def action_to_string(self, player: int, action: int) -> str:
        if player == CHANCE:
            return f"roll {self.game.prefixes[0 if self.roll0 < 0 else 1][action][:-1]}"
        return self.game.words[action][1:]

    def returns(self) -> list[float]:
        """The caller loses if the bid is true of both players' dice, and wins otherwise."""
        quantity, face = divmod(self.bid, self.game.faces)
        mine, other = self.game.holds
        true = mine[self.roll0][face] + other[self.roll1][face] > quantity
        bidder = self.bids.count(" ") % 2  # the words end with the call, so an even count means that player 0 bid
        return [1.0, -1.0] if true == (bidder == 0) else [-1.0, 1.0]

    def __str__(self) -> str:
        rolls = (self.roll0, self.roll1)
        shown = [self.game.prefixes[seat][roll][:-1] for seat, roll in enumerate(rolls) if roll >= 0]
        return f"{' '.join(shown)}|{self.bids.strip()}"
