"""Thin: check what is asked for, make room, call kernels, report, keep safe, return a Strategy."""

from fogplay.solvers.algorithms import ALGORITHMS
from fogplay.solvers.run import CurvePoint, Progress
from fogplay.solvers.solve import Result, solve

__all__ = ["ALGORITHMS", "CurvePoint", "Progress", "Result", "solve"]
