"""Matches without sockets, and what they are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fogplay.agents import play_duplicate, policies
from fogplay.agents.log import Story, state_line
from fogplay.agents.match import deals_of, seatings
from fogplay.notation.gamedef import Definition, game_of, load_definition
from fogplay.protocols.acpc.client import Client
from fogplay.protocols.acpc.dealer import Dealer, Limits, Terms
from fogplay.protocols.acpc.players import seated
from fogplay.protocols.acpc.sockets import Local, run
from fogplay.protocols.acpc.table import Table


def dealer_of(
    game: str, hands: int, names: Sequence[str] = (), log: Callable[[str], None] = lambda _: None, **terms: Any
) -> Dealer:
    name, definition = load_definition(game)
    given = names or [f"p{number}" for number in range(definition.players)]
    return Dealer(Table(definition), given, Terms("test", name, hands, terms.pop("seed", 1), **terms), log)


def play_locally(game: str, agents: Sequence[str], hands: int, **terms: Any) -> tuple[Dealer, list[str]]:
    """A match in process, through the same lines as over the network; the dealer and its log."""
    log: list[str] = []
    dealer = dealer_of(game, hands, agents if len(set(agents)) == len(agents) else (), log.append, **terms)
    definition = dealer.table.definition
    seats = {agent: seated(agent, definition) for agent in agents}
    run(dealer, [Local(Client(seats[agent], seed=dealer.terms.seed)) for agent in agents])
    return dealer, log


def compiled_lines(definition: Definition, agents: Sequence[str], hands: int, seed: int, turn: int = 0) -> list[str]:
    """The same match by the compiled kernel: hand h is deal h in the seating of the competition."""
    rules: Any = game_of(definition)
    match = play_duplicate(rules, policies(agents, rules), hands * len(seatings(rules.players)), seed=seed, keep=True)
    ways = [tuple(way) for way in seatings(rules.players).tolist()]
    story, lines = Story(rules, match.betting), []
    assert match.ends is not None
    for hand, cards in enumerate(deals_of(match)):
        sitting = tuple((seat + hand - turn) % rules.players for seat in range(rules.players))
        end = int(match.ends[hand, ways.index(sitting)])
        lines.append(state_line(hand, story, cards.tolist(), end, [agents[player] for player in sitting]))
    return lines


def hands_in(log: Sequence[str]) -> list[str]:
    return [line for line in log if line.startswith("STATE:")]


QUICK = Limits(answer=2.0, hand=20.0, per_hand=20.0)
