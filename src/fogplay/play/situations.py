"""Situations typed in: a table from what one player knows, its hand, what is shown to all, and the moves so far.

A game may read them itself (``situation_of`` in ``notation/<game>.py``). Otherwise the game is searched for a history
in which the player to act sees these cards and everybody makes these moves; what that player does not see is left
open.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, SIMULTANEOUS, TERMINAL
from fogplay.games.parts import part_of
from fogplay.notation.talk import talk_for, words_for
from fogplay.play.luck import Seeded
from fogplay.play.states import witnesses
from fogplay.play.table import Table

STEPS = 100_000  # moves tried
MOST_ORDERED = 3  # cards of a hand that are tried in every order
CARDS = re.compile("(?:[2-9TJQKA][cdhs])+")
NOTATION = "fogplay.notation"


def table_at(game: Any, hand: str, shown: str | None, history: str, seed: int = 0) -> Table:
    """A table at the decision that was typed in; a situation that cannot be is refused with the reason."""
    own = part_of(game, "situation_of", NOTATION)
    if own is not None:
        events = own(game, hand, shown, history, seed)
    else:
        events = _Search(game, Typed(_words(hand), _words(shown or ""), _words(history))).events()
    return Table(game, Seeded(seed), events=events)


class Typed(NamedTuple):
    """Words for a player's own chance moves, for those that all see, and for the players' moves."""

    hand: tuple[str, ...]
    shown: tuple[str, ...]
    history: tuple[str, ...]


def _words(text: str) -> tuple[str, ...]:
    """Words between commas if there are any commas, else between spaces; ``AsKd`` is two cards."""
    parts = [part.strip() for part in (text.split(",") if "," in text else text.split())]
    split = (re.findall("..", part) if CARDS.fullmatch(part) else [part] for part in parts if part)
    return tuple(word for words in split for word in words)


class _Search:
    """Depth first through the game's states, with the words used so far."""

    def __init__(self, game: Any, typed: Typed) -> None:
        self.game, self.typed, self.steps = game, typed, 0
        self.furthest, self.why = -1, "the hand has other cards"

    def events(self) -> list[tuple[int, int]]:
        for typed in self._orders():
            self.typed = typed
            for seat in range(int(self.game.num_players())):
                found = self._from(self.game.new_initial_state(), seat, (0, 0, 0), [])
                if found is not None:
                    return found
        raise FogplayError(f"there is no such situation in {self.game}: {self.why}")

    def _orders(self) -> Iterator[Typed]:
        """What was typed, and the same with the hand in other orders: games may deal low cards first."""
        hand = self.typed.hand
        orders = itertools.permutations(hand) if len(hand) <= MOST_ORDERED else [hand]
        return (self.typed._replace(hand=order) for order in dict.fromkeys(orders))

    def _from(
        self, state: Any, seat: int, used: tuple[int, int, int], events: list[tuple[int, int]]
    ) -> list[tuple[int, int]] | None:
        """Events from here on, if everything typed fits; ``used`` counts words of the hand, shown, and history."""
        self.steps += 1
        if self.steps > STEPS:
            raise FogplayError(f"no such situation was found in {self.game} within {STEPS:,} moves")
        player = state.current_player()
        if player == SIMULTANEOUS:
            raise FogplayError(f"{self.game}: situations with simultaneous moves cannot be typed in")
        if player == CHANCE:
            return self._through_chance(state, seat, used, events)
        if used[2] == len(self.typed.history):
            if player == seat and used[:2] == (len(self.typed.hand), len(self.typed.shown)):
                return events
            if player in (seat, TERMINAL):
                self._note(used, self._left_over(player, used))
            return None
        if player < 0:
            self._note(used, f"the hand is over before {self.typed.history[used[2]]!r}")
            return None
        return self._through_move(state, seat, used, events)

    def _through_chance(
        self, state: Any, seat: int, used: tuple[int, int, int], events: list[tuple[int, int]]
    ) -> list[tuple[int, int]] | None:
        for action, after in self._dealt(state, seat, used):
            found = self._from(state.child(action), seat, after, [*events, (CHANCE, action)])
            if found is not None:
                return found
        return None

    def _dealt(self, state: Any, seat: int, used: tuple[int, int, int]) -> list[tuple[int, tuple[int, int, int]]]:
        """Chance's moves that agree with what was typed, and the words used after each."""
        players, fitting, others = int(self.game.num_players()), [], []
        option, word = "--hand", ""
        for action, probability in state.chance_outcomes():
            seen = witnesses(self.game, state, CHANCE, action)
            if probability <= 0:
                continue
            if seat not in seen:
                fitting.append((action, used))
                continue
            kind = 1 if len(seen) == players else 0
            option = ("--hand", "--shown")[kind]
            word = self.typed[kind][used[kind]] if used[kind] < len(self.typed[kind]) else ""
            name = str(state.action_to_string(CHANCE, action))
            if word and word.lower() in (name.lower(), name.rsplit(maxsplit=1)[-1].lower()):
                fitting.append((action, (used[0] + (kind == 0), used[1] + (kind == 1), used[2])))
            else:
                others.append(name.rsplit(maxsplit=1)[-1])
        if not fitting:
            said = f"cannot be {word!r}" if word else "was not typed"
            self._note(used, f"a card of {option} {said}; it can be {_some(others)}")
        return fitting

    def _through_move(
        self, state: Any, seat: int, used: tuple[int, int, int], events: list[tuple[int, int]]
    ) -> list[tuple[int, int]] | None:
        player, legal = state.current_player(), state.legal_actions()
        names: Sequence[str] = [str(state.action_to_string(player, action)) for action in legal]
        word, allowed = self.typed.history[used[2]], words_for(names, legal)
        action = allowed.get(word, allowed.get(word.lower()))
        if action is None:
            action, names = self._as_said(events, player, word)
        if action is None:
            self._note(used, f"move {used[2] + 1} of the history cannot be {word!r}; it can be {_some(names)}")
            return None
        after = (used[0], used[1], used[2] + 1)
        return self._from(state.child(action), seat, after, [*events, (player, action)])

    def _as_said(self, events: list[tuple[int, int]], player: int, word: str) -> tuple[int | None, Sequence[str]]:
        """The action that a table calls by this word, such as a check that the rules call a pass; and all its words."""
        table = Table(self.game, Seeded(0), events=events)
        talk, view = talk_for(self.game)(self.game, table.names, player), table.view(player)
        talk.news(table.seen(player))
        return talk.question(view).allowed.get(word.lower()), talk.options(view)

    def _left_over(self, player: int, used: tuple[int, int, int]) -> str:
        if player == TERMINAL:
            return "the hand is over after these moves"
        left = [*self.typed.hand[used[0] :], *self.typed.shown[used[1] :]]
        return f"{' '.join(left)} was not dealt by then"

    def _note(self, used: tuple[int, int, int], why: str) -> None:
        """Remember what ended the attempt that fitted best."""
        if sum(used) > self.furthest:
            self.furthest, self.why = sum(used), why


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + ("…" if len(names) > 8 else "")
