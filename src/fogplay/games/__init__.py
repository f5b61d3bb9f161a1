"""Rules only, in plain Python, one file a game."""

from fogplay.games.game import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from fogplay.games.registry import load, registered

__all__ = ["CHANCE", "SIMULTANEOUS", "TERMINAL", "Game", "State", "load", "registered"]
