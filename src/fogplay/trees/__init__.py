"""Games as arrays: the tree, how it is made from rules, and how players see it."""

from fogplay.trees.flatten import NoTreeError, flatten, named
from fogplay.trees.sequences import SequenceForm
from fogplay.trees.tree import FlatGame, Tree

__all__ = ["FlatGame", "NoTreeError", "SequenceForm", "Tree", "flatten", "named"]
