"""Slow and obvious twins: histories by walking states, counts and expectation-maximisation with dictionaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from fogplay.games import CHANCE


class Play(NamedTuple):
    """One full history."""

    moves: tuple[str, ...]
    by_chance: tuple[bool, ...]
    chance: float
    choices: tuple[tuple[int, str, str], ...]  # player, infoset, action
    last: Any


def every_play(game: Any) -> Iterator[Play]:
    waiting = [Play((), (), 1.0, (), game.new_initial_state())]
    while waiting:
        moves, by_chance, chance, choices, state = waiting.pop()
        player = state.current_player()
        if state.is_terminal():
            yield Play(moves, by_chance, chance, choices, state)
        elif player == CHANCE:
            for action, probability in state.chance_outcomes():
                name = state.action_to_string(player, action)
                more = (*moves, name), (*by_chance, True), chance * probability, choices, state.child(action)
                waiting.append(Play(*more))
        else:
            infoset = state.information_state_string(player)
            for action in state.legal_actions():
                name = state.action_to_string(player, action)
                made = (*choices, (player, infoset, name))
                waiting.append(Play((*moves, name), (*by_chance, False), chance, made, state.child(action)))


def completions(plays: list[Play], moves: tuple[str, ...]) -> list[Play]:
    """The plays that agree with the moves of a hand; ``?`` matches any move of chance."""
    return [
        play
        for play in plays
        if len(play.moves) == len(moves)
        and all(
            seen == made or (seen == "?" and hidden)
            for seen, made, hidden in zip(moves, play.moves, play.by_chance, strict=True)
        )
    ]


def strategy_of(counts: dict[tuple[str, str], float], actions: dict[str, list[str]], prior: float) -> Any:
    out = {}
    for infoset, names in actions.items():
        total = sum(counts[infoset, name] for name in names) + prior
        for name in names:
            even = 1 / len(names)
            out[infoset, name] = (counts[infoset, name] + prior * even) / total if total else even
    return out


def learn(
    game: Any, hands: list[tuple[tuple[str, ...], tuple[str, ...]]], player: str, prior: float, rounds: int
) -> Any:
    """The strategy and the expected counts of a player after ``rounds``; the others are learned as one player."""
    plays = list(every_play(game))
    actions: dict[str, list[str]] = defaultdict(list)
    for play in plays:
        for _, infoset, name in play.choices:
            if name not in actions[infoset]:
                actions[infoset].append(name)
    none: dict[tuple[str, str], float] = defaultdict(float)
    mine, others = strategy_of(none, actions, prior), strategy_of(none, actions, prior)
    known = {moves: completions(plays, moves) for _, moves in hands}
    for _ in range(rounds):
        counts: list[dict[tuple[str, str], float]] = [defaultdict(float), defaultdict(float)]
        for names, moves in hands:
            if player not in names:
                continue
            weights = []
            for play in known[moves]:
                weight = play.chance
                for seat, infoset, name in play.choices:
                    weight *= (mine if names[seat] == player else others)[infoset, name]
                weights.append(weight)
            for play, weight in zip(known[moves], weights, strict=True):
                for seat, infoset, name in play.choices:
                    counts[names[seat] != player][infoset, name] += weight / sum(weights)
        mine, others = strategy_of(counts[0], actions, prior), strategy_of(counts[1], actions, prior)
    return mine, counts[0]
