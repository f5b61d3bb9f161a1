"""Matches between the strategies that ``winnings.py train`` saved, and their rows for the pages of results.

python benchmarks/winnings_matches.py FOLDER --hands 200000   # again: only what is new
python benchmarks/winnings_matches.py FOLDER --device cpu     # of strategies that were trained on a CPU

Rows of earlier calls are kept, also if their strategies are no longer in the folder.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from winnings import BILLION, COARSE, ITSELF, RESPONDED, START, Training, plan

from fogplay import storage
from fogplay.experiments.concurrency import ALONE
from fogplay.experiments.holdem import HoldemTable, training
from fogplay.experiments.rows import Row, read_rows_of, write_rows_of
from fogplay.experiments.runner import Runner
from fogplay.experiments.smooth_uct_2015 import at_once
from fogplay.experiments.winnings_2011 import ON_GPU, SHORT_END
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.policy import BettingPolicy, policy_of

COMMAND = "python benchmarks/winnings_matches.py FOLDER"
TRAINED = "The strategies in FOLDER are trained by `python benchmarks/winnings.py train FOLDER"
NOTE = {"cuda": f"{TRAINED}`, here on one NVIDIA H200", "cpu": f"{TRAINED} --device cpu`, here on one CPU core each"}
EXACT = ", exact model"
POINTS, HANDS = Path("benchmarks/results/papers"), 200_000
SMOOTH, UCT, SECOND = "Smooth UCT", "UCT", "MCCFR100"
TRAVERSALS = 3_000_000  # of the second opponent of 2014


def about(rows: list[Row], device: str, hands: int = HANDS) -> dict[str, str]:
    """What made the rows; of a CPU, which has few, each run is named."""
    longer = f" --hands {hands}" * (hands != HANDS)
    if device == "cuda":
        return {"command": f"{COMMAND}{longer}", "note": NOTE[device]}
    runs: dict[str, set[int]] = {}
    for row in rows:
        runs.setdefault(row.label.removesuffix(f", {ALONE}"), set()).add(row.run)
    named = "; ".join(f"{label}, seed {' and '.join(map(str, sorted(seeds)))}" for label, seeds in runs.items())
    return {"command": f"{COMMAND} --device cpu{longer}", "note": f"{NOTE[device]}: {named}"}


def key_of(row: Row) -> tuple[str, str, float, int]:
    return row.label, row.measure, row.at, row.run


@dataclass
class Matches:
    """Matches of trained strategies; what an earlier call has played is taken from its rows."""

    folder: Path
    hands: int
    known: dict[tuple[str, str, float, int], Row] = field(default_factory=dict)
    device: str = "cuda"

    def runs(self, group: str, *labels: str) -> list[Training]:
        """The runs of which strategies are here, with the places of these."""
        planned = [each for each in plan() if each.group == group and (not labels or each.label in labels)]
        longest = {each.name: each for each in sorted(planned, key=lambda each: each.places[-1])}
        here = [
            replace(each, places=tuple(place for place in each.places if each.file(self.folder, place).exists()))
            for each in longest.values()
        ]
        return [each for each in here if each.places]

    def play(self, label: str, run: Training, against: str, bot: BettingPolicy, place: int, share: int = 1) -> Row:
        """A match of one run, at one place of its training, under the label of the pages."""
        key = (label, f"against {against}", float(place), run.seed)
        if key not in self.known:
            mine = self.joined(run, place) if run.model else self.policy(run, place)
            table = HoldemTable.for_players(2)
            hands = share * self.hands
            self.known[key] = table.play((label, run.seed), mine, against, [bot], hands, place, run.seed)
        return self.known[key]

    def policy(self, run: Training, place: int) -> BettingPolicy:
        return policy_of(BettingStrategy.read(run.file(self.folder, place)), HoldemTable.for_players(2).rules)

    def joined(self, run: Training, place: int) -> BettingPolicy:
        """A response at both seats."""
        both = [BettingStrategy.read(replace(run, seat=seat).file(self.folder, place)) for seat in (0, 1)]
        rules = HoldemTable.for_players(2).rules
        return policy_of(HoldemSimulator.of(run.spec).joined(both, "dbr"), rules)

    def responses(self, *labels: str) -> list[Training]:
        """Responses of which both seats are here, by the first seat."""
        runs = {each.name: each for each in self.runs("2011", *labels)}
        pairs = [
            (each, runs[other])
            for each in runs.values()
            if each.seat == 0 and (other := replace(each, seat=1).name) in runs
        ]
        return [
            replace(one, places=tuple(place for place in one.places if place in other.places)) for one, other in pairs
        ]


def curve(matches: Matches) -> list[Row]:
    """Figure 3 of 2015: all against all, and against a near-equilibrium; a CPU's runs have labels of their own."""
    mine, rows, table = matches.runs("2015-fig3"), list[Row](), HoldemTable.for_players(2)
    both = {label: [each for each in mine if each.label == label] for label in (SMOOTH, UCT)}
    sparring, called = table.bot("sparring"), f", {ALONE}" * (matches.device == "cpu")
    for place in sorted({place for each in mine for place in each.places}):
        trained = {label: [each for each in runs if place in each.places] for label, runs in both.items()}
        known = {key: row for key, row in matches.known.items() if key[2] == place and "#" in key[1]}
        if len(known) == len(trained[SMOOTH]) * len(trained[UCT]):
            rows += known.values()
        else:
            policies = {label: [matches.policy(each, place) for each in runs] for label, runs in trained.items()}
            names = f"{SMOOTH}{called}", f"{UCT}{called}"
            rows += table.duels(names[0], policies[SMOOTH], names[1], policies[UCT], matches.hands, place)
        for label, runs in trained.items():
            rows += [matches.play(f"{label}{called}", each, "sparring", sparring, place) for each in runs]
    return rows


def two_players(matches: Matches) -> list[Row]:
    """Table 2 of 2014: against two near-equilibria."""
    mine, table = matches.runs("2014-table2"), HoldemTable.for_players(2)
    runner = Runner(matches.folder / "opponent", engine="sequential")
    second = training(SECOND, COARSE, "es-mccfr", TRAVERSALS, "average")
    if not mine:
        return []
    runner.run([second])
    opponents = {"sparring": table.bot("sparring"), SECOND: table.trained(runner, second)}
    return [
        matches.play(run.label, run, against, bot, run.places[-1])
        for run, (against, bot) in itertools.product(mine, opponents.items())
    ]


def three_players(matches: Matches, group: str) -> list[Row]:
    """Table 3 of either paper: what was played beside the training."""
    return [row for file in sorted(matches.folder.glob(f"{group}_*.csv")) for row in read_rows_of(file)]


def in_leduc(matches: Matches) -> list[Row]:
    """Figure 2 of 2015: UCT with few and many concurrent episodes."""
    rows = [row for file in sorted(matches.folder.glob("2015-leduc_*.csv")) for row in read_rows_of(file)]
    return [replace(row, label=at_once(int(row.label.split()[-1]))) for row in rows]


def learning(matches: Matches) -> list[Row]:
    """Figure 4 of 2011: against a near-equilibrium, beyond the places of runs on a CPU, and at the last of these."""
    sparring = HoldemTable.for_players(2).bot("sparring")
    rows = []
    for run in matches.runs("2011", "MCTS10", "MCCFR10"):
        for place in run.places:
            if matches.device == "cpu" and place <= SHORT_END:
                continue  # `fogplay reproduce` has these
            label = run.label.removesuffix("10") + ON_GPU * (place == SHORT_END)
            rows.append(matches.play(label, run, "sparring", sparring, place))
    return rows


def against_bots(matches: Matches, *also: str) -> list[Row]:
    """Tables 1 and 2 of 2011: two bots, against MCCFR and what is asked for; places from a billion on."""
    table, rows = HoldemTable.for_players(2), list[Row]()
    wanted = [*matches.runs("2011", "MCCFR10", "MCCFR100", *also), *matches.responses("MCRNR10", "MCRNR100")]
    for against in RESPONDED:
        bot = table.bot(against)
        mine = [
            each for each in wanted if each.model.removesuffix("-itself") in ("", against) and not (also and each.model)
        ]
        rows += [
            matches.play(f"{run.label}{EXACT * (run.model == ITSELF)}", run, against, bot, place, 2)
            for run in mine
            for place in run.places
            if place >= (10**8 if run.model else BILLION)
        ]
    return rows


def while_learning(matches: Matches) -> list[Row]:
    """Figure 8 of 2011: a response against the bot whose model it knows."""
    rules = HoldemTable.for_players(2).bot("rules")
    runs = [each for each in matches.responses("MCRNR10") if each.model == "rules"]
    rows = [matches.play(run.label, run, "rules", rules, place) for run in runs for place in run.places]
    plain = matches.runs("2011", "MCCFR10")
    return rows + [
        matches.play(run.label, run, "rules", rules, place) for run in plain for place in run.places if place >= BILLION
    ]


RESULTS: dict[str, Callable[[Matches], list[Row]]] = {
    "smooth-uct-2015/fig2": in_leduc,
    "smooth-uct-2015/fig3": curve,
    "smooth-uct-2015/table3": lambda matches: three_players(matches, "2015-table3"),
    "selfplay-mcts-2014/table2": two_players,
    "selfplay-mcts-2014/table3": lambda matches: three_players(matches, "2014-table3"),
    "sampling-equilibria-2011/fig4-right": learning,
    "sampling-equilibria-2011/table1": lambda matches: against_bots(matches, "MCTS10"),
    "sampling-equilibria-2011/table2": against_bots,
    "sampling-equilibria-2011/fig8": while_learning,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hands", type=int, default=HANDS)
    parser.add_argument("--device", choices=tuple(NOTE), default="cuda", help="what the strategies were trained on")
    parser.add_argument("--points", type=Path, default=POINTS, help="the folder of the rows")
    given = parser.parse_args()
    for name, rows_of in RESULTS.items():
        target = given.points / f"{name}.seeds-{given.device}.csv"
        known = {key_of(row): row for row in (read_rows_of(target) if target.exists() else [])}
        rows = rows_of(Matches(given.folder, given.hands, dict(known), given.device))
        if {key_of(row) for row in rows} - known.keys():
            target.parent.mkdir(exist_ok=True)
            rows = list((known | {key_of(row): row for row in rows}).values())
            write_rows_of(target, rows)
            made = about(rows, given.device, given.hands)
            storage.write_text(target.with_suffix(".json"), json.dumps(made, indent=1) + "\n")
            print(f"{time.monotonic() - START:6.1f} {target}: {len(rows)} rows", flush=True)


if __name__ == "__main__":
    main()
