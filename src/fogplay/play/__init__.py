"""Play: views of a seat, agents, a table that can be suspended, and matches of many hands."""

from fogplay.play.agent import Agent, Uniform
from fogplay.play.formats import Duplicate, Format, Rotation, Trouble
from fogplay.play.hands import Hands, play_hand
from fogplay.play.luck import Dealt, Given, Luck, Seeded, Stream
from fogplay.play.match import MatchResult, format_for, match, require_seats, sides_of
from fogplay.play.sides import SideResult, Sides
from fogplay.play.table import Event, Seen, Table
from fogplay.play.view import View

__all__ = [
    "Agent",
    "Dealt",
    "Duplicate",
    "Event",
    "Format",
    "Given",
    "Hands",
    "Luck",
    "MatchResult",
    "Rotation",
    "Seeded",
    "Seen",
    "SideResult",
    "Sides",
    "Stream",
    "Table",
    "Trouble",
    "Uniform",
    "View",
    "format_for",
    "match",
    "play_hand",
    "require_seats",
    "sides_of",
]
