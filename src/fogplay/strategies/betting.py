"""``BettingStrategy``: the strategy of a betting game that is too large for the names of its infosets.

Probabilities lie where the learner's tables have them, by slot of the betting tree and bucket, in 255ths: one byte per
action. On disk they are stored node by node, bucket after bucket: hands of similar strength are played alike, so this
order compresses to a third less. The last action of each infoset follows from the others and is not written; a greedy
strategy takes one bit per action before compression.

How often each infoset was visited while the strategy was learned is kept as one byte per infoset, in steps of √2 (see
``LEVELS``): enough to tell what was learned well from what was never met. On disk, this is a third to a half of a file.
"""

from __future__ import annotations

import functools
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
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
from fogplay.pictures import Picture
from fogplay.strategies.packing import LEVELS, WHOLE, average, best, from_nodes, heaviest, level, to_nodes
from fogplay.strategies.strategy import Situation, Strategy
from fogplay.trees.betting import Betting, betting_tree, child_after
from fogplay.version import VERSION

if TYPE_CHECKING:
    from fogplay.strategies.policy import BettingPolicy

GREEDY, AVERAGE = "greedy", "average"


@dataclass(frozen=True)
class Decision:
    """A strategy's probabilities in one situation."""

    seat: int
    round: int
    probabilities: dict[str, float]  # by action
    visits: int | None  # about how often it was met while the strategy was learned; None: not recorded


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
    levels: NDArray[np.uint8] | None = None  # [infosets] visits, as in LEVELS, node by node; None: not recorded

    @staticmethod
    def of(
        rules: Holdem,
        betting: Betting,
        *,
        visits: NDArray[Any] | None = None,
        total: NDArray[Any] | None = None,
        weights: NDArray[Any] | None = None,
        counts: NDArray[Any] | None = None,
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
        it calls. The average is in proportion to the visits or weights, and even where there are none. ``counts`` add
        up to the visits of each infoset, if the learner counted them; UCT's own visits do.

        Smaller files: at infosets with fewer than ``least`` visits or weights in all it calls, and probabilities are
        rounded to multiples of 1 / ``steps``, where ``steps`` divides 255.
        """
        if steps < 1 or WHOLE % steps:
            raise FogplayError(f"steps must divide {WHOLE}, not {steps}")
        if (weights is None) == (visits is None) or (greedy and weights is None and total is None):
            raise FogplayError("a profile is made of visits and totals, or of weights")
        buckets = np.array(rules.buckets(), np.int64)
        known: Any = visits if weights is None else weights
        counted = counts if counts is not None else visits
        for table in (known, total, counted):
            if table is not None and table.shape != (betting.num_slots,):
                raise FogplayError(f"{rules} has {betting.num_slots:,} slots, not {len(table):,}")
        share = np.zeros(betting.num_slots, np.uint8)
        if not greedy:
            average(betting.nodes, buckets, known, least, steps, share)
        elif weights is not None:
            heaviest(betting.nodes, buckets, known, least, share)
        else:
            best(betting.nodes, buckets, known, total, least, share)
        levels = None
        if counted is not None:
            levels = np.zeros(infosets_of(betting, rules.buckets()), np.uint8)
            level(betting.nodes, buckets, counted, levels)
        kind = GREEDY if greedy else AVERAGE
        about: dict[str, Any] = {"iterations": iterations, "seed": seed, "levels": levels}
        return BettingStrategy(str(rules), kind, share, method, dict(parameters or {}), **about)

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

    def prepare(self, progress: Callable[[str, int, int], None]) -> None:
        """Build the tables of its grid, if they are missing; ``progress`` is told."""
        self.policy.prepare(progress)

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

    def visits_at(self, node: int, bucket: int) -> int | None:
        """About how often this infoset was visited while the strategy was learned; None if that was not recorded."""
        if self.levels is None:
            return None
        return int(LEVELS[self.levels[self._first_infoset[node] + bucket]])

    @property
    def infoset_visits(self) -> NDArray[np.int64] | None:
        """[infosets] about how often each was visited; None if that was not recorded."""
        return None if self.levels is None else LEVELS[self.levels]

    @functools.cached_property
    def _first_infoset(self) -> NDArray[np.int64]:
        """[nodes] the number of each decision node's infoset in bucket 0."""
        nodes = self.betting.nodes
        count = np.where(nodes["player"] == TERMINAL, 0, np.array(self.rules.buckets())[nodes["street"]])
        first: NDArray[np.int64] = np.cumsum(count) - count
        return first

    def look_up(self, situation: str) -> Decision:
        """Its probabilities with a bucket after some betting, such as ``154:crc/r``."""
        bucket, colon, betting = situation.partition(":")
        if not colon or not bucket.isdigit():
            raise FogplayError(f"write a bucket and the betting, such as 154:crc/r, not {situation!r}")
        return self.decision(self.decision_after(betting), int(bucket))

    def decision(self, node: int, bucket: int) -> Decision:
        """Its probabilities at a decision node with a hand in this bucket."""
        here = self.betting.nodes[node]
        shares = self.probabilities(node, bucket).tolist()
        by_action = dict(zip(WORDS[CALL - int(here.calling) :], shares, strict=False))
        return Decision(int(here.player), int(here.street), by_action, self.visits_at(node, bucket))

    def decision_after(self, betting: str) -> int:
        """The decision node after some betting, such as ``crc/r``."""
        return decision_after(self.betting, betting)

    def require(self, rules: Holdem) -> None:
        """Refuse a game whose grid or betting structure differs from its own."""
        require_betting(self.rules, rules)
        if EXACT not in (self.rules.grid, rules.grid):
            Grid.parse(rules.grid).require(self.rules.grid)
        elif self.rules.grid != rules.grid:
            raise FogplayError(f"this profile is for the grid {self.rules.grid}, not for {rules.grid}: train again")

    def plot(self, betting: str | None = None, board: str = "") -> Picture:
        """The chart of all starting hands after some betting with a board, such as ``plot("crc/r", "Kh7d2c")``."""
        from fogplay.strategies.charts import plotted, spot

        return plotted(self, spot(self, betting, board))

    def _repr_html_(self) -> str:
        return self.plot().svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one file, atomically."""
        by_node = np.zeros(self._size, np.uint8)
        to_nodes(self.betting.nodes, np.array(self.rules.buckets(), np.int64), self.share, by_node)
        packed = np.packbits(by_node) if self.kind == GREEDY else by_node
        about = self.about() | {
            "grid_digest": _grid_digest(self.rules),
            "kind": self.kind,
            "slots": len(self.share),
        }
        arrays = {"share": np.frombuffer(zlib.compress(packed.data, 6), np.uint8)}
        if self.levels is not None:
            arrays["levels"] = np.frombuffer(zlib.compress(self.levels.data, 6), np.uint8)
        storage.write(path, self.kind_of_file, arrays, about)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> BettingStrategy:
        arrays, about = storage.read(path, cls.kind_of_file)
        slots, kind, digest = about.pop("slots"), about["kind"], about.pop("grid_digest")
        levels = None if "levels" not in arrays else _unpacked(arrays["levels"])
        profile = BettingStrategy(share=np.zeros(slots, np.uint8), levels=levels, **about)
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
        from_nodes(profile.betting.nodes, buckets, by_node, WHOLE if bits else 1, profile.share)
        if levels is not None and len(levels) != infosets_of(profile.betting, profile.rules.buckets()):
            raise FogplayError(f"{path} is damaged: it does not hold the visits of each infoset")
        return profile

    @property
    def _size(self) -> int:
        """Probabilities that are written: all but the last of every infoset."""
        nodes = self.betting.nodes
        decisions = nodes[nodes["player"] != TERMINAL]
        return int(((decisions["count"] - 1) * np.array(self.rules.buckets())[decisions["street"]]).sum())


def decision_after(tree: Betting, betting: str) -> int:
    """The decision node after some betting, such as ``crc/r``."""
    if set(betting) - {*LETTERS, "/"}:
        raise FogplayError(f"write betting in the letters f, c and r, such as crc/r, not {betting!r}")
    node = 0
    for letter in betting.replace("/", ""):
        choice = int(tree.nodes[node].calling) + STEPS[letter]
        if not 0 <= choice < tree.nodes[node].count:
            raise FogplayError(f"{letter!r} is not possible in {betting!r}")
        node = child_after(tree, node, letter)
    if tree.nodes[node].player == TERMINAL:
        raise FogplayError(f"the hand is over after {betting!r}")
    return node


def infosets_of(betting: Betting, buckets: Sequence[int]) -> int:
    """The number of infosets of a betting tree with so many buckets in each round."""
    decisions = betting.nodes[betting.nodes["player"] != TERMINAL]
    return int(np.array(buckets)[decisions["street"]].sum())


def joined_levels(strategies: Sequence[BettingStrategy]) -> NDArray[np.uint8] | None:
    """[infosets] the visits of a strategy that plays at every seat like the one listed for it; None if one has none."""
    nodes, buckets = strategies[0].betting.nodes, np.array(strategies[0].rules.buckets())
    decisions = nodes[nodes["player"] != TERMINAL]
    owner = np.repeat(decisions["player"], buckets[decisions["street"]])
    joined = np.zeros(len(owner), np.uint8)
    for seat, each in enumerate(strategies):
        if each.levels is None:
            return None
        np.copyto(joined, each.levels, where=owner == seat)
    return joined


def _unpacked(levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    try:
        return np.minimum(np.frombuffer(zlib.decompress(levels.data), np.uint8), len(LEVELS) - 1)
    except zlib.error as error:
        raise FogplayError(f"a strategy's visits are damaged: {error}") from error


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
