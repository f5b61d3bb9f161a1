"""Games as arrays: the tree, how it is built from rules, and its sequence form."""

from fogplay.trees.flatten import TooLargeError, flatten, named
from fogplay.trees.sequences import SequenceForm
from fogplay.trees.tree import FlatGame, Tree

__all__ = ["FlatGame", "SequenceForm", "TooLargeError", "Tree", "flatten", "named"]
