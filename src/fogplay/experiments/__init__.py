"""What the papers measured and what the peers can do: each a function that returns its numbers."""
