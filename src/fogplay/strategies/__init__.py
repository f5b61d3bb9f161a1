"""Strategies: what to do in every situation of a game, in one kind of class and file per way of storing it."""

from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.strategy import Strategy
from fogplay.strategies.tabular import TabularStrategy

load = Strategy.load

__all__ = ["BettingStrategy", "Strategy", "TabularStrategy", "load"]
