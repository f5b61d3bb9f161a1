"""Exact measures of strategies, and exact equilibria to compare them with."""

from fogplay.evaluate.exact import Evaluation, best_response, evaluate, measure
from fogplay.evaluate.linear_program import equilibrium

__all__ = ["Evaluation", "best_response", "equilibrium", "evaluate", "measure"]
