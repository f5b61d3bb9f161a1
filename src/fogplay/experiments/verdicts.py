"""Verdicts on published claims: `holds` and `differs` need an error over runs and two standard errors.

A claim is a test of an estimate. Without enough runs, or within two standard errors, the verdict is `inconclusive`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fogplay.experiments.rows import FEWEST_RUNS, Estimate

HOLDS, DIFFERS, INCONCLUSIVE = "holds", "differs", "inconclusive"
SIGMAS = 2.0


@dataclass(frozen=True)
class Positive:
    """The claim that an amount is positive."""

    amount: Estimate

    def verdict(self) -> str:
        value, error = self.amount.value, self.amount.error
        if self.amount.runs < FEWEST_RUNS or math.isnan(error) or abs(value) < SIGMAS * error:
            return INCONCLUSIVE
        return HOLDS if value > 0 else DIFFERS


@dataclass(frozen=True)
class Equal:
    """The claim that an amount is a published number, which has its own error or rounding."""

    amount: Estimate
    published: float
    error: float
    resolution: float  # the largest combined error at which agreement means something

    def verdict(self) -> str:
        error = math.hypot(self.amount.error, self.error)
        if self.amount.runs < FEWEST_RUNS or math.isnan(error) or math.isinf(self.amount.value):
            return INCONCLUSIVE
        if abs(self.amount.value - self.published) > SIGMAS * error:
            return DIFFERS
        return HOLDS if error <= self.resolution else INCONCLUSIVE


@dataclass(frozen=True)
class Exact:
    """A claim about a number in which chance has no part."""

    same: bool

    def verdict(self) -> str:
        return HOLDS if self.same else DIFFERS


@dataclass(frozen=True)
class Every:
    """Several claims that only hold together."""

    tests: tuple[Positive | Equal | Exact | Every, ...]

    def verdict(self) -> str:
        found = {test.verdict() for test in self.tests}
        return DIFFERS if DIFFERS in found else INCONCLUSIVE if INCONCLUSIVE in found or not found else HOLDS


Test = Positive | Equal | Exact | Every


@dataclass(frozen=True)
class Finding:
    """One published statement and what was measured; only a test can make a verdict of it."""

    what: str
    published: str  # empty where the paper says nothing
    measured: str
    test: Test | None = None
    group: str = ""  # findings of a group share a table

    @property
    def whole(self) -> str:
        """What was measured, for those who do not see its group."""
        return f"{self.group}: {self.what}" if self.group else self.what

    @property
    def verdict(self) -> str:
        """`holds`, `differs` or `inconclusive`; empty where there is nothing to compare with."""
        if not self.published:
            return ""
        return INCONCLUSIVE if self.test is None else self.test.verdict()
