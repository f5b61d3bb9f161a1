"""Learning a model of a player from hands it played."""
