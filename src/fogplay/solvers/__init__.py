"""A thin layer over the kernels: check arguments, allocate tables, run, report, checkpoint, return a Strategy."""

from fogplay.solvers.algorithms import ALGORITHMS
from fogplay.solvers.respond import Response, TradeoffPoint, respond, tradeoff
from fogplay.solvers.run import CurvePoint, Progress
from fogplay.solvers.solve import Result, solve

__all__ = [
    "ALGORITHMS",
    "CurvePoint",
    "Progress",
    "Response",
    "Result",
    "TradeoffPoint",
    "respond",
    "solve",
    "tradeoff",
]
