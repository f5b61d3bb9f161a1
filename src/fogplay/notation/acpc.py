"""The notation of the Annual Computer Poker Competition: match states, answers, and the lines of logs.

A match state is ``MATCHSTATE:1:30:cr/:|9hQd/8dAs8s``: the seat that receives it, the hand's number, the betting with
``/`` at the end of each round, the hole cards by seat, separated by ``|`` (only those that the seat may see), and,
after a ``/`` each, the board cards dealt before each later round. A player answers with the same line, ``:`` and an
action. A line of a log, ``STATE:0:rc/rrc/rc/cc:5d5c|9hQd/8dAs8s/4h/6d:60|-60:Alice|Bob``, also has what each seat won
and who sat there; ``SCORE:715|-715:Alice|Bob`` ends a match.

Parsing and printing are inverse. Any text that cannot be parsed raises an error of one line. Nothing here knows the
rules: ``protocols.acpc.game`` decides whether a line is possible.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fogplay.cards.deck import CARDS, RANKS, SUITS, card_name
from fogplay.errors import FogplayError

VERSION = "VERSION:2.0.0"
MATCHSTATE, STATE, SCORE = "MATCHSTATE:", "STATE:", "SCORE:"
COMMENTS = ("#", ";")
MOST_LINE = 1 << 16  # bytes per line; the longest valid line has a few hundred
ANSWERS = {"f": "f", "c": "c", "k": "c", "r": "r", "b": "r"}  # check and bet are synonyms of call and raise

CARD_NAMES = tuple(map(card_name, range(CARDS)))
_CARD = {
    rank + suit: 4 * number + place
    for number, name in enumerate(RANKS)
    for place, sign in enumerate(SUITS)
    for rank in {name, name.lower()}
    for suit in {sign, sign.upper()}
}
# Each part has its own set of characters, so matching is unambiguous and takes one pass.
_MATCHSTATE = re.compile(r"MATCHSTATE:([0-9]{1,3}):([0-9]{1,10}):([fcr/]*):([0-9A-Za-z|/]*)(:.*)?", re.S)
_SIZED = re.compile(r"MATCHSTATE:[0-9]{1,3}:[0-9]{1,10}:[fcr/0-9]{0,9999}?r[0-9]")
_STATE = re.compile(r"STATE:([0-9]{1,10}):([fcr/]*):([0-9A-Za-z|/]*):([0-9.|-]+):([^:]+)")
_SCORE = re.compile(r"SCORE:([0-9.|-]+):([^:]+)")
_VALUE = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,6})?")
_VERSION = re.compile(r"VERSION:([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})[ \t]*")

Cards = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchState:
    """What one seat sees of a hand."""

    seat: int
    hand: int
    betting: str  # letters f, c and r, with / at the end of each round
    holes: tuple[Cards, ...]  # by seat; empty if the seat may not see them
    boards: tuple[Cards, ...]  # before each round from the second on


@dataclass(frozen=True, slots=True)
class LoggedHand:
    """A finished hand in a log."""

    number: int
    betting: str
    holes: tuple[Cards, ...]  # by seat; empty if they were not shown
    boards: tuple[Cards, ...]
    values: tuple[float, ...]  # [seats] chips won
    names: tuple[str, ...]  # by seat

    @property
    def board(self) -> Cards:
        return tuple(card for cards in self.boards for card in cards)


@dataclass(frozen=True, slots=True)
class Score:
    """What each player won in a match."""

    values: tuple[float, ...]
    names: tuple[str, ...]


def quoted(text: str) -> str:
    """The beginning of received text, quoted for a message of one line."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


# ---- Match states


def print_state(state: MatchState) -> str:
    """A match state as a line of the protocol."""
    return state_line(state.seat, state.hand, state.betting, print_cards(state.holes, state.boards))


def state_line(seat: int, hand: int, betting: str, cards: str) -> str:
    """The same from parts that are already text."""
    return f"MATCHSTATE:{seat}:{hand}:{betting}:{cards}"


def parse_state(line: str) -> tuple[MatchState, str]:
    """The match state in a line, and what follows it: nothing, ``:`` and an answer, or an extension."""
    seat, hand, betting, cards, rest = split_state(line)
    return MatchState(seat, hand, betting, *parse_cards(cards)), rest


def split_state(line: str) -> tuple[int, int, str, str, str]:
    """Seat, hand, betting, cards and what follows; the last three as text."""
    found = _MATCHSTATE.fullmatch(line) if len(line) <= MOST_LINE else None
    if found is None:
        raise FogplayError(f"{quoted(line)} is not a match state; expected MATCHSTATE:seat:hand:betting:cards")
    seat, hand, betting, cards, rest = found.groups()
    return int(seat), int(hand), betting, cards, rest or ""


def raises_to_a_size(line: str) -> bool:
    """Whether a line is a match state of a no-limit game, in which raises name a number of chips."""
    return _SIZED.match(line) is not None


def print_answer(line: str, letter: str) -> str:
    """The answer of a player who takes an action in the match state of a line."""
    return f"{line}:{letter}"


def parse_answer(rest: str) -> str | None:
    """The letter f, c or r in what follows a match state, or None if it is not an action; sizes are ignored."""
    return ANSWERS.get(rest[1:2].lower()) if rest[:1] == ":" else None


def parse_version(line: str) -> tuple[int, int, int]:
    """The version in a player's greeting to the dealer."""
    found = _VERSION.fullmatch(line) if len(line) <= MOST_LINE else None
    if found is None:
        raise FogplayError(f"{quoted(line)} is not a greeting; expected {VERSION}")
    major, minor, revision = map(int, found.groups())
    return major, minor, revision


def is_comment(line: str) -> bool:
    """Whether a line is empty or a comment."""
    return not line.strip() or line.startswith(COMMENTS)


def print_cards(holes: Sequence[Sequence[int]], boards: Sequence[Sequence[int]]) -> str:
    """Hole cards by seat, then the board cards by round: ``5d5c|9hQd/8dAs8s/4h``."""
    parts = ["|".join(map(_print_set, holes)), *map(_print_set, boards)]
    return "/".join(parts)


def parse_cards(text: str) -> tuple[tuple[Cards, ...], tuple[Cards, ...]]:
    """The hole cards by seat, and the board cards by round."""
    held, *boards = text.split("/")
    return tuple(map(_parse_set, held.split("|"))), tuple(map(_parse_set, boards))


def _print_set(cards: Sequence[int]) -> str:
    return "".join([CARD_NAMES[card] for card in cards])


@functools.lru_cache(maxsize=1 << 13)  # hole cards and single cards repeat often
def _parse_set(text: str) -> Cards:
    try:
        return tuple([_CARD[text[at : at + 2]] for at in range(0, len(text), 2)])
    except KeyError as error:
        raise FogplayError(
            f"{error.args[0]!r} is not a card; expected a rank of {RANKS} and a suit of {SUITS}"
        ) from error


# ---- Logs


def print_hand(hand: LoggedHand) -> str:
    """A finished hand as a line of a log."""
    return hand_line(hand.number, hand.betting, print_cards(hand.holes, hand.boards), hand.values, hand.names)


def hand_line(number: int, betting: str, cards: str, values: Sequence[float], names: Sequence[str]) -> str:
    """The same from parts, of which betting and cards are already text."""
    return f"STATE:{number}:{betting}:{cards}:{'|'.join(map(print_value, values))}:{'|'.join(names)}"


def parse_hand(line: str) -> LoggedHand:
    """The hand in a line of a log."""
    found = _STATE.fullmatch(line) if len(line) <= MOST_LINE else None
    if found is None:
        parts = line.count(":") + 1
        found_instead = f"{parts} parts" if parts != 6 else quoted(line)
        raise FogplayError(f"expected a hand, STATE:number:betting:cards:values:names, found {found_instead}")
    number, betting, cards, values, names = found.groups()
    return LoggedHand(int(number), betting, *parse_cards(cards), _parse_values(values), tuple(names.split("|")))


def print_score(score: Score) -> str:
    """The line that ends a match."""
    return f"SCORE:{'|'.join(map(print_value, score.values))}:{'|'.join(score.names)}"


def parse_score(line: str) -> Score:
    """The values and names in the line that ends a match."""
    found = _SCORE.fullmatch(line) if len(line) <= MOST_LINE else None
    if found is None:
        raise FogplayError(f"{quoted(line)} is not a score; expected SCORE:values:names")
    values, names = found.groups()
    return Score(_parse_values(values), tuple(names.split("|")))


def print_value(chips: float) -> str:
    """Chips as the competition writes them: with up to six decimals, without trailing zeros."""
    text = f"{chips:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _parse_values(text: str) -> tuple[float, ...]:
    values = text.split("|")
    for value in values:
        if _VALUE.fullmatch(value) is None:
            raise FogplayError(f"{quoted(value)} is not a number of chips")
    return tuple(map(float, values))


def plain_name(name: str) -> str:
    """A player's name without the characters that a line of a log cannot hold."""
    kept = "".join("-" if letter in "|:#;" or not letter.isprintable() else letter for letter in name)
    return kept.strip()[:100] or "player"


def log_head(match: str, game: str, hands: int, seed: int) -> str:
    """The first comment of a log; spaces in names become hyphens."""
    return f"# name/game/hands/seed {'-'.join(match.split())} {'-'.join(game.split())} {hands} {seed}"


def head_in(comment: str) -> tuple[str, str, int, int] | None:
    """The names of match and game, the number of hands and the seed in the first comment of a log."""
    found = re.fullmatch(r"# name/game/hands/seed (\S+) (\S+) ([0-9]{1,20}) ([0-9]{1,40})\s*", comment)
    return (found[1], found[2], int(found[3]), int(found[4])) if found is not None else None


def game_in(comment: str) -> str | None:
    """The game named in the first comment of a log."""
    found = head_in(comment)
    return found[1] if found is not None else None


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """The lines of a log with their numbers from 1, one at a time."""
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            number = 0
            while line := file.readline(MOST_LINE + 1):
                number += 1
                if len(line) > MOST_LINE:
                    raise FogplayError(
                        f"{path}, line {number}: longer than {MOST_LINE:,} characters; this is not a log"
                    )
                yield number, line.rstrip("\r\n")
    except OSError as error:
        raise FogplayError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FogplayError(f"{path} is not text in UTF-8") from error


def read_hands(path: str | os.PathLike[str]) -> Iterator[tuple[int, LoggedHand]]:
    """The hands of a log with the numbers of their lines."""
    for number, line in read_lines(path):
        if line.startswith(STATE):
            try:
                yield number, parse_hand(line)
            except FogplayError as error:
                raise FogplayError(f"{path}, line {number}: {error}") from error
