"""``Table``: one hand of any game as a state machine that can be suspended at every decision.

It has no clock, no socket and no ``input()``: the caller reads ``to_act``, passes a ``view`` to each of those seats,
and passes their actions to ``take``. The luck object makes chance's moves as soon as they are due.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, SIMULTANEOUS, TERMINAL
from fogplay.games.own import failed, history_named
from fogplay.play.luck import Luck
from fogplay.play.states import infoset_of, joint_child, witnesses
from fogplay.play.view import Memory, View
from fogplay.play.worlds import draw_world

Answer = TypeVar("Answer")

MOST_MOVES = 100_000  # of one hand


class Event(NamedTuple):
    """One move: the seat (or CHANCE), the action, and the seats that saw it."""

    seat: int
    action: int
    seen_by: tuple[int, ...]


class Seen(NamedTuple):
    """An event as one seat sees it: action and name are None if they are hidden from that seat."""

    seat: int
    action: int | None
    name: str | None  # the game's name for the action


class Table:
    """One hand between seats 0, 1, …"""

    def __init__(
        self,
        game: Any,
        luck: Luck,
        names: Sequence[str] | None = None,
        deadline: float | None = None,
        events: Iterable[Sequence[Any]] = (),
    ) -> None:
        """``events`` rebuilds a table: earlier moves are repeated, and play continues from there."""
        self.game, self.deadline = game, deadline
        self.num_players = int(game.num_players())
        self.names = tuple(names) if names is not None else tuple(f"seat {seat}" for seat in range(self.num_players))
        self.to_act: tuple[int, ...] = ()
        self._state = game.new_initial_state()
        self._luck = luck
        self._history: list[tuple[Any, int, int]] = []  # of each move: the state, the mover, the action
        self._moves = self._decisions = 0  # of chance and of players so far
        self._past: list[list[tuple[Any, int]]] = [[] for _ in range(self.num_players)]  # own decisions: state, action
        self._together = False  # whether several seats act simultaneously
        self._legal: dict[int, tuple[int, ...]] = {}  # of the seats that act here
        self._number: dict[int, float] = {}  # the luck of the seats to act
        self._chosen: dict[int, int] = {}  # actions so far in a simultaneous decision
        for event in events:
            self._repeat(event)
        self._ask(self._go_on)

    # ---- State

    @property
    def is_over(self) -> bool:
        return not self.to_act

    @property
    def scores(self) -> tuple[float, ...]:
        """[seats] each seat's winnings, in the game's own unit."""
        if not self.is_over:
            raise FogplayError(f"the hand is not over: {self._who(self.to_act[0])} is to act")
        return self._ask(lambda: tuple(map(float, self._state.returns())))

    @property
    def events(self) -> tuple[Event, ...]:
        """All moves, chance's included; a table can be rebuilt from them."""
        return self._ask(
            lambda: tuple(Event(seat, move, self._witnesses(state, seat, move)) for state, seat, move in self._history)
        )

    @property
    def moves(self) -> tuple[int, ...]:
        """The actions of all events."""
        return tuple(action for _, _, action in self._history)

    def seen(self, seat: int) -> list[Seen]:
        """All events as one seat sees them; at the end everything is revealed but what the game calls ``unseen``."""
        return self._ask(lambda: self._seen(seat))

    def _seen(self, seat: int) -> list[Seen]:
        over = self.is_over
        hidden = set(self._state.unseen(seat)) if over and hasattr(self._state, "unseen") else set()
        seen = []
        for place, (state, who, action) in enumerate(self._history):
            known = (over and place not in hidden) or seat in self._witnesses(state, who, action)
            seen.append(Seen(who, action, str(state.action_to_string(who, action))) if known else Seen(who, None, None))
        return seen

    def _witnesses(self, state: Any, seat: int, action: int) -> tuple[int, ...]:
        """The seats that see a move at the moment it is made."""
        together = state.current_player() == SIMULTANEOUS
        return (seat,) if together else witnesses(self.game, state, seat, action)

    def view(self, seat: int) -> View:
        """The view of a seat that is to act."""
        self._require_turn(seat)
        game, state, past, legal = self.game, self._state, self._past[seat], self._legal[seat]
        count, moves = len(past), len(self._history)

        def memory() -> Memory:
            return tuple((infoset_of(before, seat), action) for before, action in past[:count])

        return View(
            seat=seat,
            legal=legal,
            luck=self._number[seat],
            infoset=lambda: infoset_of(state, seat),
            names=lambda: tuple(str(state.action_to_string(seat, action)) for action in legal),
            observation=lambda: state.observation(seat) if hasattr(state, "observation") else None,
            memory=memory,
            world=lambda rng, doubt: draw_world(game, state, seat, memory(), rng, doubt),
            blamed=lambda error: self._blamed(error, moves),
            game=game,
            deadline=self.deadline,
        )

    # ---- Moves

    def take(self, seat: int, action: int) -> None:
        """Take a seat's action; an impossible action raises and changes nothing."""
        self._require_turn(seat)
        try:
            self._happen(seat, self._as_legal(seat, action))
            if not self.to_act:
                self._go_on()
        except FogplayError:
            raise
        except Exception as error:
            raise self._blamed(error) from error

    def _ask(self, answer: Callable[[], Answer]) -> Answer:
        """Run the game's own code."""
        try:
            return answer()
        except FogplayError:
            raise
        except Exception as error:
            raise self._blamed(error) from error

    def _blamed(self, error: Exception, moves: int | None = None) -> FogplayError:
        """An exception of the game's own code as one line that names the method and the ``moves`` made until then."""
        state = self._state if moves is None or moves >= len(self._history) else self._history[moves][0]
        return FogplayError(f"{self.game}: {failed(error, state)}; seen after: {history_named(self._history[:moves])}")

    def _require_turn(self, seat: int) -> None:
        if seat not in self.to_act:
            turn = " and ".join(map(self._who, self.to_act))
            whose = f"it is the turn of {turn}" if turn else "the hand is over"
            raise FogplayError(f"{self._who(seat)} cannot act now: {whose}")

    def _as_legal(self, seat: int, action: Any) -> int:
        try:
            chosen = operator.index(action)
        except TypeError:
            chosen = None
        if chosen is None or chosen not in self._legal[seat]:
            names = [str(self._state.action_to_string(seat, each)) for each in self._legal[seat][:12]]
            allowed = ", ".join(f"{each} ({name})" for each, name in zip(self._legal[seat], names, strict=False))
            raise FogplayError(f"{self._who(seat)} answered {action!r}, which is not possible here; it may {allowed}")
        return chosen

    def _who(self, seat: int) -> str:
        return self.names[seat] if 0 <= seat < len(self.names) else f"seat {seat}"

    def _happen(self, seat: int, action: int) -> None:
        """Record a legal action of a seat to act, and advance once all seats to act have acted."""
        state = self._state
        self._require_an_end()
        if not self._together:
            self._state, self.to_act = state.child(action), ()
        else:
            chosen = {**self._chosen, seat: action}
            waiting = tuple(each for each in self.to_act if each != seat)
            if not waiting:
                self._state, chosen = joint_child(state, chosen, self.num_players), {}
            self._chosen, self.to_act = chosen, waiting
        self._past[seat].append((state, action))
        self._decisions += 1
        self._history.append((state, seat, action))

    def _require_an_end(self) -> None:
        if len(self._history) >= MOST_MOVES:
            raise FogplayError(f"{self.game}: a hand is not over after {MOST_MOVES:,} moves; it must end")

    def _chance(self, action: int) -> None:
        state = self._state
        self._require_an_end()
        self._state = state.child(action)
        self._history.append((state, CHANCE, action))
        self._moves += 1

    def _go_on(self) -> None:
        """Make chance's moves until players act or the hand is over; draw a number for each seat to act."""
        while self._state.current_player() == CHANCE:
            self._chance(self._luck.chance(self._state, self._moves))
        if not self.to_act:
            self._await()
        first = self._decisions - len(self._chosen)  # in a simultaneous decision, some may have acted already
        self._number = {
            seat: self._luck.decision(first + place) for place, seat in enumerate(self._legal) if seat in self.to_act
        }

    def _await(self) -> None:
        """Determine the seats to act."""
        state = self._state
        player = state.current_player()
        self._together = player == SIMULTANEOUS
        if self._together:
            legal = {seat: tuple(state.legal_actions(seat)) for seat in range(self.num_players)}
            self._legal = {seat: actions for seat, actions in legal.items() if actions}
        else:
            self._legal = {player: tuple(state.legal_actions())} if player >= 0 else {}
        self.to_act = tuple(self._legal)
        if player == TERMINAL:
            return
        if player < 0 and not self._together:
            raise FogplayError(f"{self.game}: current_player() is {player}, which is not a player, chance or the end")
        if not self._legal or not all(self._legal.values()):
            raise FogplayError(f"{self.game}: player {player} is to act and has no legal action")

    def _repeat(self, event: Sequence[Any]) -> None:
        """Repeat earlier events."""
        seat, action, number = int(event[0]), event[1], len(self._history)
        if seat == CHANCE:
            possible = self._state.chance_outcomes() if self._state.current_player() == CHANCE else ()
            if action not in [outcome[0] for outcome in possible]:
                raise FogplayError(f"event {number}: chance cannot do {action!r} here")
            self._chance(int(action))
            return
        if not self.to_act and self._state.current_player() != CHANCE:
            self._await()
        try:
            self._require_turn(seat)
            self._happen(seat, self._as_legal(seat, action))
        except FogplayError as error:
            raise FogplayError(f"event {number}: {error}") from error
