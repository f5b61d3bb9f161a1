"""``BettingStrategy``: the strategy of a betting game that is too large for the names of its infosets.

Probabilities lie where the learner's tables have them, by slot of the betting tree and bucket, in 255ths: one byte per
action. On disk they are stored node by node, bucket after bucket: hands of similar strength are played alike, so this
order compresses to a third less. The last action of each infoset follows from the others and is not written; a greedy
strategy takes one bit per action before compression.
"""

from __future__ import annotations

import functools
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.cards.buckets import Grid
from fogplay.errors import FogplayError
from fogplay.games.game import TERMINAL, spec_of
from fogplay.games.holdem import EXACT, Holdem
from fogplay.games.limit import CALL, LETTERS, STEPS, WORDS
from fogplay.games.registry import load
from fogplay.jit import kernel, piece
from fogplay.strategies.strategy import Situation, Strategy
from fogplay.trees.betting import Betting, betting_tree, child_after
from fogplay.version import VERSION

if TYPE_CHECKING:
    from fogplay.strategies.policy import BettingPolicy

WHOLE = 255  # the sum of the probabilities of an infoset
GREEDY, AVERAGE = "greedy", "average"


@dataclass(frozen=True)
class Decision:
    """A strategy's probabilities in one situation."""

    seat: int
    round: int
    probabilities: dict[str, float]  # by action


@dataclass(frozen=True, eq=False)
class BettingStrategy(Strategy):
    """Action probabilities at every infoset of a betting game, for all its players."""

    kind_of_file: ClassVar[str] = "profile"

    game: str  # the spec of the game, its grid included
    kind: str  # greedy: one action at every infoset; average: any probabilities
    share: NDArray[np.uint8]  # [slots] in 255ths, which add up to 255 at every infoset
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    iterations: int = 0
    seed: int | None = None
    version: str = VERSION

    @staticmethod
    def of(
        rules: Holdem,
        betting: Betting,
        *,
        visits: NDArray[Any] | None = None,
        total: NDArray[Any] | None = None,
        weights: NDArray[Any] | None = None,
        greedy: bool,
        method: str,
        parameters: Mapping[str, Any] | None = None,
        iterations: int = 0,
        seed: int | None = None,
        least: float = 0,
        steps: int = WHOLE,
    ) -> BettingStrategy:
        """A profile from what was learned: ``visits`` and ``total`` of UCT, or ``weights`` of CFR, ``[slots]`` each.

        Greedy takes the highest total / visits among the actions tried, or the largest weight; where nothing is known,
        it calls. The average is in proportion to the visits or weights, and even where there are none.

        Smaller files: at infosets with fewer than ``least`` visits or weights in all it calls, and probabilities are
        rounded to multiples of 1 / ``steps``, where ``steps`` divides 255.
        """
        if steps < 1 or WHOLE % steps:
            raise FogplayError(f"steps must divide {WHOLE}, not {steps}")
        if (weights is None) == (visits is None) or (greedy and weights is None and total is None):
            raise FogplayError("a profile is made of visits and totals, or of weights")
        buckets = np.array(rules.buckets(), np.int64)
        counts: Any = visits if weights is None else weights
        for table in (counts, total):
            if table is not None and table.shape != (betting.num_slots,):
                raise FogplayError(f"{rules} has {betting.num_slots:,} slots, not {len(table):,}")
        share = np.zeros(betting.num_slots, np.uint8)
        if not greedy:
            _average(betting.nodes, buckets, counts, least, steps, share)
        elif weights is not None:
            _heaviest(betting.nodes, buckets, counts, least, share)
        else:
            _best(betting.nodes, buckets, counts, total, least, share)
        kind = GREEDY if greedy else AVERAGE
        return BettingStrategy(str(rules), kind, share, method, dict(parameters or {}), iterations, seed)

    @functools.cached_property
    def rules(self) -> Holdem:
        """The rules of its game."""
        rules = load(self.game)
        if not isinstance(rules, Holdem):
            raise FogplayError(f"a profile is for hold'em, not for {self.game}")
        return rules

    @functools.cached_property
    def betting(self) -> Betting:
        """The betting tree whose nodes and slots it refers to."""
        betting = betting_of(self.game)
        if betting.num_slots != len(self.share):
            raise FogplayError(
                f"this profile has {len(self.share):,} slots and {self.game} has {betting.num_slots:,}: it is of "
                "another version of the game; train again"
            )
        return betting

    @functools.cached_property
    def policy(self) -> BettingPolicy:
        """The same in the form that plays."""
        from fogplay.strategies.policy import policy_of

        if self.rules.grid == EXACT:
            raise FogplayError(f"a strategy on exact cards cannot be played yet; train {self.game} through its tree")
        return policy_of(self, self.rules)

    def require_game(self, rules: Any) -> None:
        """Refuse a game with other cards or other betting; its grid may differ."""
        if not isinstance(rules, Holdem):
            raise FogplayError(f"this strategy is for {self.game}, not for {spec_of(rules)}")
        require_betting(self.rules, rules)

    def begin(self, game: Any, seat: int, seed: int) -> None:
        """Get ready to play, as an agent."""
        self.policy.begin(game, seat, seed)

    def act(self, view: Situation) -> int:
        return self.policy.act(view)

    def distribution(self, view: Situation) -> list[float]:
        return self.policy.distribution(view)

    def probabilities(self, node: int, bucket: int) -> NDArray[np.float64]:
        """[actions] at a decision node of the betting tree, with a hand in this bucket."""
        here = self.betting.nodes[node]
        count = self.rules.buckets()[here["street"]]
        if here["player"] == TERMINAL or not 0 <= bucket < count:
            raise FogplayError(f"there is no decision at node {node} with bucket {bucket}; it has {count} buckets")
        first = int(here["slot"]) + bucket * int(here["stride"])
        found: NDArray[np.float64] = self.share[first : first + int(here["count"])] / WHOLE
        return found

    def look_up(self, situation: str) -> Decision:
        """Its probabilities with a bucket after some betting, such as ``154:crc/r``."""
        bucket, colon, betting = situation.partition(":")
        if not colon or not bucket.isdigit() or set(betting) - {*LETTERS, "/"}:
            raise FogplayError(f"write a bucket and the betting, such as 154:crc/r, not {situation!r}")
        node = 0
        for letter in betting.replace("/", ""):
            choice = int(self.betting.nodes[node].calling) + STEPS[letter]
            if not 0 <= choice < self.betting.nodes[node].count:
                raise FogplayError(f"{letter!r} is not possible in {betting!r}")
            node = child_after(self.betting, node, letter)
        here = self.betting.nodes[node]
        if here.player == TERMINAL:
            raise FogplayError(f"the hand is over after {betting!r}")
        names = WORDS[CALL - int(here.calling) :]
        shares = self.probabilities(node, int(bucket)).tolist()
        return Decision(int(here.player), int(here.street), dict(zip(names, shares, strict=False)))

    def require(self, rules: Holdem) -> None:
        """Refuse a game whose grid or betting structure differs from its own."""
        require_betting(self.rules, rules)
        if EXACT not in (self.rules.grid, rules.grid):
            Grid.parse(rules.grid).require(self.rules.grid)
        elif self.rules.grid != rules.grid:
            raise FogplayError(f"this profile is for the grid {self.rules.grid}, not for {rules.grid}: train again")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one file, atomically."""
        by_node = np.zeros(self._size, np.uint8)
        _to_nodes(self.betting.nodes, np.array(self.rules.buckets(), np.int64), self.share, by_node)
        packed = np.packbits(by_node) if self.kind == GREEDY else by_node
        about = self.about() | {
            "grid_digest": _grid_digest(self.rules),
            "kind": self.kind,
            "slots": len(self.share),
        }
        storage.write(path, self.kind_of_file, {"share": np.frombuffer(zlib.compress(packed.data, 6), np.uint8)}, about)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> BettingStrategy:
        arrays, about = storage.read(path, cls.kind_of_file)
        slots, kind, digest = about.pop("slots"), about["kind"], about.pop("grid_digest")
        profile = BettingStrategy(share=np.zeros(slots, np.uint8), **about)
        if digest != _grid_digest(profile.rules):
            raise FogplayError(
                f"{path} was made with other tables of hand strength than this version has, so its buckets hold other "
                "hands: train again"
            )
        bits = kind == GREEDY
        size = -(-profile._size // 8) if bits else profile._size
        packed = np.frombuffer(zlib.decompressobj().decompress(arrays["share"].data, size + 1), np.uint8)
        if len(packed) != size:
            raise FogplayError(f"{path} is damaged or of an earlier version: it does not hold {slots:,} slots")
        by_node = np.unpackbits(packed, count=profile._size) if bits else packed
        buckets = np.array(profile.rules.buckets(), np.int64)
        _from_nodes(profile.betting.nodes, buckets, by_node, WHOLE if bits else 1, profile.share)
        return profile

    @property
    def _size(self) -> int:
        """Probabilities that are written: all but the last of every infoset."""
        nodes = self.betting.nodes
        decisions = nodes[nodes["player"] != TERMINAL]
        return int(((decisions["count"] - 1) * np.array(self.rules.buckets())[decisions["street"]]).sum())


@functools.lru_cache(maxsize=4)
def betting_of(game: str) -> Betting:
    """The betting tree of a spec; several profiles of a game share it."""
    rules = load(game)
    assert isinstance(rules, Holdem)
    return betting_tree(rules)


def require_betting(mine: Holdem, rules: Holdem) -> None:
    """Refuse a game whose cards or betting differ; grids may."""
    for name in ("players", "rounds", "ranks", "suits", "hole", "board", "raises", "max_raises", "blinds"):
        here, there = getattr(mine, name), getattr(rules, name)
        if here != there:
            raise FogplayError(
                f"{name} is {_shown(here)} there and {_shown(there)} here: this was made for {mine}, not for {rules}"
            )


def _shown(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _grid_digest(rules: Holdem) -> str:
    return EXACT if rules.grid == EXACT else Grid.parse(rules.grid).digest


# ---- From what was learned


@kernel
def _best(nodes, buckets, visits, total, least, share):
    """The highest mean among the actions tried; ``share[slots]`` is filled where it is not zero."""
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        for bucket in range(buckets[node.street]):
            first = node.slot + bucket * node.stride
            chosen, highest, found = np.int64(node.calling), 0.0, False
            if _known(visits, first, node.count) >= least:
                for action in range(node.count):
                    tried = visits[first + action]
                    if tried > 0:
                        mean = total[first + action] / tried
                        if not found or mean > highest:
                            chosen, highest, found = np.int64(action), mean, True
            share[first + chosen] = WHOLE


@kernel
def _heaviest(nodes, buckets, weights, least, share):
    """The largest weight; ``share[slots]`` is filled where it is not zero."""
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        for bucket in range(buckets[node.street]):
            first = node.slot + bucket * node.stride
            chosen, highest = np.int64(node.calling), 0.0
            if _known(weights, first, node.count) >= least:
                for action in range(node.count):
                    if weights[first + action] > highest:
                        chosen, highest = np.int64(action), weights[first + action]
            share[first + chosen] = WHOLE


@kernel
def _average(nodes, buckets, weights, least, steps, share):
    """In proportion to the weights; ``share[slots]`` is filled."""
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        for bucket in range(buckets[node.street]):
            first = node.slot + bucket * node.stride
            whole = _known(weights, first, node.count)
            if whole < least:
                share[first + node.calling] = WHOLE
                continue
            passed = 0.0
            for action in range(node.count):
                if whole > 0.0:
                    before, passed = passed, passed + weights[first + action] / whole
                else:
                    before, passed = passed, passed + 1.0 / node.count
                share[first + action] = (_in_steps(passed, steps) - _in_steps(before, steps)) * (WHOLE // steps)


@piece
def _known(weights, first, count):
    """How much is known of an infoset."""
    whole = 0.0
    for action in range(count):
        whole += weights[first + action]
    return whole


@piece
def _in_steps(passed, steps):
    """Rounded sums, whose differences add up to the whole."""
    return np.int64(min(passed, 1.0) * steps + 0.5)


# ---- On disk


@kernel
def _to_nodes(nodes, buckets, share, by_node):
    """Every node's actions but the last, bucket after bucket; ``by_node`` is filled."""
    at = 0
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        for action in range(node.count - 1):
            for bucket in range(buckets[node.street]):
                by_node[at] = share[node.slot + bucket * node.stride + action]
                at += 1


@kernel
def _from_nodes(nodes, buckets, by_node, unit, share):
    """The inverse, with every number ``unit`` times as large; ``share[slots]`` is filled."""
    at = 0
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        last = node.count - 1
        for bucket in range(buckets[node.street]):
            share[node.slot + bucket * node.stride + last] = WHOLE
        for action in range(last):
            for bucket in range(buckets[node.street]):
                first = node.slot + bucket * node.stride
                value = by_node[at] * unit
                share[first + action] = value
                share[first + last] -= value
                at += 1
