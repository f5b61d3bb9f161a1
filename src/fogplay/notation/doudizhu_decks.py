"""Decks of Doudizhu in files: plain JSON, and the pickles of DouZero's evaluator.

A file is a list of decks. A deck is an object with the cards of ``landlord`` (20), ``landlord_down`` (17, the peasant
after the landlord), ``landlord_up`` (17, the peasant before) and ``three_landlord_cards``, the shown ones among the
landlord's. Cards are a text (``"3345…BR"``), or DouZero's numbers: 3 to 14 for three to ace, 17 for a two, 20 and 30
for the jokers.
"""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Sequence
from typing import Any, NoReturn

from fogplay.errors import FogplayError
from fogplay.games.doudizhu import DEALT, SHOWN
from fogplay.games.doudizhu_cards import FULL_DECK, NUM_RANKS, RANKS, deck_copies, pack, show, unpack
from fogplay.games.doudizhu_worlds import HAND, less
from fogplay.notation.doudizhu import parse_cards

PLACES = {"landlord": HAND + SHOWN, "landlord_down": HAND, "landlord_up": HAND, "three_landlord_cards": SHOWN}
NUMBERS = (*range(3, 15), 17, 20, 30)  # DouZero's, by rank
PICKLES = (".pkl", ".pickle")
FORM = f"a deck is an object with {', '.join(PLACES)}"

Deck = tuple[int, ...]  # chance's moves: the ranks of 17 cards for each seat, and of the three shown


def read_decks(data: bytes, name: str) -> list[Deck]:
    """The decks of a file's bytes; ``name`` is for messages."""
    raw = _unpickled(data, name) if data[:1] == b"\x80" else _json(data, name)
    if not isinstance(raw, list) or not raw:
        raise FogplayError(f"{name}: a file of decks is a list; {FORM}")
    return [_deck(each, f"{name}: deck {number}") for number, each in enumerate(raw)]


def written_decks(decks: Sequence[Deck], name: str) -> bytes:
    """The bytes of a file with these decks: DouZero's pickle if its name ends in .pkl, else JSON, one deck per line."""
    hands = [_hands(deck) for deck in decks]
    if name.endswith(PICKLES):
        numbered = [{place: [NUMBERS[rank] for rank in unpack(word)] for place, word in each.items()} for each in hands]
        return pickle.dumps(numbered, protocol=4)
    lines = [json.dumps({place: show(word) for place, word in each.items()}) for each in hands]
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()


def _json(data: bytes, name: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise FogplayError(f"{name} is neither JSON nor a pickle of decks; {FORM}") from None


class _PlainUnpickler(pickle.Unpickler):
    """Reads lists, dicts, numbers and texts, and refuses everything that would run code."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it wants to call {module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise pickle.UnpicklingError("it refers to other objects")


def _unpickled(data: bytes, name: str) -> Any:
    try:
        return _PlainUnpickler(io.BytesIO(data)).load()
    except Exception as error:  # damaged pickles raise errors of many kinds
        what = " ".join(str(error).split()) or type(error).__name__
        raise FogplayError(f"{name} is not a pickle of plain lists and numbers ({what}); {FORM}") from None


def _deck(raw: Any, where: str) -> Deck:
    if not isinstance(raw, dict) or set(raw) != set(PLACES):
        raise FogplayError(f"{where}: {FORM}")
    words = {place: _cards(raw[place], f"{where}, {place}") for place in PLACES}
    for place, size in PLACES.items():
        if len(unpack(words[place])) != size:
            raise FogplayError(f"{where}: {place} has {len(unpack(words[place]))} cards, not {size}")
    landlord, down, up, shown = words.values()
    if less(shown, landlord):
        raise FogplayError(
            f"{where}: the landlord lacks {show(less(shown, landlord))} of the shown cards {show(shown)}"
        )
    if landlord + down + up != int(FULL_DECK):
        held = [sum(word >> 4 * rank & 15 for word in (landlord, down, up)) for rank in range(NUM_RANKS)]
        rank = next(rank for rank in range(NUM_RANKS) if held[rank] != deck_copies(rank))
        raise FogplayError(f"{where}: the hands have {held[rank]} cards {RANKS[rank]}, not {deck_copies(rank)}")
    return tuple(rank for word in (landlord - shown, down, up, shown) for rank in unpack(word))


def _cards(raw: Any, where: str) -> int:
    try:
        if isinstance(raw, str):
            return parse_cards(raw)
        if isinstance(raw, list) and len(raw) <= DEALT and all(type(card) is int and card in NUMBERS for card in raw):
            return pack(NUMBERS.index(card) for card in raw)
    except FogplayError as error:
        raise FogplayError(f"{where}: {error}") from None
    raise FogplayError(f"{where}: cards are a text such as 334455BR, or a list of numbers 3 to 14, 17, 20 and 30")


def _hands(deck: Deck) -> dict[str, int]:
    dealt = [pack(deck[first : first + HAND]) for first in range(0, DEALT, HAND)]
    shown = pack(deck[DEALT:])
    return {
        "landlord": dealt[0] + shown,
        "landlord_down": dealt[1],
        "landlord_up": dealt[2],
        "three_landlord_cards": shown,
    }
