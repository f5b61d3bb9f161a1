"""Kuhn poker (Kuhn 1950): one card each, one bet, for two or more players and any initial pot."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL, Game, Measure, State, require_whole

if TYPE_CHECKING:
    from fogplay.games.ocp import OneCardPoker

PASS, BET = 0, 1
ACTIONS = (PASS, BET)
LETTERS = ("p", "b")
OPENING, FACING = {"c": PASS, "r": BET}, {"f": PASS, "c": BET}  # before and after a bet, in limit betting's letters


@dataclass(frozen=True)
class Kuhn(Game):
    """Kuhn poker: one card each from a deck of players + 1, a single bet of 1."""

    name = "kuhn"
    players: int = 2
    pot: float = 0  # the initial pot; 0: an ante of 1 per player

    def __post_init__(self) -> None:
        require_whole(self.name, "players", self.players, 2, 10)
        settle_pot(self)

    def num_players(self) -> int:
        return self.players

    def num_cards(self) -> int:
        return self.players + 1

    def card_to_string(self, card: int) -> str:
        """J, Q and K in a deck of three cards; the cards of larger decks are numbered from 1."""
        return "JQK"[card] if self.num_cards() == 3 else str(card + 1)

    def num_distinct_actions(self) -> int:
        return len(ACTIONS)

    def new_initial_state(self) -> KuhnState:
        return KuhnState(self, (), "")

    def calibration(self) -> dict[str, dict[str, float]]:
        if (self.players, self.pot) != (2, 2):
            return {}
        return {"uct": {"c": 2.0}, "smooth-uct": {"c": 1.75, "d": 0.001}}

    def measures(self) -> Mapping[str, Measure]:
        """The errors against the equilibria in closed form, which are known for two players and a pot from 1 on."""
        if self.players != 2 or self.pot < 1:
            return {}
        from fogplay.games import kuhn_equilibria  # late: only solvers need it

        return {
            "squared_error": functools.partial(kuhn_equilibria.squared_error, float(self.pot)),
            "dominated_error": kuhn_equilibria.dominated_error,
        }


def settle_pot(game: Kuhn | OneCardPoker) -> None:
    """Check the initial pot, and replace 0 by the default."""
    if not isinstance(game.pot, int | float) or isinstance(game.pot, bool) or not 0 <= game.pot <= 1e6:
        raise FogplayError(f"{game.name}: pot must be a number from 0 to 1000000, not {repr(game.pot)[:60]}")
    if game.pot == 0:
        object.__setattr__(game, "pot", game.players)


class KuhnState(State):
    """The cards dealt and the letters of the passes and bets so far."""

    __slots__ = ("bets", "cards", "game", "player")

    def __init__(self, game: Kuhn | OneCardPoker, cards: tuple[int, ...], bets: str) -> None:
        self.game = game
        self.cards = cards
        self.bets = bets
        self.player = self._to_act()

    def _to_act(self) -> int:
        players = self.game.players
        if len(self.cards) < players:
            return CHANCE
        acted = len(self.bets)
        opened = self.bets.find("b")
        over = acted == players if opened < 0 else acted == opened + players
        return TERMINAL if over else acted % players

    def current_player(self) -> int:
        return self.player

    def legal_actions(self) -> tuple[int, ...]:
        return ACTIONS

    def limit_actions(self) -> dict[str, int]:
        """The actions by the letters of the competition's notation: a pass may be a fold, a bet a call."""
        return FACING if "b" in self.bets else OPENING

    def with_cards(self, cards: tuple[int, ...]) -> KuhnState:
        """The same point of the betting with other cards."""
        return KuhnState(self.game, cards, self.bets)

    def seen_by(self, action: int) -> Sequence[int]:
        """A card is seen by its owner, a bet or pass by all."""
        return (len(self.cards),) if self.player == CHANCE else range(self.game.players)

    def determinise(self, player: int, rng: np.random.Generator) -> KuhnState:
        """Other cards for the others, drawn from all that this player does not hold."""
        left = [card for card in range(self.game.num_cards()) if card != self.cards[player]]
        drawn = rng.permutation(left).tolist()
        return self.with_cards(
            tuple(self.cards[player] if seat == player else drawn.pop() for seat in range(self.game.players))
        )

    def chance_outcomes(self) -> list[tuple[int, float]]:
        left = [card for card in range(self.game.num_cards()) if card not in self.cards]
        return [(card, 1 / len(left)) for card in left]

    def child(self, action: int) -> KuhnState:
        if self.player == CHANCE:
            return KuhnState(self.game, (*self.cards, action), self.bets)
        return KuhnState(self.game, self.cards, self.bets + LETTERS[action])

    def information_state_string(self, player: int) -> str:
        return f"{self.game.card_to_string(self.cards[player])}:{self.bets}"

    def calling_action(self) -> int:
        return BET if "b" in self.bets else PASS

    def betting_outlook(self) -> tuple[float, float]:
        return self.game.pot, self.game.players

    def features(self) -> dict[str, float]:
        bets = self.bets.count("b")
        return {"phase": 0, "seat": self.player, "bets": bets, "card": self.cards[self.player]}

    def unseen(self, player: int) -> list[int]:
        """The other players' cards, except those shown down."""
        showdown = self._showdown()
        shown = showdown if len(showdown) > 1 else []
        return [seat for seat in range(self.game.players) if seat != player and seat not in shown]

    def action_to_string(self, player: int, action: int) -> str:
        if player == CHANCE:
            return f"deal {self.game.card_to_string(action)}"
        return ("pass", "bet")[action]

    def _showdown(self) -> list[int]:
        """Who is still in at the end: all players if nobody bet, else those who bet."""
        players, bets = self.game.players, self.bets
        if "b" not in bets:
            return list(range(players))
        return [seat % players for seat in range(bets.find("b"), len(bets)) if bets[seat] == "b"]

    def returns(self) -> list[float]:
        players = self.game.players
        paid = [self.game.pot / players] * players
        showdown = self._showdown()
        if "b" in self.bets:
            for seat in showdown:
                paid[seat] += 1
        winner = max(showdown, key=lambda seat: self.cards[seat])
        pot = sum(paid)
        return [(pot if seat == winner else 0.0) - paid[seat] for seat in range(players)]

    def __str__(self) -> str:
        return f"{' '.join(map(self.game.card_to_string, self.cards))}|{self.bets}"
