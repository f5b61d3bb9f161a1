"""A small game as a tree, with the probabilities of a strategy at its branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE
from fogplay.pictures.svg import document, number, text, title

MOST_NODES = 400
ACROSS, DOWN = 150.0, 24.0

Shares = Callable[[str, int], Mapping[str, float] | None]  # from infoset and player to probabilities by action


@dataclass
class _Node:
    """A node with its place; children are placed first."""

    label: str
    kind: int  # the player, CHANCE, or less at the end
    branch: str = ""  # the action that leads here
    share: float | None = None  # its probability
    depth: int = 0
    y: float = 0.0
    children: list[_Node] = field(default_factory=list)


def draw_tree(game: Any, shares: Shares | None = None, most: int = MOST_NODES) -> str:
    """The tree of a game with at most ``most`` nodes; refuses larger ones."""
    counter = [0]
    root = _grown(game.new_initial_state(), shares, 0, counter, most)
    rows = [0.0]
    _place(root, rows)
    nodes = _all(root)
    width = ACROSS * (max(node.depth for node in nodes) + 1) + 60
    parts = [_branch(parent, child) for parent in nodes for child in parent.children]
    parts += [_drawn(node) for node in nodes]
    return document(width, rows[0] + 20, parts, f"the tree of {game}: {len(nodes)} nodes")


def _grown(state: Any, shares: Shares | None, depth: int, counter: list[int], most: int) -> _Node:
    counter[0] += 1
    if counter[0] > most:
        raise FogplayError(f"the tree has more than {most} nodes: too many for a picture")
    player = state.current_player()
    if state.is_terminal():
        return _Node(" ".join(f"{value:g}" for value in state.returns()), -4, depth=depth)
    if player == CHANCE:
        node = _Node("", CHANCE, depth=depth)
        likely = dict(state.chance_outcomes())
        actions = list(likely)
    elif player < 0:
        raise FogplayError("players of this game move at the same time: there is no tree to draw")
    else:
        infoset = state.information_state_string(player)
        node = _Node(infoset, player, depth=depth)
        found = shares(infoset, player) if shares is not None else None
        actions = list(state.legal_actions())
        likely = (
            {} if found is None else {each: found.get(str(state.action_to_string(player, each))) for each in actions}
        )
    for action in actions:
        child = _grown(state.child(action), shares, depth + 1, counter, most)
        child.branch, child.share = str(state.action_to_string(player, action)), likely.get(action)
        node.children.append(child)
    return node


def _place(node: _Node, rows: list[float]) -> None:
    """Leaves one below the other, every other node in the middle of its children; ``rows[0]`` is mutated."""
    for child in node.children:
        _place(child, rows)
    if node.children:
        node.y = (node.children[0].y + node.children[-1].y) / 2
    else:
        rows[0] += DOWN
        node.y = rows[0]


def _all(node: _Node) -> list[_Node]:
    return [node, *(each for child in node.children for each in _all(child))]


def _x(node: _Node) -> float:
    return 30 + ACROSS * node.depth


def _branch(parent: _Node, child: _Node) -> str:
    share = 1.0 if child.share is None else child.share
    weight = 0.6 + 3.0 * share
    line = f'x1="{number(_x(parent))}" y1="{number(parent.y)}" x2="{number(_x(child))}" y2="{number(child.y)}"'
    percent = "" if child.share is None else f" {100 * child.share:.0f} %"
    aside = -4 if child.y <= parent.y else 12  # where the line is not
    words = text(_x(child) - 44, child.y + aside, f"{child.branch}{percent}"[:22], 10, "soft")
    return f'<line class="line" stroke-width="{weight:.1f}" {line}/>{words}'


def _drawn(node: _Node) -> str:
    x, y = _x(node), node.y
    if node.kind < CHANCE:
        return text(x + 4, y + 4, node.label, 12, anchor="start")
    colour = "none" if node.kind == CHANCE else f"a{node.kind % 6}"
    who = "chance" if node.kind == CHANCE else f"player {node.kind} at {node.label}"
    return f'<circle class="{colour}" cx="{number(x)}" cy="{number(y)}" r="6">{title(who)}</circle>'
