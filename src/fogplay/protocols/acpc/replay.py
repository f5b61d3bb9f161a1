"""Replays a log by the rules: every hand's result, or the first line that breaks them."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fogplay.errors import FogplayError
from fogplay.games.registry import load, registered
from fogplay.notation.acpc import (
    SCORE,
    STATE,
    Cards,
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
from fogplay.protocols.acpc.winnings import clustered_rate

CENT = 1e-5  # tolerance between a logged value and the payoff by the rules: logs have six decimals


@dataclass(frozen=True)
class Replay:
    """The contents of a log that follows the rules."""

    path: str
    hands: int
    totals: dict[str, float]  # chips by name
    score: Score | None  # the last line; None if the match was cut off
    game: str
    definition: Definition
    deals: array[int] = field(repr=False)  # [hands] equal where the cards are: in one log, or in several
    results: array[float] = field(repr=False)  # [hands × players] chips won, in the order of ``totals``


@dataclass(frozen=True)
class Outcome:
    """What a player won in one or several logs."""

    chips: float
    rate: float  # mb/h
    error: float  # its standard error; NaN with fewer than two deals


@dataclass(frozen=True)
class Combined:
    """Several logs as one match: hands with the same cards belong to one deal, however the players sat."""

    hands: int
    deals: int
    players: dict[str, Outcome]  # by name


def combine(logs: Sequence[Replay]) -> Combined:
    """The results of logs together; refuses logs of different games or players."""
    first, *others = logs
    for other in others:
        if other.definition != first.definition:
            raise FogplayError(f"{other.path} is a match of {other.game}, and {first.path} of {first.game}")
        if set(other.totals) != set(first.totals):
            theirs, ours = (", ".join(sorted(log.totals)) for log in (other, first))
            raise FogplayError(f"{other.path} is a match between {theirs}, and {first.path} between {ours}")
    names = list(first.totals)
    keys = np.concatenate([np.asarray(log.deals) for log in logs])
    won = np.concatenate(
        [np.reshape(log.results, (log.hands, -1))[:, [list(log.totals).index(name) for name in names]] for log in logs]
    )
    _, deal_of, counts = np.unique(keys, return_inverse=True, return_counts=True)
    players = {}
    for column, name in enumerate(names):
        sums = np.bincount(deal_of, weights=won[:, column], minlength=len(counts))
        chips = sum(log.totals[name] for log in logs)
        players[name] = Outcome(chips, *clustered_rate(sums, counts, first.definition.big_blind))
    return Combined(len(keys), len(counts), players)


def replay(path: str | os.PathLike[str], game: str | None = None) -> Replay:
    """Replay a log; refuses the first line that breaks the rules of its game, or of the game named."""
    name, definition = (game, load_definition(game)[1]) if game is not None else game_of_log(path)
    played, totals, score = AcpcGame(definition), dict[str, float](), None
    hands, before = 0, -1
    deals, results = array("q"), array("d")
    cards: tuple[Cards, ...] = ()
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
                values = recompute(played, hand)
                _count(hand, values, totals, hands == 0)
                results.extend(values[hand.names.index(name)] for name in totals)
                deals.append(deals[-1] if all(hand.holes) and hand.holes == cards else _deal(path, hand))
                hands, before, cards = hands + 1, hand.number, hand.holes
            elif line.startswith(SCORE):
                score = parse_score(line)
                _compare(score, totals, hands)
            else:
                raise FogplayError(f"{quoted(line)} is not a line of a log")
        except FogplayError as error:
            raise FogplayError(f"{path}, line {number}: {error}") from error
    if hands == 0:
        raise FogplayError(f"{path} holds no hands: no line begins with {STATE}")
    return Replay(str(path), hands, totals, score, name, definition, deals, results)


def _deal(path: str | os.PathLike[str], hand: LoggedHand) -> int:
    """A number for the cards of a hand, the same in duplicate matches; of this log only if some cards are unknown."""
    return hash((hand.number, hand.holes, "" if all(hand.holes) else str(path)))


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
    """The game that a log names in its first comment, if known; else the full deck's for its number of players.

    A definition is known if it is built in, or if its file is here or beside the log.
    """
    for _, line in read_lines(path):
        named = game_in(line)
        if named is not None:
            found = _named(named) or _beside(named, Path(path).parent)
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


def _beside(named: str, folder: Path) -> tuple[str, Definition] | None:
    """A definition from a file of this name, with or without its ending, here or in a folder."""
    for place in (Path(), folder):
        for file in (place / named, place / f"{named}{ENDING}", place / Path(named).name):
            if file.is_file() and file.name.endswith(ENDING):
                return load_definition(str(file))
    return None
