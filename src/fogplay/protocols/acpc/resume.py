"""Reads the log of a match that was cut off, so that the dealer can continue it.

A log fits only if the same terms would have written it: its head, and of every hand the number, the names at the seats,
the cards that the seed deals, and the payoffs by the rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from fogplay.errors import FogplayError
from fogplay.notation.acpc import (
    MOST_LINE,
    SCORE,
    STATE,
    LoggedHand,
    head_in,
    is_comment,
    parse_hand,
    quoted,
)
from fogplay.protocols.acpc.dealer import Past, Terms, head, player_at
from fogplay.protocols.acpc.deals import Deals
from fogplay.protocols.acpc.game import AcpcGame
from fogplay.protocols.acpc.replay import recompute
from fogplay.protocols.acpc.winnings import Winnings


def read_past(path: str | os.PathLike[str], game: AcpcGame, names: Sequence[str], terms: Terms) -> Past:
    """The completed hands in a log; refuses one that these terms would not have written, or that is complete."""
    deals, won = Deals(game, terms.seed), {name: Winnings() for name in names}
    hands, size, number = 0, 0, 0
    for number, line, end in _lines(path):
        try:
            if number <= len(head(terms)):
                _check_head(number, line, terms)
            elif line.startswith(STATE) and hands < terms.hands:
                _check_hand(parse_hand(line), hands, game, deals, names, terms, won)
                hands += 1
            elif line.startswith(SCORE) and hands == terms.hands:
                raise FogplayError(f"this match is complete, with all its {hands:,} hands; choose another --log")
            elif not is_comment(line):
                raise FogplayError(f"{quoted(line)} is not the next line of this match")
        except FogplayError as error:
            raise FogplayError(f"{path}, line {number}: {error}") from error
        size = end
    if number and number < len(head(terms)):
        raise FogplayError(f"{path} ends within its first lines; remove it, or choose another --log")
    return Past(hands, tuple(won[name] for name in names), size)


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str, int]]:
    """Each complete line with its number from 1 and the position of its end; half a line at the end is left out."""
    try:
        with open(path, "rb") as file:
            number = end = 0
            while (raw := file.readline(MOST_LINE + 1)).endswith(b"\n"):
                number, end = number + 1, end + len(raw)
                yield number, raw.decode().rstrip("\r\n"), end
            if len(raw) > MOST_LINE or not raw.startswith(
                (b"#", STATE.encode()[: len(raw)], SCORE.encode()[: len(raw)])
            ):
                raise FogplayError(f"{path}, line {number + 1}: {quoted(raw[:60].decode(errors='replace'))} is cut off")
    except OSError as error:
        raise FogplayError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FogplayError(f"{path} is not text in UTF-8") from error


def _check_head(number: int, line: str, terms: Terms) -> None:
    """The first lines; the name of the match may differ, because a log may have been renamed."""
    expected = head(terms)[number - 1]
    if number > 1:
        if line != expected:
            raise FogplayError(f"the match had other limits of time, {quoted(line)} instead of {quoted(expected)}")
        return
    found, wanted = head_in(line), head_in(expected)
    assert wanted is not None
    if found is None:
        raise FogplayError(f"expected {quoted(expected)}, found {quoted(line)}; this is not a log of fogplay's dealer")
    if found[1:] != wanted[1:]:
        was, now = (f"{hands} hands of {game} with seed {seed}" for _, game, hands, seed in (found, wanted))
        raise FogplayError(f"this is a match of {was}, not of {now}")


def _check_hand(
    hand: LoggedHand,
    number: int,
    game: AcpcGame,
    deals: Deals,
    names: Sequence[str],
    terms: Terms,
    won: dict[str, Winnings],
) -> None:
    if hand.number != number:
        raise FogplayError(f"hand {hand.number} comes where hand {number} must be")
    sitting = tuple(names[player_at(seat, number, terms.turn, game.players)] for seat in range(game.players))
    if hand.names != sitting:
        raise FogplayError(f"{', '.join(hand.names)} play, by seat, and it must be {', '.join(sitting)}")
    values, deal = recompute(game, hand), deals.deal(number)
    if (hand.holes, hand.boards) != (deal.holes, deal.boards[: len(hand.boards)]):
        raise FogplayError(f"these are not the cards that seed {terms.seed} deals in hand {number}")
    for name, value in zip(hand.names, values, strict=True):
        won[name].add(value)


def require_new(path: Path) -> None:
    """Refuse to write over a file that holds something; devices and pipes are written through."""
    if path.is_file() and path.stat().st_size > 0:
        raise FogplayError(f"{path} exists already; add --resume to continue its match, or choose another --log")
