"""Limit betting: what games, betting trees, logs and the competition's protocol share about it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fogplay.games.game import Game

FOLD, CALL, RAISE = 0, 1, 2
LETTERS = ("f", "c", "r")
WORDS = ("fold", "call", "raise")
# [owes][may raise] the legal actions: a player who owes nothing cannot fold
LEGAL = (((CALL,), (CALL, RAISE)), ((FOLD, CALL), (FOLD, CALL, RAISE)))
STEPS = {letter: action - CALL for action, letter in enumerate(LETTERS)}  # from the child after calling


class LimitGame(Game):
    """A game whose actions are to fold, call and raise."""

    def num_distinct_actions(self) -> int:
        return len(LETTERS)


class Observation(NamedTuple):
    """What a player sees: its own cards and everything public."""

    seat: int
    hole: tuple[int, ...]
    board: tuple[int, ...]
    betting: tuple[str, ...]  # a string of f, c and r for each round begun
    paid: tuple[int, ...]  # [seats] chips in the pot
    in_hand: tuple[bool, ...]  # [seats] who has not folded

    @property
    def pot(self) -> int:
        return sum(self.paid)

    @property
    def to_call(self) -> int:
        return max(self.paid) - self.paid[self.seat]


def winnings(paid: Sequence[int], in_hand: Sequence[bool], strength: Callable[[int], Any]) -> list[float]:
    """[seats] the pot, or an equal share of it, less what each paid; ``strength`` compares hands at a showdown."""
    seats = range(len(paid))
    winners = [seat for seat in seats if in_hand[seat]]
    if len(winners) > 1:
        strengths = {seat: strength(seat) for seat in winners}
        best = max(strengths.values())
        winners = [seat for seat in winners if strengths[seat] == best]
    share = sum(paid) / len(winners)
    return [(share if seat in winners else 0.0) - paid[seat] for seat in seats]


def raises_by(player: int, betting: Sequence[str], players: int, first_to_act: Callable[[int], int]) -> int:
    """How often a player has raised: whose move each letter was follows from who was in."""
    made, in_hand = 0, [True] * players
    for round_, letters in enumerate(betting):
        seat = first_to_act(round_)
        for letter in letters:
            while not in_hand[seat]:
                seat = (seat + 1) % players
            made += letter == "r" and seat == player
            in_hand[seat] = letter != "f"
            seat = (seat + 1) % players
    return made


def most_actions(players: int, max_raises: Sequence[int]) -> int:
    """The most actions of a hand of limit betting, with so many raises in each round.

    In a round all but one check, who bets; all but one call, who raises, and so on; after the last raise all call.
    """
    return sum(
        2 * (players - 1) + raises + (raises - 1) * (players - 2) if raises else players for raises in max_raises
    )


def decisions(game: Any) -> tuple[int, ...]:
    """[rounds] decision nodes of a game's betting tree."""
    return _per_round(game, lambda _actions: 1)


def actions(game: Any) -> tuple[int, ...]:
    """[rounds] actions at all decision nodes of a game's betting tree."""
    return _per_round(game, lambda actions: actions)


def _per_round(game: Any, weight: Callable[[int], int]) -> tuple[int, ...]:
    """[rounds] the sum over decision nodes of a weight by the number of actions; equal subtrees are visited once."""

    @functools.cache
    def count(
        round_: int, in_hand: tuple[bool, ...], seat: int, to_settle: int, raised: int, owing: tuple[bool, ...]
    ) -> tuple[int, ...]:
        total = [0] * game.rounds
        if to_settle == 0:
            if round_ == game.rounds - 1:
                return tuple(total)
            first = game.first_to_act(round_ + 1)
            return count(round_ + 1, in_hand, _next_in(in_hand, first), sum(in_hand), 0, (False,) * game.players)
        may_raise = raised < game.max_raises[round_]
        total[round_] = weight(1 + owing[seat] + may_raise)
        after = _next_in(in_hand, (seat + 1) % game.players)
        settled = tuple(owes and other != seat for other, owes in enumerate(owing))
        ways = [(in_hand, after, to_settle - 1, raised, settled)]
        if owing[seat]:
            left = tuple(still and other != seat for other, still in enumerate(in_hand))
            if sum(left) > 1:
                ways.append((left, _next_in(left, (seat + 1) % game.players), to_settle - 1, raised, settled))
        if may_raise:
            facing = tuple(other != seat for other in range(game.players))
            ways.append((in_hand, after, sum(in_hand) - 1, raised + 1, facing))
        for way in ways:
            total = [mine + other for mine, other in zip(total, count(round_, *way), strict=True)]
        return tuple(total)

    everybody = (True,) * game.players
    owing = tuple(blind < max(game.blinds) for blind in game.blinds)
    return count(0, everybody, game.first_to_act(0), game.players, 0, owing)


def _next_in(in_hand: tuple[bool, ...], seat: int) -> int:
    while not in_hand[seat]:
        seat = (seat + 1) % len(in_hand)
    return seat
