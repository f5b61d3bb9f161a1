"""Matches between the strategies that ``winnings.py train`` saved, and their rows for the pages of results.

python benchmarks/winnings_matches.py FOLDER --hands 200000   # rows that exist are left as they are
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import replace
from pathlib import Path

from winnings import COARSE, RESPONDED, START, Training, plan

from fogplay.experiments.holdem import HoldemTable, training
from fogplay.experiments.rows import Row, read_rows_of, write_rows_of
from fogplay.experiments.runner import Runner
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.policy import BettingPolicy, policy_of

POINTS = Path("benchmarks/results/papers")
SMOOTH, UCT, SECOND = "Smooth UCT", "UCT", "MCCFR100"
TRAVERSALS = 3_000_000  # of the second opponent of 2014
LAST_SHORT = 90_000_000  # episodes of 2011's runs on a CPU


def play(folder: Path, hands: int) -> None:
    """Play the matches of all strategies and keep their rows."""
    runs = [each for each in plan() if not each.three and each.done(folder)]
    kept = {
        "smooth-uct-2015/fig3": lambda: curve(folder, runs, hands),
        "selfplay-mcts-2014/table2": lambda: two_players(folder, runs, hands),
        "smooth-uct-2015/table3": lambda: three_players(folder, "2015-table3"),
        "selfplay-mcts-2014/table3": lambda: three_players(folder, "2014-table3"),
        "sampling-equilibria-2011/fig4-right": lambda: learning(folder, runs, hands),
        "sampling-equilibria-2011/table1": lambda: against_bots(folder, runs, 2 * hands, ("MCTS10",)),
        "sampling-equilibria-2011/table2": lambda: against_bots(folder, runs, 2 * hands, ("MCRNR10", "MCRNR100")),
        "sampling-equilibria-2011/fig8": lambda: while_learning(folder, runs, hands),
    }
    for name, rows_of in kept.items():
        target = POINTS / f"{name}.seeds-cuda.csv"
        rows = [] if target.exists() else rows_of()
        if rows:
            write_rows_of(target, rows)
            print(f"{time.monotonic() - START:6.1f} {target}: {len(rows)} rows", flush=True)


def policy(folder: Path, run: Training, place: int, table: HoldemTable) -> BettingPolicy:
    return policy_of(BettingStrategy.read(run.file(folder, place)), table.rules)


def curve(folder: Path, runs: list[Training], hands: int) -> list[Row]:
    """Figure 3 of 2015: all against all, and against a near-equilibrium."""
    mine, table, rows = [each for each in runs if each.group == "2015-fig3"], HoldemTable.for_players(2), list[Row]()
    sparring = [table.bot("sparring")]
    for place in mine[0].places if mine else ():
        trained = {
            label: [policy(folder, each, place, table) for each in mine if each.label == label]
            for label in (SMOOTH, UCT)
        }
        rows += table.duels(SMOOTH, trained[SMOOTH], UCT, trained[UCT], hands, place)
        for label, policies in trained.items():
            for run, each in enumerate(policies, 1):
                rows.append(table.play((label, run), each, "sparring", sparring, hands, place, run))
    return rows


def two_players(folder: Path, runs: list[Training], hands: int) -> list[Row]:
    """Table 2 of 2014: against two near-equilibria."""
    mine, table, rows = [each for each in runs if each.group == "2014-table2"], HoldemTable.for_players(2), list[Row]()
    runner = Runner(folder / "opponent", engine="sequential")
    second = training(SECOND, COARSE, "es-mccfr", TRAVERSALS, "average")
    if mine:
        runner.run([second])
        opponents = {"sparring": table.bot("sparring"), SECOND: table.trained(runner, second)}
        for run, (against, bot) in itertools.product(mine, opponents.items()):
            each = policy(folder, run, run.places[-1], table)
            rows.append(table.play((run.label, run.seed), each, against, [bot], hands, run.places[-1], run.seed))
    return rows


def three_players(folder: Path, group: str) -> list[Row]:
    """Table 3 of either paper: what was played beside the training."""
    return [row for file in sorted(folder.glob(f"{group}_*.csv")) for row in read_rows_of(file)]


def learning(folder: Path, runs: list[Training], hands: int) -> list[Row]:
    """Figure 4 of 2011: against a near-equilibrium, beyond the places of its short runs."""
    table, rows = HoldemTable.for_players(2), list[Row]()
    sparring = [table.bot("sparring")]
    for run in runs:
        for place in run.places if run.label in ("MCTS10", "MCCFR10") else ():
            if place > LAST_SHORT:
                called, each = run.label.removesuffix("10"), policy(folder, run, place, table)
                rows.append(table.play((called, run.seed), each, "sparring", sparring, hands, place, run.seed))
    return rows


def against_bots(folder: Path, runs: list[Training], hands: int, also: tuple[str, ...]) -> list[Row]:
    """Tables 1 and 2 of 2011: two bots, against MCCFR and what is asked for; places from a billion on."""
    table, rows = HoldemTable.for_players(2), list[Row]()
    wanted = [each for each in runs if each.group == "2011" and each.label in ("MCCFR10", "MCCFR100", *also)]
    for against in RESPONDED:
        bot = [table.bot(against)]
        for run in wanted:
            for place in run.places:
                if place >= 10**9 and run.model in ("", against) and run.seat == 0:
                    each = joined(folder, run, place, table) if run.model else policy(folder, run, place, table)
                    rows.append(table.play((run.label, run.seed), each, against, bot, hands, place, run.seed))
    return rows


def while_learning(folder: Path, runs: list[Training], hands: int) -> list[Row]:
    """Figure 8 of 2011: a response against the bot whose model it knows."""
    table, rows = HoldemTable.for_players(2), list[Row]()
    rules = [table.bot("rules")]
    for run in runs:
        if run.label == "MCRNR10" and run.model == "rules" and run.seat == 0:
            for place in run.places:
                each = joined(folder, run, place, table)
                rows.append(table.play((run.label, run.seed), each, "rules", rules, hands, place, run.seed))
        if run.label == "MCCFR10":
            each, place = policy(folder, run, run.places[-1], table), run.places[-1]
            rows.append(table.play((run.label, run.seed), each, "rules", rules, hands, place, run.seed))
    return rows


def joined(folder: Path, run: Training, place: int, table: HoldemTable) -> BettingPolicy:
    """A response at both seats."""
    both = [BettingStrategy.read(replace(run, seat=seat).file(folder, place)) for seat in (0, 1)]
    return policy_of(HoldemSimulator.of(run.spec).joined(both, "dbr"), table.rules)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hands", type=int, default=200_000)
    given = parser.parse_args()
    play(given.folder, given.hands)


if __name__ == "__main__":
    main()
