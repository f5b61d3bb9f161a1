"""Agents from the text that a user types, and matches between them."""

from fogplay.agents.matches import match
from fogplay.agents.resolve import names_of, register_kind, require_known, resolve

__all__ = ["match", "names_of", "register_kind", "require_known", "resolve"]
