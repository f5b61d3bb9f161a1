"""What DeltaDou's networks learn from games: their errors on other games, pass by pass.

    python benchmarks/deltadou_learning.py --device cuda    # the settings of `fogplay train`: ten minutes
    python benchmarks/deltadou_learning.py --set bootstrap=2000 --set games=60 --set playouts=30    # on a CPU

First 200,000 games of the first heuristic, four times, judged by 4,000 other ones; then an episode of self-play with
search, of which a part is kept for judging. From the same start, networks learn from the rest for two, four and eight
passes, with different weights of what the search expected beside the result. Every line has the squared error of the
result (a guess without any knowledge has about 1) and the cross-entropy of the moves for the landlord's, the next and
the last seat, of the newest networks and of their average.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fogplay.bots.doudizhu import selfplay
from fogplay.bots.doudizhu.training import LAYOUT, SEATS, episodes
from fogplay.cli.app import parse_settings
from fogplay.games.doudizhu import Doudizhu
from fogplay.jit import num_cores
from fogplay.nets import runs
from fogplay.nets.dense import bits_of
from fogplay.nets.distributions import FORBIDDEN
from fogplay.nets.episodes import Decisions, Episodes
from fogplay.simulators.doudizhu_features import SEEN

JUDGED, PART, MOST = 0.15, 512, 12_000  # of the games; rows at a time, and in all
PASSES = (2, 2, 4)


@torch.no_grad()
def errors(decisions: Decisions, net: Any, device: str) -> list[str]:
    """What a network of each seat gets wrong: the result, and the moves."""
    found = []
    for seat in range(len(SEATS)):
        rows = np.flatnonzero(decisions["seat"] == seat)[:MOST]
        seen, legal, heads, shares, results = (
            torch.from_numpy(decisions[name][rows]).to(device)
            for name in ("seen", "legal", "heads", "shares", "results")
        )
        outputs = torch.cat([net(part[None], seat)[0] for part in seen[:, :SEEN].split(PART)])
        allowed = bits_of(legal)[:, : LAYOUT.heads] > 0
        logarithms = torch.log_softmax(torch.where(allowed, outputs[:, : LAYOUT.heads], FORBIDDEN), -1)
        policy = -(shares * logarithms.gather(-1, heads.long())).sum(-1).mean()
        value = (outputs[:, LAYOUT.values] - results[:, 0]).square().mean()
        found.append(f"{value:.3f} {policy:.3f}")
    return found


def tell(what: str, run: Episodes, decisions: Decisions) -> None:
    """Print a line."""
    newest, average = (errors(decisions, net, run.learner.device) for net in (run.learner.actors, run.learner.players))
    print(f"{what:32s} newest {', '.join(newest)}   average {', '.join(average)}", flush=True)


def pass_over(run: Episodes, passes: float) -> None:
    """Learn from everything in the reservoir so often."""
    kept = run.reservoir.kept
    run.learner.learn(kept, int(passes * np.mean([len(own["seen"]) for own in kept]) / run.learner.rates.batch) + 1)


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--seed", type=int, default=2019)
    parser.add_argument("--expected", type=float, nargs="*", default=[0.0, 0.5, 0.8])
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE, a setting of the run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = episodes(Doudizhu(), folder, given.device, given.seed, parse_settings(given.set))
        threads, began = 2 * num_cores(), time.monotonic()
        other = selfplay.play(given.seed + 1000, max(run.plan.bootstrap // 50, 30), threads, None).samples._asdict()
        run.reservoir.add(selfplay.play(given.seed, run.plan.bootstrap, threads, None).samples._asdict())
        print(f"games of the heuristic: {time.monotonic() - began:.0f} s")
        for number in range(round(run.plan.bootstrap_passes)):
            pass_over(run, 1.0)
            tell(f"the heuristic's games, pass {number + 1}", run, other)
        run.done = 1
        run.save()
        began, evaluate = time.monotonic(), run.learner.evaluator()
        played = run.games.play(1, evaluate, run.heat(), run.file(1), lambda: False)
        assert played is not None
        decisions, kept = played[0], round((1.0 - JUDGED) * len(played[0]["seat"]))
        print(f"an episode of {run.plan.games} games: {time.monotonic() - began:.0f} s")
        rest = {name: array[kept:] for name, array in decisions.items()}
        tell("before", run, rest)
        for expected in given.expected:
            runs.resume(folder, run.learner, SEATS)
            run.learner.warmed, run.learner.rates = 0, run.learner.rates._replace(expected=expected)
            run.reservoir.clear()
            run.reservoir.add({name: array[:kept] for name, array in decisions.items()})
            passes = 0
            for more in PASSES:
                pass_over(run, more)
                passes += more
                tell(f"expected={expected:g}, {passes} passes", run, rest)


if __name__ == "__main__":
    main()
