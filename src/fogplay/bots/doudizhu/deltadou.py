"""DeltaDou: search, inference and networks together, for many positions at once; and what it takes to ask it about one.

``Mind.think`` is the whole player: networks look at the positions, worlds are inferred, a search tries moves in them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu import fpmcts, inference
from fogplay.bots.doudizhu.asking import Asking, Evaluate
from fogplay.bots.doudizhu.expansion import Weights, plant
from fogplay.bots.doudizhu.inference import Situations, Thinking, Worlds, some_of
from fogplay.bots.doudizhu.worlds import draw_evenly
from fogplay.errors import FogplayError
from fogplay.games.doudizhu_worlds import ways_buffer
from fogplay.jit import kernel
from fogplay.search.trees import Rule, best_action
from fogplay.simulators.doudizhu_features import HANDS, HEAD_WORDS, SEAT, SEEN, WORDS, look
from fogplay.simulators.doudizhu_policy import COUNTS, OUTPUTS, cards_of_move, draw_move

REMEMBERED = 4  # answers per playout of a position, which asks for two or three


class Settings(NamedTuple):
    """How much to think, and how."""

    playouts: int = 200
    parallel: int = 32  # simulations of a position that wait for networks at the same time
    actions: int = 48  # of a node, at most: the likeliest
    sure: float = 0.99  # a prior from which on a move is made without a search
    rule: Rule = Rule(exploration=2.0, reduction=0.2, loss=0.2)
    weights: Weights = Weights(points=0.5, heat=0.7, prior_heat=2.0, root_heat=2.0)
    thinking: Thinking = Thinking(
        below=15, worlds=64, proposals=256, different=96, trust=1.0, belief=0.5, moves=24, heat=1.25, floor=0.005
    )


LIMITS = {
    "playouts": (0, 100_000), "parallel": (1, 1024), "actions": (2, 309), "sure": (0, 2), "exploration": (0, 100),
    "reduction": (0, 10), "loss": (0, 10), "points": (0, 100), "heat": (0, 100), "prior_heat": (0.01, 100),
    "root_heat": (0.01, 100), "below": (0, 21), "worlds": (1, 4096), "proposals": (1, 100_000),
    "different": (1, 4096), "trust": (0, 1), "belief": (0, 1), "moves": (0, 192), "floor": (1e-9, 1),
}  # fmt: skip


def checked(settings: Settings) -> Settings:
    """The settings, unless some number is impossible."""
    numbers = [*settings._asdict().items()]
    for part in (settings.rule, settings.weights, settings.thinking):
        numbers += part._asdict().items()
    for name, value in numbers:
        if name not in LIMITS:
            continue
        least, most = LIMITS[name]
        if not least <= value <= most:
            raise FogplayError(f"deltadou: {name} must be from {least} to {most:,}, not {value!r}")
    if settings.thinking.heat < 0.01:
        raise FogplayError(f"deltadou: the heat of past moves must be at least 0.01, not {settings.thinking.heat!r}")
    return settings


class Decisions(NamedTuple):
    """What was thought about some positions; rows of ``searches`` are those that were searched."""

    heads: NDArray[np.int64]  # [roots] the moves to make
    cards: NDArray[np.uint64]  # [roots]
    outputs: NDArray[np.float32]  # [roots, 476] of the players' own networks
    searched: NDArray[np.int64]  # [some] the roots that were searched
    searches: fpmcts.Searches
    worlds: Worlds | None  # of those that were searched


class Mind:
    """A player's memory, sized for the most positions that it was asked about at once."""

    def __init__(self, evaluate: Evaluate, settings: Settings) -> None:
        self.asking, self.settings = Asking(evaluate), checked(settings)
        self._room: fpmcts.Searches | None = None

    def think(self, own: Situations, rng: NDArray[np.uint64], deadline: float | None = None) -> Decisions:
        """Moves for all situations; ``rng[roots, 2]`` are their random streams, which are mutated."""
        settings, roots = self.settings, len(own.words)
        outputs, legal = look_around(own, self.asking, rng)
        room = self._memory(roots)
        room.words[:roots], room.facts[:roots] = own.words, own.facts
        sure = settings.sure if settings.playouts > 0 else -1.0
        open_ = np.zeros(roots, np.bool_)
        plant_all(room, roots, outputs, legal, settings.weights, sure, open_)
        heads, cards = np.zeros(roots, np.int64), np.zeros(roots, np.uint64)
        likeliest_moves(room, roots, outputs, legal, heads, cards)
        some, worlds = np.flatnonzero(open_), None
        if len(some):
            part, streams = some_of(own, some), rng[some]
            worlds = inference.infer(part, outputs[some], self.asking, settings.thinking, streams)
            count = len(some)
            room.words[:count], room.facts[:count], room.wanted[:count] = part.words, part.facts, settings.playouts
            order = np.zeros(settings.thinking.worlds, np.int64)
            inference.resample(worlds, room.worlds[:count], order, streams)
            room.rng[:count] = streams
            plant_all(room, count, outputs[some], legal[some], settings.weights, 2.0, np.zeros(count, np.bool_))
            fpmcts.search(room, count, self.asking, settings.rule, settings.weights, deadline)
            found = np.zeros(count, np.int64), np.zeros(count, np.uint64)
            chosen_moves(room, count, *found)
            heads[some], cards[some], rng[some] = found[0], found[1], room.rng[:count]
        return Decisions(heads, cards, outputs, some, room, worlds)

    def _memory(self, roots: int) -> fpmcts.Searches:
        settings = self.settings
        if self._room is None or len(self._room.words) < roots:
            self._room = fpmcts.searches(
                roots, max(settings.playouts, 1), settings.parallel, settings.thinking.worlds, settings.actions
            )
            self.asking.grow(REMEMBERED * roots * settings.playouts)
        return self._room


def look_around(
    own: Situations, asking: Asking, rng: NDArray[np.uint64]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """What the networks say to the players who are to move, [roots, 476], and the legal heads, [roots, 5]."""
    roots = len(own.words)
    seen, legal = np.zeros((roots, SEEN), np.int64), np.zeros((roots, HEAD_WORDS), np.int64)
    outputs = np.zeros((roots, OUTPUTS), np.float32)
    look_all(own, seen, legal, np.zeros(WORDS, np.uint64), np.zeros((1, 3), np.uint64), np.zeros((15, COUNTS)),
             ways_buffer(), rng)  # fmt: skip
    asking.fill(own.facts[:, SEAT].astype(np.int8), seen, outputs)
    return outputs, legal


@kernel
def look_all(own, seen, legal, lane, hands, weights, ways, rng):
    """Fill what the players to move see, with others' hands drawn: what is seen is the same with all of them."""
    for root in range(len(seen)):
        for place in range(WORDS):
            lane[place] = own.words[root, place]
        seat = np.int64(own.facts[root, SEAT])
        draw_evenly(own.words[root], seat, hands, 1, weights, ways, rng[root])
        for each in range(3):
            lane[HANDS + each] = hands[0, each]
        look(lane, own.facts[root], seat, seen[root], legal[root])


@kernel
def plant_all(room, roots, outputs, legal, weights, sure, is_open):
    """Begin the trees of all roots; ``is_open[roots]`` becomes whether there is more than one move to think about."""
    for root in range(roots):
        plant(room, root, outputs[root], legal[root], weights)
        highest = 0.0
        for action in range(room.trees.num_actions[root, 0]):
            highest = max(highest, room.trees.prior[root, 0, action])
        is_open[root] = room.trees.num_actions[root, 0] > 1 and highest < sure


@kernel
def likeliest_moves(room, roots, outputs, legal, heads, cards):
    """Fill ``heads[roots]`` and ``cards[roots]`` with the networks' best moves, or those that play all cards."""
    for root in range(roots):
        if room.trees.num_actions[root, 0] == 1:
            heads[root], cards[root] = room.heads[root, 0, 0], room.cards[root, 0, 0]
        else:
            hand = room.words[root, HANDS + room.facts[root, SEAT]]
            head, kickers, _ = draw_move(outputs[root], legal[root], hand, 0.0, room.ways, room.rng[root])
            heads[root], cards[root] = head, cards_of_move(head, kickers)


@kernel
def chosen_moves(room, roots, heads, cards):
    """Fill ``heads[roots]`` and ``cards[roots]`` with the moves that were tried most often."""
    for root in range(roots):
        action = best_action(room.trees, root)
        heads[root], cards[root] = room.heads[root, 0, action], room.cards[root, 0, action]
