"""Limit betting: what games, betting trees, logs and the competition's protocol share about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

FOLD, CALL, RAISE = 0, 1, 2
LETTERS = ("f", "c", "r")
WORDS = ("fold", "call", "raise")
STEPS = {letter: action - CALL for action, letter in enumerate(LETTERS)}  # from the child after calling


def legal_actions(owes: bool, may_raise: bool) -> tuple[int, ...]:
    """Who owes nothing has no reason to fold."""
    if owes:
        return (FOLD, CALL, RAISE) if may_raise else (FOLD, CALL)
    return (CALL, RAISE) if may_raise else (CALL,)


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
