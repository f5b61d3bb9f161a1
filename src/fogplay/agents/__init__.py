"""Agents from the text that a user types, and matches between them."""

from fogplay.agents.matches import match
from fogplay.agents.resolve import names_of, register_kind, require_known, resolve
from fogplay.agents.yardsticks import measure_by_matches, visits_of

__all__ = ["match", "measure_by_matches", "names_of", "register_kind", "require_known", "resolve", "visits_of"]
