"""Game definitions in the format of the competition's dealer, and the games of fogplay that they describe.

A definition consists of lines with a word and numbers, between ``GAMEDEF`` and ``END GAMEDEF``; ``#`` begins a comment.
As in the original dealer, whatever comes before ``GAMEDEF`` is ignored. Players and rounds are numbered from 1. Smaller
decks have the highest ranks and the last suits: three ranks and two suits are queens, kings and aces of hearts and
spades.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from pathlib import Path

from fogplay.cards.deck import CARDS, RANKS, SUITS
from fogplay.errors import FogplayError
from fogplay.games.game import Game
from fogplay.games.holdem import MOST_CHIPS, Holdem
from fogplay.games.kuhn import Kuhn
from fogplay.games.leduc import MAX_RAISES, RAISE_SIZES, Leduc

ENDING = ".game"
DEFAULT = "holdem.limit.2p"
MOST_TEXT = 1 << 16
LIMIT, NO_LIMIT = "limit", "nolimit"
ANY = 255  # raises, if a definition does not limit their number

# The word of each field, in the order in which definitions are printed.
WORDS = {
    "numplayers": "numPlayers",
    "numrounds": "numRounds",
    "stack": "stack",
    "blind": "blind",
    "raisesize": "raiseSize",
    "firstplayer": "firstPlayer",
    "maxraises": "maxRaises",
    "numsuits": "numSuits",
    "numranks": "numRanks",
    "numholecards": "numHoleCards",
    "numboardcards": "numBoardCards",
}


@dataclass(frozen=True)
class Definition:
    """A game as the competition defines it."""

    players: int
    rounds: int
    blinds: tuple[int, ...]  # by seat
    raises: tuple[int, ...]  # by round; none in no-limit games
    first: tuple[int, ...]  # by round: who acts first, from 1
    max_raises: tuple[int, ...]  # by round
    suits: int
    ranks: int
    hole: int
    board: tuple[int, ...]  # cards dealt to the board before each round
    betting: str = LIMIT
    stacks: tuple[int, ...] = ()  # by seat; none if they never run out

    def deck(self) -> tuple[int, ...]:
        """The deck's cards out of all 52, in the order in which fogplay's games number them."""
        low_rank, low_suit = len(RANKS) - self.ranks, len(SUITS) - self.suits
        return tuple(
            4 * (low_rank + rank) + low_suit + suit for rank in range(self.ranks) for suit in range(self.suits)
        )

    @property
    def big_blind(self) -> int:
        """The unit of mb/h: the largest blind, or the first round's bet if there are no blinds."""
        return max(self.blinds) or self.raises[0]

    def most_paid(self) -> int:
        """The most that a player can pay in a hand."""
        return max(self.blinds) + sum(size * count for size, count in zip(self.raises, self.max_raises, strict=True))


# ---- Text


def parse_definition(text: str) -> Definition:
    """The definition in a file's text."""
    found: dict[str, tuple[int, ...]] = {}
    betting = LIMIT
    if len(text) > MOST_TEXT:
        raise FogplayError(f"a game definition has at most {MOST_TEXT:,} characters, not {len(text):,}")
    lines = text.splitlines()
    begin = next((number for number, line in enumerate(lines, start=1) if line.strip().lower() == "gamedef"), 0)
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        lowered = line.lower()
        if number <= begin or not line or line.startswith("#"):
            continue
        if lowered == "end gamedef":
            break
        if lowered in (LIMIT, NO_LIMIT):
            betting = lowered
            continue
        matched = re.fullmatch(r"([A-Za-z]+)\s*=?\s*((?:[0-9]{1,10}(?:\s+|$)){1,22})", line)
        if matched is None or matched[1].lower() not in WORDS:
            known = ", ".join(WORDS.values())
            raise FogplayError(
                f"line {number}: expected limit, nolimit, or numbers after one of {known}, found {line[:60]!r}"
            )
        word = matched[1].lower()
        if word in found:
            raise FogplayError(f"line {number}: {WORDS[word]} occurs twice")
        found[word] = tuple(map(int, matched[2].split()))
    return _definition(found, betting)


def _definition(found: dict[str, tuple[int, ...]], betting: str) -> Definition:
    def one(word: str, low: int, high: int) -> int:
        values = found.get(word, ())
        if len(values) != 1 or not low <= values[0] <= high:
            given = " ".join(map(str, values)) or "missing"
            raise FogplayError(f"{WORDS[word]} must be a whole number from {low} to {high}; it is {given}")
        return values[0]

    def many(word: str, count: int, default: int | None = None) -> tuple[int, ...]:
        values = found.get(word, ())
        if not values and default is not None:
            return (default,) * count
        if len(values) < count:
            raise FogplayError(f"{WORDS[word]} must have {count} numbers; it has {len(values)}")
        return values[:count]

    players, rounds = one("numplayers", 2, 10), one("numrounds", 1, 4)
    made = Definition(
        players=players,
        rounds=rounds,
        blinds=many("blind", players),
        raises=many("raisesize", rounds) if betting == LIMIT else (),
        first=many("firstplayer", rounds, 1),
        max_raises=many("maxraises", rounds, ANY),
        suits=one("numsuits", 1, len(SUITS)),
        ranks=one("numranks", 1, len(RANKS)),
        hole=one("numholecards", 1, 5),
        board=many("numboardcards", rounds),
        betting=betting,
        stacks=many("stack", players) if "stack" in found else (),
    )
    if any(not 1 <= first <= players for first in made.first):
        raise FogplayError(f"firstPlayer must be numbers from 1 to {players}; it is {_row(made.first)}")
    if made.players * made.hole + sum(made.board) > made.ranks * made.suits:
        raise FogplayError(f"a hand needs more cards than the {made.ranks * made.suits} in the deck")
    return made


def print_definition(definition: Definition) -> str:
    """A definition as the text of a file."""
    values = {
        "numplayers": (definition.players,),
        "numrounds": (definition.rounds,),
        "stack": definition.stacks,
        "blind": definition.blinds,
        "raisesize": definition.raises,
        "firstplayer": definition.first,
        "maxraises": definition.max_raises,
        "numsuits": (definition.suits,),
        "numranks": (definition.ranks,),
        "numholecards": (definition.hole,),
        "numboardcards": definition.board,
    }
    rows = [f"{WORDS[word]} = {_row(numbers)}" for word, numbers in values.items() if numbers]
    return "\n".join(["GAMEDEF", definition.betting, *rows, "END GAMEDEF", ""])


def _row(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))


# ---- Built-in definitions


@functools.cache
def our_definitions() -> dict[str, Definition]:
    """The definitions in the package, by name."""
    folder = resources.files("fogplay.notation") / "games"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(ENDING)), key=lambda file: file.name)
    return {file.name.removesuffix(ENDING): parse_definition(file.read_text()) for file in files}


def whole_deck(players: int, hole: int) -> tuple[str, Definition] | None:
    """The built-in definition with all 52 cards for so many players with so many hole cards, and its name."""
    for name, definition in our_definitions().items():
        if (definition.players, definition.hole, len(definition.deck())) == (players, hole, CARDS):
            return name, definition
    return None


def load_definition(name: str) -> tuple[str, Definition]:
    """The name of a definition, which is built in or comes from a file, and the definition."""
    built_in = our_definitions()
    if name in built_in:
        return name, built_in[name]
    path = Path(name)
    if not path.is_file():
        raise FogplayError(f"there is no game definition {name}; name a file, or one of {', '.join(built_in)}")
    try:
        with open(path, encoding="utf-8") as file:
            definition = parse_definition(file.read(MOST_TEXT + 1))
    except OSError as error:
        raise FogplayError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FogplayError(f"{path} is not text in UTF-8") from error
    except FogplayError as error:
        raise FogplayError(f"{path}: {error}") from error
    return path.name.removesuffix(ENDING), definition


# ---- Games


@dataclass(frozen=True)
class Fit:
    """How a game of fogplay plays a definition.

    Seat s of the definition is seat (s + ``turn``) mod ``players`` of the game; ``scale`` is the number of the
    definition's chips per chip of the game.
    """

    players: int
    turn: int
    scale: float

    def seat(self, ours: int) -> int:
        """The definition's seat of a seat of the game."""
        return (ours - self.turn) % self.players

    def our_seat(self, seat: int) -> int:
        """The game's seat of a seat of the definition."""
        return (seat + self.turn) % self.players

    def chips(self, returns: Sequence[float]) -> list[float]:
        """[seats] in the definition's chips and order, from the game's."""
        if self.turn == 0 and self.scale == 1:
            return list(returns)
        return [self.scale * returns[self.our_seat(seat)] for seat in range(self.players)]


def fit(definition: Definition, game: Game) -> Fit | None:
    """How a game plays a definition, or None if it is another game; stacks that cannot run out make no difference."""
    own = definition_of(game)
    if own.players != definition.players or definition.betting != own.betting:
        return None
    theirs, ours = definition.big_blind, own.big_blind
    for turn in range(own.players):
        turned = _turned(definition, turn)
        chips = [own_chips * theirs for own_chips in (*own.blinds, *own.raises)]
        same_stakes = chips == [their_chips * ours for their_chips in (*turned.blinds, *turned.raises)]
        if same_stakes and dataclasses.replace(turned, blinds=own.blinds, raises=own.raises, stacks=()) == own:
            return Fit(own.players, turn, theirs / ours)
    return None


def game_of(definition: Definition) -> Game:
    """The game of fogplay that a definition describes; raises an error if there is none."""
    if definition.betting != LIMIT:
        raise FogplayError("this is a no-limit game; fogplay plays limit games only")
    if ANY in definition.max_raises:
        raise FogplayError("this game does not limit the number of raises; set maxRaises to numbers from 0 to 8")
    if definition.stacks and min(definition.stacks) < definition.most_paid():
        raise FogplayError(
            f"stacks of {min(definition.stacks)} can run out in this game, where a player may pay "
            f"{definition.most_paid()}; fogplay has no all-in, so use larger stacks"
        )
    for turn in range(definition.players):
        for game in _candidates(_turned(definition, turn)):
            if fit(definition, game) is not None:
                return game
    raise FogplayError(
        "fogplay does not have this game; it has Kuhn and Leduc as in kuhn.limit.* and leduc.limit.*, and limit "
        "hold'em of any size for two or three players in which the button acts first before the flop and last after it"
    )


def _turned(definition: Definition, turn: int) -> Definition:
    """The same game with every player ``turn`` seats further on."""
    players = definition.players
    return dataclasses.replace(
        definition,
        blinds=tuple(definition.blinds[(seat - turn) % players] for seat in range(players)),
        first=tuple((first - 1 + turn) % players + 1 for first in definition.first),
    )


def _candidates(definition: Definition) -> Iterator[Game]:
    """The games that a definition may describe, with stakes of their own."""
    antes = Fraction(definition.blinds[0], max(definition.raises[0], 1))
    if antes.denominator == 1 and 1 <= antes <= 1000:
        yield Kuhn(definition.players, definition.players * int(antes))
    if definition.players <= 5:
        yield Leduc(definition.players)
    if definition.players <= 3:
        yield Holdem(definition.players)  # whatever the stakes, if they are in proportion: all bots know this game
        chips = (*definition.blinds, *definition.raises)
        unit = math.gcd(*chips) if definition.most_paid() > MOST_CHIPS else 1
        yield Holdem(
            definition.players,
            definition.rounds,
            definition.ranks,
            definition.suits,
            definition.hole,
            definition.board,
            tuple(size // unit for size in definition.raises),
            definition.max_raises,
            tuple(blind // unit for blind in definition.blinds),
        )


def definition_of(game: Game) -> Definition:
    """The definition of a game of fogplay."""
    if isinstance(game, Holdem):
        first = (game.players, *(1,) * (game.rounds - 1))
        return Definition(
            game.players, game.rounds, game.blinds, game.raises, first, game.max_raises, game.suits, game.ranks,
            game.hole, game.board,
        )  # fmt: skip
    if isinstance(game, Leduc):
        blinds = (1,) * game.players
        return Definition(
            game.players, 2, blinds, RAISE_SIZES, (1, 1), (MAX_RAISES, MAX_RAISES), 2, game.players + 1, 1, (0, 1)
        )
    if isinstance(game, Kuhn) and game.pot % game.players == 0:
        blinds = (int(game.pot) // game.players,) * game.players
        return Definition(game.players, 1, blinds, (1,), (1,), (1,), 1, game.players + 1, 1, (0,))
    raise FogplayError(f"the competition's notation cannot describe {game}; it describes hold'em, Leduc and Kuhn")


def name_of(definition: Definition) -> str | None:
    """The name of a definition if it is built in."""
    return next((name for name, known in our_definitions().items() if known == definition), None)
