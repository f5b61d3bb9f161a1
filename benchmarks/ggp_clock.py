"""Does a player keep its clock on a busy machine? 200 moves over HTTP, two other processes at full load.

    python benchmarks/ggp_clock.py [--moves 200] [--clock 2] [--agent ggp:auto] [--sheet connectfour.kif]

A player in a process of its own gets START and PLAY as from a server; its opponent moves at random. A move's margin is
the play clock less the time from sending PLAY to having the reply. Matches follow one another until there are enough
moves for which the player has a choice.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fogplay.experiments.general_game_playing import player, rules_of
from fogplay.games.gdl import GdlGame
from fogplay.protocols.ggp.host import Host
from fogplay.protocols.ggp.http import ask

START_CLOCK = 20.0


@dataclass(frozen=True)
class Kept:
    """How a player kept its clock."""

    moves: int
    late: int
    illegal: int
    margins: tuple[float, ...]  # seconds

    def __str__(self) -> str:
        least, middle = min(self.margins), statistics.median(self.margins)
        return (
            f"{self.moves} moves: {self.late} late, {self.illegal} illegal; margin {least:.3f} s at least, "
            f"{middle:.3f} s in the median"
        )


def _burn() -> None:
    while True:
        sum(range(100_000))


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep cores busy with other processes."""
    context = multiprocessing.get_context("spawn")
    burning = [context.Process(target=_burn, daemon=True) for _ in range(processes)]
    for each in burning:
        each.start()
    try:
        yield
    finally:
        for each in burning:
            each.kill()
            each.join()


def measure(sheet: str, agent: str, moves: int, clock: float, load: int = 2) -> Kept:
    """Play until the player has made so many moves with a choice."""
    game, rules, rng = GdlGame(sheet), rules_of(sheet), np.random.default_rng(1)
    margins: list[float] = []
    illegal = number = 0
    with player(agent) as address, busy(load):
        while len(margins) < moves:
            host = Host(game, f"clock.{number}", rules, START_CLOCK, clock, rng)
            seat = number % len(game.players)
            number += 1
            if ask(address, host.start(seat), START_CLOCK) != "ready":
                raise SystemExit("the player was not ready in time")
            while not host.is_over and len(margins) < moves:
                legal = host.machine.legal(host.state)
                sent = time.monotonic()
                reply = ask(address, host.ask(seat), clock + 5.0)
                if len(legal[game.players[seat]]) > 1:
                    margins.append(clock - (time.monotonic() - sent))
                replies = [str(None)] * len(game.players)
                replies[seat] = reply or ""
                host.take(replies)
            illegal += sum(player == seat for _, player, _ in host.faults)
            ask(address, f"(ABORT {host.name})", 5.0)
    return Kept(len(margins), sum(margin <= 0 for margin in margins), illegal, tuple(margins))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=200)
    parser.add_argument("--clock", type=float, default=2.0)
    parser.add_argument("--agent", default="ggp:auto:86400s")
    parser.add_argument("--sheet", default="connectfour.kif")
    parser.add_argument("--load", type=int, default=2, help="processes that keep cores busy")
    given = parser.parse_args()
    kept = measure(given.sheet, given.agent, given.moves, given.clock, given.load)
    print(f"{given.agent} on {given.sheet} with a play clock of {given.clock:g} s, {given.load} busy processes: {kept}")


if __name__ == "__main__":
    main()
