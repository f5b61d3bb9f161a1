"""Matches without sockets, and what they are compared with."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from fogplay.agents import match
from fogplay.notation.gamedef import Definition, game_of, load_definition
from fogplay.protocols.acpc.client import Client
from fogplay.protocols.acpc.dealer import Dealer, Limits, Terms
from fogplay.protocols.acpc.game import AcpcGame
from fogplay.protocols.acpc.players import seated
from fogplay.protocols.acpc.sockets import Local, run
from fogplay.simulators.holdem_duplicate import Story, state_line


def dealer_of(
    game: str, hands: int, names: Sequence[str] = (), log: Callable[[str], None] = lambda _: None, **terms: Any
) -> Dealer:
    name, definition = load_definition(game)
    given = names or [f"p{number}" for number in range(definition.players)]
    return Dealer(AcpcGame(definition), given, Terms("test", name, hands, terms.pop("seed", 1), **terms), log)


def play_locally(game: str, agents: Sequence[str], hands: int, **terms: Any) -> tuple[Dealer, list[str]]:
    """A match in process, through the same lines as over the network; the dealer and its log."""
    log: list[str] = []
    dealer = dealer_of(game, hands, agents if len(set(agents)) == len(agents) else (), log.append, **terms)
    definition = dealer.game.definition
    seats = {agent: seated(agent, definition) for agent in agents}
    run(dealer, [Local(Client(seats[agent], seed=dealer.terms.seed)) for agent in agents])
    return dealer, log


def compiled_lines(definition: Definition, agents: Sequence[str], hands: int, seed: int, turn: int = 0) -> list[str]:
    """The same match by the compiled kernel: hand h is deal h in the seating of the competition."""
    rules: Any = game_of(definition)
    ways = list(itertools.permutations(range(rules.players)))
    played = match(rules, agents, hands * len(ways), seed=seed, keep=True)
    source = played.format.source  # type: ignore[attr-defined]
    story, lines = Story(rules, source.betting), []
    for hand in range(played.deals):
        cards, _ = source.cards(seed, hand)
        sitting = tuple((seat + hand - turn) % rules.players for seat in range(rules.players))
        end = int(played.ends[hand, ways.index(sitting)])
        lines.append(state_line(hand, story, cards, end, [agents[player] for player in sitting]))
    return lines


def hands_in(log: Sequence[str]) -> list[str]:
    return [line for line in log if line.startswith("STATE:")]


QUICK = Limits(answer=2.0, hand=20.0, per_hand=20.0)
