"""``simulator_for``: from a game to what kernels play."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from fogplay.simulators.interface import Simulator
from fogplay.simulators.tree import TreeSimulator
from fogplay.trees import FlatGame, flatten, named

Progress = Callable[[str, int, int], None]


def simulator_for(game: Any, progress: Progress | None = None) -> Simulator:
    """The simulator of a game: its own, if ``simulators/<name>.py`` has one, else its tree."""
    if isinstance(game, Simulator):
        return game
    if isinstance(game, FlatGame):
        return TreeSimulator(game)
    rules, name = named(game)
    return own_simulator(rules, progress) or TreeSimulator(flatten(rules, name=name))


def own_simulator(rules: Any, progress: Progress | None = None) -> Simulator | None:
    """The simulator that comes with a registered game, if there is one and the game's parameters ask for it.

    ``progress`` is told what is being built, how much of it is done, and how much there is.
    """
    make = part_of(rules, "simulator")
    made: Simulator | None = make(rules, progress) if make is not None else None
    return made


def prepare(rules: Any, progress: Progress | None = None) -> None:
    """Build the tables that players of a registered game need, where there are any and they were never built."""
    build = part_of(rules, "prepare")
    if build is not None:
        build(rules, progress)


def part_of(rules: Any, part: str, package: str = "fogplay.simulators") -> Any:
    """What a registered game's own module in a package (``simulators/<name>.py``) calls ``part``, or None."""
    name = getattr(rules, "name", None)
    if not isinstance(name, str) or type(rules).__module__ != f"fogplay.games.{name}":
        return None
    module = f"{package}.{name}"
    if importlib.util.find_spec(module) is None:
        return None
    return getattr(importlib.import_module(module), part, None)
