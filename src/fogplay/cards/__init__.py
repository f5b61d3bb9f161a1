"""Cards: the deck, hand evaluation, boards up to suit isomorphism, hand strength, and buckets of hand strength."""
