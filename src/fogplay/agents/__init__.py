"""Anything that can sit at a table: profiles, bots, humans; and the matches between them."""

from fogplay.agents.agent import Agent, Observation, observe
from fogplay.agents.log import log_lines, write_log
from fogplay.agents.match import DuplicateMatch, play_duplicate
from fogplay.agents.seats import policies, require_agent
from fogplay.agents.table import play_hand
from fogplay.bots.holdem import BOTS, bot
from fogplay.strategies.policy import BettingPolicy, policy_of

__all__ = [
    "BOTS",
    "Agent",
    "BettingPolicy",
    "DuplicateMatch",
    "Observation",
    "bot",
    "log_lines",
    "observe",
    "play_duplicate",
    "play_hand",
    "policies",
    "policy_of",
    "require_agent",
    "write_log",
]
