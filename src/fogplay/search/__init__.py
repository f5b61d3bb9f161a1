"""Search at the table: one decision at a time, from what the acting player knows."""

from fogplay.search.searching import SearchAgent, agent

__all__ = ["SearchAgent", "agent"]
