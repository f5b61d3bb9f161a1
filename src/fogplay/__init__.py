"""fogplay solves and plays games of hidden information, by self-play, at compiled speed, from plain Python."""

from fogplay.errors import FogplayError
from fogplay.evaluate import Evaluation, evaluate
from fogplay.games import CHANCE, TERMINAL, Game, State, load
from fogplay.opponents import learn_model
from fogplay.solvers import Progress, Result, solve
from fogplay.strategy import Strategy
from fogplay.trees import FlatGame, Tree, flatten
from fogplay.version import VERSION

__version__ = VERSION

__all__ = [
    "CHANCE",
    "TERMINAL",
    "Evaluation",
    "FlatGame",
    "FogplayError",
    "Game",
    "Progress",
    "Result",
    "State",
    "Strategy",
    "Tree",
    "__version__",
    "evaluate",
    "flatten",
    "learn_model",
    "load",
    "solve",
]
