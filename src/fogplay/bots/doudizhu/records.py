"""Games of self-play as they are kept: the moves, and what the search found; all else follows from these.

A record is of games that are played in step. It can be read at any moment, and games go on from where it ends.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.bots.doudizhu.inference import LONGEST
from fogplay.bots.doudizhu.lockstep import deal_lanes, make_all
from fogplay.jit import kernel
from fogplay.simulators.doudizhu_features import BOMBS, FACTS, WORDS
from fogplay.simulators.doudizhu_lanes import MOST_DOUBLINGS

KIND = "games"
KEPT = 16  # heads of a decision whose tries are kept: the most tried ones


class Record(NamedTuple):
    """Games from their deals on; those that are not over have all made as many moves."""

    first: int  # the number of the first game, on which its deal and its luck depend
    length: NDArray[np.int32]  # [games] moves made; it is set after the moves are
    heads: NDArray[np.int16]  # [games, LONGEST]
    cards: NDArray[np.uint64]  # [games, LONGEST]
    tried_heads: NDArray[np.int16]  # [games, LONGEST, 16] of the moves that a search tried
    tried: NDArray[np.int32]  # [games, LONGEST, 16] how often
    expected: NDArray[np.float32]  # [games, LONGEST, 2] the result and the points that it expected; NaN: not known


def new(first: int, games: int, searched: bool = True) -> Record:
    """A record of games that begin; without a search there is no room for tries."""
    tries = (games, LONGEST, KEPT if searched else 0)
    return Record(
        first,
        np.zeros(games, np.int32),
        np.zeros((games, LONGEST), np.int16),
        np.zeros((games, LONGEST), np.uint64),
        np.zeros(tries, np.int16),
        np.zeros(tries, np.int32),
        np.full((games, LONGEST, 2), np.nan, np.float32),
    )


def positions(seed: int, own: Record, moves: int | None = None) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The lanes of the games after so many moves, or where the record ends: ``words`` and ``facts``."""
    games = len(own.length)
    words, facts = np.zeros((games, WORDS), np.uint64), np.zeros((games, FACTS), np.int32)
    deal_lanes(seed, own.first, words, facts, np.zeros(2, np.uint64))
    most = int(own.length.max(initial=0))
    for move in range(most if moves is None else min(moves, most)):
        lanes = np.flatnonzero(own.length > move)
        make_all(lanes, words, facts, own.heads[lanes, move].astype(np.int64), own.cards[lanes, move])
    return words, facts


# ---- What a search found


@kernel
def keep_found(searches, searched, lanes, move, points, tried_heads, tried, expected):
    """Write down what a search tried at its roots, by head, and what it expected of them: the number of a move,
    rows ``searched`` of ``lanes``. A point counted ``points`` times as much as a won game.
    """
    for row in range(len(searched)):
        lane = lanes[searched[row]]
        keep_root(searches, row, tried_heads[lane, move], tried[lane, move])
        expect(searches, row, points, expected[lane, move])


@kernel
def expect(searches, row, points, expected):
    """Fill ``expected[2]`` with the mean result of a root's simulations and their mean points, as far as known."""
    number, value, win = 0, 0.0, 0.0
    for action in range(searches.trees.num_actions[row, 0]):
        number += searches.trees.tried[row, 0, action]
        value += searches.trees.total[row, 0, action]
        win += searches.trees.wins[row, 0, action]
    if number > 0 and points > 0.0:
        doublings = min(searches.facts[row, BOMBS], MOST_DOUBLINGS)
        expected[0] = win / number
        expected[1] = ((1.0 + points) * value - win) / (points * number) * math.pow(2.0, doublings)


@kernel
def keep_root(searches, row, heads, tried):
    """Fill ``heads[16]`` and ``tried[16]`` with the most tried heads of a root."""
    heads[:], tried[:] = 0, 0
    filled = 0
    for action in range(searches.trees.num_actions[row, 0]):
        number = searches.trees.tried[row, 0, action]
        if number == 0:
            continue
        place = 0
        while place < filled and heads[place] != searches.heads[row, 0, action]:
            place += 1
        if place == filled and filled == len(heads):
            place = int(np.argmin(tried))
            if tried[place] >= number:
                continue
            tried[place] = 0
        filled = max(filled, place + 1)
        heads[place] = searches.heads[row, 0, action]
        tried[place] += number


# ---- Files


def save(path: Path, records: Sequence[Record], about: Mapping[str, Any]) -> None:
    """Write games, also while they are being played."""
    parts: dict[str, list[NDArray[Any]]] = {
        name: [] for name in ("heads", "cards", "options", "tried_heads", "tried", "expected")
    }
    lengths = [own.length.copy() for own in records]
    for own, length in zip(records, lengths, strict=True):
        made = np.arange(LONGEST) < length[:, None]
        tried = own.tried[made]
        parts["heads"].append(own.heads[made])
        parts["cards"].append(own.cards[made])
        parts["expected"].append(own.expected[made])
        parts["options"].append((tried > 0).sum(1).astype(np.uint8))
        parts["tried_heads"].append(own.tried_heads[made][tried > 0])
        parts["tried"].append(tried[tried > 0])
    arrays = {name: np.concatenate(each) for name, each in parts.items()}
    arrays["first"] = np.array([own.first for own in records], np.int64)
    arrays["games"] = np.array([len(length) for length in lengths], np.int64)
    arrays["length"] = np.concatenate(lengths)
    path.parent.mkdir(parents=True, exist_ok=True)
    storage.write(path, KIND, arrays, dict(about))


def load(path: Path) -> tuple[list[Record], dict[str, Any]]:
    """Games from a file, ready to go on, and what was written about them."""
    arrays, about = storage.read(path, KIND)
    records, game, move, option = [], 0, 0, 0
    for first, games in zip(arrays["first"].tolist(), arrays["games"].tolist(), strict=True):
        own = new(first, games)
        own.length[:] = arrays["length"][game : game + games]
        made = np.arange(LONGEST) < own.length[:, None]
        moves = slice(move, move + int(own.length.sum()))
        own.heads[made], own.cards[made] = arrays["heads"][moves], arrays["cards"][moves]
        if "expected" in arrays:  # earlier versions did not keep it
            own.expected[made] = arrays["expected"][moves]
        number = arrays["options"][moves]
        some = slice(option, option + int(number.sum()))
        there = np.arange(KEPT) < number[:, None]
        for name in ("tried_heads", "tried"):
            rows = np.zeros((len(number), KEPT), arrays[name].dtype)
            rows[there] = arrays[name][some]
            getattr(own, name)[made] = rows
        records.append(own)
        game, move, option = game + games, moves.stop, some.stop
    return records, about
