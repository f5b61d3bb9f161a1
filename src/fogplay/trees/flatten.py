"""From rules in Python to a ``Tree``: walk the game once, check it during the walk, and lay it out as arrays."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL, spec_of
from fogplay.games.own import UNKNOWN, checked_players, checked_start, failed, require_own_game
from fogplay.games.registry import load, turn_based
from fogplay.jit import kernel
from fogplay.trees.checks import (
    check_chance_player,
    check_chances,
    check_infoset,
    check_returns,
    complain_of_infoset,
)
from fogplay.trees.limits import Gauge, Limits, Path, expected_nodes, tree_bytes
from fogplay.trees.sequences import find_lost_recall
from fogplay.trees.tree import FlatGame, Tree, name_path

LOOK_EVERY = 1 << 13  # nodes after which the walk is judged; few enough that an endless history fits in memory
REPORT_EVERY = 1 << 16
SMALLER = "choose smaller parameters"

Progress = Callable[[int, int, int], None]  # nodes so far, nodes and bytes expected in total


def flatten(
    game: Any,
    *,
    name: str | None = None,
    node_limit: int | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> FlatGame:
    """The whole game as arrays.

    ``game`` is a spec, a game, or a state to start from; any object with OpenSpiel's method names works. A game of over
    ``node_limit`` nodes (by default 100 million) or ``memory_limit`` bytes (by default 80 % of the memory that is free)
    is refused with ``TooLargeError``: at once if an estimate shows it, else during the walk, which calls ``progress``
    regularly.
    """
    if isinstance(game, FlatGame):
        return game
    game, known_as = named(game)
    name = name or known_as
    root, players = start_of(game, name)
    limits = Limits.of(node_limit, memory_limit)
    instead = game.instead_of_a_tree() if hasattr(game, "instead_of_a_tree") else SMALLER
    expected = expected_nodes(root, players, name, limits, instead)
    walk = _Walk(root, players, name)
    walk.run(Gauge(name, players, limits, expected, instead), progress)
    flat = walk.finish()
    extras = {name: getattr(game, name)() for name in ("calibration", "measures") if hasattr(game, name)}
    return replace(flat, **extras)


def named(game: Any, suited: bool = False) -> tuple[Any, str]:
    """A game, loaded if it is a spec, and its name, which ``load`` understands if the game has a spec."""
    if isinstance(game, str):
        loaded = load(game, suited)
        return loaded, game if ".py" in game else spec_of(loaded)
    if hasattr(game, "new_initial_state"):
        game = turn_based(game)
        require_own_game(game, spec_of(game))
        return game, spec_of(game)
    return game, f"a state of {type(game).__name__}"


def start_of(game: Any, name: str | None = None) -> tuple[Any, int]:
    """The first state and the number of players of a game or a state; errors call it ``name``."""
    if hasattr(game, "new_initial_state"):
        name = name or type(game).__name__
        if hasattr(game, "get_type") and not game.get_type().provides_information_state_string:
            raise FogplayError(
                f"{name} has no information_state_string: OpenSpiel tells only what its players observe, not what they "
                "know, so it cannot be solved"
            )
        return checked_start(game, name), checked_players(game, name)
    if hasattr(game, "child") and hasattr(game, "current_player"):
        players = game.num_players() if hasattr(game, "num_players") else game.get_game().num_players()
        return game, int(players)
    raise FogplayError(
        f"{type(game).__name__} is not a game; pass the name of one (`fogplay games` lists them), or an object with "
        "num_players() and new_initial_state()"
    )


class _Walk:
    """A depth-first walk, and what it found, in the order of the visits.

    It records only what the game's Python code must be asked (who acts, how many moves, which infoset, which payoffs).
    The shape of the tree follows from the numbers of moves in this order; a kernel lays it out afterwards.
    """

    def __init__(self, root: Any, players: int, name: str) -> None:
        self.root, self.players, self.name = root, players, name
        self.player = array("b")  # one entry per node, as in the next two
        self.num_children = array("i")
        self.row = array("i")
        self.probabilities = array("d")  # of the moves at every chance node, in order
        self.payoffs = array("d")  # one number per player for each terminal
        self.infosets: dict[str, int] = {}
        self.infoset_player: list[int] = []
        self.infoset_actions: list[Any] = []
        self.action_names: list[list[str]] = []
        self.calling: list[int] | None = [] if hasattr(root, "calling_action") else None
        self.outlook: list[tuple[float, float]] | None = [] if hasattr(root, "betting_outlook") else None

    def run(self, gauge: Gauge, progress: Progress | None) -> None:
        """Walk the whole game from the root."""
        stack = [self.root]
        while stack:
            before = len(self.player)
            try:
                self._visit(stack, min(gauge.limits.nodes - before, LOOK_EVERY))
            except FogplayError:
                raise
            except Exception as error:
                self._complain(failed(error, self._last_state()), error)
            nodes = len(self.player)
            if stack:
                gauge.look(self.num_children[before:], nodes, len(stack), len(self.infosets))
            if progress is not None and (nodes % REPORT_EVERY == 0 if stack else nodes > REPORT_EVERY):
                expected = gauge.expected if stack else nodes
                progress(nodes, expected, tree_bytes(expected, self.players))

    def _visit(self, stack: list[Any], count: int) -> None:
        """Visit the next ``count`` nodes: the only Python loop over every node of the game."""
        pop, push = stack.pop, stack.extend
        add_player, add_children, add_row = self.player.append, self.num_children.append, self.row.append
        infosets, infoset_actions, infoset_player = self.infosets, self.infoset_actions, self.infoset_player
        players, payoffs = self.players, self.payoffs
        for _ in range(count):
            if not stack:
                return
            state = pop()
            player = state.current_player()
            if player >= 0:
                key = state.information_state_string(player)
                actions = state.legal_actions()
                infoset = infosets.get(key)
                if infoset is None:
                    infoset = self._new_infoset(state, player, key, actions)
                elif infoset_player[infoset] != player or (
                    infoset_actions[infoset] is not actions and infoset_actions[infoset] != actions
                ):
                    owner, known = infoset_player[infoset], infoset_actions[infoset]
                    complain_of_infoset(key, owner, player, known, actions, self._complain)
                add_row(infoset)
                children = [state.child(action) for action in actions]
            elif player == TERMINAL:
                returns = state.returns()
                if len(returns) != players:
                    check_returns(returns, players, self._complain)
                add_row(len(payoffs) // players)
                payoffs.extend(returns)
                add_player(TERMINAL)
                add_children(0)
                continue
            else:
                children = self._chance_children(state, player)
                add_row(-1)
            add_player(player)
            add_children(len(children))
            children.reverse()
            push(children)

    def _new_infoset(self, state: Any, player: int, key: str, actions: Any) -> int:
        check_infoset(player, self.players, key, actions, self._complain)
        self.infosets[key] = len(self.infoset_player)
        self.infoset_player.append(player)
        self.infoset_actions.append(actions)
        if self.calling is not None:
            self.calling.append(list(actions).index(state.calling_action()))
        if self.outlook is not None:
            self.outlook.append(state.betting_outlook())
        self.action_names.append([str(state.action_to_string(player, action)) for action in actions])
        return len(self.infoset_player) - 1

    def _chance_children(self, state: Any, player: int) -> list[Any]:
        check_chance_player(player, self._complain)
        outcomes = state.chance_outcomes()
        probabilities = [outcome[1] for outcome in outcomes]
        check_chances(probabilities, self._complain)
        self.probabilities.extend(probabilities)
        return [state.child(outcome[0]) for outcome in outcomes]

    def _last_state(self) -> Any:
        """The state whose visit failed, unless its own code fails on the way there too."""
        path, state = Path(), self.root
        path.follow(self.num_children)
        try:
            for choice in path.moves():
                player = state.current_player()
                moves = state.legal_actions() if player >= 0 else [outcome[0] for outcome in state.chance_outcomes()]
                state = state.child(moves[choice])
        except Exception:
            return UNKNOWN
        return state

    def _complain(self, what: str, cause: Exception | None = None, kind: type[FogplayError] = FogplayError) -> None:
        path = Path()
        path.follow(self.num_children)
        raise kind(f"{self.name}: {what}; seen after: {name_path(self.root, path.moves())}") from cause

    def finish(self) -> FlatGame:
        """Lay out the walk as a tree, and check what only the whole tree shows."""
        players = self.players
        by_player = np.argsort(np.array(self.infoset_player, np.int8), kind="stable")
        renumber = np.empty(len(by_player), np.int32)
        renumber[by_player] = np.arange(len(by_player), dtype=np.int32)
        counts = np.array([len(self.infoset_actions[infoset]) for infoset in by_player], np.int32)
        nodes = len(self.player)
        tree = Tree(
            player=np.empty(nodes, np.int8),
            row=np.empty(nodes, np.int32),
            first_child=np.empty(nodes, np.int32),
            num_children=np.empty(nodes, np.int32),
            probability=np.ones(nodes),
            payoffs=np.frombuffer(self.payoffs, np.float64).reshape(-1, players).copy(),
            infoset_player=np.array(self.infoset_player, np.int8)[by_player],
            infoset_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        )
        probabilities = np.frombuffer(self.probabilities) if self.probabilities else np.zeros(0)
        _lay_out(
            np.frombuffer(self.player, np.int8),
            np.frombuffer(self.num_children, np.int32),
            np.frombuffer(self.row, np.int32),
            probabilities,
            renumber,
            np.empty(nodes, np.int32),
            tree,
        )
        names = list(self.infosets)
        flat = FlatGame(
            name=self.name,
            tree=tree,
            infosets=tuple(names[infoset] for infoset in by_player),
            actions=tuple(action for infoset in by_player for action in self.action_names[infoset]),
            recall_lost=None,
            root=self.root,
            calling=None if self.calling is None else np.array(self.calling, np.int32)[by_player],
            outlook=None if self.outlook is None else np.array(self.outlook, np.float64)[by_player],
        )
        _check_payoffs(flat)
        object.__setattr__(flat, "recall_lost", _lost_recall(flat))
        return flat


def _check_payoffs(flat: FlatGame) -> None:
    tree = flat.tree
    bad = np.flatnonzero(~np.isfinite(tree.payoffs).all(axis=1))
    if len(bad):
        node = int(np.flatnonzero((tree.player == TERMINAL) & (tree.row == bad[0]))[0])
        raise FogplayError(
            f"{flat.name}: a payoff is not a finite number ({tree.payoffs[bad[0]].tolist()}); "
            f"seen after: {flat.history(node)}"
        )


def _lost_recall(flat: FlatGame) -> str | None:
    tree = flat.tree
    last = np.zeros((flat.num_nodes, flat.num_players), np.int32)
    node = find_lost_recall(tree, last, np.full(flat.num_infosets, -1, np.int32))
    if node < 0:
        return None
    infoset = int(tree.row[node])
    return (
        f"player {tree.infoset_player[infoset]} forgets its own moves at infoset {flat.infosets[infoset]!r}, "
        f"which it also reaches after: {flat.history(node)}"
    )


@kernel
def _lay_out(player, num_children, row, probabilities, renumber, places, tree):
    """Assign every node of the walk its index, and fill the tree's arrays.

    A visit to a node assigns the next free indices to its children; ``places`` is a stack of the indices assigned and
    not yet visited, in the order in which the walk visits them.
    """
    places[0] = 0
    pending = 1
    free = 1
    next_probability = 0
    for step in range(len(player)):
        pending -= 1
        node = places[pending]
        count = num_children[step]
        tree.player[node] = player[step]
        tree.num_children[node] = count
        tree.first_child[node] = free if count > 0 else 0
        tree.row[node] = renumber[row[step]] if player[step] >= 0 else row[step]
        for child in range(count):
            if player[step] == CHANCE:
                tree.probability[free + child] = probabilities[next_probability]
                next_probability += 1
            places[pending + count - 1 - child] = free + child
        pending += count
        free += count
