"""Exact values in two-player hold'em without abstraction: the walk over all flops, shared by threads, and resumable."""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay import checks, storage
from fogplay.cards import tables
from fogplay.cards.buckets import Grid
from fogplay.errors import FogplayError
from fogplay.games.holdem import Holdem
from fogplay.interrupts import stopping
from fogplay.simulators.holdem_boards import Next
from fogplay.simulators.holdem_estimate import STRENGTH_GRID, estimate, sample, strengths
from fogplay.simulators.holdem_lines import Shares
from fogplay.simulators.holdem_lookups import buckets_of, lookups
from fogplay.simulators.holdem_walk import Walk, new_walk
from fogplay.simulators.holdem_walk_rows import by_rows
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.policy import BLIND, BettingPolicy

KIND = "values by flop"
SAVE_SECONDS = 5.0
PRECISIONS = {"single": np.float32, "double": np.float64}
DEVICES = ("cpu", "cuda")

Progress = Callable[[int, int], None]  # flops done, of how many
Building = Callable[[str, int, int], None]  # what is built, how much is done, of how much


@dataclass(frozen=True)
class FullValues:
    """What a responder earns in the unabstracted game, in thousandths of a big blind per hand (mb/h)."""

    values: tuple[float, float]  # by the responder's seat
    mean: float  # over both seats
    standard_error: float | None  # of the mean, where flops were sampled
    flops: int  # up to suits
    all_flops: int
    seconds: float
    without: tuple[float, ...] = ()  # the mean without each group of sampled flops


@dataclass(frozen=True, eq=False)
class FullGame:
    """A pair of strategies, ready to be measured on all flops: a best response, or ``own``, against ``theirs``."""

    walk: Walk
    digest: str
    device: str
    players: tuple[BettingPolicy, ...] = ()

    def measure(
        self,
        flops: int | None = None,
        *,
        seed: int = 0,
        threads: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
        building: Building | None = None,
        seconds: float | None = None,
    ) -> FullValues | None:
        """The values over all flops, or an estimate from ``flops`` sampled ones; None if it was stopped before.

        What was found is kept in the file ``checkpoint``, from which another call goes on. ``building`` is told of the
        tables that the players need once. ``seconds`` limits the time.
        """
        began = time.monotonic()
        everything = self.walk.flops()
        numbers = list(range(len(everything)))
        sampled = flops is not None and flops < len(everything)
        if sampled:
            numbers = sample(everything, checks.whole("flops", flops, 2), checks.seed(seed))
        path = None if checkpoint is None else Path(checkpoint)
        kept = _Kept(path, f"{self.digest}{' sampled' if sampled else ''}", adding=not sampled)
        end = None if seconds is None else began + seconds
        if building is not None:
            for player in self.players:
                player.prepare(building)
        wanted = list(dict.fromkeys(numbers))
        finished = self._run(everything, wanted, kept, threads or self.walk.threads, progress, end)
        if not finished:
            return None
        scale, count = 1000 / max(self.walk.rules.blinds), len(everything)
        if not sampled:
            assert kept.total is not None
            first, second = (scale * each for each in self.walk.finish(kept.total))
            return FullValues((first, second), (first + second) / 2, None, count, count, time.monotonic() - began)
        strength = strengths(everything, self.walk.classes, buckets_of(STRENGTH_GRID))
        values, error, without = estimate(self.walk, everything, numbers, kept.found, strength).rescaled(scale)
        spent, groups = time.monotonic() - began, tuple(map(float, without))
        return FullValues(values, sum(values) / 2, error, len(wanted), count, spent, groups)

    def _run(
        self,
        everything: Sequence[Next],
        wanted: Sequence[int],
        kept: _Kept,
        threads: int,
        progress: Progress | None,
        end: float | None,
    ) -> bool:
        """Walk the flops that are missing; whether all are there now."""
        missing = [number for number in wanted if number not in kept]
        if progress is not None:
            progress(len(wanted) - len(missing), len(wanted))
        if not missing:
            return True

        reach = self.walk.begin()
        with stopping() as stop, concurrent.futures.ThreadPoolExecutor(threads) as pool:

            def work(number: int) -> NDArray[np.float64] | None:
                if stop.is_set() or (end is not None and time.monotonic() > end):
                    return None
                return self.walk.on_flop(everything[number], reach)

            running = {pool.submit(work, number): number for number in missing}
            try:
                for future in concurrent.futures.as_completed(running):
                    found = future.result()
                    if found is not None:
                        kept.add(running[future], found)
                        if progress is not None:
                            progress(sum(number in kept for number in wanted), len(wanted))
            except BaseException:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            finally:
                kept.save()
        return all(number in kept for number in wanted)


class _Kept:
    """What was found so far, flop by flop, in memory and in a file.

    The flops before ``summed`` are kept as their sum alone, so that files stay small. They are added in order, so that
    the sum does not depend on threads or interruptions.
    """

    def __init__(self, path: Path | None, digest: str, adding: bool) -> None:
        self.path, self.digest, self.adding, self.saved = path, digest, adding, time.monotonic()
        self.found: dict[int, NDArray[np.float64]] = {}
        self.total: NDArray[np.float64] | None = None
        self.summed, self.unsaved = 0, False
        if path is not None and path.exists():
            arrays, about = storage.read(path, KIND)
            if about.get("digest") != digest:
                raise FogplayError(f"{path} was begun with other strategies or settings; name another checkpoint")
            self.found = dict(zip(arrays["numbers"].tolist(), np.array(arrays["values"]), strict=True))
            self.summed, self.total = int(about["summed"]), np.array(arrays["total"])

    def __contains__(self, number: int) -> bool:
        return number < self.summed or number in self.found

    def add(self, number: int, values: NDArray[np.float64]) -> None:
        if self.total is None:
            self.total = np.zeros_like(values)
        self.found[number], self.unsaved = values, True
        while self.adding and self.summed in self.found:
            self.total += self.found.pop(self.summed)
            self.summed += 1
        if time.monotonic() - self.saved > SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        if self.path is not None and self.unsaved and self.total is not None:
            numbers = sorted(self.found)
            values = np.zeros((len(numbers), *self.total.shape))
            for place, number in enumerate(numbers):
                values[place] = self.found[number]
            arrays = {"numbers": np.array(numbers, np.int64), "values": values, "total": self.total}
            storage.write(self.path, KIND, arrays, {"digest": self.digest, "summed": self.summed})
        self.saved, self.unsaved = time.monotonic(), False


def full_game(
    rules: Holdem,
    theirs: BettingPolicy | BettingStrategy,
    own: BettingPolicy | BettingStrategy | None = None,
    *,
    device: str = "cpu",
    precision: str = "single",
) -> FullGame:
    """Prepare to measure what ``own``, or a best response, earns against ``theirs`` in both seats."""
    checks.one_of("device", device, DEVICES)
    checks.one_of("precision", precision, PRECISIONS)
    if rules.players != 2 or not rules.is_full():
        raise FogplayError(f"only two-player hold'em with 52 cards is measured in full, not {rules}")
    theirs, own = _policy(theirs, rules), None if own is None else _policy(own, rules)
    seen = buckets_of(theirs.grid)
    own_seen = seen if own is None or own.grid == theirs.grid else buckets_of(own.grid)
    digest = hashlib.sha256(f"{rules.blinds} {rules.raises} {rules.max_raises} {tables.VERSION} {precision}".encode())
    players = (theirs,) if own is None else (theirs, own)
    for policy in players:
        digest.update(policy.grid.encode())
        for array in (policy.slot, policy.stride, policy.share):
            digest.update(np.ascontiguousarray(array).tobytes())
    made = new_walk(
        rules,
        theirs.betting,
        lookups(rules, seen, own_seen),
        _shares(theirs),
        None if own is None else _shares(own),
        PRECISIONS[precision],
    )
    if device == "cuda":
        from fogplay.simulators.holdem_walk_gpu import on_gpu

        made = on_gpu(made)
    else:
        made = by_rows(made)
    return FullGame(made, digest.hexdigest()[:16], device, players)


def _policy(player: Any, rules: Holdem) -> BettingPolicy:
    """A player as a policy for these rules."""
    if isinstance(player, BettingStrategy):
        player.require_game(rules)
        return player.policy
    if not isinstance(player, BettingPolicy):
        raise FogplayError("only saved strategies and bots that are tables of numbers are measured in full")
    return player


def _shares(policy: BettingPolicy) -> Shares:
    buckets = (1, 1, 1, 1) if policy.grid == BLIND else Grid.parse(policy.grid).counts
    return Shares(policy.slot, policy.stride, policy.share, buckets)
