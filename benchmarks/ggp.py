"""Rule sheets: random plays per second by lanes, one at a time by differences, and by the interpreter.

    python benchmarks/ggp.py [SHEET ...] [--seconds 1] [--device cuda] [--folder FOLDER]

A sheet is a file or one of those that come along. The three ways take turns in one run, and seconds are those of this
process on one core, so that a busy machine matters little; lanes on a GPU are timed by the clock. With ``--folder``,
all sheets of a folder are read, made networks and played instead, and the table says how long each took and which could
not be grounded.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fogplay.errors import FogplayError
from fogplay.games.gdl import sheet_file
from fogplay.gdl import differences, lanes
from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.machine import Machine
from fogplay.gdl.machines import machine_for
from fogplay.gdl.network import make_network
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.sheet import Sheet, load_sheet

SHEETS = ("tictactoe.kif", "connectfour.kif", "breakthrough.kif")


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


def random_play(machine: Machine, rng: random.Random, most: int = 10_000, seconds: float = 600.0) -> int:
    """One random play by a machine's answers, or as much of it as fits in some seconds; returns its steps."""
    state, began = machine.initial(), time.perf_counter()
    for step in range(most):
        if time.perf_counter() - began > seconds:
            return step
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


def survey(folder: Path) -> None:
    """Read, ground and play every sheet of a folder."""
    print("| sheet | played by | seconds | gates | loops | first steps |\n|---|---|---:|---:|---:|---:|")
    total = networks = 0
    for file in sorted(folder.rglob("*.kif")):
        total += 1
        began = time.perf_counter()
        try:
            machine = machine_for(load_sheet(file))
        except FogplayError as error:
            print(f"| {file.name} | refused: {error} | | | | |", flush=True)
            continue
        took = time.perf_counter() - began
        try:
            steps = str(random_play(machine, random.Random(1), 50, 10.0))
        except FogplayError as error:
            steps = f"stopped: {error}"
        gates = loops = 0
        if isinstance(machine, NetworkMachine):
            networks, gates, loops = networks + 1, len(machine.circuit.left), len(machine.circuit.loops)
        print(f"| {file.name} | {machine.kind} | {took:.2f} | {gates:,} | {loops:,} | {steps} |", flush=True)
    print(f"\n{networks} of {total} sheets are networks")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sheets", nargs="*", default=SHEETS)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.folder is not None:
        survey(given.folder)
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
