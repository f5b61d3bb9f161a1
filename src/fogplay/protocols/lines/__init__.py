"""Other programs as agents, over lines of JSON on their standard input and output (docs/external-agents.md)."""

from fogplay.protocols.lines.player import ProgramAgent, agent
from fogplay.protocols.lines.process import Process, TroubleError

__all__ = ["Process", "ProgramAgent", "TroubleError", "agent"]
