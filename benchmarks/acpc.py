"""Hands per second through the competition's protocol, compared with the same match without it.

    python benchmarks/acpc.py                # two players: a minute
    python benchmarks/acpc.py --three        # three players too: another minute, 3 GB of memory

prints a table. Each row plays the same hands with the same cards and luck: compiled; by the rules in plain Python;
through the dealer's and the clients' lines in one process; and over loopback, where every client is its own process.
Best of three runs, without start-up.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from fogplay.agents import resolve
from fogplay.notation.gamedef import Definition, game_of, load_definition
from fogplay.play import View, match
from fogplay.protocols.acpc.client import Client
from fogplay.protocols.acpc.dealer import Dealer, Terms
from fogplay.protocols.acpc.game import AcpcGame
from fogplay.protocols.acpc.players import seated
from fogplay.protocols.acpc.sockets import Chair, Local, Patience, accept, listen, run

RUNS = 3
SEED = 1


class Plain:
    """An agent that compiled loops do not support."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    def act(self, view: View) -> int:
        return int(self.agent.act(view))


def dealt(definition: Definition, agents: Sequence[str], hands: int, chairs: list[Any]) -> tuple[float, list[str]]:
    """Seconds, and the log."""
    log: list[str] = []
    names = [f"p{number}" for number in range(len(agents))]
    dealer = Dealer(AcpcGame(definition), names, Terms("benchmark", "game", hands, SEED), log.append)
    began = time.perf_counter()
    run(dealer, chairs)
    assert dealer.over, dealer.ended
    return time.perf_counter() - began, log


def in_process(definition: Definition, agents: Sequence[str], hands: int) -> tuple[float, list[str]]:
    chairs = [Local(Client(seated(agent, definition), seed=SEED)) for agent in agents]
    return dealt(definition, agents, hands, chairs)


def over_loopback(game: str, definition: Definition, agents: Sequence[str], hands: int) -> tuple[float, list[str]]:
    doors = [listen("127.0.0.1", 0) for _ in agents]
    command = [sys.executable, "-m", "fogplay.cli", "acpc", "join", "127.0.0.1"]
    clients = [
        subprocess.Popen(
            [*command, str(door.getsockname()[1]), "--agent", agent, "--game", game, "--seed", str(SEED), "--json"],
            stdout=subprocess.DEVNULL,
        )
        for door, agent in zip(doors, agents, strict=True)
    ]
    chairs: list[Chair] = [accept(door, agent, Patience(120)) for door, agent in zip(doors, agents, strict=True)]
    seconds, log = dealt(definition, agents, hands, chairs)
    for client in clients:
        assert client.wait(60) == 0
    return seconds, log


def best(runs: int, play: Callable[[], tuple[float, Any]]) -> tuple[float, Any]:
    return min((play() for _ in range(runs)), key=lambda each: each[0])


def race(game: str, agents: Sequence[str], hands: int, scale: float) -> None:
    """Print a row for each way of playing a match; ``scale`` is the share of the hands to play."""
    hands, compiled, by_rules = (max(1, round(scale * count)) for count in (hands, 2_000_000, 4000))
    definition = load_definition(game)[1]
    rules: Any = game_of(definition)
    playing = resolve(agents, rules)
    plain: Any = [Plain(agent) for agent in playing]

    def duplicate(players: Any, count: int) -> tuple[float, None]:
        played = match(rules, players, count, seed=SEED)
        return played.seconds * count / played.hands, None

    duplicate(playing, 1000)
    lines, log = best(RUNS, lambda: in_process(definition, agents, hands))
    loopback, other = best(RUNS, lambda: over_loopback(game, definition, agents, hands))
    assert log == other, "the hands differ"
    rows = [
        ("compiled", compiled, best(RUNS, lambda: duplicate(playing, compiled))[0]),
        ("the rules in plain Python", by_rules, best(RUNS, lambda: duplicate(plain, by_rules))[0]),
        ("dealer and clients in one process", hands, lines),
        (f"over loopback, {len(agents)} clients", hands, loopback),
    ]
    for title, count, seconds in rows:
        print(f"| {', '.join(agents)} | {title} | {count:,} | {count / seconds:,.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--three", action="store_true", help="three players too")
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the hands to play, for a quick look")
    options = parser.parse_args()
    print("| match | how | hands | hands/s |\n|---|---|---|---|")
    race("holdem.limit.2p", ["sparring", "rules"], 10_000, options.scale)
    race("holdem.limit.2p", ["always-fold", "rules"], 10_000, options.scale)
    if options.three:
        race("holdem.limit.3p", ["rules", "always-call", "probe"], 5000, options.scale)


if __name__ == "__main__":
    main()
