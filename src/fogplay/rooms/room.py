"""``Room``: one person's place at the tables of one game, hand after hand, as a state machine.

Every method leaves the room in the store as it is in memory. All luck depends on the room's seed, the hand's number
and the position in the hand, so that a room that is opened again is at the same decision and goes on alike.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import zlib
from dataclasses import dataclass

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE
from fogplay.notation.talk import talk_for
from fogplay.pictures import Sight, sight_of
from fogplay.play import Table
from fogplay.play.agent import begin
from fogplay.play.luck import Given, Seeded
from fogplay.rooms.company import Company
from fogplay.rooms.replays import baseline
from fogplay.rooms.reviews import review_of
from fogplay.rooms.scores import Scores
from fogplay.rooms.store import Finished, Kept, Settings, Store, require_settings

YOU = "you"


@dataclass(frozen=True)
class Look:
    """What the person may see of a room now."""

    sight: Sight
    hand: int  # its number, from 0
    decision: int  # how many the person has made in this hand
    score: float | None  # of this hand, once it is over


class Room:
    """A person's room; moves from several threads take turns, and nobody waits who only looks."""

    def __init__(self, store: Store, kept: Kept, company: Company) -> None:
        self.store, self.kept, self.company = store, kept, company
        self.settings = kept.settings
        self._lock = threading.RLock()  # of the table and the agents
        self._books = threading.RLock()  # of what was read from the store
        self._scores: Scores | None = None  # as read, until a hand is finished or reviewed
        self._history: tuple[int | None, list[Finished]] | None = None  # the same, and how many were asked for
        self._open()

    # ---- Playing

    def look(self) -> Look:
        """The hand as the person sees it."""
        return self._look

    def act(self, hand: int, decision: int, action: int) -> None:
        """Take the person's action; ``hand`` and ``decision`` say which is meant, so that none is made twice."""
        with self._lock:
            self._require(hand, decision)
            self._table.take(self._seat, action)
            try:
                self._go_on()
            except BaseException:
                self._open()  # as it is stored, before this action
                raise

    def act_by_text(self, hand: int, decision: int, text: str) -> None:
        """Take an action that the person typed, in the words that the terminal takes."""
        with self._lock:
            self._require(hand, decision)
            table = self._table
            talk = talk_for(table.game)(table.game, table.names, self._seat)
            talk.news(table.seen(self._seat))
            question, typed = talk.question(table.view(self._seat)), text.strip()
            meant = question.allowed.get(typed, question.allowed.get(typed.lower()))
            if meant is None and question.read is not None and typed:
                answer = question.read(typed)
                if isinstance(answer, str):
                    raise FogplayError(f"{typed!r} is not possible here: {answer}; {question.hint}")
                meant = answer
            if meant is None:
                raise FogplayError(f"{typed!r} is not possible here: {question.hint}")
            self.act(hand, decision, meant)

    def _require(self, hand: int, decision: int) -> None:
        if self._table.is_over or (hand, decision) != (self._number, self._decisions()):
            raise FogplayError("that decision is made already; look at the table and choose again")

    def next_hand(self, hand: int) -> None:
        """Begin the hand after number ``hand``, which must be over."""
        with self._lock:
            if hand != self._number or not self._table.is_over:
                raise FogplayError("this hand is not over; play it to its end first")
            self._begin(self._number + 1)

    def change(self, settings: Settings) -> None:
        """Another pace, and from the next hand on another seat; game and opponent stay."""
        with self._lock:
            changed = dataclasses.replace(settings, game=self.settings.game, opponent=self.settings.opponent)
            require_settings(changed, len(self.company.others) + 1)
            self.store.change(self.kept.id, changed)
            self.settings = changed

    def steps(self, hand: int, decision: int) -> list[Look]:
        """What the person saw between a decision and now, one look per move of another; -1 is before the first.

        Nothing if the room's pace shows moves at once.
        """
        found: list[Look] = []
        if self.settings.move_seconds <= 0:
            return found
        with self._lock:
            events = self._table.events
            own = [-1, *(place for place, event in enumerate(events) if event.seat == self._seat)]
            if hand != self._number or decision + 1 >= len(own):
                return found
            moves = [(event.seat, event.action) for event in events]
            luck, names = Given([action for who, action in moves if who == CHANCE], 0), self.names_at(self._seat)
            for count in range(own[decision + 1] + 1, len(events)):
                if events[count].seat in (CHANCE, self._seat):
                    continue
                sight = sight_of(Table(self.company.rules, luck, names, events=moves[:count]), self._seat)
                if not sight.legal and (not found or sight.lines != found[-1].sight.lines):
                    found.append(Look(sight, self._number, decision + 1, None))
            return found

    # ---- Afterwards

    def scores(self) -> Scores:
        """The results of all finished hands."""
        with self._books:
            if self._scores is None:
                self._scores = Scores.of(self.store.results(self.kept.id))
            return self._scores

    def history(self, last: int | None = None) -> list[Finished]:
        """The finished hands in order, or the ``last`` few of them."""
        with self._books:
            if self._history is None or self._history[0] != last:
                self._history = (last, self.store.finished(self.kept.id, last))
            return self._history[1]

    def settle(self, number: int) -> Finished:
        """Review a finished hand and find its baseline, once; it may take seconds if the reference thinks."""
        hand = self._hand(number)
        if hand.review is not None:
            return hand
        company, luck = self.company, self._luck(number)
        names, seed = self.names_at(hand.seat), zlib.crc32(f"{self.kept.seed} {number}".encode())
        with contextlib.nullcontext() if company.is_shared else self._lock:  # agents that think remember the hand
            review = review_of(company, hand.events, hand.seat, names, seed)
            made = baseline(company, hand.seat, luck, self.kept.seed, number)
            if not company.is_quick and not self._table.is_over:
                self._greet()
        with self._books:
            self.store.settle(self.kept.id, number, made, review)
            self._forget()
        return self._hand(number)

    def is_settled(self, number: int) -> bool:
        """Whether there is nothing to review in a hand, or not any more."""
        hand = self.store.hand(self.kept.id, number)
        return hand is None or hand.review is not None

    def sight_at_end(self, number: int) -> Sight:
        """A finished hand as the person saw it at its end."""
        hand = self._hand(number)
        chance = [action for who, action in hand.events if who == CHANCE]
        table = Table(self.company.rules, Given(chance, 0), self.names_at(hand.seat), events=hand.events)
        return sight_of(table, hand.seat)

    def _hand(self, number: int) -> Finished:
        hand = self.store.hand(self.kept.id, number)
        if hand is None:
            raise FogplayError(f"there is no finished hand number {number + 1} in this room")
        return hand

    # ---- Hands

    def _open(self) -> None:
        """Go to the hand that is being played, to the last one, or begin the first."""
        hand = self.store.open_hand(self.kept.id)
        if hand is not None:
            self._sit(*hand)
            self._go_on()
            return
        last = self.history(1)
        if last:
            self._sit(last[0].number, last[0].seat, last[0].events)
            self._look = self._seen()
        else:
            self._begin(0)

    def _begin(self, number: int) -> None:
        players = len(self.company.others) + 1
        chosen = self.settings.seat
        self._sit(number, number % players if chosen is None else chosen)
        self._go_on()

    def _sit(self, number: int, seat: int, events: object = ()) -> None:
        self._number, self._seat = number, seat
        others = self.company.others
        self._agents = [*others[:seat], None, *others[seat:]]
        self._greet()
        self._table = Table(self.company.rules, self._luck(number), self.names_at(seat), events=events)  # type: ignore[arg-type]

    def _greet(self) -> None:
        """Tell the agents that the hand begins; also after they played another hand meanwhile."""
        for seat, agent in enumerate(self._agents):
            if agent is not None:
                begin(agent, self.company.rules, seat, zlib.crc32(f"{self.kept.seed} {self._number} {seat}".encode()))

    def _go_on(self) -> None:
        """Let the others act until the person is to act or the hand is over, and store it."""
        table = self._table
        while not table.is_over and table.to_act != (self._seat,):
            for seat in table.to_act:
                if seat != self._seat:
                    table.take(seat, self._agents[seat].act(table.view(seat)))  # type: ignore[union-attr]
        score = table.scores[self._seat] if table.is_over else None
        moves = [(event.seat, event.action) for event in table.events]
        self.store.write(self.kept.id, self._number, self._seat, moves, score)
        self._look = self._seen()
        if score is not None:
            self._forget()

    def _seen(self) -> Look:
        score = self._table.scores[self._seat] if self._table.is_over else None
        return Look(sight_of(self._table, self._seat), self._number, self._decisions(), score)

    def _forget(self) -> None:
        """What was read of finished hands is no longer all of it."""
        with self._books:
            self._scores, self._history = None, None

    def _decisions(self) -> int:
        return sum(event.seat == self._seat for event in self._table.events)

    def _luck(self, number: int) -> Seeded:
        return Seeded(f"{self.kept.seed} {number}")

    def names_at(self, seat: int) -> tuple[str, ...]:
        """The names by seat where the person sits at ``seat``."""
        names = self.company.names
        return (*names[:seat], YOU, *names[seat:])
