"""How games, hands and logs are written down: text to data and back, pure functions in pairs."""
