"""Local best response in two-player limit hold'em: a lower bound of exploitability within seconds.

Lisý and Bowling, *Equilibrium approximation quality of current no-limit poker bots* (2017). The responder knows the
opponent's strategy, and so the exact probability of each of its hands. It takes the action that would be best if both
checked and called from then on. This is a strategy like any other, so a best response earns at least as much.

A deal is the responder's cards and the board. Its value is exact over all hands and actions of the opponent, so that
deals are all that is sampled. The responder's equity against a hand drawn at random has mean zero over deals; what it
explains of the values is subtracted.
"""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay import checks
from fogplay.cards.deck import new_deck
from fogplay.cards.evaluator import evaluator
from fogplay.errors import FogplayError
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import Holdem
from fogplay.interrupts import stopping
from fogplay.jit import num_cores
from fogplay.simulators.holdem_boards import Deck, pairs
from fogplay.simulators.holdem_local_walk import HANDS, ROUNDS, fill_before, play_deals
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.policy import BLIND, BettingPolicy, signals_of
from fogplay.trees.betting import Betting, paid_by

SEATS = 2
ROLLOUTS = 150  # boards from which equity on the flop is estimated
BEFORE = 400  # the same before the flop, per class of hands
BLOCK = 50  # deals with random numbers of their own
ANY_GRID = "ehs2:169/1000/500/200"  # of tables for a player that does not look at its cards

Progress = Callable[[int, int], None]  # hands done, of how many


@dataclass(frozen=True)
class LocalValues:
    """What a local best response earns, in thousandths of a big blind per hand (mb/h)."""

    values: tuple[float, float]  # by its seat
    mean: float
    standard_error: float  # of the mean
    hands: int  # deals times seats
    seconds: float


class Scratch(NamedTuple):
    """One thread's buffers."""

    deal: NDArray[np.int64]  # [7]
    hands: NDArray[np.int64]  # [1225] of the opponent
    counts: NDArray[np.int64]  # [4] how many of them each round allows
    bucket: NDArray[np.uint16]  # [4, 1225]
    equity: NDArray[np.float64]  # [4, 1225]
    met: NDArray[np.float64]  # [1225]
    stack: NDArray[np.int64]  # [deepest] nodes
    range_: NDArray[np.float64]  # [deepest, 1225]


def new_scratch(betting: Betting) -> Scratch:
    deepest = betting.deepest * betting.widest + 1
    return Scratch(
        np.zeros(7, np.int64),
        np.zeros(HANDS, np.int64),
        np.zeros(ROUNDS, np.int64),
        np.zeros((ROUNDS, HANDS), np.uint16),
        np.zeros((ROUNDS, HANDS)),
        np.zeros(HANDS),
        np.zeros(deepest, np.int64),
        np.zeros((deepest, HANDS)),
    )


@dataclass(frozen=True, eq=False)
class LocalGame:
    """A strategy, ready to be met by its local best response."""

    rules: Holdem
    policy: BettingPolicy
    down: NDArray[np.float64]  # [nodes] what each player pays if both check and call from there
    before: NDArray[np.float64]  # [169, 1326] equity before the flop

    def measure(
        self,
        hands: int,
        *,
        seed: int = 0,
        threads: int | None = None,
        progress: Progress | None = None,
        building: Callable[[str, int, int], None] | None = None,
    ) -> LocalValues | None:
        """Play so many hands, both seats of each deal; None if it was stopped before.

        ``building`` is told of the tables that the player needs once.
        """
        began = time.monotonic()
        deals = -(-checks.whole("hands", hands, 2 * SEATS * BLOCK) // SEATS)
        blocks = -(-deals // BLOCK)
        seed = checks.seed(seed)
        if building is not None:
            self.policy.prepare(building)
        found: list[NDArray[np.float64]] = []
        with stopping() as stop, concurrent.futures.ThreadPoolExecutor(threads or num_cores()) as pool:

            def work(block: int) -> NDArray[np.float64] | None:
                return None if stop.is_set() else self.play(seed, block, min(BLOCK, deals - block * BLOCK))

            for done in pool.map(work, range(blocks)):
                if done is None:
                    return None
                found.append(done)
                if progress is not None:
                    progress(min(deals, len(found) * BLOCK) * SEATS, deals * SEATS)
        return self._summary(np.concatenate(found), time.monotonic() - began)

    def play(self, seed: int, block: int, deals: int) -> NDArray[np.float64]:
        """[deals, 2 + 3] a block: what is earned by seat, in chips, and the controls."""
        policy, earned, control = self.policy, np.zeros((deals, SEATS)), np.zeros((deals, 3))
        sees = policy.grid != BLIND
        rng = np.random.SeedSequence(seed, spawn_key=(block,)).generate_state(2, np.uint64)
        play_deals(
            evaluator(), signals_of(policy.grid if sees else ANY_GRID), sees, policy.betting.nodes, self.down,
            policy.slot, policy.stride, policy.share, pairs(Deck(13, 4)), self.before, ROLLOUTS, new_deck(), rng,
            new_scratch(policy.betting), earned, control,
        )  # fmt: skip
        return np.concatenate([earned, control], axis=1)

    def _summary(self, found: NDArray[np.float64], seconds: float) -> LocalValues:
        scale = 1000 / max(self.rules.blinds)
        earned, control = found[:, :SEATS] * scale, found[:, SEATS:]
        values = [regressed(earned[:, seat], control)[0] for seat in range(SEATS)]
        mean, error = regressed(earned.mean(axis=1), control)
        return LocalValues((values[0], values[1]), mean, error, SEATS * len(found), seconds)


def regressed(values: NDArray[np.float64], control: NDArray[np.float64]) -> tuple[float, float]:
    """The mean of ``values[n]`` where ``control[n, k]``, whose means are zero, is zero; and its standard error."""
    terms = np.column_stack([np.ones(len(values)), control])
    factors = np.linalg.lstsq(terms, values, rcond=None)[0]
    left = values - terms @ factors
    spread = float(np.sqrt(left @ left / max(len(values) - terms.shape[1], 1)))
    return float(factors[0]), spread * float(np.sqrt(np.linalg.pinv(terms.T @ terms)[0, 0]))


def local_game(rules: Holdem, theirs: Any) -> LocalGame:
    """Prepare to play the local best response to ``theirs``."""
    if rules.players != SEATS or not rules.is_full():
        raise FogplayError(f"only two-player hold'em with 52 cards has a local best response, not {rules}")
    if isinstance(theirs, BettingStrategy):
        theirs.require_game(rules)
        theirs = theirs.policy
    if not isinstance(theirs, BettingPolicy):
        raise FogplayError("only saved strategies and bots that are tables of numbers have a local best response")
    return LocalGame(rules, theirs, check_down(theirs.betting), equity_before())


def check_down(betting: Betting) -> NDArray[np.float64]:
    """[nodes] what each player pays if both check and call from there; children come after their parents."""
    nodes = betting.nodes
    down = np.zeros(len(nodes))
    for node in range(len(nodes) - 1, -1, -1):
        here = nodes[node]
        if here["player"] == TERMINAL:
            down[node] = min(int(paid_by(int(here["slot"]), seat)) for seat in range(SEATS))
        else:
            down[node] = down[int(here["first_child"]) + int(here["calling"])]
    return down


def equity_before() -> NDArray[np.float64]:
    """[169, 1326] the equity of each class before the flop, the same at every call."""
    before, holes = np.zeros((169, 1326)), pairs(Deck(13, 4))
    rng = np.random.SeedSequence(0).generate_state(2, np.uint64)
    fill_before(evaluator(), new_deck(), rng, BEFORE, holes, np.zeros(1326), np.zeros(1326), before)
    return before
