"""Rules in plain Python, one file per game, and closed-form facts about a game beside it."""

from fogplay.games.game import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from fogplay.games.registry import load, registered

__all__ = ["CHANCE", "SIMULTANEOUS", "TERMINAL", "Game", "State", "load", "registered"]
