"""A game played several times in a row; after each hand all players see everything that happened in it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.game import TERMINAL, Game, State, require_whole


@dataclass(frozen=True)
class Repeated(Game):
    """Any game, ``hands`` times over; the payoffs of the hands add up.

    After a hand all players learn everything that happened in it, chance and hidden choices included: an infoset is
    the full record of the earlier hands, followed by the infoset of the hand in progress.
    """

    name = "repeated"
    game: Any = "rps"  # a game or the spec of one
    hands: int = 2

    def __post_init__(self) -> None:
        require_whole(self.name, "hands", self.hands, 1, 1000)
        if isinstance(self.game, str):
            from fogplay.games.registry import load  # the registry imports every game, this one too

            object.__setattr__(self, "game", load(self.game))
        if not hasattr(self.game, "new_initial_state"):
            raise FogplayError(f"repeated: game must be a game or the spec of one, such as kuhn, not {self.game!r}")

    def num_players(self) -> int:
        return int(self.game.num_players())

    def num_distinct_actions(self) -> int | None:
        """None if the game that is repeated does not say."""
        ask = getattr(self.game, "num_distinct_actions", None)
        return ask() if ask is not None else None

    def new_initial_state(self) -> RepeatedState:
        hand = self.game.new_initial_state()
        return RepeatedState(self, hand, 1, "", (0.0,) * self.num_players(), hand.current_player(), "", ())

    @functools.cached_property
    def recorded(self) -> dict[str, tuple[int, ...]]:
        """The actions behind every record so far, to detect different plays with the same record."""
        return {}


class RepeatedState(State):
    """The hand in progress and its number, and the record and payoffs of the finished hands."""

    __slots__ = ("actions", "game", "hand", "number", "past", "player", "record", "won")

    def __init__(
        self,
        game: Repeated,
        hand: Any,
        number: int,
        past: str,
        won: tuple[float, ...],
        player: int,
        record: str,
        actions: tuple[int, ...],
    ) -> None:
        self.game = game
        self.hand = hand
        self.number = number
        self.past = past  # the finished hands, known to all
        self.won = won
        self.player = player
        self.record = record  # the action names of the hand in progress; revealed when it is over
        self.actions = actions  # the numbers of all actions so far

    def current_player(self) -> int:
        return self.player

    def legal_actions(self) -> Any:
        return self.hand.legal_actions()

    def chance_outcomes(self) -> Any:
        return self.hand.chance_outcomes()

    def child(self, action: int) -> RepeatedState:
        game, number = self.game, self.number
        hand = self.hand.child(action)
        player = hand.current_player()
        if number == game.hands:  # no player acts after the last hand, so it needs no record
            return RepeatedState(game, hand, number, self.past, self.won, player, "", ())
        record = f"{self.record}{self.hand.action_to_string(self.player, action)}; "
        actions = (*self.actions, action)
        if player != TERMINAL:
            return RepeatedState(game, hand, number, self.past, self.won, player, record, actions)
        return self._next_hand(hand.returns(), f"{self.past}{record[:-2]} / ", actions)

    def _next_hand(self, returns: Sequence[float], past: str, actions: tuple[int, ...]) -> RepeatedState:
        game = self.game
        if game.recorded.setdefault(past, actions) != actions:
            raise FogplayError(
                f"repeated: two different plays of {game.game} have the same record {past[:-3]!r}; "
                "action_to_string must give the actions of a state different names"
            )
        won = tuple(before + now for before, now in zip(self.won, returns, strict=True))
        hand = game.game.new_initial_state()
        return RepeatedState(game, hand, self.number + 1, past, won, hand.current_player(), "", actions)

    def information_state_string(self, player: int) -> str:
        return f"{self.past}{self.hand.information_state_string(player)}"

    def action_to_string(self, player: int, action: int) -> str:
        return str(self.hand.action_to_string(player, action))

    def returns(self) -> list[float]:
        return [before + now for before, now in zip(self.won, self.hand.returns(), strict=True)]

    def __str__(self) -> str:
        return f"{self.past}{self.hand}"
