"""Notations of games, hands and logs: pairs of pure functions that parse text and print it."""
