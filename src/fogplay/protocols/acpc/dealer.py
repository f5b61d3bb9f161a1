"""The dealer: a state machine that takes the players' lines, and returns lines for the players and the log.

It uses neither sockets nor clocks: its caller reports how many seconds an answer took, or that a player has left.

The competition's rules. In hand h, player (seat + h) mod players sits at each seat: everybody moves back by one seat
after every hand. An answer is the match state that was sent, followed by an action. Any other line except a comment is
ignored with a remark, and an answer with an impossible action counts as a call. A player that exceeds the time for an
answer, for a hand or for the whole match, or disconnects, ends the match; with ``forfeit`` the others continue, and the
dealer checks or folds for the missing player.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fogplay import checks
from fogplay.errors import FogplayError
from fogplay.notation.acpc import (
    MATCHSTATE,
    Score,
    hand_line,
    is_comment,
    log_head,
    parse_answer,
    parse_state,
    parse_version,
    print_cards,
    print_score,
    quoted,
    state_line,
)
from fogplay.play import Dealt, Table
from fogplay.protocols.acpc.deals import Deal, Deals
from fogplay.protocols.acpc.game import AcpcGame
from fogplay.protocols.acpc.notes import Notes
from fogplay.protocols.acpc.winnings import Winnings

MOST_HANDS = 10**9
MOST_ASIDE = 1000  # lines that are not answers, while waiting for one answer
OUR_MAJOR = 2  # version of the protocol


@dataclass(frozen=True)
class Limits:
    """A player's time limits, in seconds."""

    answer: float = 600.0
    hand: float = 600.0
    per_hand: float = 7.0  # on average over the match


@dataclass(frozen=True)
class Terms:
    """The terms of a match: its game, its hands and its rules."""

    name: str  # of the match
    game: str  # the definition's name
    hands: int
    seed: int
    turn: int = 0  # seats by which the players are rotated, for duplicates of a match
    limits: Limits = Limits()
    forfeit: bool = False  # continue without a player that fails

    def __post_init__(self) -> None:
        checks.hands(self.hands, MOST_HANDS)
        checks.seed(self.seed)
        if not all(seconds > 0 for seconds in dataclasses.astuple(self.limits)):
            raise FogplayError("limits of time must be over 0 seconds")


class Departure(NamedTuple):
    """When and why a player failed."""

    hand: int
    why: str


@dataclass(frozen=True)
class Past:
    """The completed hands of a match that was cut off."""

    hands: int
    won: tuple[Winnings, ...]  # by player
    size: int  # the bytes of its log up to there


def head(terms: Terms) -> list[str]:
    """The first lines of a match's log."""
    limits = terms.limits
    times = (("response", limits.answer), ("hand", limits.hand), ("per_hand", limits.per_hand))
    first = log_head(terms.name, terms.game, terms.hands, terms.seed)
    return [first, *(f"#--t_{word} {round(1000 * seconds)}" for word, seconds in times)]


def player_at(seat: int, hand: int, turn: int, players: int) -> int:
    """The player at a seat in a hand of a match."""
    return (seat + hand - turn) % players


class Dealer:
    """A match from its first line to its last, or from where it was cut off (``past``).

    ``waits_for`` is the player whose line comes next, or None when the match is over; ``take`` returns the lines to
    send to a player. ``log`` is called with each line of the log.
    """

    def __init__(
        self,
        game: AcpcGame,
        names: Sequence[str],
        terms: Terms,
        log: Callable[[str], None],
        past: Past | None = None,
    ) -> None:
        self.game, self.names, self.terms = game, tuple(names), terms
        if len(names) != game.players:
            raise FogplayError(f"{terms.game} is for {game.players} players, not for {len(names)}")
        if len(set(names)) != len(names):
            raise FogplayError(f"players must have names of their own: {', '.join(names)}")
        self.notes = Notes(lambda line: log(f"# {line}"))
        self.hand = 0 if past is None else past.hands  # the number of the current hand
        self.won = [Winnings() for _ in names] if past is None else list(past.won)  # [players]
        self.gone: dict[int, Departure] = {}  # by player that failed
        self.ended: str | None = None  # why the match ended early
        self.waits_for: int | None = None
        self.asked = ""  # the line that ``waits_for`` must answer
        self.limit = 0.0  # the seconds allowed for that answer
        self._log = log
        self._deals = Deals(game, terms.seed)
        self._used_hand, self._used = [0.0] * game.players, [0.0] * game.players  # seconds
        self._outbox: list[list[str]] = [[] for _ in names]
        self._aside = 0  # lines ignored while waiting for the current answer
        if past is None:
            for line in head(terms):
                log(line)

    # ---- The caller's interface

    def greet(self, player: int, line: str) -> None:
        """Take a player's first line, which must name a supported version of the protocol."""
        try:
            version = parse_version(line)
            if version[0] != OUR_MAJOR:
                raise FogplayError(f"it speaks version {'.'.join(map(str, version))} of the protocol, not {OUR_MAJOR}")
        except FogplayError as error:
            self.fail(player, str(error))

    def begin(self) -> None:
        """Deal the first hand, once all players have greeted."""
        if self.over:
            self._log_score()
        elif self.ended is None:
            self._begin_hand()
            self._go_on()

    def take(self, player: int) -> list[str]:
        """Remove and return the lines to send to a player."""
        lines, self._outbox[player] = self._outbox[player], []
        return lines

    def waiting(self, player: int) -> int:
        """How many lines wait to be sent to a player."""
        return len(self._outbox[player])

    def _seconds_left(self, player: int) -> float:
        limits = self.terms.limits
        whole = limits.per_hand * self.terms.hands
        return min(limits.answer, limits.hand - self._used_hand[player], whole - self._used[player])

    def receive(self, line: str, seconds: float) -> bool:
        """Take a line from the player ``waits_for``, ``seconds`` after the request; return whether it was an answer."""
        player = self.waits_for
        assert player is not None
        if seconds > self.limit:
            self.late()
            return True
        if line.startswith(self.asked):
            rest = line[len(self.asked) :]
        else:
            found = self._understand(line)
            if found is None:
                self._set_aside(player, line)
                return False
            rest = found
        self._used_hand[player] += seconds
        self._used[player] += seconds
        letter = parse_answer(rest)
        if letter is None or letter not in self._situation.actions:
            self.notes.add(f"hand {self.hand}: {self.names[player]} answered {quoted(rest[1:])}, taken as a call")
            letter = "c"
        self._act(letter)
        self._go_on()
        return True

    def late(self) -> None:
        """Fail the player ``waits_for``, which has used up its time."""
        player, limits = self.waits_for, self.terms.limits
        assert player is not None
        if self.limit >= limits.answer:
            self.fail(player, f"it did not answer in {limits.answer:g} seconds")
        elif self.limit >= limits.hand - self._used_hand[player]:
            self.fail(player, f"it took over {limits.hand:g} seconds in this hand")
        else:
            self.fail(player, f"it took over {limits.per_hand:g} seconds per hand on average")

    def fail(self, player: int, why: str) -> None:
        """Fail a player that has left, is out of time, or does not follow the protocol."""
        if player in self.gone or self.ended is not None:
            return
        self.gone[player] = Departure(self.hand, why)
        line = f"hand {self.hand}: {self.names[player]} is out: {why}"
        if not self.terms.forfeit or len(self.gone) == len(self.names):
            self.end(line)
            return
        self.notes.add(f"{line}; it checks or folds from now on")
        if self.waits_for == player:
            self._act(self._absent())
            self._go_on()

    def end(self, why: str) -> None:
        """End the match before its last hand; the log keeps the completed hands."""
        if self.ended is None and not self.over:
            self.ended, self.waits_for = why, None
            self._log(f"# the match ended early: {' '.join(why.split())}")

    @property
    def over(self) -> bool:
        """Whether all hands have been played."""
        return self.hand == self.terms.hands

    @property
    def totals(self) -> list[float]:
        """[players] the chips won so far."""
        return [each.chips for each in self.won]

    # ---- The hands

    def _begin_hand(self) -> None:
        self._deal: Deal = self._deals.deal(self.hand)
        self._used_hand = [0.0] * self.game.players
        players = self.game.players
        self._sitting = [player_at(seat, self.hand, self.terms.turn, players) for seat in range(players)]
        luck = Dealt(self.game.chance_moves(self._deal.holes, self._deal.boards), self._deals.luck(self.hand))
        self._table, self._situation = Table(self.game.game, luck), self.game.start
        blank: list[tuple[int, ...]] = [()] * self.game.players
        self._held = [
            print_cards([*blank[:seat], hole, *blank[seat + 1 :]], ()) for seat, hole in enumerate(self._deal.holes)
        ]  # each seat's own cards, as it sees them
        turned = [print_cards((), [cards]) for cards in self._deal.boards]
        self._turned = ["".join(turned[:rounds]) for rounds in range(len(turned) + 1)]

    def _go_on(self) -> None:
        """Send everybody the state of the hand, and wait for the player to act; play for those who have left."""
        while self.ended is None:
            self._tell()
            if self._table.is_over:
                self._finish_hand()
                if self.over:
                    self._log_score()
                    return
                self._begin_hand()
                continue
            player = self._sitting[self._situation.seat]
            if player not in self.gone:
                self.waits_for, self.limit, self._aside = player, self._seconds_left(player), 0
                return
            self._act(self._absent())

    def _tell(self) -> None:
        situation = self._situation
        board = self._turned[situation.rounds - 1]
        for seat, player in enumerate(self._sitting):
            held = self._shown(seat) if situation.showdown else self._held[seat]
            line = state_line(seat, self.hand, situation.betting, held + board)
            if seat == situation.seat:
                self.asked = line
            self._outbox[player].append(line)

    def _shown(self, seat: int) -> str:
        """The hole cards that a seat sees at a showdown: its own, and those of all seats still in the hand."""
        stays = self._situation.in_hand
        seen = [hole if at == seat or stays[at] else () for at, hole in enumerate(self._deal.holes)]
        return print_cards(seen, ())

    def _act(self, letter: str) -> None:
        """Let the player to act do this at the table; ``_situation`` follows, which writes the hand as lines do."""
        self._table.take(self._table.to_act[0], self._situation.actions[letter])
        self._situation = self.game.following(self._situation, letter)

    def _absent(self) -> str:
        """The action that the dealer takes for a player who has left."""
        return "f" if "f" in self._situation.actions else "c"

    def _finish_hand(self) -> None:
        situation, boards = self._situation, self._deal.boards[: self._situation.rounds - 1]
        values = self.game.fit.chips(self._table.scores)
        for seat, player in enumerate(self._sitting):
            self.won[player].add(values[seat])
        cards = print_cards(self._deal.holes, boards)
        sitting = [self.names[player] for player in self._sitting]
        self._log(hand_line(self.hand, situation.betting, cards, values, sitting))
        self.hand += 1

    def _log_score(self) -> None:
        self.waits_for = None
        self._log(print_score(Score(tuple(self.totals), self.names)))

    # ---- Lines that are not exact answers

    def _understand(self, line: str) -> str | None:
        """The action appended to the state that was sent, if the line writes that state in another form."""
        if not line.startswith(MATCHSTATE):
            return None
        try:
            state, rest = parse_state(line)
            asked, _ = parse_state(self.asked)
        except FogplayError:
            return None
        seat = asked.seat
        same = (state.seat, state.hand, state.betting, state.boards) == (seat, asked.hand, asked.betting, asked.boards)
        return rest if same and len(state.holes) > seat and state.holes[seat] == asked.holes[seat] else None

    def _set_aside(self, player: int, line: str) -> None:
        self._aside += 1
        if self._aside > MOST_ASIDE:
            self.fail(player, f"it sent {MOST_ASIDE:,} lines that answer nothing")
        elif not is_comment(line):
            self.notes.add(f"hand {self.hand}: {self.names[player]} sent {quoted(line)}, which answers nothing")
