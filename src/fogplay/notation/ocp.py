"""One-Card Poker in words: as Kuhn poker."""

from fogplay.notation.kuhn import talk_of

__all__ = ["talk_of"]
