"""Replays a log by the rules: every hand's result, or the first line that breaks them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from fogplay.errors import FogplayError
from fogplay.games.registry import load, registered
from fogplay.notation.acpc import (
    SCORE,
    STATE,
    LoggedHand,
    Score,
    game_in,
    is_comment,
    parse_hand,
    parse_score,
    print_value,
    quoted,
    read_lines,
)
from fogplay.notation.gamedef import ENDING, Definition, definition_of, load_definition, our_definitions, whole_deck
from fogplay.protocols.acpc.game import AcpcGame

CENT = 1e-5  # tolerance between a logged value and the payoff by the rules: logs have six decimals


@dataclass(frozen=True)
class Replay:
    """The contents of a log that follows the rules."""

    hands: int
    totals: dict[str, float]  # chips by name
    score: Score | None  # the last line; None if the match was cut off
    game: str


def replay(path: str | os.PathLike[str], game: str | None = None) -> Replay:
    """Replay a log; refuses the first line that breaks the rules of its game, or of the game named."""
    name, definition = (game, load_definition(game)[1]) if game is not None else game_of_log(path)
    played, totals, score = AcpcGame(definition), dict[str, float](), None
    hands, before = 0, -1
    for number, line in read_lines(path):
        try:
            if is_comment(line):
                continue
            if score is not None:
                raise FogplayError(f"there is {quoted(line)} after the score")
            if line.startswith(STATE):
                hand = parse_hand(line)
                if hands > 0 and hand.number != before + 1:
                    raise FogplayError(f"hand {hand.number} comes after hand {before}")
                _count(hand, recompute(played, hand), totals, hands == 0)
                hands, before = hands + 1, hand.number
            elif line.startswith(SCORE):
                score = parse_score(line)
                _compare(score, totals, hands)
            else:
                raise FogplayError(f"{quoted(line)} is not a line of a log")
        except FogplayError as error:
            raise FogplayError(f"{path}, line {number}: {error}") from error
    if hands == 0:
        raise FogplayError(f"{path} holds no hands: no line begins with {STATE}")
    return Replay(hands, totals, score, name)


def recompute(game: AcpcGame, hand: LoggedHand) -> list[float]:
    """Each seat's winnings by the rules; refuses a hand that is impossible or has other payoffs."""
    situation = game.situation(hand.betting)
    game.check_cards(hand, situation)
    if not len(hand.names) == len(hand.values) == game.players:
        found = f"{len(hand.names)} names and {len(hand.values)} values"
        raise FogplayError(f"{found}; this game is for {game.players} players")
    values = game.values(hand.holes, hand.boards, situation)
    if any(abs(mine - theirs) > CENT for mine, theirs in zip(values, hand.values, strict=True)):
        due, said = ("|".join(map(print_value, each)) for each in (values, hand.values))
        raise FogplayError(f"by the rules this hand is worth {due}, not {said}")
    return values


def _count(hand: LoggedHand, values: list[float], totals: dict[str, float], first: bool) -> None:
    if len(set(hand.names)) != len(hand.names):
        raise FogplayError(f"two players have the same name: {', '.join(hand.names)}")
    if not first and set(hand.names) != set(totals):
        raise FogplayError(f"{', '.join(hand.names)} play, and before it were {', '.join(totals)}")
    for name, value in zip(hand.names, values, strict=True):
        totals[name] = totals.get(name, 0.0) + value


def _compare(score: Score, totals: dict[str, float], hands: int) -> None:
    if len(score.values) != len(score.names) or (hands and set(score.names) != set(totals)):
        raise FogplayError(f"the score is of {', '.join(score.names)}, and {', '.join(totals)} played")
    for name, value in zip(score.names, score.values, strict=True):
        if abs(value - totals.get(name, 0.0)) > CENT:
            raise FogplayError(f"{name} won {print_value(totals.get(name, 0.0))}, not {print_value(value)}")


def game_of_log(path: str | os.PathLike[str]) -> tuple[str, Definition]:
    """The game that a log names in its first comment, if known; else the full deck's for its number of players."""
    for _, line in read_lines(path):
        named = game_in(line)
        if named is not None:
            found = _named(named)
            if found is not None:
                return found
        if line.startswith(STATE):
            held = line.split(":")[3].split("/")[0].split("|") if line.count(":") >= 3 else []
            found = whole_deck(len(held), max(map(len, held), default=0) // 2)
            if found is not None:
                return found
            raise FogplayError(f"{path} does not name a game that is known here: name its definition with --game")
    raise FogplayError(f"{path} holds no hands: no line begins with {STATE}")


def _named(named: str) -> tuple[str, Definition] | None:
    """A definition by fogplay's name, with or without a folder and an extension, or by a registered game's spec."""
    stem = named.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(ENDING)
    if stem in our_definitions():
        return stem, our_definitions()[stem]
    try:
        return (named, definition_of(load(named))) if named.partition("(")[0] in registered() else None
    except FogplayError:
        return None
