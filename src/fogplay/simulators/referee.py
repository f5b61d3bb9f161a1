"""``Referee``: plays a game by its own rules for a kernel, and checks the game as it goes.

The checks are those of ``trees/flatten.py``, on the part of the game that is played; but two players may have infosets
of the same name, as in some of OpenSpiel's games.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL
from fogplay.games.own import UNKNOWN, failed, history_named
from fogplay.trees.checks import (
    check_chance_player,
    check_chances,
    check_infoset,
    check_returns,
    complain_of_infoset,
)

EVEN = 1e-15  # chances that differ by less are taken as even, as in a tree
NEW, NAME = -1, -2  # in place of a node: begin an episode, remember the infoset entered last
MOST_MOVES = 2_000_000  # in one episode or traversal: at most a minute


class Menu(NamedTuple):
    """The actions of an infoset; many infosets have the same."""

    actions: tuple[int, ...]
    names: tuple[str, ...]


class Met(NamedTuple):
    """An infoset that has slots."""

    name: str
    player: int
    key: int
    menu: Menu


class Infosets:
    """The infosets that have slots, by player and name, and by key."""

    def __init__(self, players: int) -> None:
        self.of_player: list[dict[str, Met]] = [{} for _ in range(players)]
        self.by_key: dict[int, Met] = {}
        self._menus: dict[Menu, Menu] = {}

    def add(self, name: str, player: int, key: int, menu: Menu) -> None:
        met = Met(name, player, key, self._menus.setdefault(menu, menu))
        other = self.by_key.setdefault(key, met)
        if (other.name, other.player) != (name, player):
            raise FogplayError(f"infosets {name!r} and {other.name!r} have the same 64-bit key: rename one of them")
        self.of_player[player][name] = met

    def packed(self) -> dict[str, NDArray[Any]]:
        """All of them as arrays."""
        numbers = {menu: number for number, menu in enumerate(self._menus)}
        every = self.by_key.values()
        return {
            "infosets": _text([met.name for met in every]),
            "infoset_player": np.array([met.player for met in every], np.int8),
            "infoset_menu": np.array([numbers[met.menu] for met in every], np.int64),
            "menus": _text([[menu.actions, menu.names] for menu in self._menus]),
        }

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add infosets from the result of ``packed``."""
        menus = [Menu(tuple(actions), tuple(names)) for actions, names in json.loads(bytes(arrays["menus"]))]
        names, players = json.loads(bytes(arrays["infosets"])), arrays["infoset_player"].tolist()
        for name, player, menu in zip(names, players, arrays["infoset_menu"].tolist(), strict=True):
            self.add(name, player, key_of_infoset(player, name), menus[menu])


def _text(lines: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(lines, ensure_ascii=False).encode(), np.uint8)


def key_of_infoset(player: int, name: str) -> int:
    """64 bits of a hash of an infoset's string and its player; never 0."""
    return int.from_bytes(hashlib.blake2b(f"{player} {name}".encode(), digest_size=8).digest(), "little") or 1


class Rules(Protocol):
    """The facts about a game that a referee needs."""

    name: str
    root: Any
    draw_start: Callable[[float], Any] | None
    num_players: int
    deepest: int
    widest: int


class Referee:
    """One worker's game. A node is the number of moves made, so that a kernel can go back to any on the way."""

    def __init__(self, rules: Rules, infosets: Infosets) -> None:
        self.rules, self.infosets = rules, infosets
        self.node = np.zeros(2, np.int64)  # the player to act, the number of actions
        self.key = np.zeros(1, np.uint64)
        self.payoffs = np.zeros(rules.num_players)
        self.states: list[Any] = []  # the start of the episode, and the state after each move
        self.moves: list[Any] = []  # the legal moves at each of these states
        self.made: list[Any] = []  # the move made at each state
        self.name = ""  # of the infoset entered last
        self.count = 0  # of moves since the episode began
        self.error: BaseException | None = None
        self.unplayed = 0  # episodes asked for since then

    def step(self, node: int, action: int, luck: float) -> int:
        """Called by a kernel: begin an episode, remember an infoset, or advance from ``node``; return the next node.

        After a mistake in the rules every episode is over at once, until the kernel comes back.
        """
        if self.error is not None:
            self.unplayed += node == NEW
            return 0
        try:
            if node == NAME:
                self._remember()
                return 0
            if node == NEW:
                del self.states[:], self.moves[:], self.made[:]
                self.count = 0
                draw = self.rules.draw_start
                return self._enter(self.rules.root if draw is None else draw(luck))
            del self.states[node + 1 :], self.moves[node + 1 :], self.made[node:]
            moves = self.moves[node]
            state = self.states[node]
            move = moves[action] if type(moves) is not _Chances else moves.draw(luck)
            self.made.append(move)
            return self._enter(state.child(move))
        except BaseException as error:  # a C function cannot raise: the learner asks afterwards
            self._fail(error)
            return 0

    def _enter(self, state: Any) -> int:
        """Inspect a new node, and store what a kernel may ask about it."""
        states = self.states
        self.count += 1
        if self.count > MOST_MOVES:
            raise FogplayError(
                f"one iteration on {self.rules.name} makes over {MOST_MOVES:,} moves; use os-mccfr, smooth-uct or uct"
            )
        states.append(state)
        if len(states) > self.rules.deepest + 1:
            self._complain(f"it is not over after {self.rules.deepest:,} moves; every play must end sooner")
        player = state.current_player()
        if player >= 0:
            name, moves = state.information_state_string(player), state.legal_actions()
            met = self.infosets.of_player[player].get(name) if player < self.rules.num_players else None
            if met is None:
                self._check_new(player, name, moves)
                self.key[0] = key_of_infoset(player, name)
            else:
                if met.menu.actions != tuple(moves):
                    complain_of_infoset(name, player, player, met.menu.actions, moves, self._complain)
                self.key[0] = met.key
            self.name = name
            self.moves.append(moves)
            self.node[0], self.node[1] = player, len(moves)
        elif player == TERMINAL:
            returns = state.returns()
            check_returns(returns, self.rules.num_players, self._complain)
            self.moves.append(())
            self.payoffs[:] = returns
            if not np.isfinite(self.payoffs).all():
                self._complain(f"a payoff is not a finite number ({self.payoffs.tolist()})")
            self.node[0], self.node[1] = TERMINAL, 0
        else:
            check_chance_player(player, self._complain)
            outcomes = state.chance_outcomes()
            check_chances([outcome[1] for outcome in outcomes], self._complain)
            self.moves.append(_Chances(outcomes))
            self.node[0], self.node[1] = CHANCE, len(outcomes)
        return len(states) - 1

    def _check_new(self, player: int, name: Any, moves: Any) -> None:
        check_infoset(player, self.rules.num_players, name, moves, self._complain)
        if len(moves) > self.rules.widest:
            self._complain(f"player {player} has {len(moves):,} actions, and there is room for {self.rules.widest:,}")

    def _remember(self) -> None:
        """The infoset of the node entered last has slots now."""
        state, moves, player = self.states[-1], self.moves[-1], int(self.node[0])
        names = tuple(str(state.action_to_string(player, move)) for move in moves)
        self.infosets.add(self.name, player, int(self.key[0]), Menu(tuple(moves), names))

    def _complain(self, what: str, cause: Exception | None = None, kind: type[FogplayError] = FogplayError) -> None:
        raise kind(f"{self.rules.name}: {what}; seen after: {self._history()}") from cause

    def _fail(self, error: BaseException) -> None:
        """Keep a mistake for the learner, and end the episode."""
        if isinstance(error, Exception) and not isinstance(error, FogplayError):
            try:
                self._complain(failed(error, self.states[-1] if self.states else UNKNOWN), error)
            except FogplayError as line:
                error = line
        self.error, self.unplayed = error, 1
        self.node[0], self.node[1] = TERMINAL, 0
        self.payoffs[:] = 0.0

    def _history(self) -> str:
        """The names of the moves made."""
        steps = zip(self.states, self.made, strict=False)
        return history_named([(state, state.current_player(), move) for state, move in steps])


class _Chances:
    """The moves of chance: evenly likely ones are drawn as in a tree, others by their cumulated probabilities."""

    __slots__ = ("_bounds", "moves")

    def __init__(self, outcomes: Any) -> None:
        self.moves = [outcome[0] for outcome in outcomes]
        probabilities = [outcome[1] for outcome in outcomes]
        even = max(probabilities) - min(probabilities) <= EVEN
        self._bounds = None if even else list(accumulate(probabilities))

    def draw(self, luck: float) -> Any:
        if self._bounds is None:
            return self.moves[int(luck * len(self.moves))]
        place = bisect_right(self._bounds, luck * self._bounds[-1])
        return self.moves[min(place, len(self.moves) - 1)]
