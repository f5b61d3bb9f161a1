"""Shared by the papers' experiments in limit hold'em: training, opponents, matches, tables of winnings.

Opponents that are not available are replaced by stand-ins, which are labelled as such: `rules` is a rule-based
hand-strength bot, `sparring` a near-equilibrium of the game with 10 buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fogplay.bots.holdem import BOTS, bot
from fogplay.experiments.runner import Job, Runner, write_rows
from fogplay.games.holdem import Holdem
from fogplay.games.registry import load
from fogplay.play import match
from fogplay.strategies.betting import BettingStrategy, betting_of
from fogplay.strategies.policy import BettingPolicy, policy_of

STAND_IN = {"rules": "rules (stand-in for Poki)", "sparring": "sparring (stand-in for Sparbot)"}
SMALL_BET = 1000.0  # in milli-big-blinds: in limit hold'em a small bet is a big blind


@dataclass(frozen=True)
class Won:
    """What one player won in a match, in milli-big-blinds per hand."""

    player: str
    against: str
    iteration: int
    hands: int
    mean: float
    standard_error: float

    def wins(self) -> bool:
        """Whether the mean is positive by more than two standard errors."""
        return self.mean > 2 * self.standard_error

    def loses(self) -> bool:
        return self.mean < -2 * self.standard_error

    def show(self, digits: int = 0) -> str:
        return f"{self.mean:z.{digits}f} ± {self.standard_error:.{digits}f} mb/h"

    def in_small_bets(self) -> str:
        return f"{self.mean / SMALL_BET:z.3f} ± {self.standard_error / SMALL_BET:.3f} sb/h"


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

    def match(
        self,
        player: str,
        policy: BettingPolicy,
        against: str,
        others: Sequence[BettingPolicy],
        hands: int,
        iteration: int = 0,
        seed: int = 1,
    ) -> Won:
        """A duplicate match of one player against the others."""
        played = match(self.rules, [policy, *others], hands, seed=seed)
        return Won(player, against, iteration, played.hands, played.means[0], played.standard_errors[0])


def write_winnings(runner: Runner, rows: Sequence[Won]) -> None:
    """Write all matches of an experiment to winnings.csv."""
    write_rows(runner.folder / "winnings.csv", rows)
