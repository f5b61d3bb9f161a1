"""When a game is too large for a tree: before the walk by an estimate, during the walk by what was met."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import psutil

from fogplay.checks import whole
from fogplay.trees.checks import NoTreeError
from fogplay.trees.estimate import DEEPEST, HOPELESS, MANY_PROBES, SMALL, Estimate, estimate

NODE_LIMIT = 100_000_000
INDEX_LIMIT = 2**31 - 1  # nodes are numbered in 32 bits
BYTES_PER_INFOSET = 400  # names, dictionary entries and tables
NEAR = 32  # an estimate within this factor of a limit is made again, with more probes
FAR = 1000  # an estimate without bias is so many times too large at most once in so many games (Markov's inequality)
EARLY = 20_000  # nodes after which a walk is judged whose estimate was over the limits
SURE = 4  # during a walk, a game is given up that seems to have so many times the limit


class TooLargeError(NoTreeError):
    """A game does not fit in a tree; ``size`` says in words how large it is."""

    def __init__(self, line: str, size: str) -> None:
        super().__init__(line)
        self.size = size


class Limits(NamedTuple):
    """The largest tree that may be built."""

    nodes: int
    memory: int  # in bytes

    @staticmethod
    def of(nodes: int | None, memory: int | None) -> Limits:
        """The limits asked for; by default 100 million nodes, and 80 % of the memory that is free."""
        most = NODE_LIMIT if nodes is None else whole("node_limit", nodes, 1)
        return Limits(min(most, INDEX_LIMIT), memory or available_memory() * 4 // 5)

    def excess(self, nodes: float, players: int) -> float:
        """How many times the limits a tree of so many nodes would take."""
        return max(nodes / self.nodes, tree_bytes(int(nodes), players) / self.memory)

    def refuse(self, name: str, size: str, nodes: float, instead: str) -> None:
        """Raise the error for a game that is far over the limits."""
        limit = f"{rounded(self.nodes)} nodes" if nodes > self.nodes else f"{self.memory / 1e9:,.3g} GB"
        how = f" (--node-limit {self.nodes * 10} allows more)" if self.nodes < nodes < INDEX_LIMIT else ""
        raise TooLargeError(f"{name} has {size}, over the limit of {limit}{how}: too large for a tree; {instead}", size)


def expected_nodes(root: Any, players: int, name: str, limits: Limits, instead: str) -> int:
    """About how many nodes a game has; refuses one that is too large for a tree, within a second or so."""
    found = _estimate(root)
    if found.endless:
        refuse_endless(name, instead)
    if found.slow:
        size = "rules so slow that its size is unknown"
        raise TooLargeError(f"{name} has {size}: no tree is built; {instead}", size)
    if found.nodes <= SMALL:
        return found.nodes
    if 1 / NEAR < limits.excess(found.nodes, players) < NEAR:
        found = estimate(root, MANY_PROBES)
    at_least = max(found.nodes - 2 * found.error, found.nodes / FAR)
    if limits.excess(at_least, players) > 1:
        about = "about" if found.nodes < HOPELESS else "over"  # the estimate was cut short
        limits.refuse(name, f"{about} {rounded(found.nodes)} nodes", at_least, instead)
    return found.nodes


def _estimate(root: Any) -> Estimate:
    """An estimate of the game's size; of 1 node where its own code fails, which the walk will report better."""
    try:
        return estimate(root, enough=SMALL)
    except Exception:
        return Estimate(1, endless=False)


def refuse_endless(name: str, instead: str) -> None:
    size = f"histories of over {DEEPEST:,} moves"
    raise TooLargeError(f"{name} has {size}: too large for a tree; {instead}", size)


class Path:
    """Where a depth-first walk stands: at each depth, how many moves there are and which one it is in."""

    def __init__(self) -> None:
        self.steps: list[list[int]] = []  # [moves, the one taken]

    def follow(self, num_children: Iterable[int]) -> None:
        """Continue with the numbers of moves of the nodes visited next."""
        steps = self.steps
        for count in num_children:
            if count:
                steps.append([count, 0])
                continue
            while steps and steps[-1][1] == steps[-1][0] - 1:
                steps.pop()
            if steps:
                steps[-1][1] += 1

    def moves(self) -> list[int]:
        """Which move was taken at each step from the root."""
        return [choice for _, choice in self.steps]

    def share(self) -> float:
        """The probability that a random play ends in what was visited: the walk's progress in an even tree."""
        done, weight = 0.0, 1.0
        for count, choice in self.steps:
            weight /= count
            done += weight * choice
        return done


class Gauge:
    """Judges a walk as it goes: a game that turns out too deep or too large is given up.

    The estimate before the walk can miss a rare part of the game. Once twice as many nodes were met, the tree is
    estimated by the share of it that was visited (the weighted backtrack estimator of Kilby et al. 2006). An estimate
    over the limits that was too uncertain to refuse the game is doubted early.
    """

    def __init__(self, name: str, players: int, limits: Limits, expected: int, instead: str) -> None:
        self.name, self.players, self.limits, self.instead = name, players, limits, instead
        self.expected, self.doubtful = expected, 2 * expected if limits.excess(expected, players) <= 1 else EARLY
        self.path = Path()

    def look(self, visited: Iterable[int], nodes: int, waiting: int, infosets: int) -> None:
        """After more nodes, with these numbers of moves, were visited; ``waiting`` is the number of known others."""
        self.path.follow(visited)
        if len(self.path.steps) > DEEPEST:
            refuse_endless(self.name, self.instead)
        limits, used = self.limits, tree_bytes(nodes, self.players) + infosets * BYTES_PER_INFOSET
        if nodes >= limits.nodes or used > limits.memory:
            many = nodes >= limits.nodes
            limit = f"{rounded(limits.nodes)} nodes" if many else f"{limits.memory / 1e9:.1f} GB"
            line = (
                f"{self.name} reached the limit of {limit} after {nodes:,} nodes and {infosets:,} infosets, unfinished"
            )
            more = f" or raise the limit (--node-limit {limits.nodes * 10})" if many else ""
            raise TooLargeError(f"{line}; {self.instead}{more}", f"over {rounded(nodes)} nodes")
        self.expected = max(self.expected, nodes + waiting)
        if nodes > self.doubtful:
            self.expected = max(nodes + waiting, int(nodes / max(self.path.share(), nodes / HOPELESS)))
            if limits.excess(self.expected, self.players) > SURE:
                limits.refuse(self.name, f"about {rounded(self.expected)} nodes", self.expected, self.instead)


def tree_bytes(nodes: int, players: int) -> int:
    """About how many bytes a tree of ``nodes`` nodes takes while it is built and used."""
    return nodes * (21 + 8 * players) + nodes * (20 + 12 * players)


def available_memory() -> int:
    """Bytes that a new allocation may take on this machine without swapping."""
    return int(psutil.virtual_memory().available)


def rounded(count: int) -> str:
    """A number of nodes for people."""
    digits = len(str(count))
    if digits < 7:
        return f"{count:,}"
    if digits > 12:
        return f"10^{digits - 1}"
    return f"{count / 1e6:,.1f} million" if digits < 10 else f"{count / 1e9:,.1f} billion"
