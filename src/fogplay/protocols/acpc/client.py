"""A fogplay player at a dealer's table: a state machine that takes and returns lines."""

from __future__ import annotations

from fogplay.errors import FogplayError
from fogplay.notation.acpc import MATCHSTATE, VERSION, MatchState, parse_cards, print_answer, split_state
from fogplay.protocols.acpc.deals import Deals
from fogplay.protocols.acpc.game import Situation
from fogplay.protocols.acpc.notes import Notes
from fogplay.protocols.acpc.players import Seated


class Client:
    """Answers every match state in which it is to act, from that line alone.

    It skips all other lines, and notes a match state that is impossible in the game. The random choices of a mixed
    strategy depend only on the seed, the hand's number and the number of earlier actions.
    """

    greeting = VERSION

    def __init__(self, seated: Seated, *, seed: int = 0, notes: Notes | None = None) -> None:
        self.agent, self.game = seated.agent, seated.game
        self.notes = notes or Notes()
        self.hands = 0  # completed
        self.chips = 0.0  # won in them
        self._hand = ""  # the number of the hand in progress
        self._known = False  # whether the dealer's game has been checked against ours
        self._last = -1  # the number of the last completed hand
        self._deals = Deals(self.game, seed)

    def receive(self, line: str) -> str | None:
        """The answer to a line, or None if it needs no answer."""
        if not line.startswith(MATCHSTATE) or self._is_anothers(line):
            return None
        try:
            seat, hand, betting, cards, _ = split_state(line)
            if not self._known:
                self._recognise(cards)
            situation = self.game.situation(betting)
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
            self.notes.add(f"skipped what the dealer sent: {error}")
            return None
        self._hand = str(hand)
        decision = len(betting) - situation.rounds + 1
        chance = self._deals.luck(hand)[decision]
        action = self.agent.act(self.game.view(state, situation, chance))
        if action not in situation.letters:
            raise FogplayError(f"the agent answered {action!r}; it may {', '.join(situation.actions)} here")
        return print_answer(line, situation.letters[action])

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

    def _recognise(self, cards: str) -> None:
        """Refuse a dealer whose first cards belong to another game: the client could answer none of its states."""
        holes, _ = parse_cards(cards)
        players, hole = self.game.players, self.game.definition.hole
        if len(holes) != players or any(len(mine) not in (0, hole) for mine in holes):
            raise WrongGameError(
                f"the dealer deals {max(map(len, holes))} cards to each of {len(holes)} players, and this game has "
                f"{hole} for each of {players}: name the dealer's game with --game"
            )
        self._known = True

    def _finish(self, state: MatchState, situation: Situation) -> None:
        if state.hand == self._last:
            return
        won = self.game.values(state.holes, state.boards, situation)[state.seat]
        self._last, self._hand = state.hand, ""
        self.hands, self.chips = self.hands + 1, self.chips + won


class WrongGameError(FogplayError):
    """The dealer and the client play different games."""
