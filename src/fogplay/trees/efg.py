"""A game as a file in Gambit's format, version 2: the counterpart of ``games/efg.py``, which reads such files.

The file lists the nodes parents first, in the order of the flattened game, with infosets numbered as they are there and
numbers written so that reading them gives the same bits. Reading it therefore gives the same tree: a strategy's
probabilities have the same order in both, and every measure gives the same number.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL
from fogplay.trees.flatten import flatten
from fogplay.trees.tree import ROOT, FlatGame


def write_efg(game: Any, path: str | os.PathLike[str]) -> FlatGame:
    """Write a game (its spec, its rules, or flattened) as a file for Gambit; return the flattened game."""
    flat = flatten(game)
    with storage.atomically(Path(path)) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in efg_lines(flat))
    return flat


def efg_lines(flat: FlatGame) -> Iterator[str]:
    """The lines of the file: the title and the players, then one line per node."""
    if flat.restriction is not None:
        raise FogplayError(f"{flat.name} is a restricted game; Gambit's format can hold the game itself only")
    players = " ".join(_quoted(str(player + 1)) for player in range(flat.num_players))
    yield f"EFG 2 R {_quoted(flat.name)} {{ {players} }}"
    written = _Written(flat)
    stack: list[tuple[int, Any]] = [(ROOT, flat.root)]
    tree = flat.tree
    while stack:
        node, state = stack.pop()
        player = int(tree.player[node])
        if player == TERMINAL:
            yield written.terminal(node)
            continue
        if player == CHANCE:
            actions = [outcome[0] for outcome in state.chance_outcomes()]
            yield written.chance(node, [str(state.action_to_string(player, action)) for action in actions])
        else:
            actions = list(state.legal_actions())
            yield written.decision(node, player)
        first = int(tree.first_child[node])
        children = [(first + place, state.child(action)) for place, action in enumerate(actions)]
        stack.extend(reversed(children))


class _Written:
    """What a file has defined so far: a repeated infoset or outcome is written by its number alone."""

    def __init__(self, flat: FlatGame) -> None:
        self.flat = flat
        self.numbers = np.arange(flat.num_infosets) - np.searchsorted(
            flat.tree.infoset_player, flat.tree.infoset_player
        )
        self.infosets: set[int] = set()
        self.outcomes: dict[tuple[float, ...], int] = {}
        self.chances: dict[tuple[tuple[str, float], ...], int] = {}

    def terminal(self, node: int) -> str:
        payoffs = tuple(self.flat.tree.payoffs[int(self.flat.tree.row[node])].tolist())
        known = self.outcomes.get(payoffs)
        if known is not None:
            return f't "" {known} ""'
        number = self.outcomes[payoffs] = len(self.outcomes) + 1
        return f't "" {number} "" {{ {", ".join(map(_number, payoffs))} }}'

    def chance(self, node: int, names: list[str]) -> str:
        tree = self.flat.tree
        first = int(tree.first_child[node])
        likely = tree.probability[first : first + int(tree.num_children[node])].tolist()
        moves = tuple(zip(names, likely, strict=True))
        known = self.chances.get(moves)
        if known is not None:
            return f'c "" {known} "" 0'
        number = self.chances[moves] = len(self.chances) + 1
        listed = " ".join(f"{_quoted(name)} {_number(chance)}" for name, chance in moves)
        return f'c "" {number} "" {{ {listed} }} 0'

    def decision(self, node: int, player: int) -> str:
        infoset = int(self.flat.tree.row[node])
        name = f'p "" {player + 1} {int(self.numbers[infoset]) + 1} {_quoted(self.flat.infosets[infoset])}'
        if infoset in self.infosets:
            return f"{name} 0"
        self.infosets.add(infoset)
        actions = " ".join(map(_quoted, self.flat.actions[self.flat.slots(infoset)]))
        return f"{name} {{ {actions} }} 0"


def _number(value: float) -> str:
    """The shortest text that is read as the same float; whole numbers without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _quoted(text: str) -> str:
    """Text in quotation marks; the format has no escape for a backslash."""
    plain = " ".join(text.replace("\\", "/").split()).replace('"', '\\"')
    return f'"{plain}"'
