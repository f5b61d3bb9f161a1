"""Games as kernels play them: what a kernel may ask, what a learner must know, and the games that answer."""

from fogplay.simulators.find import own_simulator, part_of, prepare, simulator_for
from fogplay.simulators.interface import Simulator
from fogplay.simulators.tree import TreeSimulator

__all__ = ["Simulator", "TreeSimulator", "own_simulator", "part_of", "prepare", "simulator_for"]
