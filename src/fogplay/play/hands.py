"""Hands at tables: one hand between agents, and blocks of a match's deals."""

from __future__ import annotations

import contextlib
import copy
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fogplay.errors import FogplayError
from fogplay.interrupts import Stop
from fogplay.play.agent import Uniform, begin
from fogplay.play.formats import Block, Format, Trouble, merged
from fogplay.play.luck import Luck, Seeded
from fogplay.play.table import Table
from fogplay.strategies import Strategy

Cast = Sequence[Any]  # [players] agents


def play_hand(
    game: Any,
    luck: Luck,
    agents: Sequence[Any],
    names: Sequence[str] | None = None,
    seed: int = 0,
    limit: float | None = None,
) -> Table:
    """Play one hand between agents, one per seat; return the table at its end.

    ``limit`` are the seconds for each decision, which agents see as the view's deadline.
    """
    for seat, agent in enumerate(agents):
        begin(agent, game, seat, seed)
    table = Table(game, luck, names)
    while not table.is_over:
        for seat in table.to_act:
            if limit is not None:
                table.deadline = time.monotonic() + limit
            table.take(seat, agents[seat].act(table.view(seat)))
    return table


class Hands:
    """Plays the deals of a match, hand by hand."""

    def __init__(
        self,
        rules: Any,
        format: Format,
        casts: Sequence[Cast],
        names: Sequence[str],
        seed: int,
        *,
        keep: bool = False,
        anew: bool = False,
        limit: float | None = None,
    ) -> None:
        """``casts[k]`` has the agents for the k-th seat that a player takes in one hand.

        With ``anew``, nothing is carried from one deal to the next: the luck of a deal depends only on its number, and
        agents that draw random numbers of their own are seeded before every hand (``reseed``).
        """
        self.rules, self.format, self.casts, self.names = rules, format, casts, names
        self.seed, self.keep, self.limit = seed, keep, limit
        self.anew = anew or not _carries_over(format)
        self.luck = format.luck(seed) if format.by_deal or not anew else _luck_by_deal(seed)
        self.interrupted = False

    def block(
        self, first: int, count: int, stop: Stop | None = None, go_on: Callable[[int], bool] | None = None
    ) -> Block:
        """Play up to ``count`` deals from number ``first``; a signal keeps the completed deals.

        ``go_on`` is called with the number of deals done, and ends the block with False.
        """
        format, players = self.format, int(self.rules.num_players())
        scores, ends, done = np.zeros((count, len(format.seatings(0)), players)), [], 0
        try:
            for place in range(count):
                if stop is not None and stop.is_set():
                    break
                with stop.at_once() if stop is not None else contextlib.nullcontext():
                    kept = self._deal(first + place, scores[place])
                ends.append(kept)
                done = place + 1
                if go_on is not None and not go_on(done):
                    break
        except KeyboardInterrupt:
            self.interrupted = True
        return Block(format.counted(scores[:done]), ends[:done], self._troubles())

    def _deal(self, deal: int, scores: Any) -> list[Any]:
        """Play a deal in all its seatings; fill ``scores[seatings, seats]`` and return how the hands ended."""
        luck, kept = self.luck(deal), []
        for turn, seating in enumerate(self.format.seatings(deal)):
            sitting = [self._agent(seating, seat) for seat in range(len(seating))]
            if self.anew:
                for seat, agent in enumerate(sitting):
                    reseed = getattr(agent, "reseed", None)
                    if reseed is not None:
                        reseed(len(seating) * (self.seed + deal) + seat)
            called = [self.names[player] for player in seating]
            table = play_hand(self.rules, luck, sitting, called, self.seed + deal, self.limit)
            scores[turn] = table.scores
            if self.keep:
                kept.append(self.format.end(table.moves))
        return kept

    def _agent(self, seating: Sequence[int], seat: int) -> Any:
        player = seating[seat]
        return self.casts[seating[:seat].count(player) % len(self.casts)][player]

    def _troubles(self) -> tuple[Trouble, ...]:
        """What players did wrong since the last time."""
        found = []
        for cast in self.casts:
            for player, agent in enumerate(cast):
                told = getattr(agent, "take_troubles", None)
                found += [Trouble(player, kind, 1, first) for kind, first in told()] if told is not None else []
        return merged(found)

    def close(self) -> None:
        """Let agents end what they have started, such as other programs."""
        for cast in self.casts:
            close(cast)


def close(agents: Sequence[Any]) -> None:
    """Let agents end what they have started, such as other programs."""
    for agent in agents:
        ending = getattr(agent, "close", None)
        if ending is not None:
            ending()


def twin(agent: Any) -> Any:
    """An agent for another seat of the same side, so that nothing that one seat has seen reaches the other.

    Strategies keep nothing between decisions and are shared; other agents are copied.
    """
    if isinstance(agent, Strategy | Uniform):
        return agent
    try:
        return copy.deepcopy(agent)
    except Exception as error:
        kind = type(agent).__name__
        raise FogplayError(
            f"every seat of a side has an agent of its own, and {kind} cannot be copied ({error}): define "
            "__deepcopy__, or pass one agent per seat"
        ) from error


def most_seats(format: Format) -> int:
    """The most seats that one player takes in a hand."""
    return max(seating.count(player) for seating in format.seatings(0) for player in seating)


def _carries_over(format: Format) -> bool:
    """Whether agents keep what they have between deals, as they do where each has one seat."""
    return most_seats(format) == 1


def _luck_by_deal(seed: int) -> Callable[[int], Luck]:
    return lambda deal: Seeded(f"{seed} {deal}")
