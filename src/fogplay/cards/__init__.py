"""Cards: the deck, what hands are worth, boards up to the names of suits, hand strength, and buckets of it."""
