"""From histories to the terminals that each hand may have reached in a flattened game, and back."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL
from fogplay.opponents.histories import UNSEEN, Hand, Histories, listed, require_game, shorten
from fogplay.trees import FlatGame

LIMIT = 50_000_000  # completions of all hands together
SHOWN = 20  # nodes whose moves an error lists


class Completions(NamedTuple):
    """For every distinct hand, the terminals that are consistent with it, and chance's probability of each."""

    start: NDArray[np.int64]  # [hands + 1] the start of each hand's completions
    node: NDArray[np.int32]  # [completions] terminal nodes
    chance: NDArray[np.float64]  # [completions]


class _Frontier(NamedTuple):
    """The nodes that a hand may have reached after some of its moves."""

    nodes: NDArray[np.int32]
    chance: NDArray[np.float64]  # chance's probability of each


def complete(flat: FlatGame, histories: Histories) -> Completions:
    """Find every hand in the game's tree; raises an error for the first hand that is not there.

    Hands are taken in alphabetical order, so that common beginnings are walked once.
    """
    require_game(histories, flat.name)
    moves, hands = Moves(flat), histories.hands
    found: list[_Frontier] = [_Frontier(np.zeros(0, np.int32), np.zeros(0))] * len(hands)
    path: list[_Frontier] = [_Frontier(np.zeros(1, np.int32), np.ones(1))]
    before: tuple[str, ...] = ()
    total, wrong = 0, len(hands)
    for hand in sorted(range(len(hands)), key=lambda each: hands[each].moves):
        now = hands[hand].moves
        common = 0
        while common < min(len(path) - 1, len(now)) and before[common] == now[common]:
            common += 1
        del path[common + 1 :]
        before = now
        while len(path) <= len(now):
            after = moves.follow(path[-1], now[len(path) - 1])
            if not len(after.nodes):
                break
            path.append(after)
        ended = flat.tree.player[path[-1].nodes] == TERMINAL
        if len(path) <= len(now) or not ended.any() or len(hands[hand].names) != flat.num_players:
            wrong = min(wrong, hand)
            continue
        found[hand] = _Frontier(path[-1].nodes[ended], path[-1].chance[ended])
        total += len(found[hand].nodes)
        if total > LIMIT:
            raise FogplayError(
                f"{histories.source}: too much is unseen: there are over {LIMIT:,} completions; use fewer hands"
            )
    if wrong < len(hands):
        raise FogplayError(_what_is_wrong(moves, histories, wrong))
    sizes = [len(each.nodes) for each in found]
    return Completions(
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([each.nodes for each in found]),
        np.concatenate([each.chance for each in found]),
    )


def _what_is_wrong(moves: Moves, histories: Histories, hand: int) -> str:
    """An error message about a hand that is not in the game."""
    (names, made), where, flat = histories.hands[hand], histories.where(hand), moves.flat
    if len(names) != flat.num_players:
        found = listed([repr(name) for name in names])
        return f"{where}: {len(names)} names ({found}), but {flat.name} has {flat.num_players} players"
    at = _Frontier(np.zeros(1, np.int32), np.ones(1))
    for number, move in enumerate(made):
        after = moves.follow(at, move)
        if len(after.nodes):
            at = after
            continue
        where = f"{where}, move {number + 1}"
        there = moves.possible(at)
        past = f"after {shorten('; '.join(made[:number]), 120)}" if number else "at the start"
        if not there:
            return f"{where}: the hand is over {past}, but it goes on with {shorten(move)!r}"
        if move == UNSEEN:
            seat = int(flat.tree.player[at.nodes].max())
            return (
                f"{where}: {UNSEEN!r} means a move of chance, but {past} {names[seat]!r} is to move; "
                f"write the move, one of {listed(there)}"
            )
        return f"{where}: {shorten(move)!r} is not possible {past}; expected one of {listed(there)}"
    past = f"after {shorten('; '.join(made), 120)}" if made else "without any move"
    return f"{where}: the hand is not finished {past}; expected one of {listed(moves.possible(at))}"


class Moves:
    """The moves of a flattened game by name; chance's names come from the game, which is asked once per node."""

    def __init__(self, flat: FlatGame) -> None:
        self.flat = flat
        self.codes: dict[str, int] = {}
        codes = [self.codes.setdefault(name, len(self.codes)) for name in flat.actions]
        self.code = np.array(codes, np.int64)  # [slots]
        self.parent = parents(flat)
        self.outcomes: dict[int, tuple[list[int], list[str]]] = {}  # of chance nodes: actions and names
        self.by_name: dict[int, dict[str, int]] = {}  # of chance nodes: children by name
        self._refuse_twins()

    def _refuse_twins(self) -> None:
        flat = self.flat
        infoset = np.repeat(np.arange(flat.num_infosets), np.diff(flat.tree.infoset_start))
        pair, times = np.unique(infoset * max(len(self.codes), 1) + self.code, return_counts=True)
        if (times > 1).any():
            twice = int(pair[times > 1][0])
            name = list(self.codes)[twice % len(self.codes)]
            raise FogplayError(
                f"{flat.name}: two actions at infoset {flat.infosets[twice // len(self.codes)]!r} are both called "
                f"{name!r}; histories need action_to_string to name them differently"
            )

    def follow(self, at: _Frontier, move: str) -> _Frontier:
        """The nodes that a hand may have reached after one more move; none if the move is impossible."""
        tree = self.flat.tree
        player = tree.player[at.nodes]
        chosen = player == CHANCE
        if move == UNSEEN:
            nodes, counts = at.nodes[chosen], tree.num_children[at.nodes[chosen]]
            first = tree.first_child[nodes] - np.concatenate([[0], np.cumsum(counts)[:-1]])
            children = (np.repeat(first, counts) + np.arange(counts.sum())).astype(np.int32)
            return _Frontier(children, np.repeat(at.chance[chosen], counts) * tree.probability[children])
        child = np.full(len(at.nodes), -1, np.int32)
        for place in np.flatnonzero(chosen).tolist():
            child[place] = self.children(int(at.nodes[place])).get(move, -1)
        if move in self.codes:
            deciding = player >= 0
            nodes = at.nodes[deciding]
            slot, count, first = tree.infoset_start[tree.row[nodes]], tree.num_children[nodes], tree.first_child[nodes]
            taken = np.full(len(nodes), -1, np.int32)
            for action in range(int(count.max(initial=0))):
                there = action < count
                there[there] = self.code[slot[there] + action] == self.codes[move]
                taken[there] = first[there] + action
            child[deciding] = taken
        goes_on = child >= 0
        after = child[goes_on]
        return _Frontier(after, at.chance[goes_on] * tree.probability[after])

    def possible(self, at: _Frontier) -> list[str]:
        """The names of the moves that can come next, for an error."""
        tree, names = self.flat.tree, dict[str, None]()
        for node in at.nodes[tree.player[at.nodes] != TERMINAL][:SHOWN].tolist():
            if tree.player[node] == CHANCE:
                names.update(dict.fromkeys(self.children(node)))
            else:
                names.update(dict.fromkeys(self.flat.actions[self.flat.slots(int(tree.row[node]))]))
        return list(names)

    def children(self, node: int) -> dict[str, int]:
        """The children of a chance node by the names of the moves that lead to them."""
        if node not in self.by_name:
            names = self._chance(node, None)[1]
            first = int(self.flat.tree.first_child[node])
            self.by_name[node] = {name: first + place for place, name in enumerate(names)}
            if len(self.by_name[node]) < len(names):
                raise FogplayError(
                    f"{self.flat.name}: two outcomes of chance after {self.flat.history(node)} have the same name; "
                    "histories need action_to_string to name them differently"
                )
        return self.by_name[node]

    def _chance(self, node: int, state: Any) -> tuple[list[int], list[str]]:
        """The actions and their names at a chance node; its state is found if it is not given."""
        if node not in self.outcomes:
            state = self.walk_to(node)[0] if state is None else state
            actions = [outcome[0] for outcome in state.chance_outcomes()]
            self.outcomes[node] = actions, [str(state.action_to_string(CHANCE, action)) for action in actions]
        return self.outcomes[node]

    def walk_to(self, node: int) -> tuple[Any, list[str], list[bool]]:
        """The state at a node, the names of the moves that lead there, and which of them were chance's."""
        tree, path = self.flat.tree, [node]
        while path[-1] > 0:
            path.append(int(self.parent[path[-1]]))
        path.reverse()
        state, names, by_chance = self.flat.root, list[str](), list[bool]()
        for here, child in itertools.pairwise(path):
            choice = child - int(tree.first_child[here])
            by_chance.append(tree.player[here] == CHANCE)
            if by_chance[-1]:
                actions, called = self._chance(here, state)
                action = actions[choice]
                names.append(called[choice])
            else:
                action = state.legal_actions()[choice]
                names.append(self.flat.actions[int(tree.infoset_start[tree.row[here]]) + choice])
            state = state.child(action)
        return state, names, by_chance


def parents(flat: FlatGame) -> NDArray[np.int32]:
    """[nodes] the parent of each node; -1 at the root."""
    tree = flat.tree
    inner = np.flatnonzero(tree.num_children > 0).astype(np.int32)
    inner = inner[np.argsort(tree.first_child[inner])]
    return np.concatenate([np.full(1, -1, np.int32), np.repeat(inner, tree.num_children[inner])])


def record(flat: FlatGame, ends: NDArray[np.int32], names: Sequence[str], seen_by: str | None = None) -> Histories:
    """The histories of hands that ended at the nodes ``ends[hands]``.

    In hand h, ``names[(seat + h) % players]`` has each seat. With ``seen_by`` the histories hold only what that player
    saw, if the game defines it (``unseen``).
    """
    players = flat.num_players
    require_seen_by(names, seen_by)
    moves = Moves(flat)
    kinds, order = np.unique(ends.astype(np.int64) * players + np.arange(len(ends)) % players, return_inverse=True)
    hands: dict[Hand, int] = {}
    number = np.empty(len(kinds), np.int64)
    before, line = -1, (flat.root, list[str](), list[bool]())
    for place, kind in enumerate(kinds.tolist()):
        end, shift = divmod(kind, players)
        if end != before:
            before, line = end, moves.walk_to(end)
            if UNSEEN in line[1]:
                raise FogplayError(
                    f"{flat.name} has a move called {UNSEEN!r}, which in histories means a move not seen; rename it"
                )
        seated = tuple(names[(seat + shift) % players] for seat in range(players))
        seen = line[1] if seen_by is None else as_seen(flat.name, *line, seated.index(seen_by))
        number[place] = hands.setdefault(Hand(seated, tuple(seen)), len(hands))
    return Histories(tuple(hands), number[order.ravel()], flat.name)


def require_seen_by(names: Sequence[str], seen_by: str | None) -> None:
    """Raise an error unless ``seen_by`` is one of the players."""
    if seen_by is not None and seen_by not in names:
        raise FogplayError(f"no player is called {seen_by!r}; choose one of {listed(list(names))}")


def as_seen(game: str, state: Any, moves: list[str], by_chance: list[bool], seat: int) -> list[str]:
    """The moves of a hand that ended in ``state``, without those of chance that a seat never saw."""
    if not hasattr(state, "unseen"):
        return moves
    hidden = set(state.unseen(seat))
    if not all(place in range(len(moves)) and by_chance[place] for place in hidden):
        raise FogplayError(f"{game}: unseen({seat}) must return moves of chance, but returned {sorted(hidden)}")
    return [UNSEEN if place in hidden else move for place, move in enumerate(moves)]
