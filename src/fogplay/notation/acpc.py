"""The notation of the Annual Computer Poker Competition: match states and answers, and the lines of logs.

A match state is ``MATCHSTATE:1:30:cr/:|9hQd/8dAs8s``: the seat that looks on, the hand's number, the betting with ``/``
where a round is over, the hole cards by seat with ``|`` between them (only those that the seat may see), and the cards
turned up before each later round, after a ``/`` each. A player answers with the line and ``:`` and an action appended.
A line of a log, ``STATE:0:rc/rrc/rc/cc:5d5c|9hQd/8dAs8s/4h/6d:60|-60:Alice|Bob``, adds what each seat won and who sat
there; ``SCORE:715|-715:Alice|Bob`` ends a match.

What a function prints its partner reads back as the same. What cannot be read is refused in one line, whatever it is.
Nothing here knows the rules: whether a line is possible is for ``protocols.acpc.game`` to say.
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
MOST_LINE = 1 << 16  # bytes of a line; the longest that means something has some hundred
ANSWERS = {"f": "f", "c": "c", "k": "c", "r": "r", "b": "r"}  # check and bet are words for call and raise

CARD_NAMES = tuple(map(card_name, range(CARDS)))
_CARD = {
    rank + suit: 4 * number + place
    for number, name in enumerate(RANKS)
    for place, sign in enumerate(SUITS)
    for rank in {name, name.lower()}
    for suit in {sign, sign.upper()}
}
# Each part has letters of its own and no part can be split in two ways, so that matching takes one pass.
_MATCHSTATE = re.compile(r"MATCHSTATE:([0-9]{1,3}):([0-9]{1,10}):([fcr/]*):([0-9A-Za-z|/]*)(:.*)?", re.S)
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
    betting: str  # letters f, c and r, with / where a round is over
    holes: tuple[Cards, ...]  # by seat; empty where they are not to be seen
    boards: tuple[Cards, ...]  # before each round from the second on


@dataclass(frozen=True, slots=True)
class LoggedHand:
    """A hand that is over, as a log keeps it."""

    number: int
    betting: str
    holes: tuple[Cards, ...]  # by seat; empty where they were not shown
    boards: tuple[Cards, ...]
    values: tuple[float, ...]  # [seats] chips won
    names: tuple[str, ...]  # by seat

    @property
    def board(self) -> Cards:
        return tuple(card for cards in self.boards for card in cards)


@dataclass(frozen=True, slots=True)
class Score:
    """What everybody won in a match."""

    values: tuple[float, ...]
    names: tuple[str, ...]


def quoted(text: str) -> str:
    """The beginning of what somebody sent, fit for a line of a message."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


# ---- Match states


def print_state(state: MatchState) -> str:
    """A match state as a line of the protocol."""
    return state_line(state.seat, state.hand, state.betting, print_cards(state.holes, state.boards))


def state_line(seat: int, hand: int, betting: str, cards: str) -> str:
    """The same out of parts that are text already."""
    return f"MATCHSTATE:{seat}:{hand}:{betting}:{cards}"


def parse_state(line: str) -> tuple[MatchState, str]:
    """The match state of a line, and what is appended to it: nothing, ``:`` and an answer, or an extension."""
    seat, hand, betting, cards, rest = split_state(line)
    return MatchState(seat, hand, betting, *parse_cards(cards)), rest


def split_state(line: str) -> tuple[int, int, str, str, str]:
    """Seat, hand, betting, cards and what is appended, the last three still text."""
    found = _MATCHSTATE.fullmatch(line) if len(line) <= MOST_LINE else None
    if found is None:
        raise FogplayError(f"{quoted(line)} is no match state, which is MATCHSTATE:seat:hand:betting:cards")
    seat, hand, betting, cards, rest = found.groups()
    return int(seat), int(hand), betting, cards, rest or ""


def print_answer(line: str, letter: str) -> str:
    """What a player sends back who takes an action in the state of a line."""
    return f"{line}:{letter}"


def parse_answer(rest: str) -> str | None:
    """The letter f, c or r of what follows a match state, or None where that is no action; its size means nothing."""
    return ANSWERS.get(rest[1:2].lower()) if rest[:1] == ":" else None


def parse_version(line: str) -> tuple[int, int, int]:
    """The three numbers with which a player greets the dealer."""
    found = _VERSION.fullmatch(line) if len(line) <= MOST_LINE else None
    if found is None:
        raise FogplayError(f"{quoted(line)} is no greeting, which is {VERSION}")
    major, minor, revision = map(int, found.groups())
    return major, minor, revision


def is_comment(line: str) -> bool:
    """Whether a line is to be skipped: empty, or begun with one of the signs for comments."""
    return not line.strip() or line.startswith(COMMENTS)


def print_cards(holes: Sequence[Sequence[int]], boards: Sequence[Sequence[int]]) -> str:
    """Hole cards by seat, then what was turned up, as lines write them: ``5d5c|9hQd/8dAs8s/4h``."""
    parts = ["|".join(map(_print_set, holes)), *map(_print_set, boards)]
    return "/".join(parts)


def parse_cards(text: str) -> tuple[tuple[Cards, ...], tuple[Cards, ...]]:
    """The hole cards by seat, and the cards turned up by round."""
    held, *boards = text.split("/")
    return tuple(map(_parse_set, held.split("|"))), tuple(map(_parse_set, boards))


def _print_set(cards: Sequence[int]) -> str:
    return "".join([CARD_NAMES[card] for card in cards])


@functools.lru_cache(maxsize=1 << 13)  # hole cards and single cards come again and again
def _parse_set(text: str) -> Cards:
    try:
        return tuple([_CARD[text[at : at + 2]] for at in range(0, len(text), 2)])
    except KeyError as error:
        raise FogplayError(f"{error.args[0]!r} is no card, which is a rank of {RANKS} and a suit of {SUITS}") from error


# ---- Logs


def print_hand(hand: LoggedHand) -> str:
    """A finished hand as a line of a log."""
    return hand_line(hand.number, hand.betting, print_cards(hand.holes, hand.boards), hand.values, hand.names)


def hand_line(number: int, betting: str, cards: str, values: Sequence[float], names: Sequence[str]) -> str:
    """The same out of parts, of which betting and cards are text already."""
    return f"STATE:{number}:{betting}:{cards}:{'|'.join(map(print_value, values))}:{'|'.join(names)}"


def parse_hand(line: str) -> LoggedHand:
    """The hand of a line of a log."""
    found = _STATE.fullmatch(line) if len(line) <= MOST_LINE else None
    if found is None:
        parts = line.count(":") + 1
        more = f", and this has {parts} parts" if parts != 6 else f", not {quoted(line)}"
        raise FogplayError(f"a hand is STATE:number:betting:cards:values:names{more}")
    number, betting, cards, values, names = found.groups()
    return LoggedHand(int(number), betting, *parse_cards(cards), _parse_values(values), tuple(names.split("|")))


def print_score(score: Score) -> str:
    """The line that ends a match."""
    return f"SCORE:{'|'.join(map(print_value, score.values))}:{'|'.join(score.names)}"


def parse_score(line: str) -> Score:
    """The values and names of the line that ends a match."""
    found = _SCORE.fullmatch(line) if len(line) <= MOST_LINE else None
    if found is None:
        raise FogplayError(f"{quoted(line)} is no score, which is SCORE:values:names")
    values, names = found.groups()
    return Score(_parse_values(values), tuple(names.split("|")))


def print_value(chips: float) -> str:
    """Chips as the competition writes them: whole where they are, else with up to six decimals."""
    text = f"{chips:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _parse_values(text: str) -> tuple[float, ...]:
    values = text.split("|")
    for value in values:
        if _VALUE.fullmatch(value) is None:
            raise FogplayError(f"{quoted(value)} is no number of chips")
    return tuple(map(float, values))


def plain_name(name: str) -> str:
    """A player's name without what a line of a log cannot hold."""
    kept = "".join("-" if letter in "|:#;" or not letter.isprintable() else letter for letter in name)
    return kept.strip()[:100] or "player"


def log_head(match: str, game: str, hands: int, seed: int) -> str:
    """The comment that a log begins with; names have no spaces there."""
    return f"# name/game/hands/seed {'-'.join(match.split())} {'-'.join(game.split())} {hands} {seed}"


def game_in(comment: str) -> str | None:
    """The game that the comment at the beginning of a log names."""
    found = re.fullmatch(r"# name/game/hands/seed (\S+) (\S+) ([0-9]+) ([0-9]+)\s*", comment)
    return found[2] if found is not None else None


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """The lines of a log with their numbers, from 1 on, one at a time."""
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            number = 0
            while line := file.readline(MOST_LINE + 1):
                number += 1
                if len(line) > MOST_LINE:
                    raise FogplayError(f"{path}, line {number}: over {MOST_LINE:,} characters long; this is no log")
                yield number, line.rstrip("\r\n")
    except OSError as error:
        raise FogplayError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FogplayError(f"{path} is no text in UTF-8") from error


def read_hands(path: str | os.PathLike[str]) -> Iterator[tuple[int, LoggedHand]]:
    """The hands of a log with the numbers of their lines."""
    for number, line in read_lines(path):
        if line.startswith(STATE):
            try:
                yield number, parse_hand(line)
            except FogplayError as error:
                raise FogplayError(f"{path}, line {number}: {error}") from error
