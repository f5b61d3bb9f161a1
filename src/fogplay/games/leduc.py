"""Leduc hold'em (Southey et al. 2005): two betting rounds, one private and one public card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fogplay.games.game import CHANCE, TERMINAL, State, require_choice, require_whole
from fogplay.games.limit import CALL, FOLD, LEGAL, LETTERS, RAISE, WORDS, LimitGame, winnings

RAISE_SIZES = (2, 4)
MAX_RAISES = 2


@dataclass(frozen=True)
class Leduc(LimitGame):
    """Leduc hold'em: two suits of players + 1 ranks, ante 1, raises of 2 then 4, two raises per round."""

    name = "leduc"
    players: int = 2
    suits: str = "seen"  # or unseen: players do not see suits, which never matter; 288 infosets, not 936

    def __post_init__(self) -> None:
        require_whole(self.name, "players", self.players, 2, 5)
        require_choice(self.name, "suits", self.suits, ("seen", "unseen"))

    def num_players(self) -> int:
        return self.players

    def num_cards(self) -> int:
        return 2 * (self.players + 1)

    def card_to_string(self, card: int) -> str:
        return self.rank_to_string(card) + "hs"[card % 2]

    def rank_to_string(self, card: int) -> str:
        return ("JQK" if self.players == 2 else "123456")[card // 2]

    def new_initial_state(self) -> LeducState:
        paid = (1,) * self.players
        return LeducState(self, (), ("",), paid, (True,) * self.players, CHANCE, 0, (0, 0))

    def calibration(self) -> dict[str, dict[str, float]]:
        if self.players != 2:
            return {}
        return {"uct": {"c": 20.0}, "smooth-uct": {"c": 18.0, "d": 0.002}, "os-mccfr": {"epsilon": 0.5}}


class LeducState(State):
    """Cards (the public one last), the betting of each round, what each player has paid, who is still in, who acts."""

    __slots__ = ("betting", "cards", "game", "in_hand", "outlook", "paid", "player", "to_settle")

    def __init__(
        self,
        game: Leduc,
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
        return LEGAL[self.paid[self.player] < max(self.paid)][self.betting[-1].count("r") < MAX_RAISES]

    def limit_actions(self) -> dict[str, int]:
        """The actions by the letters of the competition's notation."""
        return {LETTERS[action]: action for action in self.legal_actions()}

    def with_cards(self, cards: tuple[int, ...]) -> LeducState:
        """The same point of the betting with other cards."""
        return LeducState(
            self.game, cards, self.betting, self.paid, self.in_hand, self.player, self.to_settle, self.outlook
        )

    def seen_by(self, action: int) -> Sequence[int]:
        """A private card is seen by its owner, everything else by all."""
        dealing = self.player == CHANCE and len(self.cards) < self.game.players
        return (len(self.cards),) if dealing else range(self.game.players)

    def determinise(self, player: int, rng: np.random.Generator) -> LeducState:
        """Other cards for the others, drawn from all that this player does not see; unseen suits are drawn too."""
        game, public = self.game, self.cards[self.game.players :]
        known = [self.cards[player], *public]
        if game.suits != "seen":
            known = _suits_drawn(known, rng)
        left = [card for card in range(game.num_cards()) if card not in known]
        drawn = rng.permutation(left).tolist()
        cards = [known[0] if seat == player else drawn.pop() for seat in range(game.players)]
        return self.with_cards((*cards, *known[1:]))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        left = [card for card in range(self.game.num_cards()) if card not in self.cards]
        return [(card, 1 / len(left)) for card in left]

    def child(self, action: int) -> LeducState:
        if self.player == CHANCE:
            return self._after_card(action)
        return self._after_action(action)

    def _after_card(self, card: int) -> LeducState:
        cards = (*self.cards, card)
        if len(cards) < self.game.players:
            return LeducState(self.game, cards, self.betting, self.paid, self.in_hand, CHANCE, 0, (0, 0))
        first, active = self.in_hand.index(True), sum(self.in_hand)
        to_come = active * MAX_RAISES * sum(RAISE_SIZES[len(self.betting) - 1 :])
        outlook = (sum(self.paid), to_come)
        return LeducState(self.game, cards, self.betting, self.paid, self.in_hand, first, active, outlook)

    def _after_action(self, action: int) -> LeducState:
        player, paid, in_hand = self.player, self.paid, self.in_hand
        to_settle = self.to_settle - 1
        if action == FOLD:
            in_hand = (*in_hand[:player], False, *in_hand[player + 1 :])
        else:
            stake = max(paid)
            if action == RAISE:
                stake += RAISE_SIZES[len(self.betting) - 1]
                to_settle = sum(in_hand) - 1
            paid = (*paid[:player], stake, *paid[player + 1 :])
        betting = (*self.betting[:-1], self.betting[-1] + LETTERS[action])
        if sum(in_hand) == 1:
            next_player = TERMINAL
        elif to_settle == 0:
            next_player = CHANCE if len(betting) == 1 else TERMINAL
            if next_player == CHANCE:
                betting = (*betting, "")
        else:
            next_player = (player + 1) % self.game.players
            while not in_hand[next_player]:
                next_player = (next_player + 1) % self.game.players
        return LeducState(self.game, self.cards, betting, paid, in_hand, next_player, to_settle, self.outlook)

    def information_state_string(self, player: int) -> str:
        show = self.game.card_to_string if self.game.suits == "seen" else self.game.rank_to_string
        private = show(self.cards[player])
        if len(self.cards) == self.game.players:
            return f"{private}:{self.betting[0]}"
        public = show(self.cards[-1])
        return f"{private}:{self.betting[0]}/{public}:{self.betting[1]}"

    def calling_action(self) -> int:
        return CALL

    def betting_outlook(self) -> tuple[float, float]:
        return self.outlook

    def features(self) -> dict[str, float]:
        """The five of the 2011 paper (section 4.3); here the bucket of a hand is its rank and whether it is a pair."""
        rank, public = self.cards[self.player] // 2, self.cards[-1] // 2
        phase = len(self.betting) - 1
        return {
            "phase": phase,
            "seat": self.player,
            "raises": sum(round_.count("r") for round_ in self.betting),
            "raises this round": self.betting[-1].count("r"),
            "own raises": self._own_raises(),
            "rank": rank,
            "pair": phase == 1 and rank == public,
        }

    def _own_raises(self) -> int:
        """How often the player to act has raised; who was still in shows whose move each letter was."""
        mine, in_hand = 0, [True] * self.game.players
        for round_ in self.betting:
            seat = in_hand.index(True)
            for letter in round_:
                while not in_hand[seat]:
                    seat = (seat + 1) % self.game.players
                mine += letter == "r" and seat == self.player
                in_hand[seat] = letter != "f"
                seat = (seat + 1) % self.game.players
        return mine

    def unseen(self, player: int) -> list[int]:
        """The other players' private cards, except those shown down."""
        shown = [self.in_hand[seat] and sum(self.in_hand) > 1 for seat in range(self.game.players)]
        return [seat for seat in range(self.game.players) if seat != player and not shown[seat]]

    def action_to_string(self, player: int, action: int) -> str:
        if player == CHANCE:
            return f"deal {self.game.card_to_string(action)}"
        return WORDS[action]

    def returns(self) -> list[float]:
        cards, public = self.cards, self.cards[-1] // 2
        return winnings(self.paid, self.in_hand, lambda seat: (cards[seat] // 2 == public, cards[seat] // 2))

    def __str__(self) -> str:
        return f"{' '.join(map(self.game.card_to_string, self.cards))}|{'/'.join(self.betting)}"


def _suits_drawn(cards: list[int], rng: np.random.Generator) -> list[int]:
    """The same ranks in suits drawn at random, no card twice."""
    drawn: list[int] = []
    for card in cards:
        suits = [each for each in (card // 2 * 2, card // 2 * 2 + 1) if each not in drawn]
        drawn.append(suits[int(rng.integers(len(suits)))])
    return drawn
