"""fogplay solves and plays games of hidden information, by self-play, at compiled speed, from plain Python."""

from fogplay import starting  # noqa: F401 (first: Ctrl-C during the other imports)
from fogplay.agents import match
from fogplay.errors import FogplayError
from fogplay.evaluate import Evaluation, evaluate
from fogplay.games import CHANCE, TERMINAL, Game, State, load
from fogplay.opponents import learn_model
from fogplay.play import MatchResult, Table, View
from fogplay.solvers import CurvePoint, Progress, Response, Result, TradeoffPoint, respond, solve, tradeoff
from fogplay.strategies import BettingStrategy, Strategy, TabularStrategy
from fogplay.trees import FlatGame, Tree, flatten
from fogplay.version import VERSION

__version__ = VERSION

__all__ = [
    "CHANCE",
    "TERMINAL",
    "BettingStrategy",
    "CurvePoint",
    "Evaluation",
    "FlatGame",
    "FogplayError",
    "Game",
    "MatchResult",
    "Progress",
    "Response",
    "Result",
    "State",
    "Strategy",
    "Table",
    "TabularStrategy",
    "TradeoffPoint",
    "Tree",
    "View",
    "__version__",
    "evaluate",
    "flatten",
    "learn_model",
    "load",
    "match",
    "respond",
    "solve",
    "tradeoff",
]
