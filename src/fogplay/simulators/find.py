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
    name = getattr(rules, "name", None)
    if not isinstance(name, str) or type(rules).__module__ != f"fogplay.games.{name}":
        return None
    module = f"fogplay.simulators.{name}"
    if importlib.util.find_spec(module) is None:
        return None
    made: Simulator | None = importlib.import_module(module).simulator(rules, progress)
    return made
