"""The picture of One-Card Poker: that of Kuhn poker."""

from fogplay.pictures.kuhn import scene_of

__all__ = ["scene_of"]
