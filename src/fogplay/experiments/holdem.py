"""Shared by the papers' experiments in limit hold'em: training, opponents, matches, tables of winnings.

Opponents that are not available are replaced by stand-ins, which are labelled as such: `rules` is a rule-based
hand-strength bot, `sparring` a near-equilibrium of the game with 10 buckets.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fogplay.bots.holdem import BOTS, bot
from fogplay.experiments.rows import Row
from fogplay.experiments.runner import Job, Runner
from fogplay.games.holdem import Holdem
from fogplay.games.registry import load
from fogplay.play import match
from fogplay.strategies.betting import BettingStrategy, betting_of
from fogplay.strategies.policy import BettingPolicy, policy_of

STAND_IN = {"rules": "rules (stand-in for Poki)", "sparring": "sparring (stand-in for Sparbot)"}
SMALL_BET = 0.001  # small bets per milli-big-blind: in limit hold'em a small bet is a big blind
QUICK = 1.0  # tests make it smaller


def quick(number: int) -> int:
    """A number of episodes or hands at quick scale."""
    return max(1_000, int(number * QUICK))


def training(
    label: str,
    spec: str,
    algorithm: str,
    iterations: int,
    keep: str = "greedy",
    snapshots: Sequence[int] = (),
    seed: int = 1,
    **parameters: Any,
) -> Job:
    """A run that keeps its strategy at the end, and at ``snapshots``."""
    return Job(
        label, spec, algorithm, iterations, seed, tuple(sorted({*snapshots, iterations})), (), parameters, keep=keep
    )


@dataclass(frozen=True)
class HoldemTable:
    """A game of hold'em, its trained and built-in players, and matches between them."""

    rules: Holdem

    @staticmethod
    def for_players(players: int) -> HoldemTable:
        rules = load(f"holdem(players={players})")
        assert isinstance(rules, Holdem)
        return HoldemTable(rules)

    def trained(self, runner: Runner, job: Job, iteration: int | None = None) -> BettingPolicy:
        """What a job had learned at some iteration, by default at its end."""
        return policy_of(BettingStrategy.read(runner.strategy_file(job, iteration or job.iterations)), self.rules)

    def bot(self, name: str) -> BettingPolicy:
        assert name in BOTS
        return bot(name, self.rules, betting_of(str(self.rules)))

    def play(
        self,
        player: tuple[str, int],
        policy: BettingPolicy,
        against: str,
        others: Sequence[BettingPolicy],
        hands: int,
        at: float = 0,
        seed: int = 1,
    ) -> Row:
        """A duplicate match of one player, a label and its run, against the others, in milli-big-blinds per hand."""
        played = match(self.rules, [policy, *others], hands, seed=seed)
        label, run = player
        return Row(label, f"against {against}", at, run, played.means[0], played.standard_errors[0])

    def duels(
        self,
        label: str,
        mine: Sequence[BettingPolicy],
        other: str,
        theirs: Sequence[BettingPolicy],
        hands: int,
        at: float,
    ) -> list[Row]:
        """All runs of one label against all runs of another, each match with cards of its own."""
        pairs = itertools.product(enumerate(mine, 1), enumerate(theirs, 1))
        return [
            self.play((label, run), policy, f"{other} #{number}", [against], hands, at, seed)
            for seed, ((run, policy), (number, against)) in enumerate(pairs, 1)
        ]
