"""Any Python game as it is: compiled kernels that ask the game's own rules at every step.

A *referee* stands between a kernel and the rules. The kernel calls it through a C function pointer whose address is
part of the game's tuple, so that kernels are compiled once and serve every game. The referee moves the game on and puts
what the kernel will ask about the new node into a few numbers. Chance is drawn with a number that the kernel passes, so
a run depends on its seed alone. Infosets have keys, the first 64 bits of a hash of their strings; ``hashed.py`` finds
their slots, and only those that get slots are remembered by name.
"""

from __future__ import annotations

import ctypes
import hashlib
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, TERMINAL
from fogplay.jit import INLINED
from fogplay.simulators import questions
from fogplay.simulators.interface import BATCH, Failure, Learned, Simulator
from fogplay.simulators.referee import NAME, NEW, Infosets, Referee
from fogplay.simulators.streams import uniform
from fogplay.simulators.tree import consecutive
from fogplay.strategies.tabular import TabularStrategy, at_seat
from fogplay.trees.estimate import DEEPEST
from fogplay.trees.flatten import named, start_of
from fogplay.trees.tree import shares

WORLDS = 512  # drawn for one decision of a search; more change little and cost time
TRIALS = 64  # random plays that measure a game
WIDEST = 256  # the buffers hold at least this many actions per infoset ...
ROOM = 4  # ... and this many times what the random plays met
_by_llvm: Any = intrinsic
STEP = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_double)


class RulesGame(NamedTuple):
    """A game played in Python, as a kernel sees it: the referee's address, and its facts about the last node."""

    step: int  # the address of the referee's function: (node, action, luck) -> node
    drawn: bool  # whether the first state is drawn too
    node: NDArray[np.int64]  # [2] the player to act, the number of actions
    key: NDArray[np.uint64]  # [1] of the infoset
    payoffs: NDArray[np.float64]  # [players] at a terminal


# ---- Calling Python from a kernel


def call(address, node, action, luck):
    """Call a referee; ``address`` is that of its function."""
    return STEP(int(address))(int(node), int(action), float(luck))


@_by_llvm
def _call(typingctx: Any, address: Any, node: Any, action: Any, luck: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wanted = (types.int64, types.int64, types.int64, types.float64)
        cast = [context.cast(builder, *each) for each in zip(arguments, signature.args, wanted, strict=True)]
        takes = [context.get_value_type(each) for each in wanted]
        function = ir.FunctionType(takes[0], takes[1:])
        return builder.call(builder.inttoptr(cast[0], function.as_pointer()), cast[1:])

    return types.int64(address, node, action, luck), generate


@overload(call, jit_options=INLINED)
def _compiled_call(address, node, action, luck):
    def compiled(address, node, action, luck):
        return _call(address, node, action, luck)

    return compiled


# ---- The questions


@questions.deal.register(RulesGame)
def _deal(game, rng):
    return call(game.step, NEW, 0, uniform(rng) if game.drawn else 0.0)


@questions.start.register(RulesGame)
def _start(game, signals, rng):
    node = np.int64(0)
    while game.node[0] == CHANCE:
        node = call(game.step, node, 0, uniform(rng))
    return node


@questions.is_terminal.register(RulesGame)
def _is_terminal(game, node):
    return game.node[0] == TERMINAL


@questions.player_of.register(RulesGame)
def _player_of(game, node):
    return game.node[0]


@questions.num_actions.register(RulesGame)
def _num_actions(game, node):
    return game.node[1]


@questions.key_of.register(RulesGame)
def _key_of(game, node, signals):
    return game.key[0]


@questions.name_infoset.register(RulesGame)
def _name_infoset(game, node, signals):
    call(game.step, NAME, 0, 0.0)


@questions.advance.register(RulesGame)
def _advance(game, node, action, signals, rng):
    after = call(game.step, node, action, 0.0)
    while game.node[0] == CHANCE:
        after = call(game.step, after, 0, uniform(rng))
    return after


@questions.payoff.register(RulesGame)
def _payoff(game, node, signals, player):
    return game.payoffs[player]


class Worlds:
    """States that a seat cannot tell from the real one: the first ones are drawn, later ones repeat these.

    With ``doubt``, every other one is a state that another player holds possible.
    """

    def __init__(self, view: Any, rng: np.random.Generator, doubt: bool) -> None:
        self.view, self.rng, self.doubt = view, rng, doubt
        self.drawn: list[Any] = []

    def __call__(self, luck: float) -> Any:
        if len(self.drawn) < WORLDS:
            self.drawn.append(self.view.world(self.rng, self.doubt and len(self.drawn) % 2 == 1))
            return self.drawn[-1]
        return self.drawn[int(luck * WORLDS)]


class RulesSimulator(Simulator):
    """A game played by its own rules, whatever its size.

    ``game`` is a spec, a game, or a state to start from. ``start`` draws the first state of every episode instead,
    given a random number from [0, 1): a search begins at states that one player holds possible. It may be exchanged
    between episodes (``draw_start``).
    """

    def __init__(self, game: Any, name: str | None = None, start: Callable[[float], Any] | None = None) -> None:
        self.rules, known_as = named(game)
        self.name = self.game = name or known_as
        self.root, self.num_players = start_of(self.rules, known_as)
        self.draw_start = start
        self._rooted: RulesGame | None = None  # the worker that a search plays with
        self.infosets = Infosets(self.num_players)
        self._referees: dict[int, tuple[Referee, Any]] = {}  # by address; ctypes frees what nobody holds
        self.deepest, self.widest = DEEPEST, 2**31
        self.decisions = -1  # unknown: chance sampling, which visits all of them, is refused
        self.compiled = False
        self._try_out()
        self.num_slots = 0  # of the game itself, which has none until infosets are met
        if hasattr(self.rules, "calibration"):
            self.calibration = self.rules.calibration()

    def _try_out(self) -> None:
        """Play at random to measure the game's speed, width and payoffs; also compute its digest.

        Infosets are named as they are met, as when learning: that is half of the work.
        """
        referee, rng = Referee(self, Infosets(self.num_players)), random.Random(1)
        referee.step(NEW, 0, rng.random())  # the first call is slow
        began, met, actions, widest, seen = time.perf_counter(), 0, 0, 1, hashlib.sha256(self.name.encode())
        low, high = np.full(self.num_players, np.inf), np.full(self.num_players, -np.inf)
        for _ in range(TRIALS):
            node = referee.step(NEW, 0, rng.random())
            while (player := referee.node[0]) != TERMINAL:
                count = int(referee.node[1])
                if player >= 0:
                    met, actions, widest = met + 1, actions + count, max(widest, count)
                    seen.update(referee.key.tobytes())
                    if int(referee.key[0]) not in referee.infosets.by_key:
                        referee.step(NAME, 0, 0.0)
                node = referee.step(node, rng.randrange(count) if player >= 0 else 0, rng.random())
            if referee.error is not None:
                raise referee.error
            low, high = np.minimum(low, referee.payoffs), np.maximum(high, referee.payoffs)
            seen.update(referee.payoffs.tobytes())
        self.episodes_per_second = TRIALS / max(time.perf_counter() - began, 1e-9)
        self.mean_actions = actions / max(met, 1)
        self.widest = max(WIDEST, ROOM * widest, self._said("num_distinct_actions", 0))
        self.payoff_range = float(max((high - low).max(), self._said("max_utility", 0) - self._said("min_utility", 0)))
        self.digest = seen.hexdigest()[:16]

    def _said(self, method: str, otherwise: float) -> Any:
        """The result of one of OpenSpiel's methods, if the game has it."""
        ask = getattr(self.rules, method, None)
        return ask() if callable(ask) else otherwise

    def worker(self, batch: int = BATCH) -> RulesGame:
        referee = Referee(self, self.infosets)
        function = STEP(referee.step)
        address = ctypes.cast(function, ctypes.c_void_p).value
        assert address is not None
        self._referees[address] = (referee, function)
        return RulesGame(address, self.draw_start is not None, referee.node, referee.key, referee.payoffs)

    def actions_per_infoset(self) -> int:
        return int(np.ceil(self.mean_actions or 1.0))

    def rooted(self, view: Any, rng: np.random.Generator, doubt: bool = False) -> RulesGame:
        self.draw_start = Worlds(view, rng, doubt)
        if self._rooted is None:
            self._rooted = self.worker()
        return self._rooted._replace(drawn=True)

    def failure(self, workers: Sequence[RulesGame]) -> Failure | None:
        referees = [self._referees[worker.step][0] for worker in workers]
        failed = [each.error for each in referees if each.error is not None]
        if not failed:
            return None
        if not isinstance(failed[0], FogplayError):
            raise failed[0]  # Ctrl-C
        return Failure(str(failed[0]), sum(each.unplayed for each in referees))

    def in_progress(self, workers: Sequence[RulesGame]) -> dict[str, NDArray[Any]]:
        return self.infosets.packed()

    def resume(self, workers: Sequence[RulesGame], arrays: Learned) -> None:
        self.infosets.unpack(arrays)

    def strategy_by_key(
        self,
        keys: NDArray[np.uint64],
        first: NDArray[np.int64],
        learned: Learned,
        method: str,
        greedy: bool,
        **about: Any,
    ) -> TabularStrategy:
        met = [self.infosets.by_key[key] for key in keys.tolist()]
        known = [(each.name, each.player, each.menu.names) for each in met]
        return tabular_strategy(self.name, known, first, learned, method, greedy, **about)


def tabular_strategy(
    spec: str,
    known: Sequence[tuple[str, int, Sequence[str]]],
    first: NDArray[np.int64],
    learned: Learned,
    method: str,
    greedy: bool,
    **about: Any,
) -> TabularStrategy:
    """The strategy of tables whose infosets were found by key.

    ``known[infosets]`` are their names, their players and the names of their actions, ``first[infosets]`` their first
    slots.
    """
    order = np.argsort([player for _, player, _ in known], kind="stable")  # by player, then as they were met
    met = [known[number] for number in order]
    times = Counter(name for name, _, _ in met)
    names = (at_seat(name, player) if times[name] > 1 else name for name, player, _ in met)
    counts = np.array([len(actions) for _, _, actions in met], np.int64)
    where = consecutive(first[order], counts)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    if "visits" in learned:
        visits = learned["visits"][where]
        about |= {"visits": visits, "action_values": learned["total"][where] / np.maximum(visits, 1)}
    weights = (learned["weights"] if "weights" in learned else learned["visits"])[where]
    average = TabularStrategy(
        spec,
        tuple(names),
        tuple(action for _, _, actions in met for action in actions),
        np.array([player for _, player, _ in met], np.int8),
        starts,
        shares(weights, starts),
        method,
        **about,
    )
    return average.greedy() if greedy else average
