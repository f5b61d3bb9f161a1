"""Learning a model of a player from the hands it played."""

from fogplay.opponents.histories import Hand, Histories
from fogplay.opponents.learn import METHODS, learn_model
from fogplay.opponents.logs import histories_of, log_lines, write_log
from fogplay.opponents.walk import record

__all__ = ["METHODS", "Hand", "Histories", "histories_of", "learn_model", "log_lines", "record", "write_log"]
