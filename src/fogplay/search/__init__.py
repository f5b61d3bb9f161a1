"""Search at the table: one decision at a time, from what the acting player knows."""

from fogplay.search.agent import SearchAgent, search_agent

__all__ = ["SearchAgent", "search_agent"]
