"""Named bots, one file per game."""
