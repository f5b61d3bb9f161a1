"""Speed of duplicate matches, and the size of profiles on disk. One core.

    python benchmarks/matches.py                # two players: a minute
    python benchmarks/matches.py --three        # three players too: another minute, 3 GB of memory

prints tables. Hands per second are the best of three runs, after compiling; profiles hold random choices, which
compress worst.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from fogplay.agents import resolve
from fogplay.games.holdem import Holdem
from fogplay.games.registry import load
from fogplay.play import View, match
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.strategies.betting import BettingStrategy

HANDS = 2_500_000
PLAIN_HANDS = 4000
RUNS = 3


class Plain:
    """An agent that compiled loops do not support."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    def act(self, view: View) -> int:
        return int(self.agent.act(view))


def noise(spec: str, greedy: bool) -> BettingStrategy:
    simulated = HoldemSimulator.of(spec)
    weights = np.random.default_rng(1).integers(0, 100, simulated.num_slots, np.uint8)
    return BettingStrategy.of(simulated.rules, simulated.betting, weights=weights, greedy=greedy, method="noise")


def race(title: str, rules: Holdem, players: list[Any], hands: int) -> None:
    best = 0.0
    match(rules, players, 1000)
    for _ in range(RUNS):
        played = match(rules, players, hands)
        best = max(best, played.hands / played.seconds)
    print(f"| {title} | {rules.players} | {hands:,} | {best:,.0f} | {hands / best:.2f} |", flush=True)


def sizes(title: str, profile: BettingStrategy) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.safetensors"
        began = time.perf_counter()
        profile.save(path)
        saved = time.perf_counter()
        BettingStrategy.read(path)
        loaded = time.perf_counter()
        size = path.stat().st_size
    facts = f"{len(profile.share):,} | {size / 1e6:.2f} | {saved - began:.2f} | {loaded - saved:.2f}"
    print(f"| {title} | {facts} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--three", action="store_true", help="three players too")
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the hands to play, for a quick look")
    options = parser.parse_args()
    hands, few = (max(1, round(options.scale * count)) for count in (HANDS, PLAIN_HANDS))
    rules = load("holdem")
    print("| match | players | hands | hands/s | seconds |\n|---|---|---|---|---|")
    ten, paper = noise("holdem(grid=ehs:10/10/10/10)", False), noise("holdem", True)
    race("always-call, always-raise", rules, resolve(["always-call", "always-raise"], rules), hands)
    race("sparring, rules", rules, resolve(["sparring", "rules"], rules), hands)
    race("169/1000/500/200 greedy against itself", rules, [paper] * 2, hands)
    race("169/1000/500/200 greedy, 10 buckets mixed", rules, [paper, ten], hands)
    plain = [Plain(agent) for agent in resolve(["sparring", "rules"], rules)]
    race("sparring, rules as agents in plain Python", rules, plain, few)
    made = [("two players, greedy", paper), ("two players, average", noise("holdem", False))]
    if options.three:
        rules = load("holdem(players=3)")
        race("rules, always-call, probe", rules, resolve(["rules", "always-call", "probe"], rules), hands)
        large = noise("holdem(players=3)", True)
        race("169/1000/100/20 greedy against itself", rules, [large] * 3, hands)
        made.append(("three players, greedy", large))
    print("\n| profile | slots | MB | saved in s | loaded in s |\n|---|---|---|---|---|")
    for title, profile in made:
        sizes(title, profile)


if __name__ == "__main__":
    main()
