"""Several training runs per cell of the papers' tables in limit hold'em, on a GPU, shorter than the papers'.

    python benchmarks/winnings.py models MODELS          # on a CPU: what responses are trained against
    python benchmarks/winnings.py train FOLDER --models MODELS --seconds 500   # on a GPU; again: what is left
    python benchmarks/winnings_matches.py FOLDER         # on a CPU: matches, and their rows for the pages of results

``fogplay reproduce ID --scale paper --device cuda`` has the papers' own budgets, which take hours for eight seeds of
all tables. ``train`` saves a strategy per run and place. Strategies of three players have hundreds of megabytes: only
the rows of their matches are saved, in one file per pair of runs.

Two runs share the GPU, since one alone does not fill it while its threads ramp up. On a CPU, where the longest take
three hours of a core, a run that was stopped goes on from its checkpoint in the folder.
"""

from __future__ import annotations

import argparse
import itertools
import queue
import shutil
import tarfile
import threading
import time
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import fogplay as fp
from fogplay import strategies
from fogplay.experiments.holdem import HoldemTable, training
from fogplay.experiments.rows import Row, write_rows_of
from fogplay.experiments.runner import Runner
from fogplay.kernels.cuda import require_gpu
from fogplay.simulators import simulator_for
from fogplay.solvers.respond import bound
from fogplay.strategies.policy import policy_of

TEN, HUNDRED = "holdem(grid=ehs:10/10/10/10)", "holdem(grid=ehs:100/100/100/100)"
COARSE, FINE = "holdem(grid=ehs2:169/100/100/100)", "holdem(grid=ehs2:169/1000/500/200)"
LEDUC = "leduc(suits=unseen)"
THREE_2015 = "holdem(players=3,grid=ehs2:169/1000/100/20)"
THREE_2014 = "holdem(players=3,grid=ehs2:169/1000/100/10)"
SEEDS, FEW = range(1, 9), range(1, 4)
PART, PARTS = 15_500_000, 4  # bytes of a file of several strategies, and how many there may be
NASH_CONV = "nash_conv"
DONE = "done.txt"  # in the folder: files of runs that were made elsewhere, without their suffix
DUMMIES = "always-raise and probe"
CONFIDENCE = 0.75
RESPONDED = ("rules", "sparring")  # bots
ITSELF = "sparring-itself"  # a model that knows this bot, which has the same 10 buckets
OBSERVER = 20_000_000  # iterations of the player whose hands against them are seen


@dataclass(frozen=True)
class Training:
    """One run; its strategies are kept at ``places``."""

    group: str
    label: str
    spec: str
    algorithm: str
    seed: int
    places: tuple[int, ...]
    rate: float  # episodes per second on an H200, to know in advance whether there is time for it
    keep: str = "greedy"  # or average, or nash_conv: of small games, a row per place instead of a strategy
    how: dict[str, Any] = field(default_factory=dict)
    model: str = ""  # the bot that a response is trained against
    seat: int = 0

    @property
    def name(self) -> str:
        words = (self.group, self.label, self.model, f"seat{self.seat}" * bool(self.model), self.seed)
        return "_".join(str(word).replace(" ", "-").replace("=", "") for word in words if word)

    @property
    def three(self) -> bool:
        return "players=3" in self.spec

    def file(self, folder: Path, place: int) -> Path:
        return folder / f"{self.name}.{place}.safetensors"

    def rows(self, folder: Path) -> Path:
        """Of three players: the matches of this run and of its partner with the same seed; else of this run."""
        return folder / (f"{self.group}_{self.seed}.csv" if self.three else f"{self.name}.csv")

    def done(self, folder: Path) -> bool:
        rows = self.three or self.keep == NASH_CONV
        return self.rows(folder).exists() if rows else self.file(folder, self.places[-1]).exists()


def scaled(plan: list[Training], share: float) -> list[Training]:
    """The same runs, each shorter: a rehearsal."""
    return [replace(each, places=tuple(max(100, int(place * share)) for place in each.places)) for each in plan]


def shortened(plan: list[Training], last: float) -> list[Training]:
    """The same runs up to ``last``; of runs that then only differ in length, the longest."""
    longest: dict[str, Training] = {}
    for each in plan:
        places = tuple(place for place in each.places if place <= last)
        if places and (each.name not in longest or places[-1] > longest[each.name].places[-1]):
            longest[each.name] = replace(each, places=places)
    return list(longest.values())


BILLION = 10**9
BOTH: tuple[tuple[str, str, dict[str, Any]], ...] = (("UCT", "uct", {}), ("Smooth UCT", "smooth-uct", {}))
RARE = 1_700  # visits: the paper's 10,000 of 12 billion episodes, for two billion


def plan() -> list[Training]:
    """All runs, the most valuable first."""
    sampled = runs_of_2011()
    short = [each for each in sampled if each.places[-1] == BILLION]  # the long runs contain them, if there is time
    long = [each for each in sampled if each.places[-1] > BILLION]
    return [*runs_of_2014(), *runs_of_2015(), *short, *responses(), *in_leduc(), *long]


def runs_of_2015() -> list[Training]:
    """Figure 3, and table 3 with three players."""
    runs: list[Training] = []
    for seed, (label, algorithm, how) in itertools.product(SEEDS, BOTH):
        places = tuple(int(n * 1e6) for n in (30, 100, 300, 1000))
        runs.append(Training("2015-fig3", label, FINE, algorithm, seed, places, 6e8, how=how))
    for seed, (label, algorithm, how) in itertools.product(SEEDS, BOTH):
        runs.append(Training("2015-table3", label, THREE_2015, algorithm, seed, (4 * BILLION,), 3.5e8, how=how))
    return runs


def runs_of_2014() -> list[Training]:
    """Table 2, and table 3 with three players."""
    runs: list[Training] = []
    smooth = {"schedule": "confidence"}
    for seed, (name, k) in itertools.product(SEEDS, (("S", 1.0), ("S", 0.5), ("L", 0.5))):
        for label, algorithm, own in (("IS-UCT", "uct", {}), ("Smooth IS-UCT", "smooth-uct", smooth)):
            spec, how, called = (
                COARSE if name == "S" else FINE,
                {**own, "k": k, "cap": None},
                f"{label} {name}, k={k:g}",
            )
            runs.append(Training("2014-table2", called, spec, algorithm, seed, (2 * BILLION,), 6e8, how=how))
    rare = smooth | {"threshold": RARE}
    for seed in SEEDS:
        for label, algorithm, own in (("IS-UCT", "uct", {}), ("Smooth IS-UCT", "smooth-uct", rare)):
            how = {**own, "k": 0.5, "cap": None}
            runs.append(Training("2014-table3", label, THREE_2014, algorithm, seed, (2 * BILLION,), 3.5e8, how=how))
    return runs


def runs_of_2011() -> list[Training]:
    """MCTS and outcome sampling, short and long."""
    runs: list[Training] = []
    explores, grows = {"epsilon": 0.6}, {"c": 170.0, "growth": "all"}
    for seed, last in itertools.product(FEW, (BILLION, 10 * BILLION)):
        decades = tuple(int(n * 1e6) for n in (90, 300, 1000, 3000, 10_000) if n * 1e6 <= last)
        for label, spec, algorithm, places, rate, how in (
            ("MCCFR10", TEN, "os-mccfr", decades, 1.6e8, explores),
            ("MCTS10", TEN, "uct", decades, 7e8, grows),
            ("MCCFR100", HUNDRED, "os-mccfr", tuple(sorted({BILLION, last})), 1.6e8, explores),
        ):
            runs.append(Training("2011", label, spec, algorithm, seed, places, rate, "average", how))
    return runs


def responses() -> list[Training]:
    """MCRNR of 2011: one run per seat."""
    runs: list[Training] = []
    asked = [(against, *game) for against in RESPONDED for game in (("MCRNR10", TEN), ("MCRNR100", HUNDRED))]
    for seed, (against, label, spec) in itertools.product(FEW, [(ITSELF, "MCRNR10", TEN), *asked]):
        places = (10**8, BILLION) if spec == TEN else (BILLION,)
        for seat in (0, 1):
            how = {"epsilon": 0.6}
            runs.append(Training("2011", label, spec, "os-mccfr", seed, places, 1.6e8, "average", how, against, seat))
    return runs


def in_leduc() -> list[Training]:
    """UCT of 2015 with few and many concurrent episodes."""
    runs: list[Training] = []
    for seed, threads in itertools.product(FEW, (2**17, 2**12, 2**10)):
        how, places = {"c": 20.0, "threads": threads}, tuple(int(n * 1e6) for n in (85, 500))
        runs.append(Training("2015-leduc", f"UCT, {threads}", LEDUC, "uct", seed, places, 5e7, NASH_CONV, how))
    return runs


@dataclass
class Trainer:
    """Runs what is left of a plan, two runs at once, until the time is up."""

    folder: Path
    models: Path
    device: str
    hands: int
    end: float
    pack: Path | None = None
    locks: dict[str, Any] = field(default_factory=dict)
    pairs: dict[tuple[str, int], dict[str, dict[int, Any]]] = field(default_factory=dict)
    matches: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    playing: list[Future[None]] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)
    part: int = 0

    def go(self, plan: list[Training], at_once: int) -> None:
        left: queue.Queue[Training] = queue.Queue()
        file = self.folder / DONE
        known = file.read_text().split() if file.exists() else []
        for each in plan:
            if not each.done(self.folder) and not {each.name, f"{each.name}.{each.places[-1]}"} & set(known):
                left.put(each)
        if any(each.three for each in plan):
            self.matches.submit(lambda: self.table(3))
        if self.device == "cuda":
            require_gpu()
        workers = [threading.Thread(target=self.work, args=(left,)) for _ in range(at_once)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for match in self.playing:
            match.result()
        self.matches.shutdown()

    def work(self, left: queue.Queue[Training]) -> None:
        while True:
            try:
                run = left.get_nowait()
            except queue.Empty:
                return
            if time.monotonic() + 1.5 * run.places[-1] / run.rate + 4 * run.three > self.end:
                continue  # a shorter one may still fit
            began = time.monotonic()
            try:
                self.train(run)
            except Exception:  # one bad run must not end the others
                print(f"{run.name} failed", flush=True)
                traceback.print_exc()
            took = time.monotonic() - began
            print(
                f"{time.monotonic() - START:6.1f} {run.name}: {took:.1f} s, {run.places[-1] / took / 1e6:.0f} M/s",
                flush=True,
            )

    def train(self, run: Training) -> None:
        found: dict[int, Any] = {}

        def keep(place: int, strategy: Any) -> None:
            if run.three:
                found[place] = replace(strategy, levels=None)
            else:
                file = run.file(self.folder, place)
                replace(strategy, levels=None).save(file)
                self.put(file)

        on_the_way = None if self.device == "cuda" else self.folder / f"{run.name}.checkpoint"
        result = fp.solve(
            self.game(run), run.algorithm, run.places[-1], seed=run.seed, device=self.device, curve=run.places,
            greedy=run.keep == "greedy", snapshot=None if run.keep == NASH_CONV else keep, watch=False,
            checkpoint=on_the_way, resume=True, checkpoint_seconds=120.0, **run.how,
        )  # fmt: skip
        if on_the_way is not None:
            on_the_way.unlink()
        if run.keep == NASH_CONV:
            rows = [Row(run.label, NASH_CONV, each.iteration, run.seed, each.nash_conv) for each in result.curve]
            write_rows_of(run.rows(self.folder), rows)
            self.put(run.rows(self.folder))
        if run.three:
            with self.lock:
                pair = self.pairs.setdefault((run.group, run.seed), {})
                pair[run.label] = found
                if len(pair) == 2:
                    self.playing.append(self.matches.submit(self.meet, run))

    def game(self, run: Training) -> Any:
        """What is solved; large trees are built once."""
        with self.lock:
            own = self.locks.setdefault(run.spec, threading.Lock())
        with own:
            made = self.locks.setdefault(f"made {run.spec}", None) or simulator_for(run.spec)
            self.locks[f"made {run.spec}"] = made
            if not run.model:
                return made
            model = strategies.load(model_file(self.models, run.model, run.seed, run.spec))
            return bound(made, model, CONFIDENCE, "dbr", 0.0)(run.seat)

    def table(self, players: int) -> Any:
        with self.lock:
            own = self.locks.setdefault(f"table {players}", threading.Lock())
        with own:
            if f"made {players}" not in self.locks:
                table = HoldemTable.for_players(players)
                bots = {name: table.bot(name) for name in ("rules", "always-raise", "probe")}
                table.play(("", 0), bots["rules"], "", [bots["rules"], bots["probe"]], 1000)  # compiles
                self.locks[f"made {players}"] = table, bots
            return self.locks[f"made {players}"]

    def meet(self, run: Training) -> None:
        """Three players: matches of a pair of runs, as in table 3 of either paper."""
        began = time.monotonic()
        table, bots = self.table(3)
        rules, dummies = bots["rules"], [bots["always-raise"], bots["probe"]]
        with self.lock:
            pair = self.pairs.pop((run.group, run.seed))
        rows = []
        for place in run.places:
            policies = {label: policy_of(each[place], table.rules) for label, each in pair.items()}
            for name, other in (tuple(policies), tuple(policies)[::-1]):
                met = [policies[other]] * 2 if run.group.startswith("2015") else [rules, policies[other]]
                called = f"2 x {other}" if run.group.startswith("2015") else f"rules and {other}"
                for against, others in ((called, met), (DUMMIES, dummies), ("2 x rules", [rules, rules])):
                    hands = self.hands if others is met else self.hands // 2
                    rows.append(table.play((name, run.seed), policies[name], against, others, hands, place, run.seed))
        write_rows_of(run.rows(self.folder), rows)
        self.put(run.rows(self.folder))
        print(
            f"{time.monotonic() - START:6.1f} matches of {run.group} {run.seed}: {time.monotonic() - began:.1f} s",
            flush=True,
        )

    def put(self, file: Path) -> None:
        """Add a finished file to the tar that is carried home."""
        if self.pack is None:
            return
        with self.lock:
            part = self.pack / f"part-{self.part}.tar"
            if part.exists() and part.stat().st_size + file.stat().st_size > PART and self.part + 1 < PARTS:
                self.part += 1
                part = self.pack / f"part-{self.part}.tar"
            with tarfile.open(part, "a") as archive:
                archive.add(file, file.name)


SPARRING = Path(fp.__file__).parent / "bots" / "data" / "sparring-2.safetensors"
START = time.monotonic()


def models(folder: Path, share: float) -> None:
    """Learn models of both bots from 20,000 hands against runs of MCCFR10, as in table 2 of 2011."""
    from fogplay.experiments.learned_models_2011 import model_file as learned

    table, runner = HoldemTable.for_players(2), Runner(folder / "made" / "by" / "runs", engine="sequential")
    for seed in FEW:
        observer = training("MCCFR", TEN, "os-mccfr", int(OBSERVER * share), "average", (), seed, epsilon=0.6)
        runner.run([observer])
        shutil.copyfile(SPARRING, model_file(folder, ITSELF, seed, TEN))
        for against in RESPONDED:
            for spec in (TEN, HUNDRED):
                made = Path(learned(runner, table, observer, against, spec, "shown"))
                shutil.copyfile(made, model_file(folder, against, seed, spec))


def model_file(folder: Path, against: str, seed: int, spec: str) -> Path:
    return folder / f"{against}-{seed}-{spec.partition(':')[2].partition('/')[0]}.safetensors"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("models", "train", "list"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=Path, default=Path("reproduced/models"))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=1e9, help="start no run that would end later")
    parser.add_argument("--only", nargs="+", default=[""], help="only runs whose name contains one of these")
    parser.add_argument("--last", type=float, help="no run goes on after so many episodes")
    parser.add_argument("--share", type=float, default=1.0, help="of the episodes: a rehearsal")
    parser.add_argument("--hands", type=int, default=600_000)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--pack", type=Path, help="a folder for tars of all that is made")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    runs = [each for each in scaled(plan(), given.share) if any(part in each.name for part in given.only)]
    if given.last is not None:
        runs = shortened(runs, given.last)
    if given.what == "models":
        models(given.folder, given.share)
    elif given.what == "list":
        for each in runs:
            print(each.name, each.places[-1], each.spec, each.algorithm, each.how)
    elif given.what == "train":
        trainer = Trainer(given.folder, given.models, given.device, given.hands, START + given.seconds, given.pack)
        trainer.go(runs, given.at_once)


if __name__ == "__main__":
    main()
