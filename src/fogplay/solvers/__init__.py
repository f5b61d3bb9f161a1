"""Thin: check what is asked for, make room, call kernels, report, keep safe, return a Strategy."""

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
