"""Games from files in Gambit's format for extensive-form games, version 2 (``.efg``).

A file is a tree, written parents first. Line breaks have no meaning, but errors name the line.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple, NoReturn

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL, Game, State

ENDING = ".efg"
_TOKEN = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"|(?P<mark>[{}])|(?P<word>[^\s{}",]+)|(?P<open>")', re.DOTALL)
_ROUNDING = 1e-6  # allowed error in the sum of probabilities written as decimals
_EXACT = 1e-12  # a smaller one is the rounding of the sum itself: such probabilities are taken as they are
_LARGEST = 1e100
_WHOLE = re.compile(r"[0-9]{1,9}")
_MOST_PLAYERS = 127


class Node(NamedTuple):
    """A node of the tree."""

    player: int  # or CHANCE, TERMINAL
    parent: int  # -1 for the root
    came_by: int  # the parent's action
    infoset: Infoset | None  # of a player, or of chance
    paid: tuple[float, ...]  # to each player, from the root to here


@dataclass
class Infoset:
    """Nodes that a player cannot distinguish; those of chance hold its probabilities."""

    number: int
    name: str
    actions: tuple[str, ...]
    chances: tuple[float, ...] = ()
    label: str = ""  # unique


@dataclass(frozen=True)
class EfgGame(Game):
    """The game in a file; its name is the file's path."""

    file: str
    players: tuple[str, ...] = field(init=False, compare=False)
    nodes: tuple[Node, ...] = field(init=False, repr=False)
    children: tuple[tuple[int, ...], ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        reader = _Reader(self.file)
        for name, value in (("players", reader.players), ("nodes", reader.nodes), ("children", reader.children)):
            object.__setattr__(self, name, tuple(value))

    def num_players(self) -> int:
        return len(self.players)

    def new_initial_state(self) -> EfgState:
        return EfgState(self, 0)

    def __str__(self) -> str:
        return self.file

    def __hash__(self) -> int:
        return hash((self.file, len(self.nodes)))


class EfgState(State):
    """A node of the tree."""

    __slots__ = ("at", "game")

    def __init__(self, game: EfgGame, at: int) -> None:
        self.game = game
        self.at = at

    @property
    def node(self) -> Node:
        return self.game.nodes[self.at]

    @property
    def infoset(self) -> Infoset:
        found = self.node.infoset
        assert found is not None
        return found

    def current_player(self) -> int:
        return self.node.player

    def legal_actions(self) -> tuple[int, ...]:
        return tuple(range(len(self.infoset.actions)))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return list(enumerate(self.infoset.chances))

    def child(self, action: int) -> EfgState:
        return EfgState(self.game, self.game.children[self.at][action])

    def information_state_string(self, player: int) -> str:
        return self.infoset.label

    def action_to_string(self, player: int, action: int) -> str:
        return self.infoset.actions[action]

    def returns(self) -> list[float]:
        return list(self.node.paid)

    def __str__(self) -> str:
        words, at = [], self.node
        while at.parent >= 0:
            before = self.game.nodes[at.parent]
            assert before.infoset is not None
            words.append(before.infoset.actions[at.came_by])
            at = before
        return " ".join(reversed(words))


class _Reader:
    """One pass over a file."""

    def __init__(self, file: str) -> None:
        self.file = file
        try:
            self.text = Path(file).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise FogplayError(f"cannot read {file}: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise FogplayError(f"{file} is not text in UTF-8") from error
        self.tokens = self._tokens()
        self.position = self.taken = 0  # of the next token, and of the one before
        self.kind, self.token = next(self.tokens)
        self.infosets: dict[tuple[int, int], Infoset] = {}
        self.outcomes: dict[int, tuple[float, ...]] = {}
        self.players: list[str] = []
        self.nodes: list[Node] = []
        self.children: list[tuple[int, ...]] = []
        self._read()

    def _read(self) -> None:
        if self._take("word", "EFG at the start of the file") != "EFG":
            self._refuse("the file does not begin with EFG, so it is not a game in Gambit's format")
        version = self._take("word", "the version")
        if version != "2":
            self._refuse(f"version {version} of the format is not supported; only version 2 is")
        if self._take("word", "R or D") not in ("R", "D"):
            self._refuse("expected R or D after the version")
        self._take("text", "the title in quotes")
        self._open("the players' names")
        while self.kind != "mark":
            self.players.append(self._take("text", "a player's name in quotes"))
        self._close()
        if not 1 <= len(self.players) <= _MOST_PLAYERS:
            self._refuse(f"a game has 1 to {_MOST_PLAYERS} players, not {len(self.players)}")
        if self.kind == "text":  # a comment
            self._next()
        open_nodes: list[tuple[int, list[int]]] = []  # whose children are being read
        while not self.nodes or open_nodes:
            at = len(self.nodes)
            parent, siblings = open_nodes[-1] if open_nodes else (-1, [])
            self._node(parent, len(siblings))
            siblings.append(at)
            self.children.append(())
            if self.nodes[at].player != TERMINAL:
                open_nodes.append((at, []))
            while open_nodes and len(open_nodes[-1][1]) == len(self._actions(open_nodes[-1][0])):
                done, found = open_nodes.pop()
                self.children[done] = tuple(found)
        if self.kind != "end":
            self.taken = self.position
            self._refuse(f"the tree is complete, but the file goes on with {self.token!r}")
        self._label()

    def _actions(self, at: int) -> tuple[str, ...]:
        infoset = self.nodes[at].infoset
        assert infoset is not None
        return infoset.actions

    def _node(self, parent: int, came_by: int) -> None:
        if self.kind == "end":
            self._refuse("the file ends before the tree is complete: an action leads nowhere")
        kind = self._take("word", "a node: c, p or t")
        if kind not in ("c", "p", "t"):
            self._refuse(f"expected a node, which begins with c, p or t, found {kind!r}")
        self._take("text", "the node's name in quotes")
        player, infoset = TERMINAL, None
        if kind == "c":
            player = CHANCE
        elif kind == "p":
            number = self._whole("the player's number")
            if not 1 <= number <= len(self.players):
                self._refuse(f"there is no player {number}; players are numbered from 1 to {len(self.players)}")
            player = number - 1
        if player != TERMINAL:
            infoset = self._infoset(player)
        paid = self._outcome()
        before = self.nodes[parent].paid if parent >= 0 else (0.0,) * len(self.players)
        total = tuple(a + b for a, b in zip(before, paid, strict=True))
        self.nodes.append(Node(player, parent, came_by, infoset, total))

    def _infoset(self, player: int) -> Infoset:
        number = self._whole("the infoset's number")
        name = self._take("text", "") if self.kind == "text" else ""
        known = self.infosets.get((player, number))
        if not self.opens:
            if known is None:
                self._refuse(f"infoset {number} occurs for the first time, without its actions")
            return known
        actions, chances = [], []
        self._next()
        while self.kind != "mark":
            actions.append(self._take("text", "an action in quotes"))
            if player == CHANCE:
                chances.append(self._number("a probability"))
        self._close()
        if not actions:
            self._refuse(f"infoset {number} has no actions")
        found = Infoset(
            number, name, _distinct_names(actions), self._probabilities(chances) if player == CHANCE else ()
        )
        if known is None:
            self.infosets[player, number] = found
            return found
        if (found.actions, found.chances) != (known.actions, known.chances):
            whose = "chance" if player == CHANCE else f"player {player + 1}"
            what = "actions" if found.actions != known.actions else "probabilities"
            self._refuse(f"infoset {number} of {whose} has different {what} than at its first occurrence")
        return known

    def _probabilities(self, chances: list[float]) -> tuple[float, ...]:
        total = sum(chances)
        if min(chances) < 0:
            self._refuse(f"a probability of {min(chances):g} is less than 0")
        if abs(total - 1) > _ROUNDING:
            self._refuse(f"probabilities must sum to 1, not {total:.10g}")
        return tuple(chances) if abs(total - 1) <= _EXACT else tuple(chance / total for chance in chances)

    def _outcome(self) -> tuple[float, ...]:
        number = self._whole("the number of an outcome, or 0")
        named = self.kind == "text"
        if named:
            self._next()
        if not self.opens:
            if number != 0 and number not in self.outcomes:
                self._refuse(f"outcome {number} occurs for the first time, without its payoffs")
        elif number != 0:
            payoffs = self._payoffs(number)
            if self.outcomes.setdefault(number, payoffs) != payoffs:
                self._refuse(f"outcome {number} has different payoffs than at its first occurrence")
        if number == 0 and (named or self.opens):
            self._refuse("outcome 0 means no outcome; give one with a name or payoffs another number")
        return self.outcomes[number] if number != 0 else (0.0,) * len(self.players)

    def _payoffs(self, number: int) -> tuple[float, ...]:
        self._next()
        payoffs = []
        while self.kind != "mark":
            payoffs.append(self._number("a payoff"))
        self._close()
        if len(payoffs) != len(self.players):
            self._refuse(f"outcome {number} has payoffs for {len(payoffs)} players, but there are {len(self.players)}")
        return tuple(payoffs)

    def _label(self) -> None:
        """Give every infoset of a player a unique label."""
        names = [name or str(place) for place, name in enumerate(self.players, 1)]
        taken: set[str] = set()
        for (player, number), infoset in self.infosets.items():
            if player == CHANCE:
                continue
            label = f"{names[player]}: {infoset.name or number}"
            while label in taken:
                label += f" #{number}"
            taken.add(label)
            infoset.label = label

    def _number(self, what: str) -> float:
        word = self._take("word", what)
        try:
            value = float(Fraction(word) if "/" in word else word)
        except (ValueError, ZeroDivisionError, OverflowError):
            value = math.nan
        if not math.isfinite(value):
            self._refuse(f"{reprlib.repr(word)} is not {what}")
        if abs(value) > _LARGEST:
            self._refuse(f"{what} must be at most {_LARGEST:g} in size")
        return value

    def _whole(self, what: str) -> int:
        if self.kind != "word" or not _WHOLE.fullmatch(self.token):
            self.taken = self.position
            self._refuse(f"expected {what}, found {self._found()}")
        return int(self._take("word", what))

    @property
    def opens(self) -> bool:
        """Whether a list in braces comes next."""
        return (self.kind, self.token) == ("mark", "{")

    def _open(self, what: str) -> None:
        if not self.opens:
            self._refuse(f"expected {what} in braces, found {self._found()}")
        self._next()

    def _close(self) -> None:
        if self.token != "}":
            self._refuse("a brace opens inside another")
        self._next()

    def _take(self, kind: str, what: str) -> str:
        if self.kind != kind:
            self.taken = self.position
            self._refuse(f"expected {what}, found {self._found()}")
        token = self.token
        self._next()
        return token

    def _found(self) -> str:
        return reprlib.repr(self.token) if self.kind != "end" else "the end of the file"

    def _next(self) -> None:
        self.taken = self.position
        self.kind, self.token = next(self.tokens)

    def _tokens(self) -> Iterator[tuple[str, str]]:
        for match in _TOKEN.finditer(self.text):
            self.position = match.start()
            kind = str(match.lastgroup)
            if kind == "open":
                self.taken = self.position
                self._refuse("a quotation mark is never closed")
            yield kind, " ".join(match[kind].replace('\\"', '"').split()) if kind == "text" else match[kind]
        self.position = len(self.text)
        yield "end", ""

    def _refuse(self, why: str) -> NoReturn:
        line = self.text.count("\n", 0, self.taken) + 1
        raise FogplayError(f"{self.file}, line {line}: {why}")


def _distinct_names(names: list[str]) -> tuple[str, ...]:
    """The names of the actions, or their numbers if names are missing or repeated."""
    distinct = len(set(names)) == len(names) and all(names)
    return tuple(names) if distinct else tuple(map(str, range(1, len(names) + 1)))
