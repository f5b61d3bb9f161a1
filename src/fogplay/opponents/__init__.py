"""Learning a model of a player from the hands it played."""

from fogplay.opponents.histories import Hand, Histories
from fogplay.opponents.learn import METHODS, learn_model
from fogplay.opponents.walk import record

__all__ = ["METHODS", "Hand", "Histories", "learn_model", "record"]
