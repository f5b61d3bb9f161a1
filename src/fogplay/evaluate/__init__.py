"""Exact measures of strategies, and exact equilibria to compare them with."""

from fogplay.evaluate.exact import Evaluation, best_response, evaluate, measure
from fogplay.evaluate.linear_program import equilibrium
from fogplay.evaluate.matches import Match, play_match

__all__ = ["Evaluation", "Match", "best_response", "equilibrium", "evaluate", "measure", "play_match"]
