"""The bots of Doudizhu as agents: from a view to a move, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fogplay.bots.doudizhu import arena, playouts, rules
from fogplay.bots.doudizhu.partition import best, split
from fogplay.bots.doudizhu.playouts import Settings, Table
from fogplay.bots.doudizhu.position import Sight
from fogplay.errors import FogplayError
from fogplay.games.doudizhu import NOBODY, PLAYERS, Observation, move_name, move_number
from fogplay.games.doudizhu_heads import LEAD
from fogplay.games.doudizhu_moves import all_moves, follow
from fogplay.games.doudizhu_worlds import split_bounds
from fogplay.play.view import View
from fogplay.simulators.doudizhu_random import mix

STRONG = Settings(
    playouts=300, worlds=64, candidates=8, exact=14, doubt=0.3, pass_doubt=0.5, doubling=0.2, trust=0.03,
    solver_nodes=3000,
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A move that a bot thought of."""

    action: int
    name: str  # its cards, or pass
    win_rate: float | None  # of the side to move, in playouts; None if the bot does not estimate it
    playouts: int
    reason: str


@dataclass(frozen=True)
class Advice:
    """What a bot would do, and the moves that it compared, the best first."""

    action: int
    candidates: tuple[Candidate, ...]

    @property
    def reason(self) -> str:
        return self.candidates[0].reason


def sight_from(seen: Observation) -> Sight:
    """What the compiled bots are asked with; the landlord is seat 0 there."""
    after, before = (seen.seat + 1) % PLAYERS, (seen.seat + 2) % PLAYERS
    return Sight(
        (seen.seat - seen.landlord) % PLAYERS,
        np.uint64(seen.hand),
        np.uint64(seen.unseen),
        seen.cards_left[after],
        seen.cards_left[before],
        seen.to_beat,
        (seen.leader - seen.landlord) % PLAYERS,
    )


def table_from(seen: Observation) -> Table:
    """What ``strong`` works on: how to draw the hidden hands, and the moves so far."""
    others = [(seen.seat + 1) % PLAYERS, (seen.seat + 2) % PLAYERS]
    is_landlord = (others[0] == seen.landlord, others[1] == seen.landlord)
    played = (seen.played[others[0]], seen.played[others[1]])
    bounds = split_bounds(seen.hand + seen.played[seen.seat], seen.shown, played, is_landlord)
    gains = [seen.shown if landlord else 0 for landlord in is_landlord]
    facts, to_beat, passes = np.zeros((len(seen.moves), 5), np.int64), LEAD, 0
    heads, cards = all_moves().heads[list(seen.moves)], all_moves().cards[list(seen.moves)]
    for place, head in enumerate(heads):
        seat = place % PLAYERS
        leader = seat if to_beat == LEAD else (seat - 1 - passes) % PLAYERS
        facts[place] = seat, to_beat, leader, passes, head
        to_beat, passes = map(int, follow(to_beat, passes, int(head)))
    return Table(
        (seen.seat - seen.landlord) % PLAYERS,
        np.uint64(seen.hand),
        seen.to_beat,
        seen.passes,
        np.array([*bounds, *gains, *played], np.uint64),
        facts,
        cards,
    )


class Strong:
    """Plays by sampled worlds, playouts and exact endings."""

    def __init__(self, settings: Settings = STRONG, numbers: Any = None) -> None:
        self.settings, self.mind = settings, playouts.mind(numbers)

    def act(self, view: View) -> int:
        seen = view.observation
        count = self._think(seen, view.luck)
        return self._number(0) if count else view.legal[0]

    def _think(self, seen: Observation, luck: float) -> int:
        mind, sight = self.mind, sight_from(seen)
        count = playouts.list_candidates(sight, self.settings.candidates, mind)
        if count > 1 and int(mind.cards[0]) != seen.hand:
            mind.rng[:] = np.random.SeedSequence(int(luck * 2**53)).generate_state(2, np.uint64)
            playouts.deliberate(table_from(seen), self.settings, mind, count)
        return int(count)

    def _number(self, place: int) -> int:
        number = move_number(int(self.mind.cards[place]))
        assert number is not None
        return number


class Compiled:
    """One of the compiled bots."""

    def __init__(self, kind: int, numbers: Any = None) -> None:
        self.bot = arena.bot(kind, numbers)

    def act(self, view: View) -> int:
        sight = sight_from(view.observation)
        _, cards = arena.asked(self.bot, sight, np.zeros(2, np.uint64))
        return move_number(int(cards))
