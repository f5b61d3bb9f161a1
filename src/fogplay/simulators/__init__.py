"""What a sampling kernel may ask of a game, and the games that answer."""

from fogplay.simulators.tree import TreeGame, simulate_tree
from fogplay.simulators.waist import (
    advance,
    calling_action,
    deal,
    exploration,
    is_terminal,
    num_actions,
    payoff,
    player_of,
    slot_of,
    start,
)

__all__ = [
    "TreeGame",
    "advance",
    "calling_action",
    "deal",
    "exploration",
    "is_terminal",
    "num_actions",
    "payoff",
    "player_of",
    "simulate_tree",
    "slot_of",
    "start",
]
