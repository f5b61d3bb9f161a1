"""Games as kernels play them: the interfaces for kernels and learners, and the games that implement them."""

from fogplay.games.parts import part_of
from fogplay.simulators.find import by_rules, own_simulator, prepare, simulator_for
from fogplay.simulators.hashed import HashedSimulator
from fogplay.simulators.interface import Simulator
from fogplay.simulators.rules import RulesSimulator
from fogplay.simulators.tree import TreeSimulator

__all__ = [
    "HashedSimulator",
    "RulesSimulator",
    "Simulator",
    "TreeSimulator",
    "by_rules",
    "own_simulator",
    "part_of",
    "prepare",
    "simulator_for",
]
