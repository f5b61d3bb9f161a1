"""A fogplay player at a dealer's table: a state machine that takes and returns lines."""

from __future__ import annotations

from fogplay.errors import FogplayError
from fogplay.notation.acpc import (
    MATCHSTATE,
    VERSION,
    MatchState,
    parse_cards,
    print_answer,
    quoted,
    raises_to_a_size,
    split_state,
)
from fogplay.protocols.acpc.deals import Deals
from fogplay.protocols.acpc.game import Situation
from fogplay.protocols.acpc.notes import Notes, Remarks
from fogplay.protocols.acpc.players import Seated
from fogplay.protocols.acpc.winnings import Winnings

NEW = 10  # hands after which the dealer's game is taken to be ours


class Client:
    """Answers every match state in which it is to act, from that line alone.

    It skips all other lines, and notes a match state that is impossible in the game. The random choices of a mixed
    strategy depend only on the seed, the hand's number and the number of earlier actions.
    """

    greeting = VERSION

    def __init__(self, seated: Seated, *, seed: int = 0, notes: Remarks | None = None) -> None:
        self.agent, self.game = seated.agent, seated.game
        self.notes: Remarks = notes or Notes()
        self.won = Winnings()  # in the completed hands
        self._line = ""  # the last match state
        self._hand = ""  # the number of the hand in progress
        self._cards_fit = False  # whether the first cards were those of our game
        self._known = False  # whether the dealer has also taken an answer as it was given
        self._answer: tuple[int, str, str] | None = None  # the last one: hand, betting before it, and its letter
        self._last = -1  # the number of the last completed hand
        self._deals = Deals(self.game, seed)

    def receive(self, line: str) -> str | None:
        """The answer to a line, or None if it needs no answer."""
        if not line.startswith(MATCHSTATE):
            return None
        self._line = line
        if self._is_anothers(line):
            return None
        try:
            seat, hand, betting, cards, _ = split_state(line)
            if not self._cards_fit:
                self._check_cards(cards)
            situation = self.game.situation(betting)
            if not self._known:
                self._check_answer(hand, betting)
            if seat >= self.game.players:
                raise FogplayError(f"there is no seat {seat}")
            if seat != situation.seat and not situation.over:
                self._hand = str(hand)
                return None
            state = MatchState(seat, hand, betting, *parse_cards(cards))
            self.game.check_cards(state, situation)
            if not state.holes[seat]:
                raise FogplayError("it does not show the cards of the seat that looks on")
            if situation.over:
                self._finish(state, situation)
                return None
        except WrongGameError:
            raise
        except FogplayError as error:
            if raises_to_a_size(line):
                why = f"the dealer plays no-limit ({quoted(line)}); fogplay plays limit games only"
                raise WrongGameError(why) from error
            self.notes.add(f"skipped what the dealer sent: {error}")
            return None
        self._hand = str(hand)
        decision = len(betting) - situation.rounds + 1
        chance = self._deals.luck(hand)[decision]
        action = self.agent.act(self.game.view(state, situation, chance))
        if action not in situation.letters:
            raise FogplayError(f"the agent answered {action!r}; it may {', '.join(situation.actions)} here")
        self._answer = (hand, betting, situation.letters[action])
        return print_answer(line, situation.letters[action])

    @property
    def hands(self) -> int:
        """How many hands are completed."""
        return self.won.hands

    @property
    def chips(self) -> float:
        """The chips won in them, by the definition."""
        return self.won.chips

    @property
    def is_new(self) -> bool:
        """Whether the dealer may still turn out to play another game."""
        return self.hands < NEW

    def silence(self, seconds: float) -> None:
        """Remark that the dealer has sent nothing for so long: two that wait for each other would wait for ever."""
        why = f"the dealer has sent nothing for {seconds:g} seconds"
        try:
            seat, hand, betting, _, _ = split_state(self._line)
            acting = self.game.situation(betting).seat
        except FogplayError:
            self.notes.add(f"{why}: it may be waiting for other players to connect")
            return
        here = f"in hand {hand}, this player has seat {seat}"
        here += " and has answered" if acting == seat else f", and by its game seat {acting} is to act"
        self.notes.add(
            f"{why}: {here}. If it is the dealer that waits for this player, its game has another order of seats: "
            "name its definition with --game"
        )

    @property
    def in_hand(self) -> int | None:
        """The number of the hand in progress."""
        return int(self._hand) if self._hand else None

    def _is_anothers(self, line: str) -> bool:
        """Whether another player is to act; fast, because this is true of most lines."""
        if not self._known:
            return False
        parts = line.split(":", 4)
        waiting = self.game.waiting.get(parts[3]) if len(parts) == 5 else None
        if waiting is None or parts[1] not in waiting or not parts[2].isdecimal():
            return False
        self._hand = parts[2][:10]
        return True

    def _check_cards(self, cards: str) -> None:
        """Refuse a dealer whose first cards belong to another game: the client could answer none of its states."""
        holes, _ = parse_cards(cards)
        players, hole = self.game.players, self.game.definition.hole
        if len(holes) != players or any(len(mine) not in (0, hole) for mine in holes):
            raise WrongGameError(
                f"the dealer deals {max(map(len, holes))} cards to each of {len(holes)} players, and this game has "
                f"{hole} for each of {players}: name the dealer's game with --game"
            )
        self._cards_fit = True

    def _check_answer(self, hand: int, betting: str) -> None:
        """Refuse a dealer that goes on with another action than the answer: it asked somebody else, or forbids it."""
        if self._answer is None:
            return
        answered, before, letter = self._answer
        if hand != answered or not betting.startswith(before) or betting == before:
            return
        taken = betting[len(before)]
        if taken != letter:
            raise WrongGameError(
                f"in hand {hand} this player answered {letter} after {before!r}, and the dealer went on with {taken}: "
                "they differ in the seats or the raises of the game; name the dealer's game with --game"
            )
        self._known = True

    def _finish(self, state: MatchState, situation: Situation) -> None:
        if state.hand == self._last:
            return
        won = self.game.values(state.holes, state.boards, situation)[state.seat]
        self._last, self._hand = state.hand, ""
        self.won.add(won)


class WrongGameError(FogplayError):
    """The dealer and the client play different games."""
