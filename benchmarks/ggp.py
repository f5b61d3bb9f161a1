"""Rule sheets: random plays per second by lanes, one at a time by differences, and by the interpreter.

    python benchmarks/ggp.py [SHEET ...] [--seconds 1] [--device cuda] [--folder FOLDER [--games 2] [--limit SECONDS]]

A sheet is a file or one of those that come along. The three ways take turns in one run, and seconds are those of this
process on one core, so that a busy machine matters little; lanes on a GPU are timed by the clock. With ``--folder``,
all sheets of a folder are read, made networks and played instead: the table says how long each took, which could not be
grounded, and whether network and interpreter agreed in some random games.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fogplay.errors import FogplayError
from fogplay.games.gdl import sheet_file
from fogplay.gdl import differences, lanes
from fogplay.gdl.demand import on_demand
from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.machine import Machine
from fogplay.gdl.machines import machine_for
from fogplay.gdl.network import make_network
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.sheet import Sheet, load_sheet

SHEETS = ("tictactoe.kif", "connectfour.kif", "breakthrough.kif")
SUFFIXES = (".kif", ".gdl", ".rulesheet")
LIMIT = 10.0  # seconds in which a sheet should be a network
STEPS, SECONDS = 50, 5.0  # of one game in which machines are compared


def rate(play: Callable[[int], None], seconds: float, clock: Callable[[], float] = time.process_time) -> float:
    """Plays per second of this process's time, or of another clock's."""
    play(1)  # compiles
    count = 1
    while True:
        began = clock()
        play(count)
        took = clock() - began
        if took >= seconds:
            return count / took
        count = max(2 * count, int(count * seconds / max(took, 1e-6)))


def random_play(machine: Machine, rng: random.Random, most: int = 10_000) -> int:
    """One random play by a machine's answers; returns its steps."""
    state = machine.initial()
    for step in range(most):
        if machine.is_terminal(state):
            machine.goals(state)
            return step
        legal = machine.legal(state)
        if not all(legal):
            return step
        state = machine.next(state, [rng.choice(options) for options in legal])
    return most


def rates(sheet: Sheet, seconds: float, device: str = "cpu") -> tuple[int, float, float, float]:
    """The number of gates, and plays per second by lanes, by differences and by the interpreter."""
    machine, slow = NetworkMachine(make_network(sheet)), Interpreter(sheet)
    circuit, state = machine.circuit, machine.initial()
    many, position = lanes.make_lanes(circuit, 1, device), differences.make_position(circuit, 1)
    clock = time.process_time if device == "cpu" else time.perf_counter
    start, sums, rng = np.frombuffer(state, np.uint8), np.zeros(len(machine.roles), np.int64), random.Random(1)
    differences.place(circuit, position, start)

    def interpret(plays: int) -> None:
        for _ in range(plays):
            random_play(slow, rng)

    return (
        len(circuit.left),
        rate(lambda plays: void(many.simulate(state, plays)), seconds, clock),
        rate(lambda plays: void(differences.play_on(circuit, position, start, plays, sums)), seconds),
        rate(interpret, seconds),
    )


def void(_: object) -> None:
    """Nothing of anything."""


def same(slow: Machine, fast: Machine, rng: random.Random, steps: int, seconds: float) -> tuple[int, str]:
    """A random play by two machines at once: how many steps they agreed, and in what they differed then."""
    if slow.roles != fast.roles:
        return 0, "roles"
    state, other, end = slow.initial(), fast.initial(), time.perf_counter() + seconds
    for step in range(steps):
        pairs = {
            "states": (slow.fluents(state), fast.fluents(other)),
            "ends": (slow.is_terminal(state), fast.is_terminal(other)),
            "goals": (slow.goals(state), fast.goals(other)),
            "moves": (slow.legal(state), fast.legal(other)),
        }
        wrong = [name for name, (one, two) in pairs.items() if one != two]
        legal = pairs["moves"][0]
        if wrong or pairs["ends"][0] or not all(legal) or time.perf_counter() > end:
            return step, ", ".join(wrong)
        moves = [rng.choice(options) for options in legal]
        if slow.percepts(state, moves) != fast.percepts(other, moves):
            return step, "percepts"
        state, other = slow.next(state, moves), fast.next(other, moves)
    return steps, ""


def processor_time() -> float:
    """Seconds that this process and the grounders it has waited for took of all cores together."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def survey(folder: Path, games: int, limit: float | None) -> None:
    """Read, ground and play every sheet of a folder, and compare its network with the interpreter."""
    print("| sheet | played by | seconds | of processors | gates | loops | steps compared | differences |")
    print("|---|---|---:|---:|---:|---:|---:|---|")
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES)
    count = dict.fromkeys(("networks", "in time", "refused", "stopped", "different"), 0)
    for file in files:
        began, used = time.perf_counter(), processor_time()
        try:
            sheet = load_sheet(file)
            machine = machine_for(sheet, limit)
        except FogplayError as error:
            count["refused"] += 1
            print(f"| {file.name} | refused: {error} | | | | | | |", flush=True)
            continue
        took, used = time.perf_counter() - began, processor_time() - used
        steps, told, gates, loops = 0, "", 0, 0
        if isinstance(machine, NetworkMachine):
            gates, loops = len(machine.circuit.left), len(machine.circuit.loops)
            count["networks"] += 1
            count["in time"] += took <= LIMIT
        try:
            slow = Interpreter(on_demand(sheet))
            for seed in range(games):
                more, told = same(slow, machine, random.Random(seed), STEPS, SECONDS)
                steps += more
                if told:
                    count["different"] += 1
                    break
        except FogplayError as error:
            count["stopped"] += 1
            told = f"the interpreter stopped: {error}"
        size = f"{took:.2f} | {used:.2f} | {gates:,} | {loops:,}"
        print(f"| {file.name} | {machine.kind} | {size} | {steps} | {told} |", flush=True)
    print(f"\n{len(files)} sheets: {', '.join(f'{number} {name}' for name, number in count.items())}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sheets", nargs="*", default=SHEETS)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--games", type=int, default=2)
    parser.add_argument("--limit", type=float, help="seconds by the clock for grounding a sheet")
    given = parser.parse_args()
    if given.folder is not None:
        survey(given.folder, given.games, given.limit)
        return
    ways = "lanes, plays/s | differences | interpreter | lanes / interpreter | differences / interpreter"
    print(f"| sheet | gates | {ways} |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in given.sheets:
        gates, by_lanes, by_differences, slow = rates(load_sheet(sheet_file(name)), given.seconds, given.device)
        ratios = f"{by_lanes / slow:,.0f} | {by_differences / slow:,.0f}"
        print(f"| {name} | {gates:,} | {by_lanes:,.0f} | {by_differences:,.0f} | {slow:,.3g} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
