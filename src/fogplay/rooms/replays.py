"""Hands played again: a finished hand up to each decision, and with the reference in the person's seat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from fogplay.games.game import CHANCE
from fogplay.notation.talk import talk_for
from fogplay.play import Table, View
from fogplay.play.agent import begin
from fogplay.play.luck import Given, Luck, Seeded
from fogplay.rooms.company import Company

BASELINES = 8  # hands over which a baseline is averaged, if the players are quick


class Decision(NamedTuple):
    """A decision of the person in a finished hand."""

    view: View
    path: tuple[tuple[Any, int, int], ...]  # the moves before it: state, seat and action; for players in turn only
    situation: str
    options: tuple[str, ...]
    action: int


class Changed(Seeded):
    """The chance moves of another luck, and other random numbers for decisions."""

    def __init__(self, luck: Luck, seed: str) -> None:
        super().__init__(seed)
        self._luck = luck

    def chance(self, state: Any, before: int) -> int:
        return self._luck.chance(state, before)


def decisions_of(game: Any, events: Sequence[Sequence[int]], seat: int, names: Sequence[str]) -> Iterator[Decision]:
    """The decisions of a seat in a hand, with the view that it had."""
    chance = [int(action) for who, action in events if who == CHANCE]
    table = Table(game, Given(chance, 0), names)
    talk = talk_for(game)(game, names, seat)
    for who, action in events:
        if who == CHANCE:
            continue
        if who == seat:
            talk.news(table.seen(seat))
            view = table.view(seat)
            yield Decision(view, path_of(table), talk.situation(view), tuple(talk.options(view)), int(action))
        table.take(who, action)


def path_of(table: Table) -> tuple[tuple[Any, int, int], ...]:
    """The moves of a table so far, with the states in which they were made."""
    state, path = table.game.new_initial_state(), []
    for event in table.events:
        if state.current_player() < CHANCE:
            return ()  # players move at the same time
        path.append((state, event.seat, event.action))
        state = state.child(event.action)
    return tuple(path)


def played(game: Any, agents: Sequence[Any], luck: Luck, seed: int) -> tuple[float, ...]:
    """The scores of a hand between agents."""
    for seat, agent in enumerate(agents):
        begin(agent, game, seat, seed)
    table = Table(game, luck)
    while not table.is_over:
        for seat in table.to_act:
            table.take(seat, agents[seat].act(table.view(seat)))
    return table.scores


def baseline(company: Company, seat: int, luck: Luck, seed: str, number: int) -> float:
    """What the reference makes at a seat with the same chance moves: the mean of a few hands if all play quickly."""
    agents = [*company.others[:seat], company.reference.agent, *company.others[seat:]]
    more = range(1, BASELINES if company.is_quick else 1)
    lucks = [luck, *(Changed(luck, f"{seed} baseline {number} {each}") for each in more)]
    return sum(played(company.rules, agents, each, number)[seat] for each in lucks) / len(lucks)
